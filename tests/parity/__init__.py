"""The parity suite: one scenario, two servers, one history."""

"""Names and numbers that adapters and infrastructure share: nothing here does anything."""

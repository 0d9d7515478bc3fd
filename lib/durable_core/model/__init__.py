"""Plain values: identifiers, limits, errors, state, effects and retry arithmetic. No I/O and no clock lives here."""

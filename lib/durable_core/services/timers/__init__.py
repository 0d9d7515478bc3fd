"""Wake-ups: what happens when one is due."""

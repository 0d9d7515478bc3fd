"""Wake-ups: `arm` sets them from the stream, `fire` does what is due."""

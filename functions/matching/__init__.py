"""Tasks for workers: `poll` gives them out, `relay` carries them from the stream to the queues."""

"""The handlers' own part: events to requests, answers to responses. What they do on the local AWS is in `tests/aws`."""

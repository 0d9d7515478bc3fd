"""Rules that hold for every legal sequence of requests, on the real services with a clock moved by hand."""

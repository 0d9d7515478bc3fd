"""The programs: the command line, the embedded server, the demo."""

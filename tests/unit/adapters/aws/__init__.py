"""What the AWS adapters decide by themselves; what AWS makes of it is in `tests/aws`."""

"""What the stack is made of: one capability a file."""

"""What is deployed together."""

"""The API but for the polls: every call of clients, and the answers of workers."""

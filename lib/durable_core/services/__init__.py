"""What the system does when it is called: load, decide, commit, reply. Services never wait; the edge does."""

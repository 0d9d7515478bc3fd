"""One file a command: the listing of this folder is the list of what a workflow can do.

Each `handle(completion, command)` checks its command, adds its event and returns it (None: nothing to add).
"""

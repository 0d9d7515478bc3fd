"""Polling: receive a task's message, claim the task by a transition, answer with it, then delete the message."""

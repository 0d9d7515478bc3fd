"""The tasks of the history service: what one run's transition asks to be done at another run, or to tell it.

Each is done at least once and acts once: request IDs and the state of what it answers make a repeat harmless.
"""

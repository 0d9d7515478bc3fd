"""One state machine a file: its states and legal transitions first, then how each event changes the state.

A machine's `APPLY` maps an event type to the only function that changes the state for it; replay and live share it.
An event that the state does not allow raises `IllegalTransition` before anything is changed. Machines know nothing of
each other: where two of them meet is the engine's business.
"""

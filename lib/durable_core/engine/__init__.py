"""The only place where machines meet: decide, replay, buffering, deadlines, invariants.

Everything here takes values and returns values. The way in is a `Transition` (one atomic change of one run); the unit
of work in `services` opens it on a fork of the stored state and commits what it holds.
"""

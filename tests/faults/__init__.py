"""The functions' parts on an AWS that is simulated: its time is the test's, and it fails where the test says.

What the emulator does not do on demand is done here: messages that come twice, streams out of order, schedules that
fire by the minute, and functions that end between any two calls.
"""

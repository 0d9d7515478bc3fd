"""Workflows and activities in the manner of every SDK's first samples; they import nothing of this project.

The one thing a newcomer gets wrong: the SDK's sandbox imports these modules anew for every workflow, so they
hold no test code, and importing them does nothing.
"""

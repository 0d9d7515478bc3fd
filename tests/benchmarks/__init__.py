"""Benchmarks of the embedded server against the server of ``temporal server start-dev``.

They measure and compare; they never fail because something was slow. Run them with ``python -m tests.benchmarks``.
"""

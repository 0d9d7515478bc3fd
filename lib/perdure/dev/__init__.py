"""The embedded edge: `perdure dev` serves gRPC and HTTP, waits for long polls and runs the timers, in one process.

What does not live here: any rule of the engine or of a service. This package only carries calls to functions and waits.
"""

"""The Lambda functions: an event comes in, `durable_core` decides and stores, a response goes out.

Nothing of the engine lives here. A handler makes its parts at its first call and keeps them as long as its environment
lives.
"""

"""`perdure demo`: an order workflow outlives the SIGKILL of its server.

`main` sets the stage and clears it away, `story` is the course of events, `workflows` the worker's code, `server` the
process that gets killed, `survival` the judgement.

The one thing a newcomer gets wrong: this is a user of the server, not a part of it. It imports nothing of the engine.
"""

from perdure.demo.main import run

__all__ = ["run"]

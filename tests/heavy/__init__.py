"""Runs as large as they may be: 10,000 events, 10,000 signals, 1,000 pending activities, payloads of 2 MB.

The tests say that nothing is lost and all can be read; what a transition costs in a large run and in a small one they
print and do not judge: `pytest -s tests/heavy` shows it. Whose cost is measured steadily is `tests/benchmarks`' matter.

The one thing a newcomer gets wrong: batches make these tests quick. One workflow task brings 2,000 events for one call;
ten thousand calls take ten seconds.
"""

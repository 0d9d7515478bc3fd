"""Several processes on one database, one port call at a time, with the faults that storage and queues have.

A seed decides everything: `PERDURE_SIMULATION_SEEDS=2000` runs more of them, `PERDURE_SIMULATION_SEED=17` only one.
"""

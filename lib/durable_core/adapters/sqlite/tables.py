"""The tables. Their layout decides what a commit costs, so the reasons stand here.

- A run is a row of its own with an integer key, and everything that belongs to the run carries that integer: keys stay
  short, and what young runs write lies together on a few pages. The unique index on the run's key is not touched when
  a run changes.
- Entries of sections, history nodes and tasks are tables without row IDs: writing one touches one B-tree.
- A wake-up has a table of its own since it changes rarely; the run's row changes with every transition.
- `run_branches` says which run wrote which branch of history, so that deleting the run finds its nodes.
- `shared_branches` has a row for each branch of another run that a run's history goes on from, which only a reset
  makes. It is what deleting asks, so the common run pays nothing for it. `orphaned`: the run that wrote the branch is
  deleted, so the branch goes with the last run that shares it.
"""

APPLICATION_ID = 0x70726475
"""Stored in the file's header (`prdu`), so that another program's database is recognised and left alone."""

SHARED_BRANCHES = """
CREATE TABLE shared_branches (
    branch_id TEXT NOT NULL,
    run       INTEGER NOT NULL,
    orphaned  INTEGER NOT NULL,
    PRIMARY KEY (branch_id, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX shared_branches_of_run ON shared_branches (run);
"""

UPGRADES = {1: SHARED_BRANCHES}
"""What brings a database of that format to the next one."""

TABLES = f"""
CREATE TABLE deployment (
    one           INTEGER PRIMARY KEY CHECK (one = 1),
    deployment_id TEXT NOT NULL,
    shards        INTEGER NOT NULL,
    format        INTEGER NOT NULL
) STRICT;

CREATE TABLE namespaces (
    namespace_id TEXT PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    version      INTEGER NOT NULL,
    body         BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE shards (
    shard    INTEGER PRIMARY KEY,
    range_id INTEGER NOT NULL,
    owner    TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    run          INTEGER PRIMARY KEY,
    namespace_id TEXT NOT NULL,
    workflow_id  TEXT NOT NULL,
    run_id       TEXT NOT NULL,
    version      INTEGER NOT NULL,
    token        TEXT NOT NULL,
    core         BLOB NOT NULL,
    UNIQUE (run_id, workflow_id, namespace_id)
) STRICT;

CREATE TABLE run_sections (
    run     INTEGER NOT NULL,
    section TEXT NOT NULL,
    entry   TEXT NOT NULL,
    value   BLOB NOT NULL,
    PRIMARY KEY (run, section, entry)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_branches (
    run       INTEGER NOT NULL,
    branch_id TEXT NOT NULL,
    PRIMARY KEY (run, branch_id)
) STRICT, WITHOUT ROWID;

{SHARED_BRANCHES}

CREATE TABLE current_runs (
    workflow_id  TEXT NOT NULL,
    namespace_id TEXT NOT NULL,
    run_id       TEXT NOT NULL,
    open         INTEGER NOT NULL,
    state        BLOB NOT NULL,
    PRIMARY KEY (workflow_id, namespace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE history_nodes (
    branch_id      TEXT NOT NULL,
    first_event_id INTEGER NOT NULL,
    transaction_id INTEGER NOT NULL,
    count          INTEGER NOT NULL,
    events         BLOB NOT NULL,
    PRIMARY KEY (branch_id, first_event_id, transaction_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
    run     INTEGER NOT NULL,
    task_id INTEGER NOT NULL,
    task    BLOB NOT NULL,
    PRIMARY KEY (run, task_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE wake_ups (
    run INTEGER PRIMARY KEY,
    due INTEGER NOT NULL
) STRICT;
"""

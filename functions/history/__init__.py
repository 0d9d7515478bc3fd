"""Tasks of the history service: children, external executions, parents."""

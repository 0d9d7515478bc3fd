"""The whole stack as `cdk deploy` makes it, on a local AWS, with real workers of the SDK before it.

Each test here passes the bridge, the HTTP API, the functions, the tables, the stream and the queues. What a single part
does is tested beside its code; what conversations look like is tested by `tests/sdk` and `tests/parity`, which
`python -m localstack test` runs against this same deployment.
"""

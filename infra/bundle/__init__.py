"""The Lambda bundle: one archive with the core, the handlers and what they import, for whichever platform is asked for.

`python -m infra.bundle` makes it and prints its size; `build.build` is what the stack calls. There is no Docker in it:
wheels for the target are downloaded and unpacked, never installed.
"""

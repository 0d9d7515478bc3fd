"""The documents against the code: what they list, name and print is what is there.

`python -m tests.docs` writes again what is derived from the code: docs/API.md, docs/LIMITS.md and the marked blocks of
README.md. The tests here only compare, so that a document is never older than the code beside it.
"""

"""One list of scenarios that workers of every SDK must pass: the same workflows in Python, TypeScript and Go.

`scenarios` is the list, as data; `driver` plays one against a running worker; `languages` knows how each worker is
built and started. The workers themselves are `python_worker` here, `../typescript` and `../go`.

The one thing a newcomer gets wrong: client and driver are Python's for all languages, so that only the worker differs.
"""

"""The samples people start with, run by the official SDKs and command line against a live server.

`samples/` holds worker code as its authors write it; the tests here say what a client must see. Histories
compared with the reference server's are `tests/parity`'s.
"""

"""The version of what is stored, whatever stores it.

It counts changes that older code could not read: the encoding of run documents, the meaning of a column, a key. Each
adapter keeps it with the data and refuses data that is newer than the code. The layout of one backend's tables is that
backend's own matter and lives in its adapter.
"""

STORED_FORMAT = 2

"""What every storage backend must do: one suite of contracts, and one test module per backend that gives a factory.

A contract names no backend. A new backend adds a `test_<backend>.py` with a `factory` fixture and a subclass of each
contract, and changes nothing here; where a contract and a backend disagree, the port's docstring decides.
"""

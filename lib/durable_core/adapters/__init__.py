"""Implementations of the ports, one folder a backend. An adapter never imports another one."""

"""Perdure's engine as a library: pure decisions over event-sourced executions, ports, services and adapters."""

"""Sizes and small values of payloads, as the Temporal server counts them."""

from collections.abc import Mapping

from temporalio.api.common.v1 import Payload, Payloads


def fields_size(fields: Mapping[str, Payload]) -> int:
    """Bytes of a memo's or a search attribute map's keys and data."""
    return sum(len(key) + len(payload.data) for key, payload in fields.items())


def text(value: str) -> Payloads:
    """One string, as the SDKs' default converter writes it."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=f'"{escaped}"'.encode())])

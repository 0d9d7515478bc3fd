"""SQS and the Scheduler as far as the adapters see them: calls go into lists, and answers are what a test says.

It stands for AWS, not for code of ours; what the real protocol makes of these calls is tested on the local AWS.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "injected"}}, "AnyOperation")


def sent(call: dict[str, Any]) -> dict[str, Any]:
    return {"Successful": [{"Id": entry["Id"]} for entry in call["Entries"]]}


@dataclass
class Service:
    """Records `(operation, parameters)`; scripted answers come first, in their order, for their operation."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    scripts: dict[str, list[Answer | Exception]] = field(default_factory=dict)

    def script(self, operation: str, *answers: Answer | Exception) -> None:
        self.scripts.setdefault(operation, []).extend(answers)

    def of(self, operation: str) -> list[dict[str, Any]]:
        return [parameters for name, parameters in self.calls if name == operation]

    def __getattr__(self, operation: str) -> Callable[..., dict[str, Any]]:
        def call(**parameters: Any) -> dict[str, Any]:
            self.calls.append((operation, parameters))
            script = self.scripts.get(operation)
            answer = (
                script.pop(0) if script else (sent if operation == "send_message_batch" else lambda _: {})
            )
            if isinstance(answer, Exception):
                raise answer
            return answer(parameters)

        return call


@dataclass
class FakeClients:
    sqs: Service = field(default_factory=Service)
    scheduler: Service = field(default_factory=Service)

    @property
    def sqs_long_polls(self) -> Service:
        return self.sqs

"""The two calls to SQS that the bridge makes: receive a task's message, and give it back.

What does not live here: deleting. The service deletes a message when it has claimed the task, and nobody else does.
A newcomer's trap: a receive that is broken off may still take a message, which then stays hidden for the queue's
visibility time. So a receive is let run to its end, and what nobody wants is given back.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from perdure.bridge.authorization import Aws, CannotAuthorize, SigV4
from perdure.bridge.endpoint import proxy_for

CONTENT_TYPE = "application/x-amz-json-1.0"
# SQS holds a receive no longer than this.
WAIT_SECONDS_MAX = 20
MESSAGES_MAX = 10
_ANSWER_SECONDS_MAX = WAIT_SECONDS_MAX + 10.0
_HOSTS = (".amazonaws.com", ".amazonaws.com.cn")


@dataclass(frozen=True, slots=True)
class Message:
    """A task's message as it was received; `receipt` is what deletes it or gives it back."""

    body: str
    receipt: str


class SqsError(Exception):
    """SQS refused, or could not be reached: trying again later may help."""


class NoSuchQueue(SqsError):
    """The queue is gone, perhaps because nobody used it for long."""


class NotAllowed(SqsError):
    """These credentials may not receive from this queue."""


class Sqs:
    """Calls SQS with the credentials of an account. `endpoint` None: where each queue's own address says."""

    def __init__(self, session: aiohttp.ClientSession, aws: Aws, endpoint: str | None) -> None:
        self._session = session
        self._aws = aws
        self._endpoint = endpoint
        self._signers: dict[str, SigV4] = {}

    def trusts(self, queue_url: str) -> bool:
        """Whether the address is one that signed requests may go to: AWS, or the endpoint that was configured."""
        parts = urlsplit(queue_url)
        return self._endpoint is not None or (
            parts.scheme == "https" and (parts.hostname or "").endswith(_HOSTS)
        )

    async def receive(self, queue_url: str, messages_max: int) -> list[Message]:
        """Wait for messages, up to 20 s; an empty list when none came. Raises `SqsError`."""
        request = {
            "QueueUrl": queue_url,
            "MaxNumberOfMessages": min(messages_max, MESSAGES_MAX),
            "WaitTimeSeconds": WAIT_SECONDS_MAX,
        }
        answer = await self._call("ReceiveMessage", queue_url, request)
        return [Message(each["Body"], each["ReceiptHandle"]) for each in answer.get("Messages") or ()]

    async def release(self, queue_url: str, message: Message) -> None:
        """Let others receive the message at once. Raises `SqsError`; the message comes back later all the same."""
        request = {"QueueUrl": queue_url, "ReceiptHandle": message.receipt, "VisibilityTimeout": 0}
        await self._call("ChangeMessageVisibility", queue_url, request)

    async def _call(self, action: str, queue_url: str, request: dict[str, Any]) -> dict[str, Any]:
        parts = urlsplit(queue_url)
        url = (self._endpoint or f"{parts.scheme}://{parts.netloc}").rstrip("/") + "/"
        body = json.dumps(request).encode()
        target = {"x-amz-target": f"AmazonSQS.{action}"}
        headers = await self._signer(queue_url).headers(url, CONTENT_TYPE, body, target)
        try:
            async with (
                asyncio.timeout(_ANSWER_SECONDS_MAX),
                self._session.post(url, data=body, headers=headers, proxy=proxy_for(url)) as response,
            ):
                data = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SqsError(f"cannot reach SQS at {url}: {error}") from error
        return _answer(response.status, data)

    def _signer(self, queue_url: str) -> SigV4:
        host = urlsplit(queue_url).netloc
        signer = self._signers.get(host)
        if signer is None:
            try:
                signer = self._signers[host] = self._aws.signer("sqs", queue_url)
            except CannotAuthorize as error:
                raise NotAllowed(str(error)) from error
        return signer


def _answer(status: int, data: bytes) -> dict[str, Any]:
    try:
        tree = json.loads(data or b"{}")
    except ValueError as error:
        raise SqsError(f"SQS answered {status} and no JSON") from error
    if status == 200 and isinstance(tree, dict):
        return tree
    kind = str(tree.get("__type", "")) if isinstance(tree, dict) else ""
    said = f"SQS answered {status} {kind}: {tree.get('message') or tree.get('Message') or ''}"
    if "NonExistentQueue" in kind or "QueueDoesNotExist" in kind:
        raise NoSuchQueue(said)
    if status == 403 or "AccessDenied" in kind:
        raise NotAllowed(said)
    raise SqsError(said)

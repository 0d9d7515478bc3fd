"""The service at the other end: one Connect unary call over HTTP, authorized, with its deadline, and its errors read.

What does not live here: polls (`polling`) and gRPC (`server`).
A newcomer's trap: only a call that never reached the service is tried again. Once bytes were sent it may have happened,
and whether to repeat it is for the caller to say, who knows its request IDs.
"""

import asyncio
import logging
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import aiohttp
import grpc
from yarl import URL

from perdure.bridge.authorization import Authorization
from perdure.bridge.backoff import delay_seconds
from perdure.bridge.errors import CallFailed, failure_of
from perdure.bridge.metadata import PROTO, timeout_header

CONNECT_ATTEMPTS_MAX = 3
CONNECT_SECONDS_MAX = 5.0
CONNECT_DELAY_SECONDS_MAX = 1.0
# For a caller without a deadline; API Gateway gives up far earlier.
PATIENCE_SECONDS = 120.0
# The service answers at the deadline it is told; its answer still has to travel.
TRAVEL_SECONDS = 2.0
KEEP_ALIVE_SECONDS = 55.0

log = logging.getLogger("perdure.bridge")


@dataclass(frozen=True, slots=True)
class Answer:
    """`headers` are the service's, their names in any case."""

    body: bytes
    headers: Mapping[str, str]


class Caller(Protocol):
    """What makes the calls: an `Endpoint`, or what stands before one."""

    async def call(
        self, path: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float | None
    ) -> Answer:
        """The answer of the method at `path`. Raises `CallFailed`, and nothing else."""


def http_session() -> aiohttp.ClientSession:
    """A client for hundreds of calls at once. Create it inside a running event loop, and close it there."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS, ttl_dns_cache=60),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"user-agent": "perdure-bridge"},
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS_MAX),
    )


def proxy_for(url: str) -> str | None:
    """The HTTP proxy that the environment names for this address."""
    parts = urlsplit(url)
    if urllib.request.proxy_bypass(parts.netloc):
        return None
    return urllib.request.getproxies().get(parts.scheme)


class Endpoint:
    """A service by its address. It says in the log when it is lost and when it is back, once each."""

    def __init__(self, url: str, session: aiohttp.ClientSession, authorization: Authorization) -> None:
        self.url = url.rstrip("/")
        self._session = session
        self._authorization = authorization
        self._proxy = proxy_for(url)
        self._reachable = True

    async def call(
        self, path: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float | None
    ) -> Answer:
        """The answer of the method at `path`. Raises `CallFailed`, and nothing else."""
        url = self.url + path
        authorization = await self._authorization.headers(url, PROTO, body, {})
        sent = {**headers, **timeout_header(timeout_seconds), **authorization}
        patience = PATIENCE_SECONDS if timeout_seconds is None else timeout_seconds + TRAVEL_SECONDS
        try:
            async with asyncio.timeout(patience):
                return await self._post(url, body, sent)
        except aiohttp.ClientError as error:
            raise self._unavailable(error) from error
        except TimeoutError as error:
            message = f"the endpoint did not answer within {patience:.0f} s"
            raise CallFailed(grpc.StatusCode.DEADLINE_EXCEEDED, message) from error
        except OSError as error:
            raise self._unavailable(error) from error

    async def _post(self, url: str, body: bytes, headers: dict[str, str]) -> Answer:
        for attempt in range(1, CONNECT_ATTEMPTS_MAX):
            try:
                return await self._post_once(url, body, headers)
            except aiohttp.ClientConnectorError as error:
                self._lost(error)
                await asyncio.sleep(delay_seconds(attempt, ceiling_seconds=CONNECT_DELAY_SECONDS_MAX))
        return await self._post_once(url, body, headers)

    async def _post_once(self, url: str, body: bytes, headers: dict[str, str]) -> Answer:
        # The address was signed as it is, so nothing may rewrite it.
        target = URL(url, encoded=True)
        async with self._session.post(
            target, data=body, headers=headers, proxy=self._proxy, allow_redirects=False
        ) as response:
            data = await response.read()
            self._found()
            if response.status != 200:
                raise failure_of(response.status, data)
            content_type = response.content_type
            if content_type != PROTO:
                message = (
                    f"the endpoint answered {content_type} and not {PROTO}: is {self.url} a Perdure endpoint?"
                )
                raise CallFailed(grpc.StatusCode.INTERNAL, message)
            return Answer(data, response.headers)

    def _unavailable(self, error: Exception) -> CallFailed:
        self._lost(error)
        message = f"cannot reach {self.url}: {str(error) or type(error).__name__}"
        return CallFailed(grpc.StatusCode.UNAVAILABLE, message)

    def _lost(self, error: Exception) -> None:
        if self._reachable:
            self._reachable = False
            log.warning("cannot reach %s, trying again with each call: %s", self.url, error)

    def _found(self) -> None:
        if not self._reachable:
            self._reachable = True
            log.warning("%s is reachable again", self.url)

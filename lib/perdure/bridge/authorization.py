"""Who we say we are: nobody, the bearer of a token, or an AWS principal whose key signs each request (SigV4).

What does not live here: sending. The only module of the programs that imports botocore; it is loaded for AWS alone.
A newcomer's trap: credentials of a role expire. They are asked for at each signature, and renewed in a thread, because
botocore renews them with blocking calls.
"""

import asyncio
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

import grpc

from perdure.bridge.errors import CallFailed

if TYPE_CHECKING:
    from botocore.credentials import Credentials, ReadOnlyCredentials

_REGION_IN_HOST = re.compile(r"\.(?:execute-api|lambda-url)\.([a-z0-9-]+)\.|^sqs\.([a-z0-9-]+)\.")


class CannotAuthorize(Exception):
    """The options ask for a kind of authorization that this machine has nothing for; says what to do."""


class Authorization(Protocol):
    async def headers(
        self, url: str, content_type: str, body: bytes, extra: dict[str, str]
    ) -> dict[str, str]:
        """The headers that authorize a POST. `extra` is signed with it, where anything is signed.

        Raises `CallFailed` when there are none at the moment.
        """


class Nobody:
    """No authorization, for an endpoint that asks for none."""

    async def headers(
        self, url: str, content_type: str, body: bytes, extra: dict[str, str]
    ) -> dict[str, str]:
        return extra


class Bearer:
    """A token from the environment, read once, or from a file that is read again whenever it has changed."""

    def __init__(self, token: str | None, file: Path | None) -> None:
        self._file = file
        self._changed_at = -1
        self._token = token or ""
        if file is not None:
            self._read(file)
        if not self._token:
            raise CannotAuthorize("the token is empty")

    async def headers(
        self, url: str, content_type: str, body: bytes, extra: dict[str, str]
    ) -> dict[str, str]:
        if self._file is not None:
            self._read(self._file)
        return {**extra, "authorization": f"Bearer {self._token}"}

    def _read(self, file: Path) -> None:
        try:
            changed_at = file.stat().st_mtime_ns
            if changed_at != self._changed_at:
                self._token = file.read_text(encoding="utf-8").strip()
                self._changed_at = changed_at
        except OSError as error:
            # A file that is being replaced is missing for a moment; the token that we have may still be good.
            if not self._token:
                raise CannotAuthorize(f"cannot read the token file {file}: {error.strerror}") from error


class SigV4:
    """Signs requests for one AWS service and Region with the credentials of `source`."""

    def __init__(self, source: "Credentials", service: str, region: str) -> None:
        self._source = source
        self._service = service
        self.region = region

    async def headers(
        self, url: str, content_type: str, body: bytes, extra: dict[str, str]
    ) -> dict[str, str]:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        request = AWSRequest(
            method="POST", url=url, data=body, headers={**extra, "content-type": content_type}
        )
        SigV4Auth(await self._credentials(), self._service, self.region).add_auth(request)
        return dict(request.headers.items())

    async def _credentials(self) -> "ReadOnlyCredentials":
        from botocore.credentials import RefreshableCredentials
        from botocore.exceptions import BotoCoreError

        source = self._source
        try:
            if isinstance(source, RefreshableCredentials) and source.refresh_needed():
                return await asyncio.to_thread(source.get_frozen_credentials)
            return source.get_frozen_credentials()
        except BotoCoreError as error:
            message = f"the AWS credentials cannot be renewed: {error}"
            raise CallFailed(grpc.StatusCode.UNAVAILABLE, message) from error


class Aws:
    """The AWS account that the environment names, by botocore's default chain of sources."""

    def __init__(self, region: str | None) -> None:
        """Raises `CannotAuthorize` when there are no credentials, or no botocore."""
        try:
            from botocore.exceptions import BotoCoreError
            from botocore.session import Session
        except ModuleNotFoundError as error:
            raise CannotAuthorize("botocore is missing: pip install 'perdure[bridge]'") from error
        session = Session()
        try:
            credentials = session.get_credentials()
            configured = session.get_config_variable("region")
        except BotoCoreError as error:
            raise CannotAuthorize(f"the AWS credentials cannot be used: {error}") from error
        if credentials is None:
            raise CannotAuthorize("no AWS credentials: set AWS_PROFILE or AWS_ACCESS_KEY_ID, or log in")
        self._credentials = credentials
        self._region = region
        self._configured_region = str(configured) if configured else None

    def signer(self, service: str, url: str) -> SigV4:
        """A signer for a service at this address. The Region: the address's, else the one given, else the profile's."""
        region = region_of(url) or self._region or self._configured_region
        if region is None:
            raise CannotAuthorize(f"the Region of {url} is not known: give it with --region")
        return SigV4(self._credentials, service, region)


def region_of(url: str) -> str | None:
    """The Region in the host name of an AWS address, None for a name without one."""
    found = _REGION_IN_HOST.search(urlsplit(url).hostname or "")
    return (found.group(1) or found.group(2)) if found is not None else None


def sqs_endpoint() -> str | None:
    """Where SQS is, when it is not where the queue's address says; as the AWS SDKs read it."""
    return os.environ.get("AWS_ENDPOINT_URL_SQS") or os.environ.get("AWS_ENDPOINT_URL")

"""The local AWS of this folder's tests: one server a test process, one account a test."""

from collections.abc import Iterator

import pytest

from .local import Account, local_aws, new_account


@pytest.fixture(scope="session")
def aws_url() -> Iterator[str]:
    with local_aws() as url:
        yield url


@pytest.fixture
def account(aws_url: str) -> Account:
    return new_account(aws_url)

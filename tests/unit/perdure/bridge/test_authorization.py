"""Signatures are those of AWS, tokens are fresh, and what is missing is said before a port is taken."""

import datetime
import hashlib
import hmac
import os

import grpc
import pytest

from perdure.bridge import authorization
from perdure.bridge.authorization import Aws, Bearer, CannotAuthorize, Nobody, SigV4, region_of
from perdure.bridge.errors import CallFailed
from tests.unit.perdure.bridge.far_ends import some_aws

pytestmark = pytest.mark.asyncio
URL = "https://abc.execute-api.eu-west-1.amazonaws.com/prod/a.B/C"


def _signature(secret, headers, body):
    """The signature by AWS's published recipe, from the headers that say what was signed."""
    fields = dict(part.split("=", 1) for part in headers["Authorization"].partition(" ")[2].split(", "))
    _, date, region, service, _ = fields["Credential"].split("/")
    lower = {name.lower(): value for name, value in headers.items()} | {
        "host": "abc.execute-api.eu-west-1.amazonaws.com"
    }
    signed = fields["SignedHeaders"]
    canonical = "\n".join(
        [
            "POST",
            "/prod/a.B/C",
            "",
            *(f"{name}:{lower[name]}" for name in signed.split(";")),
            "",
            signed,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    scope = f"{date}/{region}/{service}/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = f"AWS4-HMAC-SHA256\n{lower['x-amz-date']}\n{scope}\n{digest}"
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return fields["Signature"], hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest(), signed


async def test_the_signature_is_what_the_recipe_of_aws_computes(monkeypatch):
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session")
    signer = some_aws(monkeypatch).signer("execute-api", URL)
    headers = await signer.headers(URL, "application/proto", b"body", {})
    claimed, computed, signed = _signature("secret", headers, b"body")
    assert claimed == computed
    assert {"content-type", "host", "x-amz-date", "x-amz-security-token"} == set(signed.split(";"))
    assert headers["X-Amz-Security-Token"] == "session"


async def test_another_body_has_another_signature(monkeypatch):
    signer = some_aws(monkeypatch).signer("execute-api", URL)
    first = await signer.headers(URL, "application/proto", b"one", {})
    _, computed, _ = _signature("secret", first, b"two")
    assert computed not in first["Authorization"]


async def test_headers_given_with_it_are_signed(monkeypatch):
    signer = some_aws(monkeypatch).signer("sqs", "https://sqs.eu-west-1.amazonaws.com/1/q")
    headers = await signer.headers("https://sqs.eu-west-1.amazonaws.com/", "x", b"", {"x-amz-target": "A.B"})
    assert "x-amz-target" in headers["Authorization"]


async def test_credentials_that_expire_are_renewed_before_they_do():
    from botocore.credentials import RefreshableCredentials

    def expiring(key, minutes):
        when = datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=minutes)
        return {"access_key": key, "secret_key": "s", "token": "t", "expiry_time": when.isoformat()}

    source = RefreshableCredentials.create_from_metadata(
        expiring("OLD", 1), refresh_using=lambda: expiring("NEW", 60), method="test"
    )
    headers = await SigV4(source, "execute-api", "eu-west-1").headers(URL, "x", b"", {})
    assert "Credential=NEW/" in headers["Authorization"]


async def test_credentials_that_cannot_be_renewed_make_calls_unavailable():
    from botocore.credentials import RefreshableCredentials
    from botocore.exceptions import CredentialRetrievalError

    def refuse():
        raise CredentialRetrievalError(provider="test", error_msg="the login has expired")

    expired = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=1)).isoformat()
    source = RefreshableCredentials.create_from_metadata(
        {"access_key": "a", "secret_key": "s", "token": "t", "expiry_time": expired},
        refresh_using=refuse,
        method="test",
    )
    with pytest.raises(CallFailed, match="the login has expired") as raised:
        await SigV4(source, "execute-api", "eu-west-1").headers(URL, "x", b"", {})
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize(
    "url, region",
    [
        (URL, "eu-west-1"),
        ("https://sqs.us-gov-west-1.amazonaws.com/1/q", "us-gov-west-1"),
        ("https://x.lambda-url.ap-south-1.on.aws/", "ap-south-1"),
        ("http://127.0.0.1:4566/restapis/x", None),
        ("https://temporal.example.com", None),
    ],
)
async def test_the_region_is_read_from_the_address(url, region):
    assert region_of(url) == region


async def test_a_region_that_nobody_names_is_asked_for(monkeypatch):
    some_aws(monkeypatch)
    with pytest.raises(CannotAuthorize, match="--region"):
        Aws(None).signer("execute-api", "http://127.0.0.1:1")


async def test_without_credentials_it_says_how_to_get_some(monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    with pytest.raises(CannotAuthorize, match="no AWS credentials"):
        Aws("eu-west-1")


async def test_a_token_goes_into_the_authorization():
    assert await Bearer("word", None).headers(URL, "x", b"", {"a": "b"}) == {
        "a": "b",
        "authorization": "Bearer word",
    }


async def test_a_token_file_is_read_again_when_it_has_changed(tmp_path):
    file = tmp_path / "token"
    file.write_text("one\n")
    bearer = Bearer(None, file)
    assert (await bearer.headers(URL, "x", b"", {}))["authorization"] == "Bearer one"
    file.write_text("two\n")
    os.utime(file, ns=(1, 1))
    assert (await bearer.headers(URL, "x", b"", {}))["authorization"] == "Bearer two"


async def test_a_token_file_that_is_away_for_a_moment_leaves_us_the_last_token(tmp_path):
    file = tmp_path / "token"
    file.write_text("one")
    bearer = Bearer(None, file)
    file.unlink()
    assert (await bearer.headers(URL, "x", b"", {}))["authorization"] == "Bearer one"


async def test_no_token_is_refused_at_once(tmp_path):
    with pytest.raises(CannotAuthorize, match="cannot read the token file"):
        Bearer(None, tmp_path / "none")
    (tmp_path / "empty").write_text(" \n")
    with pytest.raises(CannotAuthorize, match="empty"):
        Bearer(None, tmp_path / "empty")


async def test_nobody_adds_nothing():
    assert await Nobody().headers(URL, "x", b"", {}) == {}


async def test_the_endpoint_of_sqs_is_read_as_the_sdks_do(monkeypatch):
    assert authorization.sqs_endpoint() is None
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://all")
    assert authorization.sqs_endpoint() == "http://all"
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "http://sqs")
    assert authorization.sqs_endpoint() == "http://sqs"

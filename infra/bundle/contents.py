"""Which files go into a bundle: of our own code, and of each wheel.

What does not live here: unpacking and packing (`archive`).
A newcomer's trap: the rules leave out, so a distribution's new version may bring files that nobody thought of. The
bundle's size is printed whenever it is built, and a test holds its limit.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

# The package itself imports the native core; a function needs the message types alone.
TEMPORALIO_INIT = '"""Only the message types of the API: a function runs no worker."""\n'

# The services that the functions call, under botocore's names for them.
SERVICES = frozenset({"dynamodb", "scheduler", "sqs"})

# Of Powertools' utilities those that the handlers use, and what these use; most of the others bring a great deal along.
POWERTOOLS_UTILITIES = frozenset({"batch", "data_classes", "jmespath_utils", "typing"})

# What our own code has beside what runs on Lambda: the embedded system's half.
_EMBEDDED = ("durable_core/bootstrap.py", "durable_core/adapters/sqlite/", "durable_core/adapters/memory/")

# Never needed to run, whatever brings it.
_NEVER = re.compile(
    r"(^|/)(tests?|testing|__pycache__)/|\.(pyi|pxd|pyx|c|h|md|rst|typed)$|(^|/)[^/]+\.dist-info/"
)


def own_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Our code: each file's name in the bundle, and where it is."""
    for base, folder in ((root / "lib", "durable_core"), (root, "functions")):
        for path in sorted((base / folder).rglob("*.py")):
            name = path.relative_to(base).as_posix()
            if not name.startswith(_EMBEDDED) and "__pycache__" not in name:
                yield name, path


def wanted(distribution: str, name: str) -> bool:
    """Whether a file of a wheel goes into the bundle."""
    if _NEVER.search(name):
        return False
    rule = _RULES.get(distribution)
    return rule is None or rule(PurePosixPath(name))


def _temporalio(path: PurePosixPath) -> bool:
    if path.parts[:2] != ("temporalio", "api"):
        return False
    # The SDK itself does without the gRPC stubs when grpcio is missing; here they would only be compiled in vain.
    return path.parts[2] not in {"cloud", "testservice"} and not path.stem.endswith("_pb2_grpc")


def _botocore(path: PurePosixPath) -> bool:
    if path.parts[:2] != ("botocore", "data"):
        return path.name != "crt"
    if len(path.parts) == 3:
        return True
    return path.parts[2] in SERVICES and not path.name.startswith("examples-")


def _powertools(path: PurePosixPath) -> bool:
    if path.suffix != ".py" or path.parts[1] == "event_handler":
        return False
    return path.parts[1] != "utilities" or len(path.parts) == 3 or path.parts[2] in POWERTOOLS_UTILITIES


def _google_apis(path: PurePosixPath) -> bool:
    return path.suffix == ".py" and path.parts[1] in {"api", "rpc"}


def _python_only(path: PurePosixPath) -> bool:
    return path.suffix == ".py"


_RULES: dict[str, Callable[[PurePosixPath], bool]] = {
    "aws_lambda_powertools": _powertools,
    "boto3": _python_only,
    "botocore": _botocore,
    "croniter": _python_only,
    "googleapis_common_protos": _google_apis,
    "temporalio": _temporalio,
}

"""Where a bundle is to run: the version of Python and the processor.

What does not live here: which files go into the bundle (`contents`).
A newcomer's trap: an emulator without Docker runs functions on its own interpreter, so what is deployed to it must be
built for that one (`Target.local`), whatever architecture the function declares.
"""

import platform
import sys
from dataclasses import dataclass
from typing import Self

LAMBDA_PYTHON = "3.12"
# Lambda's Python 3.12 runs on Amazon Linux 2023, whose C library is 2.34: wheels for anything older work as well.
_PLATFORMS = {
    "arm64": ("manylinux2014_aarch64", "manylinux_2_28_aarch64"),
    "x86_64": ("manylinux2014_x86_64", "manylinux_2_28_x86_64"),
}
ARCHITECTURES = tuple(_PLATFORMS)


@dataclass(frozen=True, slots=True)
class Target:
    """`platforms` are tags of wheels, best first; none means those of the interpreter that runs this."""

    name: str
    python: str
    platforms: tuple[str, ...]

    @classmethod
    def lambda_function(cls, architecture: str) -> Self:
        """Raises `KeyError` for an architecture that Lambda does not have."""
        return cls(f"lambda-{architecture}", LAMBDA_PYTHON, _PLATFORMS[architecture])

    @classmethod
    def local(cls) -> Self:
        """This very interpreter."""
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        return cls(f"local-{platform.machine()}", python, ())

    @property
    def pip_options(self) -> list[str]:
        if not self.platforms:
            return []
        tags = [option for tag in self.platforms for option in ("--platform", tag)]
        return [*tags, "--python-version", self.python, "--implementation", "cp"]

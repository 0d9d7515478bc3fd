"""`python -m infra.bundle [arm64|x86_64|local]`: build a bundle and say where it is and how large it came out."""

import argparse

from infra.bundle.build import ROOT, build
from infra.bundle.target import ARCHITECTURES, Target


def main() -> None:
    """Build one bundle."""
    parser = argparse.ArgumentParser(prog="python -m infra.bundle", description="Build the Lambda bundle.")
    parser.add_argument("target", nargs="?", default="arm64", choices=[*ARCHITECTURES, "local"])
    name = parser.parse_args().target
    bundle = build(Target.local() if name == "local" else Target.lambda_function(name))
    how = "compiled" if bundle.compiled else f"not compiled: there is no python{bundle.target.python} here"
    print(f"{bundle.path.relative_to(ROOT)}: {bundle.size / 2**20:.1f} MiB zipped, {how}")


if __name__ == "__main__":
    main()

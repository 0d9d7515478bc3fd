"""How long a function's code takes to import when nothing is warm: a fresh interpreter, the bundle, and nothing else.

What does not live here: any judgement of it. The figure is printed with the bundle's size and depends on the machine.
A newcomer's trap: it is the processor's time and not the clock's, so that a busy machine does not change it much; on
Lambda an import runs at the speed that the function's memory buys.
"""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
began = time.process_time()
module = __import__(sys.argv[2], fromlist=["handler"])
took = time.process_time() - began
assert callable(module.handler)
files = {name: getattr(each, "__file__", None) for name, each in sys.modules.items()}
print(json.dumps({"seconds": took, "files": files}))
"""
# Where Lambda unpacks a function. Tracing prepares for a daemon elsewhere and asks a service for its rules.
ON_LAMBDA = {
    "LAMBDA_TASK_ROOT": "/var/task",
    "AWS_LAMBDA_FUNCTION_NAME": "function",
    "AWS_REGION": "us-east-1",
}


@dataclass(frozen=True, slots=True)
class ColdImport:
    """`seconds` of processor time, and every module that was loaded with its file, built-in ones with None."""

    seconds: float
    files: Mapping[str, str | None]


def cold_import(python: str, folder: Path, module: str, environment: Mapping[str, str]) -> ColdImport:
    """Import a handler's module from an unpacked bundle. Raises `subprocess.CalledProcessError`."""
    # Isolated, and without the site's packages: what the bundle lacks must not be found elsewhere.
    command = [python, "-I", "-S", "-c", _SCRIPT, str(folder), module]
    run = subprocess.run(
        command, env={**ON_LAMBDA, **environment}, stdout=subprocess.PIPE, text=True, check=True
    )
    found = json.loads(run.stdout)
    return ColdImport(found["seconds"], found["files"])

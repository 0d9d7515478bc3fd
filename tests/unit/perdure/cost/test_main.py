"""`perdure cost` as a person runs it: from a file, and around a workload."""

import sys

import pytest

from perdure import cli
from perdure.cost import main as module
from perdure.cost.counts import Counts, read, write

COUNTED = Counts(
    100,
    {"dynamodb_write_units": 4_500.0, "api_requests": 700.0},
    {"workflows_started": 100.0, "activities_scheduled": 100.0},
    {"DynamoDB TransactWriteItems": 650},
)


def test_counts_from_a_file_become_the_table(tmp_path, capsys):
    file = tmp_path / "counts.json"
    write(COUNTED, file)
    assert cli.main(["cost", "--counts", str(file), "--calls"]) == 0
    said = capsys.readouterr().out
    # 45 units at $0.625 and 7 requests at $1, a million.
    assert "35.12" in said or "35.13" in said
    assert "Temporal Cloud" in said
    assert "6.50  DynamoDB TransactWriteItems" in said


def test_a_file_that_cannot_be_read_is_refused_in_words(tmp_path, capsys):
    assert cli.main(["cost", "--counts", str(tmp_path / "none")]) == 1
    assert "perdure: cannot read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["--counts", "x", "--upstream", "http://x"], ["--counts", "x", "--workflows", "0"]]
)
def test_what_makes_no_sense_is_refused_with_two(arguments):
    with pytest.raises(SystemExit) as raised:
        cli.main(["cost", *arguments])
    assert raised.value.code == 2


WORKLOAD = """
import os, urllib.request
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionResponse as R
path = "/_aws/execute-api/a/$default/temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution"
for _ in range(3):
    urllib.request.urlopen(urllib.request.Request(os.environ["AWS_ENDPOINT_URL"] + path, method="POST")).read()
"""


def test_a_workload_is_run_through_the_meter(tmp_path, capsys, monkeypatch):
    import http.server
    import threading

    from temporalio.api.workflowservice.v1 import StartWorkflowExecutionResponse

    class Aws(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = StartWorkflowExecutionResponse(started=True).SerializeToString()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    monkeypatch.setattr(module, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(
        "perdure.cost.lambda_logs.taken_by_lambda",
        lambda endpoint, region, since_ms: {"lambda_requests": 6.0},
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Aws)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        upstream = f"http://127.0.0.1:{server.server_port}"
        file = tmp_path / "counts.json"
        arguments = ["cost", "--upstream", upstream, "--write", str(file)]
        assert cli.main([*arguments, "--", sys.executable, "-c", WORKLOAD]) == 0
        counted = read(file)
        assert counted.workflows == 3
        assert counted.taken == {"api_requests": 3.0, "lambda_requests": 6.0}
        assert (
            cli.main(["cost", "--upstream", upstream, "--", sys.executable, "-c", "raise SystemExit(3)"]) == 1
        )
        assert cli.main(["cost", "--upstream", upstream, "--", sys.executable, "-c", ""]) == 1
        said = capsys.readouterr().err
        assert "ended with 3" in said
        assert "no workflow was started" in said
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""Lambda's own lines say what each call took."""

import pytest

from perdure.cost.lambda_logs import _is_quiet, _line

REPORT = "REPORT RequestId: 1-2\tDuration: 12.3 ms\tBilled Duration: 13 ms\tMemory Size: 512 MB\tMax Memory Used: 90 MB"


def test_a_report_is_a_request_and_its_gigabyte_seconds():
    counted = _line(REPORT, quiet=True)
    assert counted["lambda_requests"] == 1
    assert counted["lambda_gb_seconds"] == pytest.approx(0.013 * 0.5)


def test_every_line_is_bytes_taken_in():
    assert _line("ü" * 10, quiet=True) == {"log_gigabytes": pytest.approx((20 + 26) / 1e9)}
    assert _line(REPORT, quiet=False)["log_gigabytes"] == pytest.approx((len(REPORT) + 26) / 1e9)


@pytest.mark.parametrize("line", [REPORT, "START RequestId: 1-2 Version: $LATEST", "END RequestId: 1-2"])
def test_lines_that_lambda_would_not_write_are_no_bytes(line):
    assert _line(line, quiet=True)["log_gigabytes"] == 0


def test_a_function_is_quiet_when_it_is_set_to_have_warnings_only():
    assert _is_quiet({"LoggingConfig": {"LogFormat": "JSON", "SystemLogLevel": "WARN"}})
    assert not _is_quiet({"LoggingConfig": {"LogFormat": "Text"}})
    assert not _is_quiet({})

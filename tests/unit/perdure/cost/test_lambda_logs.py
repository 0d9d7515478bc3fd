"""Lambda's own lines say what each call took."""

import pytest

from perdure.cost.lambda_logs import _line

REPORT = "REPORT RequestId: 1-2\tDuration: 12.3 ms\tBilled Duration: 13 ms\tMemory Size: 512 MB\tMax Memory Used: 90 MB"


def test_a_report_is_a_request_and_its_gigabyte_seconds():
    counted = _line(REPORT)
    assert counted["lambda_requests"] == 1
    assert counted["lambda_gb_seconds"] == pytest.approx(0.013 * 0.5)


def test_every_line_is_bytes_taken_in():
    assert _line("ü" * 10) == {"log_gigabytes": pytest.approx((20 + 26) / 1e9)}
    assert _line(REPORT)["log_gigabytes"] == pytest.approx((len(REPORT) + 26) / 1e9)

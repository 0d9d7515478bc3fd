"""The settings of the functions as environment variables; the core's `config.py` is what reads them.

What does not live here: any default. What a parameter leaves out is decided in `parameters`.
A newcomer's trap: a value that changes with every deployment would start all functions cold each time.
"""

from infra.constructs.queues import Queues
from infra.constructs.schedules import Schedules
from infra.parameters import Parameters


def environment(parameters: Parameters, queues: Queues, schedules: Schedules) -> dict[str, str]:
    """The same for every function."""
    settings = {
        "PERDURE_PREFIX": parameters.name,
        "PERDURE_SHARDS": str(parameters.shards),
        "PERDURE_FAST_PATH": "on" if parameters.fast_path else "off",
        "PERDURE_LOG_LEVEL": parameters.log_level,
        "PERDURE_DEFAULT_RETENTION_DAYS": str(parameters.retention_days),
        "PERDURE_SERVICE_QUEUE_URL": queues.service.queue_url,
        "PERDURE_TIMER_QUEUE_URL": queues.timer.queue_url,
        "PERDURE_TIMER_QUEUE_ARN": queues.timer.queue_arn,
        "PERDURE_TIMER_DEAD_LETTER_QUEUE_ARN": queues.timer_dead_letters.queue_arn,
        "PERDURE_STREAM_DEAD_LETTER_QUEUE_URL": queues.stream_dead_letters.queue_url,
        "PERDURE_SCHEDULE_GROUP": schedules.group_name,
        "PERDURE_SCHEDULE_ROLE_ARN": schedules.role.role_arn,
        "POWERTOOLS_METRICS_NAMESPACE": "Perdure",
        "POWERTOOLS_LOG_LEVEL": parameters.log_level,
    }
    if not parameters.tracing:
        settings["POWERTOOLS_TRACE_DISABLED"] = "true"
    return settings

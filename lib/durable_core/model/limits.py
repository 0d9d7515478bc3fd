"""Every bound that users meet, named once, with its unit. Values are the Temporal server's defaults.

Source of each: the dynamic configuration of the Temporal server 1.32, and what `temporal server start-dev` does.
"""

from durable_core.model.times import DAY, HOUR, MINUTE, SECOND

id_length_max = 1000  # bytes: workflow, activity, timer, signal, request IDs, type and task queue names

blob_bytes_max = 2 * 1024 * 1024  # bytes: one payload field of a request or a command
truncated_failure_message_max = 524_272  # characters kept of a failure that is too large
memo_bytes_max = 2 * 1024 * 1024  # bytes
search_attribute_value_bytes_max = 2 * 1024  # bytes: one search attribute
search_attributes_bytes_max = 40 * 1024  # bytes: all search attributes of a run
search_attributes_count_max = 100
workflow_task_completion_bytes_max = 40 * 1024 * 1024  # bytes
user_metadata_summary_bytes_max = 400  # bytes
user_metadata_details_bytes_max = 20_000  # bytes
fairness_key_length_max = 64  # characters
links_count_max = 10
link_bytes_max = 4_000  # bytes

updates_in_flight_max = 10  # a run: updates that are not completed
updates_per_run_max = 2000
update_rejection_kept = 60 * SECOND  # how long a rejection can be read by who waits for it
long_poll_update = 20 * SECOND  # a wait for an update's stage is answered with the stage reached after this

history_events_suggest_continue_as_new = 4 * 1024  # events
history_bytes_suggest_continue_as_new = 4 * 1024 * 1024  # bytes
history_events_max = 50 * 1024  # events
history_bytes_max = 50 * 1024 * 1024  # bytes
history_page_nodes_max = 256  # nodes a page of GetWorkflowExecutionHistory
history_page_bytes_max = (
    3 * 1024 * 1024
)  # bytes a page, but for a single larger node: clients take 4 MB a message
workflow_task_history_nodes = 256  # nodes in a polled workflow task; the rest is fetched by its page token

pending_activities_max = 2000
pending_children_max = 2000
pending_signals_max = 2000  # signals to external executions
pending_cancel_requests_max = 2000
signals_per_run_max = 10_000
buffered_events_max = 100
buffered_bytes_max = 2 * 1024 * 1024  # bytes
reset_points_max = 20

workflow_task_timeout_default = 10 * SECOND
workflow_task_timeout_max = 120 * SECOND
workflow_task_retry_backoff_attempts = 3  # attempts without added back-off
workflow_task_failures_reported = 5  # failures in a row before the workflow is marked as troubled
workflow_task_retry_interval = 5 * SECOND
workflow_task_retry_interval_max = 10 * MINUTE
workflow_task_heartbeat_timeout = 30 * MINUTE
sticky_poller_silence_max = 10 * SECOND  # a sticky queue not polled for longer gets no tasks
sticky_schedule_to_start_default = 5 * SECOND

activity_retry_initial_interval = 1 * SECOND
activity_retry_coefficient = 2.0
activity_retry_interval_factor = 100  # maximum interval = initial interval times this
workflow_retry_initial_interval = 1 * SECOND
workflow_retry_coefficient = 2.0
workflow_retry_interval_factor = 100

long_poll_tasks = 60 * SECOND  # an empty poll for tasks is answered after this
long_poll_history = 20 * SECOND  # an empty wait for new events is answered after this
long_poll_margin = 1 * SECOND  # how long before the caller's own deadline we answer
query_timeout = 30 * SECOND  # a query without a shorter deadline of its caller
poller_wait_long = 1 * SECOND  # a poll that waited longer for its task could have been spared
backlog_age_short = 200_000_000  # ns: a task that waits longer wants more polls
poller_history = 5 * MINUTE  # a poller is shown that long after its last poll
poller_seen_recently = 5 * MINUTE  # a queue that nobody polled for longer has no worker
queries_buffered_max = 1  # a run: queries that wait for a workflow task

retention_default = 1 * DAY
retention_min = 1 * HOUR
duration_max = 100 * 365 * DAY  # longer durations are capped to this

run_interval_min = 1 * SECOND  # a run that lived shorter is followed only after the rest of this

commit_attempts_max = 14  # load-decide-commit rounds before a conflict is reported
commit_attempts_unfenced = 5  # rounds before the shard is taken first, so that others lose and not we

bad_binaries_max = 10  # a namespace
namespaces_page_default = 100  # namespaces a page of ListNamespaces when the caller names no size
namespaces_page_max = 1000

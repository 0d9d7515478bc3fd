"""What a deployment is made of: nothing is lost unnoticed, nothing is open to everybody, nothing costs when idle."""

import json
import re

import pytest

from durable_core.schema.tables import CHORES, CLAIMED, TABLES, TASKS, WAKE_UP
from infra.constructs.edge import POLLS, SERVICE
from tests.infra.synthesis import VARIANTS
from tests.infra.templates import Template, Templates, flat, listed

ALL = sorted(VARIANTS)
FREE_ALARMS = 10


@pytest.fixture
def usual(templates: Templates) -> Template:
    return templates["usual"]


@pytest.fixture(params=ALL)
def each(request: pytest.FixtureRequest, templates: Templates) -> Template:
    return templates[request.param]


def test_every_table_is_on_demand_restorable_and_encrypted(each):
    tables = each.properties("DynamoDB::Table")
    assert len(tables) == len(TABLES)
    for table in tables:
        assert table["BillingMode"] == "PAY_PER_REQUEST"
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        # Absent means: encrypted with a key that AWS owns, for every table is.
        assert "SSESpecification" not in table


def test_every_table_has_the_keys_stream_and_expiry_of_the_schema(usual):
    created = {table["TableName"]: table for table in usual.properties("DynamoDB::Table")}
    for table in TABLES:
        properties = created.pop(table.name("perdure"))
        assert [key["AttributeName"] for key in properties["KeySchema"]] == [key.name for key in table.keys]
        types = {each["AttributeName"]: each["AttributeType"] for each in properties["AttributeDefinitions"]}
        assert types == {key.name: key.type for key in table.keys}
        streamed = properties.get("StreamSpecification", {}).get("StreamViewType") == "NEW_IMAGE"
        assert streamed is table.streamed
        assert properties.get("TimeToLiveSpecification", {}).get("Enabled", False) is table.expires
    assert not created


def test_tables_outlive_the_stack_unless_their_end_was_asked_for(templates):
    for variant, policy, protected in (("usual", "Retain", True), ("bare", "Delete", False)):
        for resource in templates[variant].of_type("DynamoDB::Table").values():
            assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == policy
            assert resource["Properties"].get("DeletionProtectionEnabled", False) is protected


def test_everything_else_goes_with_the_stack(each):
    kept = [
        name
        for name, resource in each.document["Resources"].items()
        if resource.get("DeletionPolicy") == "Retain" and resource["Type"] != "AWS::DynamoDB::Table"
    ]
    assert not kept


def test_a_changed_parameter_replaces_no_table_and_no_queue(templates):
    usual, changed = templates["usual"], templates["changed"]
    assert usual.of_type("DynamoDB::Table") == changed.of_type("DynamoDB::Table")
    assert usual.of_type("SQS::Queue") == changed.of_type("SQS::Queue")
    assert usual.of_type("Scheduler::ScheduleGroup") == changed.of_type("Scheduler::ScheduleGroup")


def test_the_logical_names_of_the_tables_stay(usual):
    # Another logical name is another table: CloudFormation would create it empty and leave the old one behind.
    assert set(usual.of_type("DynamoDB::Table")) == {
        "TablesCatalogA41E506D",
        "TablesHistory40CCE7D9",
        "TablesRunsB40D77DF",
        "TablesShards921782B0",
    }


def test_every_queue_is_encrypted_and_takes_only_encrypted_connections(each):
    queues = each.of_type("SQS::Queue")
    assert all(queue["Properties"]["SqsManagedSseEnabled"] is True for queue in queues.values())
    guarded = {
        queue["Ref"]
        for policy in each.properties("SQS::QueuePolicy")
        for queue in policy["Queues"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }
    assert guarded == set(queues)


def test_a_queue_that_calls_a_function_has_a_dead_letter_queue_of_its_own_kind(each):
    sources = [source for source in each.sources().values() if "StartingPosition" not in source]
    assert len(sources) == 2
    for source in sources:
        logical, _ = source["EventSourceArn"]["Fn::GetAtt"]
        queue = each.of_type("SQS::Queue")[logical]["Properties"]
        dead_letters = each.queue_name(queue["RedrivePolicy"]["deadLetterTargetArn"])
        assert "dead-letters" in dead_letters
        assert dead_letters.endswith(".fifo") is queue["QueueName"].endswith(".fifo")
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_a_queue_gives_a_message_to_nobody_else_while_its_function_may_still_work_on_it(each):
    functions = each.functions()
    for name, source in each.sources().items():
        if "StartingPosition" in source:
            continue
        logical, _ = source["EventSourceArn"]["Fn::GetAtt"]
        visibility = each.of_type("SQS::Queue")[logical]["Properties"]["VisibilityTimeout"]
        assert visibility >= 2 * functions[name]["Timeout"]


def test_a_stream_record_that_kills_its_function_is_set_aside_and_holds_up_its_shard_for_a_limited_time(each):
    sources = {name: source for name, source in each.sources().items() if "StartingPosition" in source}
    # The stream of a table has at most two readers.
    assert set(sources) == {"relay", "arm"}
    for source in sources.values():
        destination = source["DestinationConfig"]["OnFailure"]["Destination"]
        assert each.queue_name(destination).endswith("-stream-dead-letters")
        assert source["StartingPosition"] == "TRIM_HORIZON"
        assert source["BisectBatchOnFunctionError"] is True
        assert 0 < source["MaximumRetryAttempts"] <= 100
        assert source["MaximumRecordAgeInSeconds"] < 24 * 3600
        # The handler raises for what may succeed later, and then the whole batch comes again.
        assert "FunctionResponseTypes" not in source


def test_the_stream_gathers_batches_only_where_the_fast_path_does_not_need_it(templates):
    for variant, seconds in (("usual", 1), ("changed", 0)):
        sources = templates[variant].sources()
        assert {sources[name]["MaximumBatchingWindowInSeconds"] for name in ("relay", "arm")} == {seconds}


@pytest.mark.parametrize("variant, claims", [("usual", {(CLAIMED, "B")}), ("changed", set())])
def test_relay_and_arm_are_called_only_for_what_concerns_them(templates, variant, claims):
    wanted = {"relay": {(TASKS, "B"), (CHORES, "N")} | claims, "arm": {(WAKE_UP, "B")}}
    sources = templates[variant].sources()
    for name, attributes in wanted.items():
        filters = [json.loads(each["Pattern"]) for each in sources[name]["FilterCriteria"]["Filters"]]
        found = set()
        for pattern in filters:
            [(attribute, [(letter, rule)])] = [
                (attribute, list(value.items()))
                for attribute, value in pattern["dynamodb"]["NewImage"].items()
            ]
            assert rule == [{"exists": True}]
            found.add((attribute, letter))
        assert found == attributes


def test_no_function_is_called_asynchronously_without_a_destination(each):
    # Lambda retries and then forgets what was invoked without waiting, unless it is told where to put it.
    for name in ("SNS::Subscription", "Logs::SubscriptionFilter", "S3::Bucket"):
        assert not [each for each in each.properties(name) if "lambda" in json.dumps(each)]
    configured = {
        config["FunctionName"]["Ref"]
        for config in each.properties("Lambda::EventInvokeConfig")
        if config["DestinationConfig"]["OnFailure"]["Destination"]
    }
    called = {
        target["Arn"]["Fn::GetAtt"][0]
        for rule in each.properties("Events::Rule")
        for target in rule["Targets"]
    }
    assert called == configured != set()


def test_a_caller_of_the_api_gets_the_functions_answer_before_the_api_gives_up(each):
    for name in ("frontend", "poll"):
        assert each.functions()[name]["Timeout"] < 30


def test_polls_have_a_function_of_their_own_and_everything_else_goes_to_the_frontend(usual):
    routes = {each["RouteKey"] for each in usual.properties("ApiGatewayV2::Route")}
    assert routes == {"$default", *(f"POST /{SERVICE}/{poll}" for poll in POLLS)}


def test_the_polls_are_those_of_the_service():
    from temporalio.api.workflowservice.v1 import service_pb2

    methods = service_pb2.DESCRIPTOR.services_by_name["WorkflowService"].methods_by_name
    assert {name for name in methods if re.fullmatch(r"Poll\w+TaskQueue", name)} == set(POLLS)
    assert service_pb2.DESCRIPTOR.services_by_name["WorkflowService"].full_name == SERVICE


@pytest.mark.parametrize("variant, kind", [("usual", "AWS_IAM"), ("changed", "JWT"), ("bare", "NONE")])
def test_every_route_is_authorized_unless_none_was_asked_for_by_name(templates, variant, kind):
    routes = templates[variant].properties("ApiGatewayV2::Route")
    assert {route.get("AuthorizationType", "NONE") for route in routes} == {kind}


def test_no_permission_names_every_resource_but_those_whose_actions_know_none(each):
    knows_none = {
        "dynamodb:ListStreams",
        "sqs:ListQueues",
        "xray:PutTraceSegments",
        "xray:PutTelemetryRecords",
    }
    offenders = [
        (policy, statement["Action"])
        for policy, statement in each.statements()
        if "*" in listed(statement["Resource"]) and not set(listed(statement["Action"])) <= knows_none
    ]
    assert not offenders


def test_no_permission_names_actions_by_a_pattern(each):
    offenders = [
        (policy, action)
        for policy, statement in each.statements()
        for action in listed(statement["Action"])
        if "*" in action
    ]
    assert not offenders


def test_a_pattern_of_resources_is_of_this_deployments_own_names(each):
    prefix = each.properties("Lambda::Function")[0]["FunctionName"].rpartition("-")[0]
    own = re.compile(
        rf":{prefix}-q-\*|schedule/{prefix}-wake-ups/\*|execute-api.*EdgeApi.*/\*|log-group:/aws/lambda/{prefix}-"
    )
    offenders = [
        (policy, resource)
        for policy, statement in each.statements()
        for resource in map(flat, listed(statement["Resource"]))
        if "*" in resource and resource != "*" and not own.search(resource)
    ]
    assert not offenders


def test_only_functions_that_run_the_engine_write_to_all_tables(usual):
    writers = {
        policy
        for policy, statement in usual.statements()
        if "dynamodb:PutItem" in listed(statement["Action"])
        and len(listed(statement["Resource"])) == len(TABLES)
    }
    assert len(writers) == 4
    assert not [name for name in writers if "Relay" in name or "Arm" in name]


def test_a_role_is_passed_to_the_scheduler_alone(each):
    passing = [
        statement for _, statement in each.statements() if "iam:PassRole" in listed(statement["Action"])
    ]
    assert passing
    for statement in passing:
        assert statement["Condition"] == {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}}
        assert "Schedules" in flat(statement["Resource"])


def test_every_functions_logs_end_some_day(each):
    groups = {group["LogGroupName"]: group for group in each.properties("Logs::LogGroup")}
    for function in each.properties("Lambda::Function"):
        assert groups[f"/aws/lambda/{function['FunctionName']}"]["RetentionInDays"] <= 365
    # The property `log_retention` would bring a function of its own that sets it.
    assert len(each.properties("Lambda::Function")) == len(each.functions())


def test_no_functions_name_begins_as_a_function_url_does(each):
    assert not [
        function for function in each.functions().values() if function["FunctionName"].startswith("url")
    ]


def test_every_dead_letter_queue_and_every_reader_of_the_stream_has_an_alarm(usual):
    alarms = usual.properties("CloudWatch::Alarm")
    watched = [(alarm["MetricName"], json.dumps(alarm.get("Dimensions"))) for alarm in alarms]
    for logical, queue in usual.of_type("SQS::Queue").items():
        if "dead-letters" in queue["Properties"]["QueueName"]:
            assert any("Visible" in metric and logical in dimensions for metric, dimensions in watched)
    for logical, function in usual.of_type("Lambda::Function").items():
        if function["Properties"]["FunctionName"].endswith(("relay", "arm")):
            assert any(metric == "IteratorAge" and logical in dimensions for metric, dimensions in watched)


def test_an_idle_deployment_pays_for_no_alarm(each):
    assert len(each.properties("CloudWatch::Alarm")) <= FREE_ALARMS
    assert len(each.properties("CloudWatch::Dashboard")) <= 1


def test_alarms_tell_the_address_that_was_given(templates):
    [subscription] = templates["changed"].properties("SNS::Subscription")
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "somebody@example.com")
    assert all(alarm["AlarmActions"] for alarm in templates["changed"].properties("CloudWatch::Alarm"))
    assert not templates["usual"].properties("SNS::Topic")
    assert not templates["bare"].properties("CloudWatch::Alarm")


def test_nothing_that_is_deployed_has_a_price_by_the_hour(each):
    kinds = {resource["Type"] for resource in each.document["Resources"].values()}
    assert not [kind for kind in kinds if re.match(r"AWS::(EC2|ECS|RDS|ElastiCache|KMS|NatGateway)::", kind)]
    assert not [each for each in each.properties("Lambda::Function") if "SnapStart" in each]


def test_what_clients_need_to_know_is_an_output(usual):
    outputs = set(usual.document["Outputs"])
    assert {"Endpoint", "CallerPolicy", "QueuePrefix"} | {
        f"{table.suffix.title()}Table" for table in TABLES
    } <= outputs


def test_the_parameters_reach_the_functions(templates):
    changed = templates["changed"].functions()
    assert {function["Architectures"][0] for function in changed.values()} == {"x86_64"}
    assert (changed["frontend"]["MemorySize"], changed["relay"]["MemorySize"]) == (2048, 1024)
    variables = changed["frontend"]["Environment"]["Variables"]
    assert (variables["PERDURE_FAST_PATH"], variables["PERDURE_LOG_LEVEL"]) == ("off", "DEBUG")
    assert variables["PERDURE_DEFAULT_RETENTION_DAYS"] == "7"
    usual = templates["usual"].functions()
    assert {function["Architectures"][0] for function in usual.values()} == {"arm64"}
    assert templates["bare"].functions()["history"]["Environment"]["Variables"]["PERDURE_SHARDS"] == "16"


def test_the_core_understands_the_settings_that_a_function_gets(each):
    from durable_core.config import aws_settings

    for function in each.functions().values():
        variables = {name: flat(value) for name, value in function["Environment"]["Variables"].items()}
        assert aws_settings(variables).prefix == variables["PERDURE_PREFIX"]

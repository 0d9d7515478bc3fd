"""GetSystemInfo: what every client asks first.

The version is that of the Temporal server whose behaviour we follow. Clients and the web interface compare it to decide
what they may ask for, so a number of our own would be misread; the capabilities say what is really there.
`build_id_based_versioning` makes workers send their build IDs, which we record; it does not promise to route by them.
A newcomer's trap: SDKs change what they send by these capabilities. One that is announced must work as a whole.
"""

from temporalio.api.workflowservice.v1 import GetSystemInfoRequest, GetSystemInfoResponse

from durable_core.model.versions import TEMPORAL_SERVER_VERSION


def get_system_info(context: object, request: GetSystemInfoRequest) -> GetSystemInfoResponse:
    del context, request
    return GetSystemInfoResponse(
        server_version=TEMPORAL_SERVER_VERSION,
        capabilities=GetSystemInfoResponse.Capabilities(
            build_id_based_versioning=True,
            eager_workflow_start=True,
            signal_and_query_header=True,
            internal_error_differentiation=True,
            activity_failure_include_heartbeat=True,
            encoded_failure_attributes=True,
            upsert_memo=True,
            sdk_metadata=True,
        ),
    )

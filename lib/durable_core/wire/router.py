"""One door for HTTP: a request goes to Connect when its path names a service, otherwise to the Temporal HTTP API.

What does not live here: running the call. The embedded server and a cloud function call `route`, run the method that it
names in their own way, and give the outcome to the call's `answer` or `refuse`.
A newcomer's trap: a path `/{a.dotted.Name}/{Method}` is always Connect's, so that an unknown service is
`unimplemented` and not a page that was not found.
"""

from durable_core.wire import connect, http_api
from durable_core.wire.http import HttpCall, HttpRequest, HttpResponse
from durable_core.wire.http_routes import Routes
from durable_core.wire.methods import MethodTable


class Router:
    """Pure: it holds the tables, and nothing about any call."""

    def __init__(self, table: MethodTable) -> None:
        self._table = table
        self._routes = Routes(table)

    def route(self, request: HttpRequest) -> HttpCall | HttpResponse:
        """A decoded call, or the response to a request that makes none."""
        if _names_service(request.path):
            return connect.route(self._table, request)
        return http_api.route(self._routes, request)


def _names_service(path: str) -> bool:
    parts = path.split("/")
    return len(parts) == 3 and "." in parts[1]

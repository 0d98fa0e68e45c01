"""One table of routes: every operation is there or says why not, and is described as it is."""

import json

import pytest
from jsonschema import Draft202012Validator

import commonplace
from commonplace import settings
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import ConflictResolution
from commonplace.model.parameters import QueryReturns, SourceFormat
from commonplace.model.sources.source import SpeakerRole
from commonplace.operations.schemas import parameter_schema
from commonplace.operations.serialization import JSON
from commonplace.operations.table import BY_NAME, OPERATIONS, Effect
from commonplace.surfaces.rest.routes import NOT_OVER_HTTP, ROUTES, routes_of
from commonplace.surfaces.rest.server import build_app
from support.rest_server import Visitor, running

WRITING = ("POST", "PUT", "PATCH", "DELETE")
# Nothing to decide, no such key, nobody in the team.
NOTHING_THERE = ("resolve", "profile accept", "profile decline", "keys rotate", "teams role")


@pytest.fixture(scope="module")
def book():
    with commonplace.open(":memory:", embedder="hashing") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(book):
    with running(book) as server:
        yield server


@pytest.fixture
def visitor(server, book):
    return Visitor(server, book)


@pytest.fixture(scope="module")
def described(book):
    app, _ = build_app(book, settings.load({}, environment={}))
    return app._app.openapi()


def test_rest_routes_cover_every_operation_or_give_a_reason():
    for operation in OPERATIONS:
        has_route = bool(routes_of(operation.name))
        assert has_route != (operation.name in NOT_OVER_HTTP), operation.name
    assert all(NOT_OVER_HTTP.values())
    assert {route.name for route in ROUTES} <= {operation.name for operation in OPERATIONS}


EXPECTED = """
    POST /v1/memory/extract
    GET /v1/people
    GET /v1/concepts
    GET /v1/entities
    GET /v1/storylines
    GET /v1/storylines/{id}
    GET /v1/macros
    GET /v1/macros/{id}
    POST /v1/nodes
    GET /v1/nodes/{id}
    PATCH /v1/nodes/{id}
    DELETE /v1/nodes/{id}
    POST /v1/nodes/{id}/split
    GET /v1/edges
    POST /v1/edges
    GET /v1/edges/{id}
    DELETE /v1/edges/{id}
    POST /v1/notes
    DELETE /v1/notes/{id}
    GET /v1/contributions
    POST /v1/explore
    POST /v1/traverse
    GET /v1/graph
    GET /v1/artifacts
    POST /v1/artifacts
    GET /v1/artifacts/{id}
    DELETE /v1/artifacts/{id}
    GET /v1/consent
    POST /v1/consent/{id}/accept
    POST /v1/consent/{id}/decline
    DELETE /v1/sources/{id}
    GET /v1/sources/{id}/history
    POST /v1/sources/{id}/restore
    POST /v1/sources/{id}/erase
"""


@pytest.mark.parametrize("address", EXPECTED.strip().splitlines())
def test_rest_routes_include_the_expected_addresses(address):
    method, path = address.split()
    assert (method, path) in {(route.method, route.in_full()) for route in ROUTES}


def test_openapi_examples_of_answers_fit_their_schema(described):
    answers = {
        f"{method} {path}": operation["responses"]["200"]["content"][JSON]
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        if JSON in operation["responses"]["200"]["content"]
    }
    assert len(answers) >= len(ROUTES) - 1  # the export is lines
    for address, answer in answers.items():
        whole = {**answer["schema"], "components": described["components"]}
        wrong = list(Draft202012Validator(whole).iter_errors(answer["example"]))
        assert not wrong, (address, wrong)
    (told,) = answers["get /v1/teams"]["example"]
    assert (told["name"], told["role"]) == ("city", "member")


def test_openapi_is_equal_for_a_second_server(described, book):
    """The table is described once in a process: what one server makes of it is not the next's."""
    again, _ = build_app(book, settings.load({}, environment={}))
    assert again._app.openapi() == described


def test_rest_routes_have_unique_addresses():
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_rest_routes_that_write_are_never_get():
    for route in ROUTES:
        if route.operation.effect is not Effect.READ:
            assert route.method in WRITING, route.path


def test_rest_routes_take_all_parameters_of_the_operation():
    """Whatever is kept back is said so in the table."""
    for route in ROUTES:
        taken = {p.name for p in route.parameters} | set(route.in_path.values())
        assert taken | set(route.without) == {p.name for p in route.operation.parameters}


def test_openapi_describes_every_route_once(described):
    named = [
        operation["operationId"]
        for path in described["paths"].values()
        for operation in path.values()
    ]
    assert len(named) == len(set(named))
    for route in ROUTES:
        operation = described["paths"][route.in_full()][route.method.lower()]
        if len(routes_of(route.name)) == 1:
            assert operation["description"] == route.operation.help
        assert operation["description"].startswith(operation["summary"])
        assert operation["responses"]["200"]["content"]


def test_openapi_references_exist(described):
    text = json.dumps(described)
    for name in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert described["components"]["schemas"][name], name


def test_openapi_places_each_parameter_in_path_query_or_body(described):
    """In the path, the query or the body: the schema of a request is the table's."""
    remember = described["paths"]["/v1/memories"]["post"]
    schema = remember["requestBody"]["content"]["application/json"]["schema"]
    taken = {p.name for p in routes_of("remember")[0].parameters}
    assert set(schema["properties"]) == taken
    assert schema["additionalProperties"] is False
    listed = described["paths"]["/v1/memories"]["get"]["parameters"]
    assert {"kinds", "limit", "after"} <= {p["name"] for p in listed if p["in"] == "query"}
    shown = described["paths"]["/v1/memories/{id}"]["get"]["parameters"]
    assert [p["name"] for p in shown if p["in"] == "path"] == ["id"]


def test_openapi_describes_answers_by_return_types(described):
    answer = described["paths"]["/v1/recall"]["post"]["responses"]["200"]["content"]
    assert answer["application/json"]["schema"] == {"$ref": "#/components/schemas/Recalled"}
    recalled = described["components"]["schemas"]["Recalled"]
    assert {"query", "hits", "tokens", "degraded", "is_empty"} <= set(recalled["properties"])


@pytest.mark.parametrize("route", [r for r in ROUTES if r.example], ids=lambda r: r.in_full())
def test_openapi_example_requests_work(route, visitor):
    """An example is what people copy first."""
    if route.path.split("/")[1] in ("nodes", "edges", "notes"):
        kept = [visitor.ask("POST", "/v1/nodes", {"name": name}) for name in ("Dana", "Ben")]
    else:
        kept = [visitor.ask("POST", "/v1/memories", {"content": f"Note {n}"}) for n in (1, 2)]
    one, other = (answer.data["id"] for answer in kept)
    if route.name == "split":
        visitor.ask("POST", "/v1/nodes/merge", {"ids": [other, one]})
    names = {"id": one, "conflict": one, "name": "city", "category": "tasks", "member": "dan"}
    names["team"] = visitor.ask("POST", "/v1/teams", {"name": "Planning"}).data["id"]
    if "/sources/" in route.path:
        names["id"] = visitor.ask("POST", "/v1/sources", {"original": "Tal: Yes."}).data["id"]
    path = route.in_full()
    for name in route.in_path:
        path = path.replace(f"{{{name}}}", names[name])
    filled = json.dumps(dict(route.example)).replace("<id>", one).replace("<other>", other)
    example = json.loads(filled)
    if route.takes_query:
        words = "&".join(f"{name}={value}" for name, value in example.items())
        answer = visitor.ask(route.method, f"{path}?{words}")
    else:
        answer = visitor.ask(route.method, path, example)
    if route.name in NOTHING_THERE:
        assert answer.status == 404
    elif route.operation.of_the_store:  # which is for admins
        assert answer.status == 403
    else:
        assert answer.status == 200, answer.body


def test_openapi_has_an_example_for_every_path_parameter_and_body(described):
    """Names in paths have an example, and so has every body."""
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", ()):
                assert parameter["in"] != "path" or parameter["example"], (path, method)
            body = operation.get("requestBody", {"content": {}})
            for kind, content in body["content"].items():
                if kind == "application/json":
                    assert "example" in content, (path, method)


@pytest.mark.parametrize(
    ("operation", "name", "told"),
    [
        ("remember", "kind", {"enum": list(Kind)}),
        ("remember", "importance", {"minimum": 1, "maximum": 5}),
        ("observe", "role", {"enum": list(SpeakerRole)}),
        ("ingest", "format", {"enum": list(SourceFormat)}),
        ("resolve", "choice", {"enum": list(ConflictResolution)}),
        ("query", "returns", {"enum": list(QueryReturns)}),
    ],
)
def test_openapi_parameter_schema_has_enums_and_bounds(operation, name, told):
    (parameter,) = [p for p in BY_NAME[operation].parameters if p.name == name]
    assert told.items() <= parameter_schema(parameter).items()


def test_openapi_describes_stream_me_and_user_header(described, visitor):
    stream = described["paths"]["/v1/changes/stream"]["get"]
    names = {parameter["name"] for parameter in stream["parameters"]}
    assert {"since", "Last-Event-Id", "Commonplace-Agent", "Commonplace-May-Resolve"} <= names
    me = described["paths"]["/v1/me"]["get"]
    assert me["security"] == stream["security"]
    assert me["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/Me")
    told = visitor.ask("GET", "/v1/me").data
    assert set(told) == set(described["components"]["schemas"]["Me"]["required"])
    keys = described["paths"]["/v1/keys"]["post"]["parameters"]
    assert "Commonplace-User" in {parameter["name"] for parameter in keys}


def test_rest_stream_refuses_unknown_parameters(visitor):
    answer = visitor.ask("GET", "/v1/changes/stream?colour=red")
    assert (answer.status, answer.data["code"]) == (400, "unknown_field")

"""Values of every wrong type, in every parameter of every route: an error with its code, never a
failure of the service."""

from contextlib import suppress

import pytest

import commonplace
from commonplace.errors import CommonplaceError, InvalidInput
from commonplace.operations.serialization import arguments_from_json, refuse_missing
from commonplace.surfaces.rest.routes import ROUTES, Route

VALUES = (
    5,
    1.5,
    True,
    "x",
    [],
    [1],
    ["x", 2],
    [[]],
    {},
    {"a": 1},
    [{"a": 1}],
    [None],
    10**30,
    None,
)
BY_PATH = [route for route in ROUTES if not route.operation.of_the_store]


@pytest.fixture(scope="module")
def book():
    with commonplace.open(":memory:", embedder="hashing", worker="off") as opened:
        yield opened


def call(me, route: Route, given):
    """As a server does with what came in a body."""
    arguments = arguments_from_json(route.operation.parameters, given)
    refuse_missing(route.operation.parameters, arguments)
    return route.operation.call(me, arguments)


@pytest.mark.parametrize("route", BY_PATH, ids=lambda route: f"{route.method} {route.path}")
def test_operations_raise_only_commonplace_errors_for_wrong_types(book, route):
    me = book.user("ana")
    me.nodes_add("Dana Levi")
    usual = dict.fromkeys(route.in_path.values(), "Dana Levi") | dict(route.example)
    for parameter in route.operation.parameters:
        for value in VALUES:
            with suppress(CommonplaceError):
                call(me, route, usual | {parameter.name: value})


@pytest.mark.parametrize("params", ["x", [1], 5, ["x"]])
def test_traverse_requires_cypher_params_to_be_a_map(book, params):
    with pytest.raises(InvalidInput) as refused:
        book.user("ana").traverse(cypher="RETURN $x AS x", params=params)
    assert refused.value.field == "params"


@pytest.mark.parametrize("address", ["notmail", "dana@", "@example.org", "dana levi"])
def test_node_addresses_must_be_e_mail_addresses(book, address):
    for say in (book.user("ana").nodes_add, book.user("ana").nodes_update):
        with pytest.raises(InvalidInput) as refused:
            say("Dana Levi", addresses=[address])
        assert refused.value.field == "addresses"

"""An answer from afar is of the same types as one from here, down to the last field: code that was
written against the embedded handle reads it alike."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from faces import ClientFace, PythonFace, play
from scenarios import SCENARIOS

from commonplace.operations import OPERATIONS
from commonplace.surfaces.rest.routes import NOT_OVER_HTTP


def types_in(value: Any) -> Any:
    """The types of a value and of all that it holds; one for all items of a list."""
    if is_dataclass(value):
        held = {field.name: types_in(getattr(value, field.name)) for field in fields(value)}
        return type(value).__name__, held
    if isinstance(value, Mapping):
        return "mapping", {name: types_in(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [types_in(each) for each in value]
    return "iterator" if isinstance(value, Iterator) else type(value).__name__


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Of each operation, how its answers look from here and from afar."""
    folder = tmp_path_factory.mktemp("types")
    found = defaultdict(list)
    for number, scenario in enumerate(SCENARIOS):
        here, afar = (
            face(str(folder / f"{number}-{face.__name__}.db")) for face in (PythonFace, ClientFace)
        )
        for face in (here, afar):
            play(face, scenario)
            face.close()
        answered = [step.operation for step in scenario.steps if step.error is None]
        for operation, one, other in zip(answered, here.given, afar.given, strict=True):
            found[operation].append((types_in(one), types_in(other)))
    return found


@pytest.mark.parametrize(
    "name",
    [o.name for o in OPERATIONS if not o.of_the_store and o.name not in NOT_OVER_HTTP],
)
def test_the_types_of_an_answer_are_the_same(answers, name):
    for here, afar in answers[name]:
        assert afar == here

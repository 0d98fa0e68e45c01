"""Every answer has a layout, and every layout names what exists."""

import re
import types
import typing
from collections.abc import Sequence
from dataclasses import fields, is_dataclass

import pytest

from commonplace.operations.schemas import return_type_of
from commonplace.operations.serialization import answer_properties
from commonplace.operations.table import OPERATIONS
from commonplace.surfaces.cli.computed import COMPUTED
from commonplace.surfaces.cli.render import EMPTY, LAYOUTS


def dataclasses_in(hint):
    if isinstance(hint, type) and is_dataclass(hint):
        yield hint
    elif not isinstance(hint, type) or isinstance(hint, types.GenericAlias):
        for inner in typing.get_args(hint):
            yield from dataclasses_in(inner)


ANSWERS = {kind for each in OPERATIONS for kind in dataclasses_in(return_type_of(each))}


@pytest.mark.parametrize("kind", sorted(ANSWERS, key=lambda kind: kind.__name__))
def test_layouts_exist_for_every_answer_and_name_existing_attributes(kind):
    layout = LAYOUTS[kind.__name__]
    known = {field.name for field in fields(kind)} | set(answer_properties(kind)) | set(COMPUTED)
    known |= {name for name in dir(kind) if not name.startswith("_")}
    for line in layout.splitlines():
        if line[:1] in ("*", "+", "|", "#", "?"):
            named = [re.match(r"[\w.]+", line[1:])[0]]
        else:
            named = re.findall(r"\{([\w.]+)", line)
        for path in named:
            assert path.split(".")[0] in known, f"{kind.__name__}: {path}"


def test_layouts_use_every_computed_value():
    used = set(re.findall(r"\w+", " ".join(LAYOUTS.values())))
    assert set(COMPUTED) <= used


def test_layouts_have_a_text_for_every_list_that_can_be_empty():
    lists = {
        each.name
        for each in OPERATIONS
        if typing.get_origin(return_type_of(each)) in (tuple, list, Sequence)
    }
    assert lists == set(EMPTY)
    assert all(re.fullmatch(r"No [a-zA-Z ]+\.", text) for text in EMPTY.values())

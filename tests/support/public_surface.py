"""Everything that clients depend on, as plain data: names and shapes, without help texts."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import typer.main

import commonplace
from commonplace import aio, errors
from commonplace.operations.table import OPERATIONS
from commonplace.settings import TABLE
from commonplace.surfaces.cli.main import build
from commonplace.surfaces.mcp.presentation import all_tool_descriptions

# Texts may improve at any time; the reference pages hold them.
_TEXTS = frozenset({"description", "summary", "title", "example", "examples"})
_PARTITION = re.compile(r"[a-z]_\d+(_|\b)")


def without_texts(value: Any, is_schema: bool = True) -> Any:
    """Without descriptions and examples; a property that is called `title` stays."""
    if isinstance(value, Mapping):
        names_are_free = not is_schema
        return {
            name: without_texts(each, is_schema=name not in ("properties", "$defs", "schemas"))
            for name, each in value.items()
            if names_are_free or name not in _TEXTS
        }
    if isinstance(value, list | tuple):
        return [without_texts(each) for each in value]
    return value


def openapi(description: Any) -> Any:
    """The description that a server gives, by path and method and by schema."""
    told = without_texts(description)
    paths, parts = told.pop("paths"), told.pop("components")
    return {
        **told,
        **{f"{verb} {path}": each for path, by in paths.items() for verb, each in by.items()},
        **{f"{part} {name}": each for part, by in parts.items() for name, each in by.items()},
    }


def mcp_tools() -> Any:
    tools = [tool.model_dump(mode="json", exclude_none=True) for tool in all_tool_descriptions()]
    return {tool["name"]: without_texts(tool) for tool in tools}


def commands() -> Any:
    """Each command with its arguments and options, as the command line has them."""
    return dict(_commands_of(typer.main.get_command(build()), ()))


def _commands_of(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    # Typer brings a click of its own, so classes are told by what they have.
    yield " ".join(path), [_parameter(each) for each in command.params]
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _commands_of(inner, (*path, name))


def _parameter(parameter: Any) -> Mapping[str, Any]:
    default = parameter.default
    return {
        "kind": parameter.param_type_name,
        "names": [*parameter.opts, *parameter.secondary_opts],
        "type": str(parameter.type_descriptor.annotation),
        "required": parameter.required,
        "many": parameter.multiple or parameter.nargs != 1,
        "default": default if isinstance(default, str | int | float | bool) else None,
    }


def error_codes() -> Any:
    return {
        each.__name__: {"code": each.code, "retryable": each.retryable}
        for each in errors.all_errors()
    }


def settings() -> Any:
    return {
        each.name: {
            "variable": each.variable,
            "type": each.type.__name__,
            "choices": list(each.choices),
            "least": each.least,
            "most": each.most,
            "secret": each.secret,
            # Those in the user's home differ from machine to machine.
            "default": None if callable(each.default) else str(each.default),
        }
        for each in TABLE
    }


def operations() -> Any:
    return {
        each.name: {
            "verb": each.verb,
            "effect": each.effect,
            "owner_only": each.owner_only,
            "parameters": {p.name: [p.shape, p.required, p.alias] for p in each.parameters},
        }
        for each in OPERATIONS
    }


def python_names() -> Any:
    """What `import commonplace` gives, and the signature of each public method."""
    return {
        "package": sorted(commonplace.__all__),
        "errors": sorted(n for n, each in vars(errors).items() if _is_error(each)),
        "open": _parameters_of(commonplace.open),
        "connect": _parameters_of(commonplace.connect),
        "Commonplace": _methods_of(commonplace.Commonplace),
        "User": _methods_of(commonplace.User),
        "aio": sorted(name for name in vars(aio) if name.startswith("Async")),
    }


def _is_error(each: object) -> bool:
    return isinstance(each, type) and issubclass(each, errors.CommonplaceError)


def _methods_of(kind: type) -> Mapping[str, list[str]]:
    return {
        name: _parameters_of(each) if callable(each) else []
        for name in sorted(dir(kind))
        if not name.startswith("_")
        for each in [getattr(kind, name)]
    }


def _parameters_of(function: Callable[..., Any]) -> list[str]:
    return [
        f"{each.name}{'' if each.default is each.empty else '=…'}"
        for each in inspect.signature(function).parameters.values()
    ]


def in_lines(found: Any) -> str:
    """JSON with a line for each entry, so that a change shows as the lines that differ."""
    if isinstance(found, Mapping):
        opening, closing = "{", "}"
        rows = [f"{_json(name)}: {_json(each)}" for name, each in sorted(found.items())]
    else:
        opening, closing = "[", "]"
        rows = [_json(each) for each in found]
    return opening + "\n" + ",\n".join(rows) + "\n" + closing + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def schema(found: Mapping[str, Any]) -> Any:
    """A row each; the partitions of a PostgreSQL table are as the table."""
    return [
        [what, *row]
        for what, rows in sorted(found.items())
        for row in rows
        if not any(_PARTITION.search(str(each)) for each in row)
    ]

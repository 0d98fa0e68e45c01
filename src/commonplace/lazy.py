"""Imports that load their module when the name is first used.

    with lazy_imports(__name__):
        from commonplace.engine.graph.explore import explore

It is what ``lazy from … import …`` of Python 3.15 does (PEP 810). Type checkers and the tests of
import rules see an ordinary import. A name stands for a function, a class or a module; it is used
in calls, annotations, ``isinstance`` and as ``name.attribute``, not as a base class, a default
value or in ``except``.
"""

from __future__ import annotations

import builtins
import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any


class LazyName:
    """Stands for a name of a module until it is first used."""

    __slots__ = ("_importing", "_module", "_name")

    def __init__(self, importing: dict[str, Any], module: str, name: str):
        self._importing = importing
        self._module = module
        self._name = name

    def _load(self) -> Any:
        """The object; it takes the place of this one in the module that imported it."""
        found = _attribute(self._module, self._name)
        for name, value in tuple(self._importing.items()):
            if value is self:
                self._importing[name] = found
        return found

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._load()(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def __instancecheck__(self, value: object) -> bool:
        # A class of a module that was never loaded has no instances.
        return self._module in sys.modules and isinstance(value, self._load())

    def __or__(self, other: Any) -> Any:
        return self._load() | other

    def __ror__(self, other: Any) -> Any:
        return other | self._load()

    def __repr__(self) -> str:
        return f"<lazy {self._module}.{self._name}>"


def _attribute(module: str, name: str) -> Any:
    loaded = import_module(module)
    try:
        return getattr(loaded, name)
    except AttributeError:  # a module of a package
        return sys.modules.get(f"{module}.{name}") or _submodule(loaded, name)


def _submodule(package: Any, name: str) -> Any:
    __import__(package.__name__, fromlist=[name])
    return getattr(package, name)


class _LazyModule:
    """What an import statement takes its names from."""

    def __init__(self, importing: dict[str, Any], module: str):
        self._importing = importing
        self._module = module

    def __getattr__(self, name: str) -> LazyName:
        return LazyName(self._importing, self._module, name)


@contextmanager
def lazy_imports(importing: str) -> Iterator[None]:
    """``from`` imports of the module named ``importing`` are lazy inside this block."""
    names = vars(sys.modules[importing])
    imported = builtins.__import__

    def import_lazily(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        if globals is names and fromlist and level == 0:
            return _LazyModule(names, name)
        return imported(name, globals, locals, fromlist, level)  # of another thread

    builtins.__import__ = import_lazily
    try:
        yield
    finally:
        builtins.__import__ = imported


class _LoadedNames(Mapping[str, Any]):
    """The names of a module, without lazy ones."""

    def __init__(self, names: Mapping[str, Any]):
        self._names = names

    def __getitem__(self, name: str) -> Any:
        found = self._names[name]
        return found._load() if isinstance(found, LazyName) else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def type_hints(annotated: Callable[..., Any] | type) -> dict[str, Any]:
    """`typing.get_type_hints`, where annotations may name lazy imports."""
    defined = inspect.unwrap(annotated)
    return typing.get_type_hints(defined, localns=_loaded_names(defined))


def parameter_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of the parameters alone: the type of the answer may need half of the engine."""
    defined = inspect.unwrap(function)
    annotations = {name: a for name, a in defined.__annotations__.items() if name != "return"}
    only = SimpleNamespace(__annotations__=annotations)
    return typing.get_type_hints(only, globalns={}, localns=_loaded_names(defined))


def _loaded_names(defined: Any) -> Mapping[str, Any]:
    return _LoadedNames(vars(sys.modules[defined.__module__]))

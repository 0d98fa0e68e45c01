"""The YAML file of categories and allowlists: read, checked, reloaded."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from threading import Lock

import yaml

from commonplace.errors import BadCategories
from commonplace.model.memory.kinds import (
    DEFAULT_RAG_LENGTH,
    Allowlist,
    Categories,
    Category,
    ContextMode,
    fold_agent_name,
)

log = logging.getLogger("commonplace")

SHIPPED_ORIGIN = "the shipped categories"
MAX_BYTES = 1_000_000
MAX_RAG_LENGTH = 1000

_CATEGORY_NAME = re.compile(r"\w[\w .-]{0,63}")


class CategoriesFile:
    """The current content of the file. Changes take effect at once. While a changed file is
    invalid, the previous content is used and `problem` describes the error."""

    def __init__(self, path: str):
        self._path = Path(path) if path else None
        self._lock = Lock()
        self._seen: tuple[int, ...] | None = None
        self._current = self._first()

    def read(self) -> Categories:
        if self._path is None:
            return self._current
        seen = _file_stamp(self._path)
        if seen != self._seen:
            with self._lock:
                self._reload(self._path, seen)
        return self._current

    def _first(self) -> Categories:
        if self._path is None:
            return load_shipped_categories()
        self._seen = _file_stamp(self._path)
        return parse_categories(_read_categories_file(self._path), str(self._path))

    def _reload(self, path: Path, stamp: tuple[int, ...] | None) -> None:
        try:
            self._current = parse_categories(_read_categories_file(path), str(path))
        except BadCategories as error:
            self._current = replace(self._current, problem=str(error))
            log.warning("the changed categories file is not used: %s", error)
        self._seen = stamp


@cache
def load_shipped_categories() -> Categories:
    """Cached: the file is part of the package."""
    text = resources.files("commonplace.api").joinpath("categories.yaml").read_text("utf-8")
    return parse_categories(text, SHIPPED_ORIGIN)


def _file_stamp(path: Path) -> tuple[int, ...] | None:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_mtime_ns, known.st_size, known.st_ino


def _read_categories_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise BadCategories(f"{path} has more than {MAX_BYTES:,} bytes.", field="categories")
        return raw.decode("utf-8")
    except OSError as error:
        raise BadCategories(
            f"{path} cannot be read: {error.strerror}.", field="categories"
        ) from error
    except UnicodeDecodeError as error:
        raise BadCategories(f"{path} is not UTF-8 text.", field="categories") from error


# ——— parsing; every error names its line ———


def parse_categories(text: str, origin: str) -> Categories:
    """Parse and check the whole file."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}:" if mark else ""
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise BadCategories(f"{origin},{where} {problem}.", field="categories") from error
    return _CategoriesParser(origin).read(root)


class _CategoriesParser:
    def __init__(self, origin: str):
        self._origin = origin

    def read(self, root: yaml.Node | None) -> Categories:
        given = self._map(root, ("categories", "allowlists")) if root is not None else {}
        parts = given.get("categories")
        sections = self._map(parts, ("system", "custom")) if parts is not None else {}
        listed: dict[str, Category] = {}
        for section in ("system", "custom"):
            if section in sections:
                for category in self._section(sections[section], section == "system"):
                    self._add(listed, category)
            elif section == "system":
                listed |= load_shipped_categories().categories
        lists = given.get("allowlists")
        allowlists = (
            self._allowlists(lists, listed) if lists is not None else _shipped_allowlists(listed)
        )
        return Categories(listed, allowlists, self._origin)

    def _add(self, listed: dict[str, Category], category: Category) -> None:
        if category.name in listed:
            raise self._wrong(category.line, f"there are two categories {category.name!r}")
        listed[category.name] = category

    def _section(self, node: yaml.Node, system: bool) -> Iterator[Category]:
        for each in self._items(node):
            if isinstance(each, yaml.ScalarNode):
                yield Category(self._name(each), system=system, line=_line_of(each))
                continue
            fields = self._map(each, ("name", "context", "rag_length"))
            if "name" not in fields:
                raise self._wrong(_line_of(each), "a category needs a name")
            yield Category(
                self._name(fields["name"]),
                self._mode(fields.get("context")),
                self._length(fields.get("rag_length")),
                system,
                _line_of(each),
            )

    def _allowlists(self, node: yaml.Node, known: dict[str, Category]) -> dict[str, Allowlist]:
        if not isinstance(node, yaml.MappingNode):
            raise self._wrong(
                _line_of(node), "allowlists are a map from an agent to its categories"
            )
        found: dict[str, Allowlist] = {}
        for key, value in node.value:
            agent = self._name(key)
            if fold_agent_name(agent) in map(fold_agent_name, found):
                raise self._wrong(_line_of(key), f"there are two allowlists of {agent!r}")
            names = [self._known(each, agent, known) for each in self._items(value)]
            found[agent] = Allowlist(agent, frozenset(names), _line_of(key))
        return found

    def _known(self, node: yaml.Node, agent: str, known: dict[str, Category]) -> str:
        """A shipped category that the file does not list is added to the known ones."""
        name = self._name(node)
        if name not in known and self._origin != SHIPPED_ORIGIN:
            shipped = load_shipped_categories().categories
            known |= {name: shipped[name]} if name in shipped else {}
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            problem = f"the allowlist of {agent!r} names {name!r}, which is no category{hint}"
            raise self._wrong(_line_of(node), problem)
        return name

    def _map(self, node: yaml.Node, allowed: tuple[str, ...]) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            raise self._wrong(_line_of(node), f"a map of {', '.join(allowed)} is expected here")
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            if name not in allowed:
                problem = f"{name!r} is not known here, only {', '.join(allowed)}"
                raise self._wrong(_line_of(key), problem)
            if name in found:
                raise self._wrong(_line_of(key), f"{name} is given twice")
            found[name] = value
        return found

    def _items(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self._wrong(_line_of(node), "a list is expected here, such as [profile, goals]")
        return list(node.value)

    def _name(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not _CATEGORY_NAME.fullmatch(node.value):
            raise self._wrong(_line_of(node), "a name of letters, digits, - and _ is expected here")
        return str(node.value)

    def _mode(self, node: yaml.Node | None) -> ContextMode:
        if node is None:
            return ContextMode.RAG
        if not isinstance(node, yaml.ScalarNode) or node.value not in tuple(ContextMode):
            raise self._wrong(_line_of(node), f"context is {' or '.join(ContextMode)}")
        return ContextMode(node.value)

    def _length(self, node: yaml.Node | None) -> int:
        if node is None:
            return DEFAULT_RAG_LENGTH
        is_number = isinstance(node, yaml.ScalarNode) and re.fullmatch(r"\d{1,6}", node.value)
        if not is_number or int(node.value) > MAX_RAG_LENGTH:
            problem = f"rag_length is a whole number up to {MAX_RAG_LENGTH}"
            raise self._wrong(_line_of(node), problem)
        return int(node.value)

    def _wrong(self, line: int | None, problem: str) -> BadCategories:
        end = "" if problem.endswith("?") else "."
        return BadCategories(f"{self._origin}, line {line}: {problem}{end}", field="categories")


def _shipped_allowlists(known: Mapping[str, Category]) -> dict[str, Allowlist]:
    """The shipped allowlists, limited to existing categories."""
    return {
        name: Allowlist(name, each.categories & known.keys())
        for name, each in load_shipped_categories().allowlists.items()
    }


def _line_of(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1

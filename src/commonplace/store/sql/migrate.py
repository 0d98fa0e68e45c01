"""Forward migrations: each one and its record in one transaction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from commonplace.errors import StoreTooNew

_SHARED = "commonplace.store.sql"
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_FILE = re.compile(r"^(\d{4})_(\w+)\.sql$")


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    script: str


def migrations(dialect: str, words: Mapping[str, str]) -> list[Migration]:
    """The shared scripts in a dialect's own words, each followed by what only the dialect needs."""
    scripts: dict[int, list[str]] = {}
    names: dict[int, str] = {}
    for package in (_SHARED, dialect):
        for number, name, script in _files(package):
            names.setdefault(number, name)
            scripts.setdefault(number, []).append(in_words(script, words))
    return [Migration(n, names[n], "\n".join(scripts[n])) for n in sorted(scripts)]


def in_words(script: str, words: Mapping[str, str]) -> str:
    return re.sub(r"(?<=\s)#(\w+)", lambda found: words[found[1]], _COMMENT.sub("", script))


def _files(package: str) -> Iterator[tuple[int, str, str]]:
    folder = resources.files(package).joinpath("migrations")
    for file in folder.iterdir() if folder.is_dir() else ():
        if match := _FILE.match(file.name):
            yield int(match[1]), match[2], file.read_text(encoding="utf-8")


def pending(known: list[Migration], schema: int) -> list[Migration]:
    """What is still to be applied on a database at ``schema``."""
    newest = known[-1].number
    if schema > newest:
        raise StoreTooNew(
            f"This store has schema {schema}; this version of Commonplace knows up to {newest}."
        )
    return [migration for migration in known if migration.number > schema]

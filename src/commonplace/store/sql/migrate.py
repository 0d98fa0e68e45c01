"""Forward migrations: each one and its record in one transaction."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

from commonplace.errors import StoreTooNew

_FILE = re.compile(r"^(\d{4})_(\w+)\.sql$")


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    script: str


def migrations(package: str) -> list[Migration]:
    found = []
    for file in resources.files(package).joinpath("migrations").iterdir():
        if match := _FILE.match(file.name):
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return sorted(found, key=lambda migration: migration.number)


def pending(known: list[Migration], schema: int) -> list[Migration]:
    """What is still to be applied on a database at ``schema``."""
    newest = known[-1].number
    if schema > newest:
        raise StoreTooNew(
            f"This store has schema {schema}; this version of Commonplace knows up to {newest}."
        )
    return [migration for migration in known if migration.number > schema]

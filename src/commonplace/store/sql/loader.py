"""Named statements from `.sql` files, and what a dialect has to spell differently."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources

from commonplace.store.sql.graph_rows import (
    ARTIFACT_COLUMNS,
    EDGE_COLUMNS,
    EDGE_TELLING_COLUMNS,
    EXTRACTION_COLUMNS,
    MARKS_COLUMNS,
    NODE_COLUMNS,
    NODE_TELLING_COLUMNS,
    NOTE_COLUMNS,
)
from commonplace.store.sql.jobs import JOB_COLUMNS
from commonplace.store.sql.keys import KEY_COLUMNS
from commonplace.store.sql.rows import COLUMNS, INDEX_COLUMNS
from commonplace.store.sql.source_rows import PASSAGE_COLUMNS, SOURCE_COLUMNS

SHARED = "commonplace.store.sql"

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^--.*$", re.MULTILINE)
_LIST = re.compile(r"IN #list\((\w+)\)")
_INTS = re.compile(r"IN #ints\((\w+)\)")
_USING = re.compile(r" #using\((\w+)\)")
_EACH = re.compile(r"#each\(([\w.]+)\)")


_COLUMNS = {
    "#columns": COLUMNS,
    "#index_columns": INDEX_COLUMNS,
    "#source_columns": SOURCE_COLUMNS,
    "#passage_columns": PASSAGE_COLUMNS,
    "#job_columns": JOB_COLUMNS,
    "#key_columns": KEY_COLUMNS,
    "#node_columns": NODE_COLUMNS,
    "#edge_columns": EDGE_COLUMNS,
    "#node_telling_columns": NODE_TELLING_COLUMNS,
    "#edge_telling_columns": EDGE_TELLING_COLUMNS,
    "#note_columns": NOTE_COLUMNS,
    "#artifact_columns": ARTIFACT_COLUMNS,
    "#marks_columns": MARKS_COLUMNS,
    "#extraction_columns": EXTRACTION_COLUMNS,
}


@dataclass(frozen=True, slots=True)
class Spelling:
    """The few words that differ between SQLite and PostgreSQL."""

    parameter: Callable[[str], str]  # name → placeholder
    among: Callable[[str], str]  # placeholder of a list → "… is one of its elements"
    among_numbers: Callable[[str], str]
    each: Callable[[str], str]  # JSON column → rows t(value)
    bytes: str  # the type of a vector column
    using: Callable[[str], str] = lambda index: ""  # a hint to the planner
    skip_locked: str = ""  # what others are about to take is theirs
    escape: Callable[[str], str] = lambda statement: statement  # before anything else


def statements(package: str, file: str) -> dict[str, str]:
    """The statements of a file by name, as written."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    return {
        name: _COMMENT.sub("", body).strip()
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def spell(statement: str, spelling: Spelling) -> str:
    statement = spelling.escape(statement)
    for name, columns in _COLUMNS.items():
        statement = statement.replace(name, columns)
    statement = statement.replace("#bytes", spelling.bytes)
    statement = statement.replace(" #skip_locked", spelling.skip_locked)
    statement = _USING.sub(lambda found: spelling.using(found[1]), statement)
    statement = _EACH.sub(lambda found: spelling.each(found[1]), statement)
    statement = _LIST.sub(lambda found: spelling.among(f":{found[1]}"), statement)
    statement = _INTS.sub(lambda found: spelling.among_numbers(f":{found[1]}"), statement)
    return re.sub(r"(?<!:):(\w+)", lambda found: spelling.parameter(found[1]), statement)


def load_shared(spelling: Spelling) -> Mapping[str, str]:
    """The statements of every `.sql` file that the databases share."""
    return {
        name: statement
        for file in shared_files()
        for name, statement in load(SHARED, file, spelling).items()
    }


def shared_files() -> list[str]:
    found = (file.name for file in resources.files(SHARED).iterdir())
    return sorted(name for name in found if name.endswith(".sql"))


def load(package: str, file: str, spelling: Spelling) -> Mapping[str, str]:
    return {name: spell(text, spelling) for name, text in statements(package, file).items()}

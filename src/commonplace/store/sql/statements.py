"""SQL statements and migrations: named statements from files, per dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from commonplace.errors import StoreTooNew
from commonplace.store.sql.access import KEY_COLUMNS
from commonplace.store.sql.graph_rows import (
    ACCESS_STATS_COLUMNS,
    ARTIFACT_COLUMNS,
    EDGE_ASSERTION_COLUMNS,
    EDGE_COLUMNS,
    EXTRACTION_COLUMNS,
    NODE_ASSERTION_COLUMNS,
    NODE_COLUMNS,
    NOTE_COLUMNS,
)
from commonplace.store.sql.jobs import JOB_COLUMNS
from commonplace.store.sql.llm.model_calls import (
    MODEL_ANSWER_COLUMNS,
    MODEL_READING_COLUMNS,
    MODEL_USAGE_COLUMNS,
)
from commonplace.store.sql.maintenance.sleep import SLEEP_CHANGE_COLUMNS, SLEEP_RUN_COLUMNS
from commonplace.store.sql.maintenance.storylines import MACRO_COLUMNS, STORYLINE_COLUMNS
from commonplace.store.sql.memories import PROPOSAL_COLUMNS
from commonplace.store.sql.rows import (
    COLUMNS,
    INDEX_COLUMNS,
    JOURNAL_COLUMNS,
    STORED_CHANGES,
    STORED_COLUMNS,
    STORED_VALUES,
)
from commonplace.store.sql.sources import PASSAGE_COLUMNS, SOURCE_COLUMNS

SHARED = "commonplace.store.sql"
MAINTENANCE = "commonplace.store.sql.maintenance"

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^--.*$", re.MULTILINE)
_LIST = re.compile(r"IN #list\((\w+)\)")
_INTS = re.compile(r"IN #ints\((\w+)\)")
_USING = re.compile(r" #using\((\w+)\)")
_EACH = re.compile(r"#each\(([\w.]+)\)")
_PAIRS = re.compile(r"#pairs\(([\w.]+)\)")


_COLUMNS = {
    "#columns": COLUMNS,
    "#index_columns": INDEX_COLUMNS,
    "#stored_columns": STORED_COLUMNS,
    "#stored_values": STORED_VALUES,
    "#stored_changes": STORED_CHANGES,
    "#journal_columns": JOURNAL_COLUMNS,
    "#source_columns": SOURCE_COLUMNS,
    "#passage_columns": PASSAGE_COLUMNS,
    "#job_columns": JOB_COLUMNS,
    "#proposal_columns": PROPOSAL_COLUMNS,
    "#key_columns": KEY_COLUMNS,
    "#node_columns": NODE_COLUMNS,
    "#edge_columns": EDGE_COLUMNS,
    "#node_telling_columns": NODE_ASSERTION_COLUMNS,
    "#edge_telling_columns": EDGE_ASSERTION_COLUMNS,
    "#note_columns": NOTE_COLUMNS,
    "#artifact_columns": ARTIFACT_COLUMNS,
    "#sleep_run_columns": SLEEP_RUN_COLUMNS,
    "#sleep_change_columns": SLEEP_CHANGE_COLUMNS,
    "#storyline_columns": STORYLINE_COLUMNS,
    "#macro_columns": MACRO_COLUMNS,
    "#marks_columns": ACCESS_STATS_COLUMNS,
    "#extraction_columns": EXTRACTION_COLUMNS,
    "#model_answer_columns": MODEL_ANSWER_COLUMNS,
    "#model_usage_columns": MODEL_USAGE_COLUMNS,
    "#model_reading_columns": MODEL_READING_COLUMNS,
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The SQL syntax that differs between SQLite and PostgreSQL."""

    parameter: Callable[[str], str]  # name → placeholder
    among: Callable[[str], str]  # placeholder of a list → a membership test
    among_numbers: Callable[[str], str]
    each: Callable[[str], str]  # JSON column → rows t(value)
    pairs: Callable[[str], str]  # JSON object column → rows t(key, value), values as text
    bytes: str  # the type of a vector column
    using: Callable[[str], str] = lambda index: ""  # a hint to the planner
    skip_locked: str = ""  # skips rows that other transactions have locked
    escape: Callable[[str], str] = lambda statement: statement  # applied first


def read_statements(package: str, file: str) -> dict[str, str]:
    """The statements of a file, by name, before rendering."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    return {
        name: _COMMENT.sub("", body).strip()
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def render_statement(statement: str, dialect: Dialect) -> str:
    statement = dialect.escape(statement)
    for name, columns in _COLUMNS.items():
        statement = statement.replace(name, columns)
    statement = statement.replace("#bytes", dialect.bytes)
    statement = statement.replace(" #skip_locked", dialect.skip_locked)
    statement = _USING.sub(lambda match: dialect.using(match[1]), statement)
    statement = _EACH.sub(lambda match: dialect.each(match[1]), statement)
    statement = _PAIRS.sub(lambda match: dialect.pairs(match[1]), statement)
    statement = _LIST.sub(lambda match: dialect.among(f":{match[1]}"), statement)
    statement = _INTS.sub(lambda match: dialect.among_numbers(f":{match[1]}"), statement)
    return re.sub(r"(?<!:):(\w+)", lambda match: dialect.parameter(match[1]), statement)


def load_shared_statements(dialect: Dialect) -> Mapping[str, str]:
    """The statements of every `.sql` file that the databases share."""
    return {
        name: statement
        for package, file in shared_files()
        for name, statement in load_statements(package, file, dialect).items()
    }


def shared_files() -> list[tuple[str, str]]:
    """Packages and their files."""
    return sorted(
        (package, file.name)
        for package in (SHARED, MAINTENANCE)
        for file in resources.files(package).iterdir()
        if file.name.endswith(".sql")
    )


def load_statements(package: str, file: str, dialect: Dialect) -> Mapping[str, str]:
    return {
        name: render_statement(text, dialect)
        for name, text in read_statements(package, file).items()
    }


_SHARED_PACKAGE = "commonplace.store.sql"
_SCRIPT_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_MIGRATION_FILE = re.compile(r"^(\d{4})_(\w+)\.sql$")


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    script: str


def load_migrations(dialect: str, words: Mapping[str, str]) -> list[Migration]:
    """The shared scripts in a dialect's syntax, each followed by the dialect's own script."""
    scripts: dict[int, list[str]] = {}
    names: dict[int, str] = {}
    for package in (_SHARED_PACKAGE, dialect):
        for number, name, script in _migration_files(package):
            names.setdefault(number, name)
            scripts.setdefault(number, []).append(in_dialect(script, words))
    return [Migration(n, names[n], "\n".join(scripts[n])) for n in sorted(scripts)]


def in_dialect(script: str, words: Mapping[str, str]) -> str:
    return re.sub(r"(?<=\s)#(\w+)", lambda match: words[match[1]], _SCRIPT_COMMENT.sub("", script))


def _migration_files(package: str) -> Iterator[tuple[int, str, str]]:
    folder = resources.files(package).joinpath("migrations")
    for file in folder.iterdir() if folder.is_dir() else ():
        if match := _MIGRATION_FILE.match(file.name):
            yield int(match[1]), match[2], file.read_text(encoding="utf-8")


def pending_migrations(known: list[Migration], schema: int) -> list[Migration]:
    """The migrations to apply to a database at ``schema``."""
    newest = known[-1].number
    if schema > newest:
        raise StoreTooNew(
            f"This store has schema {schema}; this version of Commonplace knows up to {newest}."
        )
    return [migration for migration in known if migration.number > schema]

"""Erasure on SQL: removes the traces of erased items; searches all tables for a text.

The texts of erased items are read before their rows are deleted, and held in memory until the
transaction ends. They are never stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence

from commonplace.model.journal import MAIN_THREAD
from commonplace.store.sql.rows import Row, Session, WriteNumbers

_MIN_SOUGHT = 4  # a shorter text is part of many others
_MAX_SOUGHT = 200  # texts of one erasure that are looked for; the longest
_WORD = re.compile(r"\w{3,}")

# Words of questions; they do not tell what was asked about.
_QUESTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "about and any are can could did does for from had has have her his how its know last live "
        "lives many much not now our remember she should tell that the their them there they this "
        "was were what when where which who whom whose why will with work works would you your "
        "איפה מתי איך למה כמה האם הוא היא אני",
    )
)

_TABLES_OF_TEXT = (
    "memories",
    "versions",
    "terms",
    "held",
    "proposals",
    "journal",
    "jobs",
    "sources",
    "passages",
    "recall_log",
    "keys",
    "kept_answers",
    "teams",
    "memberships",
    "shares",
    "nodes",
    "node_tellings",
    "edges",
    "edge_tellings",
    "graph_notes",
    "artifacts",
)
_TABLES_OF_CONTENT = ("memories", "passages", "nodes", "node_tellings", "edges", "graph_notes")


def note_erased(session: Session, ids: Sequence[str], numbers: WriteNumbers) -> None:
    """Called before the rows of erased items are deleted."""
    numbers.erased_texts += [row[0] for row in session.rows("texts_of_items", ids=list(ids))]
    numbers.erased_names += [
        row[0] for row in session.rows("names_of_items", ids=list(ids)) if row[0]
    ]
    numbers.erased_threads |= {row[0] for row in session.rows("threads_of_items", ids=list(ids))}


def remove_traces(session: Session, numbers: WriteNumbers) -> list[str]:
    """Called after all other rows are written. Returns the tables that still contain an erased
    text, because another item says the same."""
    _remove_thread_names(session, numbers.erased_threads - {MAIN_THREAD})
    if numbers.erased_texts or numbers.erased_names:
        _delete_questions(session, _words([*numbers.erased_texts, *numbers.erased_names]))
    sought = {text.casefold() for text in numbers.erased_texts if len(text) >= _MIN_SOUGHT}
    longest = sorted(sought, key=len, reverse=True)[:_MAX_SOUGHT]
    return tables_mentioning(session, longest) if longest else []


def _remove_thread_names(session: Session, threads: set[str]) -> None:
    """A thread's name is user text: it goes with the last memory or source of the thread."""
    if not threads:
        return
    kept = {row[0] for row in session.rows("threads_there", threads=sorted(threads))}
    gone = sorted(threads - kept)
    for statement in (
        "silence_threads",
        "delete_cursors_of_threads",
        "delete_searches_of_threads",
    ):
        session.run(statement, threads=gone)
    session.run("delete_stray_hits")


def _delete_questions(session: Session, erased: set[str]) -> None:
    """Deletes logged questions with a word that only the erased items contained."""
    named = {
        id: words
        for id, asked in session.rows("questions")
        if (words := _words([asked]) & erased - _QUESTION_WORDS)
    }
    if not named:
        return
    remaining = set[str]()
    for table in _TABLES_OF_CONTENT:
        remaining |= _words(_texts(session.rows(f"texts_of_{table}")))
    telling = [id for id, words in named.items() if words - remaining]
    session.run("delete_searches", ids=telling)
    session.run("delete_stray_hits")


def _words(texts: Collection[str] | Iterator[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.casefold())}


def tables_mentioning(session: Session, sought: Sequence[str]) -> list[str]:
    """The tables with any of the texts, which are case-folded. Compared here, because databases
    fold case differently."""
    tables = [
        table
        for table in _TABLES_OF_TEXT
        if any(_has_any(each, sought) for each in _texts(session.rows(f"texts_of_{table}")))
    ]
    raw = (bytes(row[0]).decode("utf-8", "replace") for row in session.rows("raw_originals"))
    return tables + ["originals"] * any(_has_any(text.casefold(), sought) for text in raw)


def _has_any(text: str, sought: Sequence[str]) -> bool:
    return any(each in text for each in sought)


def _texts(rows: Sequence[Row]) -> Iterator[str]:
    """All texts of the columns, case-folded; also the strings inside JSON, unquoted."""
    for row in rows:
        for value in row:
            if value and value[0] in "[{":
                yield from _strings(value)
            if value:
                yield value.casefold()


def _strings(text: str) -> Iterator[str]:
    """The strings inside a JSON value; none if the text is not JSON."""
    try:
        pending = [json.loads(text)]
    except ValueError:
        return
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value.casefold()
        elif isinstance(value, dict):
            pending += [*value, *value.values()]
        elif isinstance(value, list):
            pending += value

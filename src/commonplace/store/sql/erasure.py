"""Erasure on SQL: removes the traces of erased items; searches all tables for a text.

The texts of erased items are read before their rows are deleted, and held in memory until the
transaction ends. They are never stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from commonplace.model.journal import MAIN_THREAD
from commonplace.model.unicode_text import fold_for_search
from commonplace.store.sql.rows import Row, Session, WriteNumbers

_MIN_SOUGHT = 4  # a shorter text is part of many others
_WORD = re.compile(r"\w{3,}")

ReadOriginal = Callable[[bytes], Iterable[str]]  # the texts that a reader sees in an original


def read_as_utf8(raw: bytes) -> Iterable[str]:
    return (raw.decode("utf-8", "replace"),)


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
    "model_answers",
    "model_readings",
    "sleep_changes",
    "teams",
    "memberships",
    "shares",
    "nodes",
    "node_tellings",
    "edges",
    "edge_tellings",
    "graph_notes",
    "artifacts",
    "storylines",
    "macros",
)
_TABLES_OF_CONTENT = (
    "memories",
    "passages",
    "nodes",
    "node_tellings",
    "edges",
    "graph_notes",
    "storylines",
    "macros",
)


def note_erased(session: Session, ids: Sequence[str], numbers: WriteNumbers) -> None:
    """Called before the rows of erased items are deleted."""
    numbers.erased_texts += [row[0] for row in session.rows("texts_of_items", ids=list(ids))]
    numbers.erased_names += [
        row[0] for row in session.rows("names_of_items", ids=list(ids)) if row[0]
    ]
    numbers.erased_threads |= {row[0] for row in session.rows("threads_of_items", ids=list(ids))}


def remove_traces(
    session: Session, numbers: WriteNumbers, read_original: ReadOriginal
) -> list[str]:
    """Called after all other rows are written. Returns the tables that still contain an erased
    text, because another item says the same."""
    numbers.erased_names += _remove_thread_names(session, numbers.erased_threads - {MAIN_THREAD})
    delete_questions(session, [numbers])
    sought = [text for text in numbers.erased_texts if len(text) >= _MIN_SOUGHT]
    _delete_model_answers(session, sought)
    _delete_undo_data(session, sought)
    return tables_mentioning(session, sought, read_original) if sought else []


def _delete_model_answers(session: Session, sought: Sequence[str]) -> None:
    """Deletes what models answered with an erased text in it, about whatever source."""
    if not sought:
        return
    texts = _SoughtTexts(sought)
    telling = [
        digest
        for digest, answer in session.rows("model_answers")
        if any(map(texts.occur_in, _texts([(answer,)])))
    ]
    session.run("delete_model_answers", digests=telling)


def _delete_undo_data(session: Session, sought: Sequence[str]) -> None:
    """Deletes what a night kept of items that had an erased text in them."""
    if not sought:
        return
    texts = _SoughtTexts(sought)
    for run, number, kind, subject, before in session.rows("undo_data"):
        if any(map(texts.occur_in, _texts([(before,)]))):
            action = {"run": run, "number": number, "kind": kind, "subject": subject}
            session.run("forget_undo_of_change", **action)


def _remove_thread_names(session: Session, threads: set[str]) -> list[str]:
    """A thread's name is user text: it goes with the last memory or source of the thread. Returns
    the removed names."""
    if not threads:
        return []
    kept = {row[0] for row in session.rows("threads_there", threads=sorted(threads))}
    gone = sorted(threads - kept)
    for statement in (
        "silence_threads",
        "delete_cursors_of_threads",
        "delete_searches_of_threads",
    ):
        session.run(statement, threads=gone)
    session.run("delete_stray_hits")
    return gone


def delete_questions(session: Session, writes: Iterable[WriteNumbers]) -> None:
    """Deletes logged questions with a word that only the items contained that these writes erased,
    in this scope or in one that its user could read."""
    erased = _words(text for each in writes for text in (*each.erased_texts, *each.erased_names))
    if not erased:
        return
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


def tables_mentioning(
    session: Session, sought: Iterable[str], read_original: ReadOriginal
) -> list[str]:
    """The tables with any of the texts. Compared here, because databases fold case differently."""
    texts = _SoughtTexts(sought)
    tables = [
        table
        for table in _TABLES_OF_TEXT
        if any(map(texts.occur_in, _texts(session.rows(f"texts_of_{table}"))))
    ]
    raw = (bytes(row[0]) for row in session.rows("raw_originals"))
    variants = (variant for each in raw for variant in read_original(each))
    return tables + ["originals"] * any(map(texts.occur_in, variants))


class _SoughtTexts:
    """Texts to look for in others. A text of several words is only compared with those that have
    its longest inner word, so that the number of texts hardly matters."""

    def __init__(self, texts: Iterable[str]):
        self._short: set[str] = set()
        self._by_word: dict[str, set[str]] = {}
        for text in filter(None, map(fold_for_search, texts)):
            inner = _WORD.findall(text)[1:-1]
            if inner:
                self._by_word.setdefault(max(inner, key=len), set()).add(text)
            else:
                self._short.add(text)

    def occur_in(self, text: str) -> bool:
        folded = fold_for_search(text)
        if any(each in folded for each in self._short):
            return True
        if not self._by_word:
            return False
        shared = self._by_word.keys() & set(_WORD.findall(folded))
        return any(each in folded for word in shared for each in self._by_word[word])


def _texts(rows: Sequence[Row]) -> Iterator[str]:
    """All texts of the columns, case-folded; also the strings inside JSON, unquoted."""
    for row in rows:
        for value in row:
            if value and value[0] in '[{"':
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

"""The recall log on any SQL database."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any
from uuid import uuid4

from commonplace.model.changes import Bookkeeping
from commonplace.model.recall_log import Logged, LogQuery, Returned, Search
from commonplace.model.scope import Scope
from commonplace.model.source import is_source_id, split_passage_id
from commonplace.store.sql.rows import Row, instant, micros, to_json
from commonplace.store.sql.session import Session


class SqlRecallLog(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """One consistent view of one scope."""

    def recall_log(self, scope: Scope, query: LogQuery) -> list[Logged]:
        with self._reading(scope) as session:
            rows = session.rows(
                "searches",
                thread=query.thread,
                turn=query.turn,
                agent=query.agent,
                newest_turn=int(query.newest_turn),
            )
            hits = session.rows("hits_of_searches", ids=[row[0] for row in rows])
        returned: dict[str, list[Returned]] = {}
        for id, *hit in hits:
            returned.setdefault(id, []).append(_returned_from(hit))
        return [_logged_from(row, returned.get(row[0], ())) for row in rows]


def record_turns(session: Session, bookkeeping: Bookkeeping) -> None:
    """A turn without a number is the next of its thread. The scope's counters are locked by now, so
    that no other process takes the same one."""
    for turn in bookkeeping.turns:
        number = turn.number
        if number is None:
            number = _count(session, "last_turn", thread=turn.thread) + 1
        insert_logged(
            session,
            [
                Logged(str(uuid4()), turn.thread, number, turn.agent, turn.at, search)
                for search in turn.searches
                if _all_there(session, search)
            ],
            _count(session, "searches_in_turn", thread=turn.thread, turn=number),
        )
    if bookkeeping.log_before is not None:
        forget_before(session, bookkeeping.log_before)


def _count(session: Session, statement: str, **of: Any) -> int:
    row = session.one(statement, **of)
    return int(row[0]) if row else 0


def _all_there(session: Session, search: Search) -> bool:
    """What was erased since it was found has taken its questions with it: this is one of them."""
    items = {_item(hit.id)[0] for hit in search.returned}
    return len(items) == len(session.rows("items_there", ids=sorted(items)))


def insert_logged(session: Session, logged: Sequence[Logged], first: int = 0) -> None:
    session.run_many(
        "insert_search",
        [
            {
                "id": each.id,
                "at": micros(each.at),
                "thread": each.thread,
                "turn": each.turn,
                "place": place,
                "agent": each.agent,
                "verb": each.search.verb,
                "asked": each.search.asked,
            }
            for place, each in enumerate(logged, first)
        ],
    )
    session.run_many("insert_hit", [hit for each in logged for hit in _hit_values(each)])


def forget_before(session: Session, moment: datetime) -> None:
    session.run("delete_old_searches", before=micros(moment))
    session.run("delete_stray_hits")


def forget_recalled(session: Session, ids: Sequence[str], erased: bool) -> None:
    """What is gone was never returned. Of what is erased, no question that tells of it stays; it
    runs while the item's words are still there to be compared."""
    if erased:
        session.run("delete_searches_about", ids=list(ids))
        session.run("delete_stray_hits")
    session.run("delete_hits_of", ids=list(ids))


def _hit_values(logged: Logged) -> Iterator[dict[str, Any]]:
    for place, hit in enumerate(logged.search.returned):
        item, number = _item(hit.id)
        yield {
            "id": logged.id,
            "place": place,
            "item": item,
            "number": number,
            "score": hit.score,
            "why": hit.why,
            "parts": to_json(dict(hit.parts)),
        }


def _item(id: str) -> tuple[str, int | None]:
    """A memory's id; or a source's, with the number of the passage."""
    return split_passage_id(id) if is_source_id(id) else (id, None)


def _returned_from(row: Row) -> Returned:
    item, number, score, why, parts = row
    id = item if number is None else f"{item}#{number}"
    return Returned(id, score, why, json.loads(parts))


def _logged_from(row: Row, returned: Sequence[Returned]) -> Logged:
    id, thread, turn, agent, at, verb, asked = row
    return Logged(id, thread, turn, agent, instant(at), Search(verb, asked, tuple(returned)))

"""Query, the agents' single tool: changes since the last read, then the best items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from commonplace.engine.context import EngineContext
from commonplace.engine.search.pack import (
    Citation,
    CurrentValue,
    Hit,
    HitsToText,
    RelatedMemory,
    one_line,
    pack,
    related_lines,
)
from commonplace.engine.search.plan import DeepSearch, RecallPlan
from commonplace.engine.search.recall import recall
from commonplace.engine.search.withheld import Withheld
from commonplace.language.text.tokens import count_tokens
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.delta import Delta, has_news, shorten
from commonplace.model.journal import MAIN_THREAD
from commonplace.model.parameters import QueryReturns
from commonplace.model.quotation import quote_if

with lazy_imports(__name__):
    from commonplace.engine.history.changes import fit_header, load_delta, move_cursor

BULLET_LENGTH = 280  # characters of a bullet's text
SUSPICIOUS_MARK = "(suspicious: reads like instructions) "
_HEADER_DIVISOR = 2  # the header gets at most budget / this: hits need the rest


@dataclass(frozen=True, slots=True)
class Bullet:
    id: str
    category: str
    text: str  # "[tasks] Renew the passport"
    weak: bool = False  # little evidence that it is about the query
    related: tuple[RelatedMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class FullItem:
    id: str
    category: str
    text: str
    summary: str | None  # if it differs from the text
    kind: str
    date: datetime
    metadata: Mapping[str, object]
    tags: tuple[str, ...]
    importance: int
    source_type: str | None
    citation: Citation | None
    similarity: float | None
    score: float
    disputed: str | None
    forgettable: bool
    suspicious: bool
    weak: bool = False  # little evidence that it is about the query
    outdated: CurrentValue | None = None  # a passage that says what has changed since
    quoted: bool = False  # words of a source: fenced in the text
    proposed: bool = False  # for the profile; its owner has not decided yet
    related: tuple[RelatedMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class Queried:
    query: str
    header: str  # changes since the last read; empty: none
    items: tuple[Bullet | FullItem, ...]
    tokens: int  # of header and items together
    degraded: bool  # lexical search only: the embedder is unavailable
    is_search: bool = True
    withheld: Withheld | None = None  # what the agent's allowlist held back
    deep: DeepSearch | None = None  # of a deep query: the other wordings, and whose they are

    @property
    def is_empty(self) -> bool:
        return not self.items

    @property
    def text(self) -> str:
        """For a prompt."""
        return _as_text(self.header, self.items)


def run_query(
    engine: EngineContext,
    principal: Principal,
    plan: RecallPlan,
    returns: QueryReturns,
    delta_from: EngineContext | None,
    *,
    in_anothers_name: bool = False,
) -> Queried:
    """``delta_from``: the present engine context, whose changes are reported; None for a point in
    time, which reports none. A query in another agent's name does not move that agent's cursor."""
    budget, thread = plan.budget_tokens or 0, plan.thread_id or MAIN_THREAD
    delta = _load_delta(delta_from, principal, thread) if delta_from else Delta(0, 0, ())
    header = fit_header(delta, budget // _HEADER_DIVISOR)
    answer = recall(engine, principal, [plan], partial(_pack, header, returns))[0]
    items = tuple(_build_item(hit, returns) for hit in answer.hits)
    is_delivered = header or not has_news(delta)  # a header that did not fit is reported next time
    if delta_from and is_delivered and not in_anothers_name:
        move_cursor(delta_from, principal, thread, delta)
    tokens = count_tokens(_as_text(header, items)) if header or items else 0
    return Queried(
        plan.query,
        header,
        items,
        tokens,
        answer.degraded,
        withheld=answer.withheld,
        deep=answer.deep,
    )


def _load_delta(engine: EngineContext, principal: Principal, thread: str) -> Delta:
    return load_delta(engine, principal, thread, in_short=True)


def _pack(
    header: str, returns: QueryReturns, hits: Sequence[Hit], budget: int | None
) -> tuple[list[Hit], int]:
    to_text: HitsToText = partial(_hits_as_text, header, returns)
    return pack([_trim(hit, returns) for hit in hits], budget, to_text)


def _trim(hit: Hit, returns: QueryReturns) -> Hit:
    """Shorten bullets to one line."""
    if returns is QueryReturns.FULL:
        return hit
    return replace(hit, text=shorten(hit.summary or hit.text, BULLET_LENGTH))


def _hits_as_text(header: str, returns: QueryReturns, hits: Sequence[Hit]) -> str:
    return _as_text(header, [_build_item(hit, returns) for hit in hits])


def _as_text(header: str, items: Sequence[Bullet | FullItem]) -> str:
    lines = (line for item in items for line in (_item_line(item), *related_lines(item.related)))
    return "\n".join([*([header] if header else []), *lines])


def _item_line(item: Bullet | FullItem) -> str:
    if not isinstance(item, FullItem) or not item.metadata:
        return f"- {one_line(item.text)}"
    metadata = quote_if(item.quoted, json.dumps(dict(item.metadata), ensure_ascii=False))
    return f"- {one_line(f'{item.text} {metadata}')}"


def _build_item(hit: Hit, returns: QueryReturns) -> Bullet | FullItem:
    text = _item_text(hit)
    if returns is QueryReturns.BULLETS:
        return Bullet(hit.id, hit.category, text, hit.weak, hit.related)
    return FullItem(
        id=hit.id,
        category=hit.category,
        text=text,
        summary=hit.summary,
        kind=hit.kind,
        date=hit.date,
        metadata=hit.metadata,
        tags=hit.tags,
        importance=hit.importance,
        source_type=hit.source_type,
        citation=hit.citation,
        similarity=hit.similarity,
        score=hit.score,
        disputed=hit.disputed,
        forgettable=hit.forgettable,
        suspicious=hit.suspicious,
        weak=hit.weak,
        outdated=hit.outdated,
        quoted=hit.quoted,
        proposed=hit.proposed,
        related=hit.related,
    )


def _item_text(hit: Hit) -> str:
    mark = SUSPICIOUS_MARK if hit.suspicious else ""
    return f"[{hit.category}] {mark}{hit.prompt_text}"

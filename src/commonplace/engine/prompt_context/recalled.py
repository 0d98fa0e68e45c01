"""Recalled for the question: hits without repeats and what the agent has already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from commonplace.engine.context import EngineContext
from commonplace.engine.prompt_context import wording
from commonplace.engine.prompt_context.budget import LayerLines
from commonplace.engine.prompt_context.layers import (
    LAYER_BY_NAME,
    ContextCitation,
    ContextRequest,
    LayerName,
    asks_for_procedures,
    is_low_priority,
    is_shown,
)
from commonplace.engine.search.pack import Citation, Hit
from commonplace.engine.search.plan import RecallPlan, SearchTargets
from commonplace.engine.search.recall import Recalled
from commonplace.engine.understanding import Understanding
from commonplace.language.text.filler import content_terms, is_filler
from commonplace.model.filters import Filters
from commonplace.model.journal import JournalNode
from commonplace.model.memory.memory import Memory
from commonplace.model.sources.source import PASSAGE_KIND, SOURCE_CATEGORY, split_passage_id

_FEW_HITS, _MIN_HITS, _MAX_HITS = 8, 12, 500
_TOKENS_PER_HIT = 40  # budget tokens for each hit that is loaded


def build_plan(
    engine: EngineContext, request: ContextRequest, understood: Understanding | None
) -> RecallPlan | None:
    """Where nothing shows that a message is about the user, a few hits are recalled; for a task,
    only what is surely about it; for a greeting, nothing."""
    if understood is None or request.budget == 0 or is_filler(understood.message):
        return None
    return RecallPlan(
        query=understood.query,
        also=(request.query,) if request.query else (),
        k=_count_hits(request, understood),
        filters=Filters(categories=request.categories),
        explain=engine.recall_log,
        thread_id=request.thread,
        turn=request.turn,
        logged_as=None,
        node=JournalNode.CONTEXT,
        within=SearchTargets(procedures=asks_for_procedures(request.categories), graph=True),
        strict=understood.needs_no_memory,
        wide=understood.needs_search,
        hits_only=True,
    )


def _count_hits(request: ContextRequest, understood: Understanding) -> int:
    if not understood.needs_search:
        return _FEW_HITS
    return max(_MIN_HITS, min(_MAX_HITS, request.budget // _TOKENS_PER_HIT))


def hit_lines(
    recalled: Recalled | None,
    engine: EngineContext,
    request: ContextRequest,
    elsewhere: frozenset[str],
    shown: Sequence[Memory],
) -> LayerLines:
    """``elsewhere``: passages of the current thread, which the agent has already, and items of the
    layers that follow. ``shown``: the memories of the layers before, which are not repeated."""
    before = {memory.id for memory in shown}
    found = [_without_shown(hit, before) for hit in (recalled.hits if recalled else ())]
    allowed = [hit for hit in found if _may_enter(hit, request, elsewhere)]
    hits = _limit_per_category(drop_repeats(allowed, shown), engine)
    return LayerLines(LAYER_BY_NAME[LayerName.RECALLED], [wording.of_hit(hit) for hit in hits])


def _without_shown(hit: Hit, before: Collection[str]) -> Hit:
    """Of a memory that stands in an earlier layer, the turn that says more."""
    if hit.id not in before or not hit.said_as or not hit.evidence:
        return hit
    turn = hit.evidence[0]
    source, number = split_passage_id(turn)
    return replace(
        hit,
        id=turn,
        text=hit.said_as,
        category=SOURCE_CATEGORY,
        citation=Citation(source, position=number, speaker=hit.said_by),
        quoted=True,
        said_as=None,
        evidence=(),
    )


def drop_repeats(hits: Sequence[Hit], shown: Sequence[Memory]) -> list[Hit]:
    """Pure. A memory stands for the passages it was made from, unless these say more. Of lines
    with the same words, the first is kept."""
    ids = {hit.id for hit in hits}
    others = [memory for memory in shown if memory.id not in ids]
    told = _told_terms([*hits, *others])
    seen = [content_terms(memory.content) for memory in others]
    kept: list[Hit] = []
    for hit in _memories_before_their_passages(hits):
        terms = content_terms(hit.text)
        is_told = hit.id in told and terms <= told[hit.id]
        if is_told or any(_repeats(terms, other) for other in seen):
            continue
        seen.append(terms)
        kept.append(hit)
    return kept


def without_repeated_memories(memories: Sequence[Memory], before: Sequence[Memory]) -> list[Memory]:
    """Pure. Without those whose words an earlier one, or one of ``before``, has already."""
    seen = [content_terms(memory.content) for memory in before]
    kept: list[Memory] = []
    for memory in memories:
        terms = content_terms(memory.content)
        if not any(_repeats(terms, other) for other in seen):
            kept.append(memory)
            seen.append(terms)
    return kept


def _told_terms(items: Iterable[Hit | Memory]) -> dict[str, frozenset[str]]:
    """The terms of all memories that were made from a passage, by passage."""
    told: dict[str, frozenset[str]] = {}
    for item in items:
        text = f"{item.text} {item.said_as or ''}" if isinstance(item, Hit) else item.content
        for passage in item.evidence:
            told[passage] = told.get(passage, frozenset()) | content_terms(text)
    return told


def _memories_before_their_passages(hits: Sequence[Hit]) -> Iterable[Hit]:
    """In order; a memory takes the place of a passage it was made from, if that ranks higher."""
    made_from = {passage: hit for hit in reversed(hits) for passage in hit.evidence}
    moved: dict[str, Hit] = {}
    for hit in hits:
        memory = made_from.get(hit.id, hit)
        moved.setdefault(memory.id, memory)
        moved.setdefault(hit.id, hit)
    return moved.values()


def _repeats(terms: frozenset[str], other: frozenset[str]) -> bool:
    """True if the other line has all its words. Single words are no evidence."""
    return len(terms) > 1 and terms <= other


def _limit_per_category(hits: Sequence[Hit], engine: EngineContext) -> list[Hit]:
    """Apply each category's ``rag_length``; low-priority kinds last."""
    categories = engine.categories()
    counts: Counter[str] = Counter()
    limited: list[Hit] = []
    for hit in hits:
        if counts[hit.category] < categories.known(hit.category).rag_length:
            counts[hit.category] += 1
            limited.append(hit)
    return sorted(limited, key=lambda hit: is_low_priority(hit.kind))


def _may_enter(hit: Hit, request: ContextRequest, elsewhere: frozenset[str]) -> bool:
    """False for suspected prompt injections and for what is shown elsewhere; a memory that a later
    layer has as well moves up to this one only if it is no weak hit, or shows more here."""
    stays = hit.kind == PASSAGE_KIND or (hit.weak and not hit.said_as)
    if hit.suspicious or (hit.id in elsewhere and stays):
        return False
    return is_shown(hit.kind, hit.category, request.categories)


def shown_hits(recalled: Recalled, cited: Sequence[ContextCitation]) -> list[Hit]:
    """The recalled hits that fitted the budget. Reads of the fixed layers are not recorded."""
    shown = {each.id for each in cited if each.layer == LayerName.RECALLED}
    return [hit for hit in recalled.hits if hit.id in shown]

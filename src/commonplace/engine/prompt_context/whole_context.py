"""Contexts in other shapes: the best of each store, and the plain pack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from commonplace.engine.access import readable_scopes, visibility_in, visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.prompt_context import wording
from commonplace.engine.prompt_context.budget import LayerLines, compose_text
from commonplace.engine.prompt_context.context import PROFILE_CATEGORY
from commonplace.engine.prompt_context.layers import (
    QUOTATIONS_LAYER,
    ContextCitation,
    ContextLine,
    ContextPart,
    Layer,
)
from commonplace.engine.prompt_injection import is_quoted, may_enter_prompt
from commonplace.engine.search.pack import Hit
from commonplace.engine.search.plan import RecallPlan, SearchTargets
from commonplace.engine.search.recall import recall, record_read_hits
from commonplace.language.text.tokens import count_tokens
from commonplace.model.access.principal import Principal, merge_readable_scopes
from commonplace.model.filters import Filters
from commonplace.model.journal import JournalNode
from commonplace.model.memory.kinds import ON_REQUEST_KINDS
from commonplace.model.memory.memory import Memory
from commonplace.model.profile.fields import is_abbreviation
from commonplace.model.quotation import EXPLANATION, quote_if
from commonplace.store.queries import MemoryListing

HEADING = "## Memory Context"
MAX_NOTES = 20
MAX_TOKENS = 4000
_SEPARATOR = "\n\n"
_INDENT = "\n  "  # prevents lines of a memory from posing as a heading or another memory
_PAGE_SIZE = 2 * MAX_NOTES


@dataclass(frozen=True, slots=True)
class ContextPack:
    notes: tuple[Memory, ...]
    formatted_text: str  # empty when there are no notes


def context_pack(
    engine: EngineContext,
    principal: Principal,
    query: str | None,
    thread: str | None,
    turn: int | None,
) -> ContextPack:
    """The newest memories, or the best for a query. Sensitive ones are always left out."""
    caller = replace(principal, cleared=False)
    found = (
        _newest_memories(engine, caller)
        if query is None
        else _best_memories(engine, caller, query, thread, turn)
    )
    entering = (memory for memory in found if _may_enter(engine, principal, memory))
    return pack_memories(islice(entering, MAX_NOTES))


def pack_memories(found: Iterable[Memory]) -> ContextPack:
    """Pure. A memory that does not fit is replaced by its summary or left out."""
    notes: list[Memory] = []
    text = HEADING
    for memory in found:
        for words in dict.fromkeys((memory.content, memory.summary)):
            shown = quote_if(is_quoted(memory), _indent(words))
            longer = f"{text}{_SEPARATOR}[{memory.kind}] {shown}"
            if count_tokens(longer) <= MAX_TOKENS:
                notes.append(memory)
                text = longer
                break
    return ContextPack(tuple(notes), text if notes else "")


def _indent(words: str) -> str:
    return _INDENT.join(line for line in words.splitlines() if line.strip())


def _may_enter(engine: EngineContext, principal: Principal, memory: Memory) -> bool:
    is_for_reading = memory.kind not in ON_REQUEST_KINDS and not is_abbreviation(memory.id)
    return is_for_reading and may_enter_prompt(engine, principal, memory)


def _newest_memories(engine: EngineContext, principal: Principal) -> Iterator[Memory]:
    listing = MemoryListing(
        visibility=visibility_of(principal), now=engine.clock(), limit=_PAGE_SIZE
    )
    while page := engine.store.page(principal.scope, listing):
        yield from page
        listing = replace(listing, after=page[-1].id)


def _best_memories(
    engine: EngineContext, principal: Principal, query: str, thread: str | None, turn: int | None
) -> Sequence[Memory]:
    plan = RecallPlan(
        query,
        k=MAX_NOTES,
        thread_id=thread,
        turn=turn,
        logged_as="context_pack",
        node=JournalNode.CONTEXT,
        within=SearchTargets(passages=False, procedures=False),
    )
    found = recall(engine, principal, [plan])[0]
    return engine.store.fetch(principal.scope, [hit.id for hit in found.hits])


MEMORIES_SECTION = "memories"
GRAPH_SECTION = "graph"


@dataclass(frozen=True, slots=True)
class WholeContext:
    query: str
    text: str
    tokens: int
    budget_tokens: int
    parts: tuple[ContextPart, ...]
    citations: tuple[ContextCitation, ...]
    degraded: bool  # lexical search only: the embedder is unavailable

    @property
    def is_empty(self) -> bool:
        return not self.parts


@dataclass(frozen=True, slots=True)
class _ContextSection:
    """One part of the context: memories, the profile, the graph, or one type of source."""

    name: str
    heading: str
    plan: RecallPlan


def whole_context(
    engine: EngineContext,
    principal: Principal,
    query: str,
    *,
    k: int,
    budget: int,
    thread: str | None,
    turn: int | None,
) -> WholeContext:
    plan = RecallPlan(
        query,
        k=k,
        explain=engine.recall_log,
        thread_id=thread,
        turn=turn,
        logged_as=None,
        node=JournalNode.CONTEXT,
        hits_only=True,
    )
    sections = list(_list_sections(engine, principal, plan))
    answers = recall(engine, principal, [section.plan for section in sections])
    found = [
        (section, _hits_of_section(section, answer.hits)[:k])
        for section, answer in zip(sections, answers, strict=True)
    ]
    non_empty = [(section, hits) for section, hits in found if hits]
    lines = [_section_lines(section, hits, len(non_empty)) for section, hits in non_empty]
    if any(hit.quoted for _, hits in non_empty for hit in hits):
        lines.insert(0, LayerLines(QUOTATIONS_LAYER, [ContextLine(f"- {EXPLANATION}")]))
    composed = compose_text(lines, budget)
    shown_ids = {cited.id for cited in composed.citations}
    shown = [hit for _, hits in non_empty for hit in hits if hit.id in shown_ids]
    record_read_hits(engine, principal, plan, shown, "whole_context")
    return WholeContext(
        query,
        composed.text,
        composed.tokens,
        budget,
        composed.parts,
        composed.citations,
        degraded=any(answer.degraded for answer in answers),
    )


def _list_sections(
    engine: EngineContext, principal: Principal, plan: RecallPlan
) -> Iterator[_ContextSection]:
    """Memories, the profile, the graph, and each type of source with passages that the caller may
    see."""
    memories = replace(plan, within=SearchTargets(passages=False, procedures=False))
    seen = visibility_of(principal)
    yield _ContextSection(MEMORIES_SECTION, "## Memories", replace(memories, k=2 * plan.k))
    if seen.admits_category(PROFILE_CATEGORY):
        own = replace(memories, filters=Filters(categories=(PROFILE_CATEGORY,)), k=2 * plan.k)
        yield _ContextSection(PROFILE_CATEGORY, "## About the user", own)
    graph = SearchTargets(memories=False, passages=False, graph=True)
    yield _ContextSection(GRAPH_SECTION, "## People and things", replace(plan, within=graph))
    for source_type in _source_types(engine, principal):
        of_type = replace(plan, within=SearchTargets(memories=False))
        filters = Filters(source_type=source_type)
        yield _ContextSection(
            source_type, f"## From {source_type}", replace(of_type, filters=filters)
        )


def _source_types(engine: EngineContext, principal: Principal) -> list[str]:
    readings, now = merge_readable_scopes(readable_scopes(engine, principal)), engine.clock()
    types: set[str] = set()
    with engine.index.holding(readings) as indexes:
        for reading, index in zip(readings, indexes, strict=True):
            mask = index.passages & index.visible(visibility_in(principal, reading), now)
            present = set(index.coded["source_type"][: index.size][mask].tolist())
            known = index.words["source_type"].codes.items()
            types |= {str(word) for word, code in known if code in present}
    return sorted(types)


def _hits_of_section(section: _ContextSection, hits: Sequence[Hit]) -> list[Hit]:
    """Profile items appear only in the profile section."""
    is_profile = section.name == PROFILE_CATEGORY
    return [
        hit
        for hit in hits
        if not hit.suspicious and hit.id.startswith(f"{PROFILE_CATEGORY}:") is is_profile
    ]


def _section_lines(section: _ContextSection, hits: Sequence[Hit], sections: int) -> LayerLines:
    """Sections have equal shares of the budget; unused tokens go to the first ones."""
    layer = Layer(section.name, section.heading, "", share=1 / sections, marked=True)
    return LayerLines(layer, [wording.of_hit(hit) for hit in hits])

"""One truth: of a memory, its passage and what has changed since, each is shown once and in order.

A memory and the passage that it was made from are one hit. A passage whose memory was superseded is
outdated: what holds now stands before it. Of two turns that give different values of one thing, the
later one stands first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations

from commonplace.engine.context import EngineContext
from commonplace.engine.search.pack import CurrentValue, Hit
from commonplace.engine.search.plan import RecallPlan
from commonplace.engine.search.rank import Ranked, sort_ranked
from commonplace.language.text.terms import analyse
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.memory.kinds import POLICIES
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.fields import PROFILE_PREFIX
from commonplace.model.sources.source import PASSAGE_KIND, split_passage_id
from commonplace.store.queries import CitingMemories, PassagesByUnit

with lazy_imports(__name__):
    from commonplace.engine.provenance.evidence import supporting_passages
    from commonplace.language.compare.other_value import (
        concerns,
        corrects_turn_before,
        gives_other_value,
        is_about_change,
    )

_LONGEST_CHAIN = 8  # supersessions that are followed
SETTLED = 3  # times k: how many candidates are checked for what has changed since
_JUST_ABOVE = 1e-6  # of the score of an outdated passage
_LONGEST_TURN = 300  # characters of a turn that can be compared as one statement
_MOST_COMPARED = 40  # hits, the latest: each is compared with each
_TURNS_BETWEEN = 6  # passages from a statement to its correction: turns, and replies to them
EDGE_KIND = "edge"  # a relation of the graph that holds now
_OWNER_ROLES = frozenset({"user", "human"})
_STATING_KINDS = frozenset(
    str(kind) for kind, policy in POLICIES.items() if not policy.is_instruction
)
# The owner's own word on a profile field, as a statement that can be compared with others.
_FIELD_STATEMENTS = {
    "city": "The user lives in {}.",
    "preferred_name": "The user is called {}.",
    "language": "The user prefers {} as a language.",
}


@dataclass(frozen=True, slots=True)
class Statements:
    """What memories say of passages: those that state it now, and what replaced it."""

    asked: frozenset[str] = frozenset()  # the terms of the question
    live: Mapping[str, tuple[Memory, ...]] = field(default_factory=dict)  # by passage
    outdated: Mapping[str, Memory | None] = field(default_factory=dict)  # by passage; None: gone


def load_statements(
    engine: EngineContext, principal: Principal, plan: RecallPlan, ranked: Sequence[Ranked]
) -> Statements:
    """For the passages among these, in the caller's own scope."""
    asked = frozenset(analyse(plan.query))
    units = {each.id: each.unit for each in ranked if each.is_passage and each.reading.is_own}
    passages = set(units)
    if not passages:
        return Statements(asked)
    sources = sorted({split_passage_id(id)[0] for id in passages})
    citing = [
        memory
        for memory in engine.store.page(principal.scope, CitingMemories(sources))
        if not passages.isdisjoint(supporting_passages(memory))
    ]
    replaced = [memory for memory in citing if memory.state is State.SUPERSEDED]
    successors = _load_successors(engine, principal, replaced)
    now, own = engine.clock(), next(each.reading for each in ranked if each.reading.is_own)
    visibility = plan.within.visibility(principal, own)

    def is_shown(memory: Memory) -> bool:
        return memory.is_live(now) and visibility.admits(memory) and plan.filters.admits(memory)

    live: dict[str, tuple[Memory, ...]] = {}
    outdated: dict[str, Memory | None] = {}
    cited = {id for each in replaced for id in passages.intersection(supporting_passages(each))}
    texts = _load_texts(engine, principal, {id: units[id] for id in cited})
    for memory in citing:
        for passage in passages.intersection(supporting_passages(memory)):
            if memory.state is State.SUPERSEDED:
                current = _follow(memory, successors)
                if not _is_asked(asked, texts.get(passage, ""), memory, current):
                    continue
                shown = current is not None and is_shown(current)
                outdated[passage] = current if shown else outdated.get(passage)
            elif is_shown(memory):
                live[passage] = (*live.get(passage, ()), memory)
    kept = {id: each for id, each in outdated.items() if id not in live or each}
    return Statements(asked, live, kept)


def _is_asked(asked: frozenset[str], text: str, replaced: Memory, current: Memory | None) -> bool:
    """Whether the question is about what has changed, not about the rest of the passage or of what
    was replaced."""
    now = current.content if current else ""
    about_rest = not concerns(asked, text, f"{replaced.content} {now}")
    return not about_rest and is_about_change(asked, replaced.content, now)


def _load_texts(
    engine: EngineContext, principal: Principal, units: Mapping[str, int]
) -> dict[str, str]:
    if not units:
        return {}
    query = PassagesByUnit(sorted(units.values()))
    return {each.id: each.text for each in engine.store.passages(principal.scope, query).values()}


def _load_successors(
    engine: EngineContext, principal: Principal, replaced: Sequence[Memory]
) -> dict[str, Memory]:
    known: dict[str, Memory] = {}
    wanted = {str(each.superseded_by) for each in replaced if each.superseded_by}
    for _ in range(_LONGEST_CHAIN):
        missing = sorted(wanted - known.keys())
        if not missing:
            break
        found = engine.store.fetch(principal.scope, missing)
        known |= {memory.id: memory for memory in found}
        wanted = {str(each.superseded_by) for each in found if each.superseded_by}
    return known


def _follow(memory: Memory, successors: Mapping[str, Memory]) -> Memory | None:
    current: Memory | None = memory
    for _ in range(_LONGEST_CHAIN):
        if current is None or current.superseded_by is None:
            break
        current = successors.get(current.superseded_by)
    return current


@dataclass(frozen=True, slots=True)
class Settled:
    ranked: Sequence[Ranked]
    passages: Mapping[str, Ranked]  # that were merged with their memory, by memory


def settle(ranked: Sequence[Ranked], statements: Statements, *, memories: bool) -> Settled:
    """Pure. ``memories``: whether memories are searched; what holds now is then added."""
    by_id = {each.id: each for each in ranked}
    scores = {each.id: each.score for each in ranked}
    merged: dict[str, Ranked] = {}  # by memory
    added: dict[str, Ranked] = {}
    for each in ranked:
        if not each.is_passage:
            continue
        for memory in statements.live.get(each.id, ()):
            stated = by_id.get(memory.id)
            if stated is not None and _says_as_much(stated, each):
                scores[memory.id] = max(scores[memory.id], each.score)
                merged.setdefault(memory.id, each)
        current = statements.outdated.get(each.id)
        if current is None or not memories:
            continue
        above = each.score + _JUST_ABOVE
        if current.id not in by_id and current.id not in added:
            added[current.id] = replace(each, id=current.id, is_passage=False, unit=-1)
        scores[current.id] = max(scores.get(current.id, above), above)
    told = {passage.id for passage in merged.values()}
    kept = [each for each in (*ranked, *added.values()) if each.id not in told]
    scored = [_with_score(each, round(scores[each.id], 6)) for each in kept]
    return Settled(sort_ranked(scored), merged)


def _with_score(ranked: Ranked, score: float) -> Ranked:
    return ranked if ranked.score == score else replace(ranked, score=score)


def _says_as_much(memory: Ranked, passage: Ranked) -> bool:
    """Whether the memory answers the query as well as its passage does, which may say more."""
    if memory.held >= passage.held:
        return True
    if memory.similarity is None or passage.similarity is None:
        return False
    return memory.similarity >= passage.similarity and memory.held > 0


def mark_outdated(hits: Sequence[Hit], statements: Statements) -> list[Hit]:
    """Pure. Outdated passages name what holds now; of two hits with different values of one thing,
    the later one comes first."""
    marked = [_marked(hit, statements) for hit in hits]
    said = {hit.id: hit.date for hit in hits}
    return put_current_first(mark_older_values(marked, said, statements.asked))


def mark_older_values(
    hits: Sequence[Hit], said: Mapping[str, datetime], asked: frozenset[str] = frozenset()
) -> list[Hit]:
    """Pure. Each hit that another one, said later, gives another value of. ``said``: when, by hit;
    hits without a time are not compared. ``asked``: the terms of the question. Memories are marked,
    not changed."""
    marked = list(hits)
    for older, newer in _comparable_pairs(marked, said):
        if (
            marked[older].outdated is None
            and _changes(marked[older], marked[newer])
            and is_about_change(asked, marked[older].text, marked[newer].text)
        ):
            current = CurrentValue(marked[newer].id, marked[newer].text)
            marked[older] = replace(marked[older], outdated=current)
    return marked


def _marked(hit: Hit, statements: Statements) -> Hit:
    if hit.id not in statements.outdated:
        return hit
    current = statements.outdated[hit.id]
    value = CurrentValue(current.id, current.content) if current else CurrentValue("", "")
    return replace(hit, outdated=value)


def _comparable_pairs(
    hits: Sequence[Hit], said: Mapping[str, datetime]
) -> Iterable[tuple[int, int]]:
    """The older and the newer of each two statements of the owner, the latest first: what it
    replaces is then marked with it, and not with what it replaces itself."""
    stated = [place for place, hit in enumerate(hits) if hit.id in said and _is_statement(hit)]
    ordered = sorted(stated, key=lambda place: said[hits[place].id], reverse=True)
    for newer, older in combinations(ordered[:_MOST_COMPARED], 2):
        is_later = said[hits[newer].id] > said[hits[older].id]
        is_of_it = hits[newer].id in hits[older].evidence or hits[older].id in hits[newer].evidence
        if is_later and not is_of_it and _speaker(hits[older]) == _speaker(hits[newer]):
            yield older, newer


def _is_statement(hit: Hit) -> bool:
    """A short turn of a conversation, or a memory that says how things are."""
    if len(hit.text) > _LONGEST_TURN or hit.is_anothers or hit.suspicious:
        return False
    if hit.kind == PASSAGE_KIND:
        return bool(hit.citation and (hit.citation.speaker or hit.citation.role))
    return hit.kind in _STATING_KINDS or hit.kind == EDGE_KIND


def _speaker(hit: Hit) -> str | None:
    """None: the owner, who also says what memories say."""
    if hit.kind != PASSAGE_KIND or hit.citation is None:
        return None
    is_owner = hit.citation.role in _OWNER_ROLES and hit.citation.speaker is None
    return None if is_owner else hit.citation.speaker or hit.citation.role


def _changes(older: Hit, newer: Hit) -> bool:
    before, after = statement_of(older), statement_of(newer)
    if before is None or after is None:
        return False
    if gives_other_value(before, after):
        return True
    return _follows(older, newer) and corrects_turn_before(before, after)


def statement_of(hit: Hit) -> str | None:
    """The text of a hit as a statement of its subject; None if it is none."""
    if hit.id.startswith(PROFILE_PREFIX):
        return state_field(hit.id, hit.metadata)
    return hit.text


def state_field(id: str, metadata: Mapping[str, object]) -> str | None:
    """A profile field as a sentence about the user; None if its field has none."""
    statement = _FIELD_STATEMENTS.get(id.removeprefix(PROFILE_PREFIX))
    return statement.format(metadata.get("value")) if statement else None


def _follows(older: Hit, newer: Hit) -> bool:
    """Whether the newer hit is a turn soon after the older one, or after the one that it is of."""
    after = _turn_of(newer.id)
    for before in (older.id, *older.evidence):
        turn = _turn_of(before)
        if after and turn and after[0] == turn[0] and 0 < after[1] - turn[1] <= _TURNS_BETWEEN:
            return True
    return False


def _turn_of(id: str) -> tuple[str, int] | None:
    source, number = split_passage_id(id)
    return (source, number) if number else None


def put_current_first(hits: Sequence[Hit]) -> list[Hit]:
    """Each outdated hit directly after what holds now, where that is a hit."""
    ordered = list(hits)
    for hit in hits:
        if hit.outdated is None:
            continue
        ids = [each.id for each in ordered]
        if hit.outdated.id not in ids or ids.index(hit.outdated.id) < ids.index(hit.id):
            continue
        current = ordered.pop(ids.index(hit.outdated.id))
        ordered.insert(ids.index(hit.id), current)
    return ordered

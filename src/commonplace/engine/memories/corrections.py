"""Corrections: the live memories that a new statement says are not true any more.

The speaker says in words what was wrong: "the locker is 0417, not 0388". A memory is meant if it
has these words, says not yet what is true now, and is about the same subject. Words decide, because
two statements that differ in one value are alike to any embedder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.access import can_see, may_change_instruction
from commonplace.engine.context import EngineContext, Vector
from commonplace.engine.memories.decided import is_decided, may_replace_value
from commonplace.engine.memories.remember import Remembered
from commonplace.engine.memories.write_plan import WritePlan
from commonplace.language.text.relative_dates import resolve_relative_dates
from commonplace.language.text.terms import analyse
from commonplace.model.access.principal import Principal
from commonplace.model.filters import NO_FILTERS, Visibility
from commonplace.model.memory.kinds import POLICIES, Action
from commonplace.model.memory.memory import HEARSAY_FACET, Memory

MAX_CORRECTED = 3  # by one statement
_MAX_FOUND = 8  # of each way of finding them
_CORRECTED_SHARE = 0.6  # of the corrected words that the memory has
_SIMILARITY = 0.75  # from which no further word is needed in common

_STANDS = (Action.STORED, Action.REFRESHED, Action.SUPERSEDED, Action.OVERRIDDEN)
_DIGITS = re.compile(r"\d")
# Every memory is about the user: that they have this in common says nothing.
_SAID_OF_ALL = frozenset(
    analyse("the user's user users המשתמש המשתמשת der Nutzer die Nutzerin el usuario la usuaria")
)


@dataclass(frozen=True, slots=True)
class Correction:
    """``words``: what is not true any more."""

    words: str
    said_at: datetime
    confirmed: tuple[str, ...] = ()  # ids of memories that a model confirmed to be meant


def texts_of_corrections(corrections: Iterable[Correction]) -> list[str]:
    """What has to be embedded to find what they mean."""
    return [each.words for each in corrections]


def apply_corrections(
    engine: EngineContext,
    principal: Principal,
    plan: WritePlan,
    answers: Sequence[Remembered | None],
    corrections: Mapping[int, Correction],
) -> int:
    """Supersede what the stored statements correct; returns how many. ``corrections``: by the
    place of their statement in the batch. What a person decided stays."""
    corrected = 0
    for place, correction in corrections.items():
        answer = answers[place]
        if answer is None or answer.action not in _STANDS:
            continue
        new = plan.memories.get(answer.id)
        if new is None or not new.is_live(plan.now):
            continue
        for old in _corrected_by(engine, principal, plan, correction, new):
            plan.retire(old, new)
            corrected += 1
    return corrected


def _corrected_by(
    engine: EngineContext,
    principal: Principal,
    plan: WritePlan,
    correction: Correction,
    new: Memory,
) -> list[Memory]:
    vector = plan.comparer.vectors.get(correction.words)
    found = find_memories(engine, principal, correction.words, vector, correction.confirmed)
    # Memories have dates where a turn says "on Thursday".
    said = {correction.words} | {
        resolve_relative_dates(correction.words, correction.said_at, hebrew=hebrew).text
        for hebrew in (False, True)
    }
    now = [(plan.memories.get(memory.id, memory), alike) for memory, alike in found]
    return [
        old
        for old, alike in now
        if may_be_corrected(engine, principal, old, new, correction.said_at)
        and (
            old.id in correction.confirmed
            or any(is_meant(each, old.searchable_text, new.searchable_text, alike) for each in said)
        )
        and not is_decided(engine, principal.scope, old)
    ][:MAX_CORRECTED]


def may_be_corrected(
    engine: EngineContext, principal: Principal, old: Memory, new: Memory, said_at: datetime
) -> bool:
    """By its kind, its owner and its time, whatever it says."""
    began = old.valid_from or old.created_at
    policy, same_kind = POLICIES[old.kind], old.kind is new.kind
    is_rule = policy.is_standing_instruction and same_kind and old.agent_id == new.agent_id
    return (
        old.id != new.id
        and old.is_live(engine.clock())
        and (not policy.asks_on_change or may_replace_value(engine, principal, old))
        and (policy.is_extracted or is_rule)
        and began <= said_at
        and (new.facet != HEARSAY_FACET or old.facet == HEARSAY_FACET)
        and not POLICIES[new.kind].has_steps
        and can_see(principal, old)
        and may_change_instruction(engine, principal, old)
    )


def is_meant(corrected: str, old: str, new: str, similarity: float | None) -> bool:
    """Whether a memory (``old``) says what is corrected, and not yet what is true now (``new``).
    Each number of the corrected words has to be in it."""
    wrong, known, right = _terms(corrected), _terms(old), _terms(new)
    shared = wrong & known
    if not shared or len(shared) < _CORRECTED_SHARE * len(wrong):
        return False
    if any(_DIGITS.search(term) and term not in known for term in wrong):
        return False
    news = right - wrong
    if news and news <= known:
        return False
    only_wrong = wrong - right  # the value itself: without it, the memory says something else
    if only_wrong and not only_wrong & known:
        return False
    about_same = bool((known & right) - only_wrong)
    return about_same or (similarity or 0.0) >= _SIMILARITY


def share_a_subject(one: str, other: str) -> bool:
    """Whether two statements have a word in common that not all statements have."""
    return not _terms(one).isdisjoint(_terms(other))


def _terms(text: str) -> frozenset[str]:
    return frozenset(analyse(text)) - _SAID_OF_ALL


def find_memories(
    engine: EngineContext,
    principal: Principal,
    words: str,
    vector: Vector | None,
    known: Sequence[str] = (),
) -> list[tuple[Memory, float | None]]:
    """The live memories that are most similar or share most words, best first; and the known
    ones."""
    with engine.index.reading(principal.scope) as index:
        live = index.candidates(NO_FILTERS, Visibility(cleared=True), engine.clock())
        mask = live & ~index.passages
        cosines = None if vector is None else index.cosines(vector, mask)
        scores, _ = index.bm25(list(dict.fromkeys(analyse(words))), mask)
        slots = [slot for slot in _best(scores) if scores[slot] > 0]
        slots += [] if cosines is None else _best(cosines)
        found = {
            index.ids[slot]: None if cosines is None else float(cosines[slot])
            for slot in dict.fromkeys(slots)
        }
    found |= {id: None for id in known if id not in found}
    memories = {memory.id: memory for memory in engine.store.fetch(principal.scope, list(found))}
    return [
        (memory, engine.similarity(cosine, words, memory.searchable_text))
        for id, cosine in found.items()
        if (memory := memories.get(id)) is not None
    ]


def _best(scores: NDArray[np.floating]) -> list[int]:
    order: list[int] = np.argsort(-scores, kind="stable")[:_MAX_FOUND].tolist()
    return [slot for slot in order if np.isfinite(scores[slot])]

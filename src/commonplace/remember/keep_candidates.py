"""Candidates that were found in a source become memories: each once per source, and nobody is
asked. A value other than the one that stands is kept beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.desk import Desk, index_all
from commonplace.errors import CommonplaceError
from commonplace.language.normalise import fold
from commonplace.language.observing.candidate import STORED_FROM, Candidate
from commonplace.model.changes import Step
from commonplace.model.filters import WHOLE, Filters
from commonplace.model.memory import Memory, Sensitivity, State
from commonplace.model.relations import OnConflict
from commonplace.model.scope import Principal
from commonplace.model.source import Source
from commonplace.remember.batch import Asked, Batch, Remembered, asked, decide_each
from commonplace.remember.gate import Gate
from commonplace.remember.neighbours import look_around
from commonplace.remember.of_candidate import fields_of
from commonplace.remember.weigh import Scales
from commonplace.store.port import EVERYTHING, Listing

MOST_OF_A_SOURCE = 50


@dataclass(frozen=True, slots=True)
class Kept:
    steps: tuple[Step, ...] = ()
    memories: tuple[Remembered, ...] = ()


def composed(
    desk: Desk,
    principal: Principal,
    source: Source,
    candidates: Sequence[tuple[int, Candidate]],
    said_at: Mapping[int, datetime],
) -> Batch:
    """The slow part: what may be kept, embedded. What a kind refuses is left out, and so is what
    only its owner's consent lets in (a sensitive field of the profile)."""
    wanted: list[Asked] = []
    told = _told_before(desk, principal, source) if any(c.otherwise for _, c in candidates) else ()
    for passage, candidate in candidates:
        if candidate.confidence < STORED_FROM or candidate.is_sensitive:
            continue
        if any(fold(each) in told for each in candidate.otherwise):
            continue  # it was told before its speaker had this name
        fields = fields_of(candidate, said_at.get(passage)) | {
            "source_type": source.source_type,
            "thread_id": source.thread_id,
        }
        try:
            taken = asked(desk, principal, fields, desk.clock())
        except CommonplaceError:  # it does not fit its kind: the source keeps it anyway
            continue
        memory = _of_source(taken.memory, source, passage)
        wanted.append(replace(taken, memory=memory, wish=OnConflict.ALTERNATIVE))
    wanted = wanted[:MOST_OF_A_SOURCE]
    indexes, vectors = index_all(desk, [each.memory for each in wanted])
    return Batch(wanted, indexes, vectors)


def keep(desk: Desk, principal: Principal, source: Source, batch: Batch) -> Kept:
    """To be decided again when another was faster."""
    told = _told_before(desk, principal, source)
    new = [n for n, each in enumerate(batch.asked) if fold(each.memory.content) not in told]
    if not new:
        return Kept()
    rest = Batch(
        [batch.asked[n] for n in new],
        [batch.indexes[n] for n in new],
        None if batch.vectors is None else batch.vectors[new],
    )
    around = look_around(desk, principal.scope, rest.memories, rest.vectors, rest.indexes)
    gate = Gate(principal, around, len(new))
    ledger, answers = decide_each(desk, principal, rest, around, Scales(desk), gate.refuses)
    return Kept(ledger.all_steps(), tuple(each for each in answers if each is not None))


def _told_before(desk: Desk, principal: Principal, source: Source) -> set[str]:
    """By this source, and whatever became of it: what was forgotten does not come back."""
    listing = Listing(
        filters=Filters(source_id=source.id),
        visibility=WHOLE,
        states=tuple(State),
        limit=EVERYTHING,
    )
    return {fold(memory.content) for memory in desk.store.page(principal.scope, listing)}


def _of_source(memory: Memory, source: Source, passage: int) -> Memory:
    """It rests on its passage, by its id: its words would outlive the source otherwise."""
    guarded = source.sensitivity is Sensitivity.HIGH
    return memory.evolve(
        source_id=source.id,
        sensitivity=Sensitivity.HIGH if guarded else memory.sensitivity,
        evidence=(f"{source.id}#{passage}",),
    )

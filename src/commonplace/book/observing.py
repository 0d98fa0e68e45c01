"""observe: turns of conversations are kept and looked at, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from commonplace.desk import Desk, index_together
from commonplace.ingest.thread import Grown, Talk, grow, talks_in
from commonplace.language.suspicious import is_suspicious
from commonplace.model.categories import OWN_WORDS
from commonplace.model.changes import Bookkeeping, Changeset
from commonplace.model.heard import Heard
from commonplace.model.journal import Entry, Op, Status
from commonplace.model.kinds import Kind
from commonplace.model.relations import Action
from commonplace.model.scope import Principal
from commonplace.recall.pack import Choice
from commonplace.remember.batch import Batch, repeats_told
from commonplace.remember.consent import Proposed
from commonplace.remember.notice import Noticed, Skipped, notice
from commonplace.remember.observe import Home, Kept, Left, decide, planned, speaks_for_themself

LookUp = Callable[[str], Choice]


@dataclass(frozen=True, slots=True)
class Observed:
    """What one turn has left."""

    stored: tuple[Kept, ...]
    conflicts: tuple[Kept, ...]  # held until a person decides
    skipped: tuple[Skipped, ...]
    proposals: tuple[Proposed, ...]  # for the profile
    forget: tuple[Choice, ...]  # what may be meant: nothing was forgotten
    source_id: str | None  # of the thread's conversation; None: the turn was not to be kept
    passages: tuple[str, ...]  # of this turn in it; none while its beginning is not processed
    revision: int
    why_not: str = ""  # why it was not looked at closely

    @property
    def looked_closely(self) -> bool:
        return not self.why_not


def observe(
    desk: Desk, principal: Principal, turns: Sequence[Heard], look_up: LookUp
) -> list[Observed]:
    """All turns in one transaction, with one call to the embedder."""
    noticed = _noticed(desk, principal, turns)
    choices = [tuple(look_up(each.query) for each in seen.forget) for seen in noticed]
    plan = planned(desk, principal, noticed)
    said = {place: seen.kept for place, seen in enumerate(noticed) if seen.kept}
    talks = talks_in(desk, principal, list(said.values()))
    passages = [passage for talk in talks for passage in talk.passages]
    indexes, vectors, of_passages = index_together(desk, plan.memories, passages)
    batch = Batch([each.asked for each in plan.wanted], indexes, vectors)

    def decision() -> tuple[Changeset, tuple[Left, dict[int, Home]]]:
        rest = iter(of_passages)
        grown = [
            grow(desk, principal, talk, list(islice(rest, len(talk.passages)))) for talk in talks
        ]
        homes = _homes(said, talks, grown)
        left = decide(desk, principal, plan, batch, homes)
        changeset = Changeset(
            principal.scope,
            desk.clock(),
            principal.actor,
            (*(step for each in grown for step in each.steps), *left.steps),
            left.decided_on,
            talks[0].thread if len(talks) == 1 else None,
            observed=left.counted,
        )
        return changeset, (left, homes)

    revision, (left, homes) = desk.decide(decision)
    repeats_told(desk, principal, [each.remembered for _, each in left.kept], batch.thread_of_all)
    answers = [
        _answer(seen, place, left, choices[place], homes.get(place), revision)
        for place, seen in enumerate(noticed)
    ]
    _note(desk, principal, turns, answers)
    return answers


def _noticed(desk: Desk, principal: Principal, turns: Sequence[Heard]) -> list[Noticed]:
    own_words = OWN_WORDS | frozenset(Kind) | frozenset(desk.categories().categories)
    own = speaks_for_themself(desk, principal, turns)
    return [
        notice(turn, own_words, is_the_user=is_own, is_suspicious=is_suspicious)
        for turn, is_own in zip(turns, own, strict=True)
    ]


def _homes(
    said: Mapping[int, Heard], talks: Sequence[Talk], grown: Sequence[Grown]
) -> dict[int, Home]:
    """Of each turn that is kept, by its place in the batch."""
    by_thread = {talk.thread: (talk, each) for talk, each in zip(talks, grown, strict=True)}
    met: Counter[str] = Counter()
    homes = {}
    for place, turn in said.items():
        talk, each = by_thread[turn.thread]
        met[turn.thread] += 1
        own = talk.of_turn(met[turn.thread]) if each.passages else []
        homes[place] = Home(each.source, tuple(each.passages[n] for n in own))
    return homes


def _answer(
    seen: Noticed,
    place: int,
    left: Left,
    forget: tuple[Choice, ...],
    home: Home | None,
    revision: int,
) -> Observed:
    kept = [
        replace(each, remembered=replace(each.remembered, revision=revision))
        for turn, each in left.kept
        if turn == place
    ]
    return Observed(
        stored=tuple(k for k in kept if k.remembered.action is not Action.PENDING),
        conflicts=tuple(k for k in kept if k.remembered.action is Action.PENDING),
        skipped=(*seen.skipped, *(each for turn, each in left.skipped if turn == place)),
        proposals=tuple(
            replace(each, revision=revision) for turn, each in left.proposed if turn == place
        ),
        forget=forget,
        source_id=home.source.id if home else None,
        passages=home.passages if home else (),
        revision=revision,
        why_not=seen.why_not,
    )


def _note(
    desk: Desk, principal: Principal, turns: Sequence[Heard], answers: Sequence[Observed]
) -> None:
    """What became of each turn, in numbers, for those who look after the engine."""
    for turn, answer in zip(turns, answers, strict=True):
        kept = answer.stored or answer.conflicts or answer.proposals
        told = {
            "stored": len(answer.stored),
            "held": len(answer.conflicts),
            "proposed": len(answer.proposals),
            **Counter(str(each.reason) for each in answer.skipped),
        }
        entry = Entry(
            op=Op.CLASSIFY,
            status=Status.OK if kept else Status.SKIPPED,
            subject=answer.source_id,
            meta={name: count for name, count in told.items() if count},
        )
        desk.books.later(
            Bookkeeping(
                principal.scope,
                desk.clock(),
                entries=(entry,),
                thread_id=turn.thread,
                actor=principal.actor,
            )
        )

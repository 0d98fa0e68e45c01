"""observe: store conversation turns and the memories they give, in one transaction.

The steps of the memories and those of the stored turns form one changeset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.search.pack import Choice
from commonplace.language.safety.passwords import may_be_answer
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.safety.secrets import redact_secrets
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Bookkeeping, Changeset
from commonplace.model.journal import Entry, JournalStatus, Op
from commonplace.model.memory.kinds import BUILT_IN_CATEGORIES, Action, Kind
from commonplace.model.sources.source import (
    ConversationTurn,
    Passage,
    SpeakerRole,
)
from commonplace.store.queries import HiddenPassages

with lazy_imports(__name__):
    from commonplace.engine.conversation.handed_over import HandedOver
    from commonplace.engine.conversation.handed_turns import ground_handed_turns, locate_handed
    from commonplace.engine.conversation.observation import (
        ObservationPlan,
        ObservationResult,
        ObservedMemory,
        TurnLocation,
        decide_observation,
        plan_observation,
        prepare_observation,
    )
    from commonplace.engine.conversation.speakers import are_owners_turns
    from commonplace.engine.indexing import build_passage_indexing, passage_text_to_embed
    from commonplace.engine.memories.candidates import (
        Skipped,
        TurnCandidates,
        join_candidates,
        select_candidates,
    )
    from commonplace.engine.memories.remember import log_repeats
    from commonplace.engine.profile.proposals import Proposed
    from commonplace.engine.sources.thread import (
        GrownThread,
        ThreadUpdate,
        grow_thread,
        last_passage,
        thread_updates,
    )
    from commonplace.engine.transaction import run_transaction


CandidateLookup = Callable[[str], Choice]


@dataclass(frozen=True, slots=True)
class Observed:
    """The result of one turn."""

    stored: tuple[ObservedMemory, ...]
    conflicts: tuple[ObservedMemory, ...]  # pending until a person decides
    skipped: tuple[Skipped, ...]
    proposals: tuple[Proposed, ...]  # for the profile
    forget: tuple[Choice, ...]  # candidates to forget: nothing was forgotten
    source_id: str | None  # of the thread's conversation; None: the turn was not stored
    passages: tuple[str, ...]  # of this turn; empty until the source is processed
    revision: int
    why_not: str = ""  # why the turn was not examined

    @property
    def looked_closely(self) -> bool:
        return not self.why_not


def observe_turns(
    engine: EngineContext,
    request: RequestContext,
    turns: Sequence[ConversationTurn],
    look_up: CandidateLookup,
    handed: Mapping[int, HandedOver] | None = None,
) -> list[Observed]:
    """All turns in one transaction, with one call to the embedder. ``handed``: what the caller
    found in them, by their position."""
    principal = request.principal
    candidates = _select_turn_candidates(engine, principal, turns)
    choices = [tuple(look_up(each.query) for each in selected.forget) for selected in candidates]
    plan = plan_observation(engine, principal, candidates)
    stored = {place: selected.kept for place, selected in enumerate(candidates) if selected.kept}
    updates = thread_updates(engine, principal, list(stored.values()))
    found = ground_handed_turns(engine, principal, candidates, updates, handed) if handed else {}
    for place, each in found.items():
        candidates[place] = join_candidates(candidates[place], each.candidates, each.skipped)
    if found:
        plan = plan_observation(engine, principal, candidates)
    passages = [passage for update in updates for passage in update.passages]
    texts = [passage_text_to_embed(*each) for each in passages]
    batch = prepare_observation(engine, principal, plan, texts)
    passage_indexes = [
        build_passage_indexing(*each, batch.comparer.vectors.get(text))
        for each, text in zip(passages, texts, strict=True)
    ]

    def decision() -> tuple[Changeset, tuple[ObservationResult, dict[int, TurnLocation]]]:
        rest = iter(passage_indexes)
        grown = [
            grow_thread(engine, principal, update, list(islice(rest, len(update.passages))))
            for update in updates
        ]
        locations = _locate_turns(stored, updates, grown)
        news = _without_removed_turns(engine, principal, plan, locations)
        result = decide_observation(engine, principal, news, batch, locations)
        changeset = Changeset(
            principal.scope,
            engine.clock(),
            principal.actor,
            (*(step for each in grown for step in each.steps), *result.steps),
            result.decided_on,
            updates[0].thread if len(updates) == 1 else None,
            observed=result.counted,
            handed=locate_handed(found, updates, grown, locations),
        )
        return changeset, (result, locations)

    revision, (result, locations) = run_transaction(engine, request, decision)
    log_repeats(
        engine, principal, [each.remembered for _, each in result.kept], batch.common_thread
    )
    answers = [
        _observed_answer(selected, place, result, choices[place], locations.get(place), revision)
        for place, selected in enumerate(candidates)
    ]
    _log_turns(engine, principal, turns, answers)
    return answers


def _select_turn_candidates(
    engine: EngineContext, principal: Principal, turns: Sequence[ConversationTurn]
) -> list[TurnCandidates]:
    own_words = BUILT_IN_CATEGORIES | frozenset(Kind) | frozenset(engine.categories().categories)
    own = are_owners_turns(engine, principal, turns)
    redacted = [
        _without_answer(engine, principal, turn, turns[:place]) for place, turn in enumerate(turns)
    ]
    return [
        select_candidates(turn, own_words, is_the_user=is_own, is_suspicious=is_suspicious)
        for turn, is_own in zip(redacted, own, strict=True)
    ]


def _without_answer(
    engine: EngineContext,
    principal: Principal,
    turn: ConversationTurn,
    earlier: Sequence[ConversationTurn],
) -> ConversationTurn:
    """A short turn may be a password that was asked for: the turn before tells. The store is read
    only if it may be one."""
    if turn.role is not SpeakerRole.USER or not may_be_answer(turn.text):
        return turn
    before: ConversationTurn | Passage | None = next(
        (each for each in reversed(earlier) if each.thread == turn.thread), None
    )
    if before is None:
        before = last_passage(engine, principal, turn.thread)
    if before is None or (before.speaker, before.role) == (turn.speaker, turn.role):
        return turn
    return replace(turn, text=redact_secrets(turn.text, before.text))


def _locate_turns(
    stored: Mapping[int, ConversationTurn],
    updates: Sequence[ThreadUpdate],
    grown: Sequence[GrownThread],
) -> dict[int, TurnLocation]:
    """The location of each stored turn, by its position in the batch."""
    by_thread = {update.thread: (update, each) for update, each in zip(updates, grown, strict=True)}
    turn_numbers: Counter[str] = Counter()
    locations = {}
    for place, turn in stored.items():
        update, each = by_thread[turn.thread]
        turn_numbers[turn.thread] += 1
        numbers = update.of_turn(turn_numbers[turn.thread]) if each.passages else []
        locations[place] = TurnLocation(each.source, tuple(each.passages[n] for n in numbers))
    return locations


def _without_removed_turns(
    engine: EngineContext,
    principal: Principal,
    plan: ObservationPlan,
    locations: Mapping[int, TurnLocation],
) -> ObservationPlan:
    """A turn that is sent again, and that was forgotten or erased, gives no memories."""
    sent_again = [n for n, each in enumerate(plan.turns) if each.turn.is_dated and n in locations]
    if not sent_again:
        return plan
    sources = sorted({locations[place].source.id for place in sent_again})
    found = engine.store.passages(principal.scope, HiddenPassages(sources)).values()
    hidden = {passage.id for passage in found}
    removed = {n for n in sent_again if hidden.intersection(locations[n].passages)}
    return replace(
        plan,
        wanted=[each for each in plan.wanted if each.place not in removed],
        turns=[
            replace(each, claims=()) if place in removed else each
            for place, each in enumerate(plan.turns)
        ],
    )


def _observed_answer(
    selected: TurnCandidates,
    place: int,
    result: ObservationResult,
    forget: tuple[Choice, ...],
    location: TurnLocation | None,
    revision: int,
) -> Observed:
    kept = [
        replace(each, remembered=replace(each.remembered, revision=revision))
        for turn, each in result.kept
        if turn == place
    ]
    return Observed(
        stored=tuple(k for k in kept if k.remembered.action is not Action.PENDING),
        conflicts=tuple(k for k in kept if k.remembered.action is Action.PENDING),
        skipped=(*selected.skipped, *(each for turn, each in result.skipped if turn == place)),
        proposals=tuple(
            replace(each, revision=revision) for turn, each in result.proposed if turn == place
        ),
        forget=forget,
        source_id=location.source.id if location else None,
        passages=location.passages if location else (),
        revision=revision,
        why_not=selected.why_not,
    )


def _log_turns(
    engine: EngineContext,
    principal: Principal,
    turns: Sequence[ConversationTurn],
    answers: Sequence[Observed],
) -> None:
    """Journal the outcome of each turn as counts, for operators."""
    for turn, answer in zip(turns, answers, strict=True):
        kept = answer.stored or answer.conflicts or answer.proposals
        counts = {
            "stored": len(answer.stored),
            "held": len(answer.conflicts),
            "proposed": len(answer.proposals),
            **Counter(str(each.reason) for each in answer.skipped),
        }
        entry = Entry(
            op=Op.CLASSIFY,
            status=JournalStatus.OK if kept else JournalStatus.SKIPPED,
            subject=answer.source_id,
            meta={name: count for name, count in counts.items() if count},
        )
        engine.access_log.record_later(
            Bookkeeping(
                principal.scope,
                engine.clock(),
                entries=(entry,),
                thread_id=turn.thread,
                actor=principal.actor,
            )
        )

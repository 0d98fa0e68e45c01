"""Memories that say the same: one absorbs the other, or they are linked.

Without a language model only equal terms are merged. A model's "same" merges where the words allow
it: nothing that one of them says is lost. What it says is newer replaces nothing here. A pair that
was looked at rests for some days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.llm.model_calls import ModelOutcome, ask_model, count_findings
from commonplace.engine.maintenance.sleep.near_pairs import (
    DuplicatePair,
    PairKey,
    find_pairs,
    is_comparable_at_night,
)
from commonplace.engine.maintenance.sleep.task import Batch, Decide, Night, NightAction
from commonplace.engine.memories.absorb import absorb_memory, can_absorb, preference
from commonplace.engine.memories.conflicts import held_values_about
from commonplace.engine.memories.decided import is_decided
from commonplace.engine.memories.neighbours import MIN_LINK_SIMILARITY
from commonplace.engine.memory_relation import compare_statements
from commonplace.engine.reading.pair_checks import PairVerdict, may_become_one, read_verdicts
from commonplace.engine.reading.same_fact import MAX_PAIRS, NearPair, describe_pairs, is_comparable
from commonplace.language.compare.compare import CompareVerdict
from commonplace.language.llm.prompts import load_prompt
from commonplace.model.changeset import build_link
from commonplace.model.journal import JournalNode
from commonplace.model.memory.kinds import POLICIES
from commonplace.model.memory.memory import Link, Memory
from commonplace.model.sleep import FINGERPRINT_REST, KeepFingerprints, PairFingerprint

SAME_TERMS = "equal terms"
SAME_BY_MODEL = "a model says the same, and the words agree"
SIMILAR = "similar"
_SAME_WORDS = (CompareVerdict.EQUAL, CompareVerdict.SAME)


def run_duplicates(night: Night) -> Decide:
    engine, scope = night.engine, night.scope
    with engine.store.read_session():
        found = find_pairs(engine, scope, night.now)
        asked = _ask(night, found.pairs)
    return lambda: _Decision(night, found.pairs, asked, waits=not found.is_all).batch()


# ——— a language model ———


@dataclass(frozen=True, slots=True)
class ModelVerdicts:
    by_pair: Mapping[PairKey, PairVerdict] = field(default_factory=dict)
    outcome: str = ""
    tokens: int = 0


def _ask(night: Night, pairs: Sequence[DuplicatePair]) -> ModelVerdicts:
    """Several pairs a prompt. After a failure the rest is decided by rules."""
    engine, prompt = night.engine, load_prompt("same_fact")
    if night.dry_run or engine.model is None or not engine.model.sees_memories:
        return ModelVerdicts()
    verdicts: dict[PairKey, PairVerdict] = {}
    tokens = 0
    outcome = ""
    wanted = [pair for pair in pairs if _may_be_asked(engine, pair)]
    for start in range(0, len(wanted), MAX_PAIRS):
        some = wanted[start : start + MAX_PAIRS]
        values = {"pairs": describe_pairs(NearPair(each.earlier, each.later) for each in some)}
        reply = ask_model(engine, night.scope, prompt, values, small=True)
        tokens += reply.tokens.total
        if reply.has_answer:
            said = dict(read_verdicts(reply.value))
            named = {each.ids: said[n] for n, each in enumerate(some, 1) if n in said}
            verdicts |= named
            kept = sum(each is PairVerdict.SAME for each in named.values())
            count_findings(engine, night.scope, prompt, kept, len(some) - kept, reply.model)
        else:
            outcome = str(reply.outcome)
            if reply.outcome not in (ModelOutcome.MALFORMED, ModelOutcome.TOO_LONG):
                break
    return ModelVerdicts(verdicts, outcome, tokens)


def _may_be_asked(engine: EngineContext, pair: DuplicatePair) -> bool:
    both = (pair.earlier, pair.later)
    return not pair.has_equal_terms and all(is_comparable(engine, each) for each in both)


# ——— the decision ———


@dataclass(slots=True)
class _Decision:
    """On the present state: a memory that has changed since the pairs were found stays as it is."""

    night: Night
    pairs: Sequence[DuplicatePair]
    asked: ModelVerdicts
    waits: bool  # the limit of a day left pairs for the next
    actions: list[NightAction] = field(default_factory=list)
    done: list[PairFingerprint] = field(default_factory=list)
    merged: set[str] = field(default_factory=set)  # each memory in one merge of a batch
    again: int = 0  # pairs for the next batch
    over_limit: int = 0

    def batch(self) -> Batch:
        ids = sorted({id for pair in self.pairs for id in pair.ids})
        present = {each.id: each for each in self.night.engine.store.fetch(self.night.scope, ids)}
        links = self.night.engine.store.links(self.night.scope, ids)
        linked = {(link.a, link.b) for link in links}
        for pair in self.pairs:
            if all(self._is_unchanged(each, present) for each in (pair.earlier, pair.later)):
                self._decide(pair, linked)
        keep = KeepFingerprints(tuple(self.done), self.night.now - FINGERPRINT_REST)
        return Batch(
            self.actions,
            has_more=bool(self.again and self.actions),
            waiting=self.over_limit + self.waits,
            outcome=self.asked.outcome,
            tokens=self.asked.tokens,
            silent=[keep] if self.done else [],
        )

    def _is_unchanged(self, memory: Memory, present: Mapping[str, Memory]) -> bool:
        now = present.get(memory.id)
        return now is not None and now.ref == memory.ref and now.is_live(self.night.now)

    def _decide(self, pair: DuplicatePair, linked: set[PairKey]) -> None:
        if self.merged & set(pair.ids):
            self.again += 1
            return
        merge = self._merge(pair)
        if merge is None:
            self._link(pair, linked)
        elif sum(len(each.ends) for each in self.actions) >= self.night.may_still_end:
            self.over_limit += 1
            return
        else:
            self.actions.append(merge)
            self.merged |= set(pair.ids)
        self.done.append(pair.fingerprint(self.night.now))

    def _merge(self, pair: DuplicatePair) -> NightAction | None:
        if pair.has_equal_terms:
            chosen, why = self._by_words(pair), SAME_TERMS
        else:
            chosen, why = self._by_model(pair), SAME_BY_MODEL
        if chosen is None:
            return None
        kept, same = chosen
        engine, now = self.night.engine, self.night.now
        steps = absorb_memory(engine, self.night.principal, kept, same, now)
        return NightAction(why, tuple(steps), ends=(same.id,), items=2)

    def _by_words(self, pair: DuplicatePair) -> tuple[Memory, Memory] | None:
        if not may_be_merged(pair.earlier, pair.later):
            return None
        comparison = compare_statements(pair.later, pair.earlier)
        if comparison is None or comparison.verdict not in _SAME_WORDS:
            return None
        both = sorted((pair.later, pair.earlier), key=self._preference, reverse=True)
        return self._if_absorbable(both[0], both[1])

    def _by_model(self, pair: DuplicatePair) -> tuple[Memory, Memory] | None:
        """The fuller one stays. What a person decided does not end because of a model."""
        said = self.asked.by_pair.get(pair.ids)
        if said is not PairVerdict.SAME or not may_be_merged(pair.earlier, pair.later):
            return None
        for kept, same in ((pair.later, pair.earlier), (pair.earlier, pair.later)):
            if may_become_one(same.content, kept.content) and not self._is_decided(same):
                return self._if_absorbable(kept, same)
        return None

    def _if_absorbable(self, kept: Memory, same: Memory) -> tuple[Memory, Memory] | None:
        """Values that are held against one of them are questions about its own words."""
        held = held_values_about(self.night.engine, self.night.principal, same)
        return (kept, same) if can_absorb(kept, same) and not held else None

    def _preference(self, memory: Memory) -> tuple[object, ...]:
        return preference(memory, self._is_decided(memory))

    def _is_decided(self, memory: Memory) -> bool:
        return is_decided(self.night.engine, self.night.scope, memory)

    def _link(self, pair: DuplicatePair, linked: set[PairKey]) -> None:
        is_unrelated = self.asked.by_pair.get(pair.ids) is PairVerdict.UNRELATED
        if pair.score < MIN_LINK_SIMILARITY or pair.ids in linked or is_unrelated:
            return
        linked.add(pair.ids)
        link = Link.between(*pair.ids, round(pair.score, 4), self.night.now)
        self.actions.append(NightAction(SIMILAR, (build_link(link, node=JournalNode.WORKER),)))


def may_be_merged(one: Memory, other: Memory) -> bool:
    """Statements that hold at the same time. Key-values and contacts are a person's to decide; what
    happens again on another day is another event."""
    policy = POLICIES[one.kind]
    if policy.has_fields or not policy.can_merge or one.kind is not other.kind:
        return False
    if not (is_comparable_at_night(one) and is_comparable_at_night(other)):
        return False
    is_same_day = _began(one).date() == _began(other).date()
    return one.valid_to == other.valid_to and (is_same_day or not policy.recurs)


def _began(memory: Memory) -> datetime:
    return memory.valid_from or memory.created_at

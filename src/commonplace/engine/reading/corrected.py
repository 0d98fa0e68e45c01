"""Which stored memories a correction takes back: a language model compares, words decide with it.

The words of a correction often do not have the old value ("the earlier date of the trip"), so the
new statement is compared with the memories that could be meant, by the prompt of the same-fact job.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.engine.context import EngineContext
from commonplace.engine.conversation.observation import PlannedCandidate
from commonplace.engine.llm.model_calls import ask_model, count_findings
from commonplace.engine.memories.corrections import (
    MAX_CORRECTED,
    find_memories,
    may_be_corrected,
    share_a_subject,
)
from commonplace.engine.memories.decided import is_decided
from commonplace.engine.prompt_injection import is_injected_memory
from commonplace.engine.reading.pair_checks import PairVerdict, read_verdicts
from commonplace.engine.reading.turns import PreparedTurns
from commonplace.language.llm.prompts import as_data, load_prompt
from commonplace.model.memory.memory import Memory, Sensitivity
from commonplace.model.sources.source import Source

MAX_COMPARED = 5  # memories for each correction
MAX_PAIRS = 10  # of a prompt: the first corrections count
_ALL_OF = 4  # memories of which it is implausible that one statement takes all of them back


@dataclass(frozen=True, slots=True)
class CorrectedPair:
    place: int  # of the new statement, in the plan
    new: Memory
    corrects: str
    old: Memory


def confirm_corrections(engine: EngineContext, turns: PreparedTurns) -> PreparedTurns:
    """Outside any transaction. Without an answer, the words of the correction alone decide."""
    scope = turns.principal.own_scope
    if engine.model is None or not engine.model.sees_memories:
        return turns
    with engine.store.read_session():
        pairs = list(_pairs(engine, turns))[:MAX_PAIRS]
        if not pairs:
            return turns
        prompt = load_prompt("same_fact")
        reply = ask_model(engine, scope, prompt, {"pairs": _lines(turns.source, pairs)}, small=True)
    if not reply.has_answer:
        return turns
    confirmed = confirmed_pairs(pairs, dict(read_verdicts(reply.value)))
    rest = len(pairs) - len(confirmed)
    count_findings(engine, scope, prompt, len(confirmed), rest, reply.model)
    return replace(turns, plan=replace(turns.plan, wanted=_with_replaced(turns, confirmed)))


def _pairs(engine: EngineContext, turns: PreparedTurns) -> Iterator[CorrectedPair]:
    for place, each in enumerate(turns.plan.wanted):
        if each.candidate.corrects and not each.candidate.replaces:
            found = _memories_for(engine, turns, each)
            for old in found[:MAX_COMPARED]:
                yield CorrectedPair(place, each.asked.memory, each.candidate.corrects, old)


def _memories_for(
    engine: EngineContext, turns: PreparedTurns, wanted: PlannedCandidate
) -> list[Memory]:
    new, said_at = wanted.asked.memory, wanted.asked.said_at or engine.clock()
    words = f"{wanted.candidate.corrects} {new.searchable_text}"
    vector = turns.batch.comparer.vectors.get(new.searchable_text)
    return [
        old
        for old, _ in find_memories(engine, turns.principal, words, vector)
        if may_be_corrected(engine, turns.principal, old, new, said_at)
        and old.sensitivity is not Sensitivity.HIGH
        and share_a_subject(old.searchable_text, words)
        and not is_injected_memory(engine, old)
        and not is_decided(engine, turns.principal.scope, old)
    ]


def _day(source: Source, memory: Memory) -> str:
    """Where the conversation takes place."""
    return f"{source.local_time(memory.created_at):%Y-%m-%d}"


def _lines(source: Source, pairs: Sequence[CorrectedPair]) -> str:
    return "\n".join(
        as_data(
            {
                "pair": number,
                "earlier": pair.old.content,
                "said_earlier": _day(source, pair.old),
                "later": pair.new.content,
                "said_later": _day(source, pair.new),
                "takes_back": pair.corrects,
            }
        )
        for number, pair in enumerate(pairs, 1)
    )


def confirmed_pairs(
    pairs: Sequence[CorrectedPair], verdicts: Mapping[int, PairVerdict]
) -> list[CorrectedPair]:
    """Pure. One statement takes back a few memories, and never all that it was compared with."""
    replaced = [
        pair
        for number, pair in enumerate(pairs, 1)
        if verdicts.get(number) is PairVerdict.NEWER_REPLACES
    ]
    compared = Counter(pair.place for pair in pairs)
    taken_back = Counter(pair.place for pair in replaced)
    return [
        pair
        for pair in replaced
        if taken_back[pair.place] <= MAX_CORRECTED
        and not taken_back[pair.place] == compared[pair.place] >= _ALL_OF
    ]


def _with_replaced(
    turns: PreparedTurns, confirmed: Sequence[CorrectedPair]
) -> list[PlannedCandidate]:
    return [
        replace(
            each,
            candidate=replace(
                each.candidate,
                replaces=(
                    *each.candidate.replaces,
                    *(pair.old.id for pair in confirmed if pair.place == place),
                ),
            ),
        )
        for place, each in enumerate(turns.plan.wanted)
    ]

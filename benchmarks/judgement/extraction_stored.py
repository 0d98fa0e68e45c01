"""Labelled conversations through the engine: what rules find there, and what a language model adds.

Each is stored through the public API as a source of its owner, in a store of its own, and read to
its end. The owner's graph is scored with the same rules as extraction by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import commonplace
from benchmarks.judgement.everyday import BETWEEN_TURNS, PlayedClock
from benchmarks.judgement.extraction_score import Conversation, ExtractionResult, percent
from commonplace.api import Commonplace, User
from commonplace.engine.llm.usage import UsageOfModel
from commonplace.language.embedders.embedder import Embedder
from commonplace.language.extract.values import (
    AttributedPassage,
    FoundEdge,
    FoundNode,
    SourceExtraction,
    TextLocation,
)
from commonplace.language.llm.language_model import LanguageModel
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.memory import Memory
from commonplace.model.sources.source import SourceType

NO_MODEL = ""
WORDS, TURNS = 10_000, 100  # for which tokens are told
_AGAIN = timedelta(hours=1)
_ATTEMPTS = 4  # of what a model did not answer
_PAGE = 200


@dataclass(frozen=True, slots=True)
class StoredExtraction:
    """A conversation that was stored and read: its graph, its memories, what was asked for it."""

    result: ExtractionResult
    memories: Sequence[Memory]
    usage: Sequence[UsageOfModel]

    @property
    def is_chat(self) -> bool:
        return is_chat(self.result.conversation)

    @property
    def tokens(self) -> int:
        return sum(each.read + each.written for each in self.usage)


def is_chat(conversation: Conversation) -> bool:
    return conversation.account.source_type is SourceType.CHAT


def extract_stored(
    conversations: Sequence[Conversation],
    embedder: Embedder,
    model: str | LanguageModel = NO_MODEL,
    *,
    model_url: str | None = None,
    at_once: int = 1,
) -> list[StoredExtraction]:
    """``at_once``: conversations that are read at the same time."""
    flags = {"embedder": embedder, "model": model, "model_url": model_url}
    with ThreadPoolExecutor(at_once) as threads:
        return list(threads.map(partial(_extract_one, flags), conversations))


def _extract_one(flags: Mapping[str, Any], conversation: Conversation) -> StoredExtraction:
    clock = PlayedClock()
    with commonplace.open(
        ":memory:", clock=clock, worker="off", extraction="auto", **flags
    ) as book:
        me = book.user(conversation.account.owner.name, cleared=True)
        _store(me, conversation, clock)
        _read_to_the_end(book, clock)
        return StoredExtraction(
            ExtractionResult(conversation, graph_of(me)),
            tuple(_memories(me)),
            me.model_usage().usage,
        )


def _store(me: User, conversation: Conversation, clock: PlayedClock) -> None:
    """A chat as an agent observes it, anything else as a whole."""
    said = [
        (turn.at + number * BETWEEN_TURNS, turn)
        for number, turn in enumerate(conversation.account.passages)
    ]
    if not is_chat(conversation):
        clock.advance(said[-1][0])
        _ingest(me, conversation, said)
        return
    for at, turn in said:
        clock.advance(at)
        role = "assistant" if turn.by_machine else "user"
        speaker = None if turn.by_owner or turn.by_machine else turn.speaker
        me.observe(turn.text, role=role, speaker=speaker, thread=conversation.id, at=at)


def _ingest(
    me: User, conversation: Conversation, said: Sequence[tuple[datetime, AttributedPassage]]
) -> None:
    lines = (
        json.dumps({"speaker": turn.speaker, "text": turn.text, "time": at.isoformat()})
        for at, turn in said
    )
    me.ingest(
        "\n".join(lines),
        format="conversation",
        source_type=str(conversation.account.source_type),
        participants=conversation.account.participants,
        external_id=conversation.id,
    )


def _read_to_the_end(book: Commonplace, clock: PlayedClock) -> None:
    for _ in range(_ATTEMPTS):
        clock.now += _AGAIN
        if not book.work(once=True).failed:
            return


def _memories(me: User) -> Iterator[Memory]:
    page = me.list(limit=_PAGE)
    yield from page.memories
    while page.next:
        page = me.list(limit=_PAGE, after=page.next)
        yield from page.memories


# ——— the graph, as extraction would have found it ———


def graph_of(me: User) -> SourceExtraction:
    whole = json.loads(me.graph(past=True))
    places = {node["id"]: place for place, node in enumerate(whole["nodes"])}
    return SourceExtraction(
        nodes=tuple(map(_node, whole["nodes"])),
        edges=tuple(edge for each in whole["edges"] for edge in _edges(each, places)),
    )


def _node(shown: Mapping[str, Any]) -> FoundNode:
    return FoundNode(
        type=NodeType(shown["node_type"]),
        subtype=shown["type"],
        name=shown["name"],
        aliases=tuple(shown["aliases"]),
        confidence=shown["confidence"],
        is_owner=shown["is_owner"],
    )


def _edges(shown: Mapping[str, Any], places: Mapping[str, int]) -> Iterator[FoundEdge]:
    """One that began and ended says both."""
    began = datetime.fromisoformat(shown["valid_from"])
    ended = datetime.fromisoformat(shown["valid_to"]) if shown["valid_to"] else None
    edge = FoundEdge(
        a=places[shown["from_entity_key"]],
        b=places[shown["to_entity_key"]],
        type=shown["relationship_type"],
        attitude=shown["attitude"],
        confidence=shown["confidence"],
        valid_from=began,
        place=TextLocation(0, 0, 0),  # a graph has many sources
    )
    if ended is None or began < ended:
        yield edge
    if ended is not None:
        yield replace(edge, valid_from=ended, ends=True)


# ——— counts ———


def with_evidence(read: Sequence[StoredExtraction]) -> float | None:
    """Of all memories, the percentage of those that cite a passage."""
    memories = [each for one in read for each in one.memories]
    return percent(sum(bool(each.evidence) for each in memories), len(memories))


def tokens_per_words(read: Sequence[StoredExtraction]) -> float | None:
    """Asked and answered, for so many words of what is no chat."""
    others = [each for each in read if not each.is_chat]
    words = (len(turn.text.split()) for turn in _turns_of(others))
    return _per(WORDS, others, sum(words))


def tokens_per_turns(read: Sequence[StoredExtraction]) -> float | None:
    chats = [each for each in read if each.is_chat]
    return _per(TURNS, chats, len(list(_turns_of(chats))))


def _turns_of(read: Sequence[StoredExtraction]) -> Iterator[AttributedPassage]:
    return (turn for each in read for turn in each.result.conversation.account.passages)


def _per(unit: int, read: Sequence[StoredExtraction], amount: int) -> float | None:
    return unit * sum(each.tokens for each in read) / amount if amount else None


def usage_total(read: Sequence[StoredExtraction], field: str) -> int:
    """``field``: calls, failed, kept or dropped."""
    return sum(getattr(row, field) for each in read for row in each.usage)

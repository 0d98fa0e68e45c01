"""Values for tests of pure rules: a memory, a journal row, and strategies that make many."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

from hypothesis import strategies as st

from commonplace.model.export.records import WholeSource
from commonplace.model.journal import Entry, Event, JournalNode, JournalRow, JournalStatus, Op
from commonplace.model.memory.kinds import POLICIES, Kind, Stability
from commonplace.model.memory.memory import Link, Memory, Sensitivity, State, Version
from commonplace.model.profile.fields import Proposal, Signal, SignalKind
from commonplace.model.sources import source as source_model
from commonplace.model.sources.source import (
    ContentType,
    ContextType,
    Passage,
    Source,
    SourceType,
    original_digest,
)
from support.clock import START


def memory(**fields: Any) -> Memory:
    """A live note of Ana's; name the fields that matter to the test."""
    given: dict[str, Any] = {
        "id": "m1",
        "user_id": "ana",
        "kind": Kind.NOTE,
        "content": "The spare key is under the blue pot",
        "summary": "The spare key is under the blue pot",
        "category": "knowledge",
        "created_at": START,
        "updated_at": START,
        "arrived_at": START,
    }
    return Memory(**{**given, **fields})


def journal_row(subject: str, revision: int = 1, **entry: Any) -> JournalRow:
    entry = {"op": Op.CREATE, "event": Event.ADD, "category": "knowledge", **entry}
    return JournalRow(
        seq=revision,
        ts=START,
        user_id="ana",
        revision=revision,
        thread_id="t",
        actor="user:ana",
        entry=Entry(subject=subject, **entry),
    )


# ——— strategies ———


def _clean(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


letters = st.characters(exclude_categories=["Cs", "Cc"])
words = st.text(letters, min_size=1, max_size=12).map(_clean).filter(bool)
texts = st.text(letters, min_size=1, max_size=80).map(_clean).filter(bool)
moments = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
spans = st.timedeltas(timedelta(0), timedelta(days=400))
plain_values = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | words
maps = st.dictionaries(words, plain_values | st.lists(plain_values, max_size=3), max_size=3)
shares = st.floats(0, 1, allow_nan=False)


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def _with_what_its_kind_needs(memory: Memory) -> Memory:
    """A contact has a name, a key-value a subject and a value."""
    needed = [n.partition(".")[2] for n in POLICIES[memory.kind].required if "." in n]
    return memory.evolve(metadata={**memory.metadata, **dict.fromkeys(needed, "said")})


memories = st.builds(
    Memory,
    id=words,
    user_id=st.just("ana"),
    kind=st.sampled_from(Kind),
    content=texts,
    summary=texts,
    category=words,
    tags=st.lists(words, max_size=3, unique=True).map(tuple),
    metadata=maps,
    importance=st.integers(1, 5),
    confidence=shares,
    stability=st.sampled_from(Stability),
    sensitivity=st.sampled_from(Sensitivity),
    pinned=st.booleans(),
    evidence=st.lists(texts, max_size=2).map(tuple),
    facet=_maybe(words),
    agent_id=_maybe(words),
    thread_id=_maybe(words),
    state=st.sampled_from(State),
    expires_at=_maybe(moments),
    superseded_by=_maybe(words),
    purge_at=_maybe(moments),
    valid_from=_maybe(moments),
    valid_to=_maybe(moments),
    created_at=moments,
    updated_at=moments,
    version=st.integers(1, 9),
    arrived_at=moments,
    last_accessed_at=_maybe(moments),
    access_count=st.integers(0, 9),
).map(_with_what_its_kind_needs)
versions = st.builds(Version, memories, moments, _maybe(moments))
links = st.builds(Link.between, words, words, shares, moments)
entries = st.builds(
    Entry,
    op=st.sampled_from(Op),
    node=st.sampled_from(JournalNode),
    status=st.sampled_from(JournalStatus),
    event=_maybe(st.sampled_from(Event)),
    subject=_maybe(words),
    category=_maybe(words),
    old_ref=_maybe(words),
    new_ref=_maybe(words),
    similarity=_maybe(shares),
    meta=maps,
)


@st.composite
def whole_sources(draw: st.DrawFn) -> WholeSource:
    """A source of Ana's with its original and its passages, whose numbers and digest are right."""
    original = tuple(draw(st.lists(st.binary(max_size=40), min_size=1, max_size=3)))
    said = draw(st.lists(passages, max_size=2))
    forgotten = draw(st.booleans())
    source = draw(sources).evolve(
        state=State.SOFT_DELETED if forgotten else State.ACTIVE,
        purge_at=draw(moments) if forgotten else None,
        parts=len(original),
        passages=len(said),
        digest=reduce(lambda before, raw: original_digest(raw, before), original, ""),
    )
    numbered = [replace(p, source_id=source.id, number=n) for n, p in enumerate(said, 1)]
    return WholeSource(source, original, tuple(numbered))


passages = st.builds(
    Passage,
    source_id=st.just("source:0"),
    number=st.just(1),
    turn=st.integers(1, 9),
    text=texts,
    speaker=_maybe(words),
    role=_maybe(words),
    at=moments,
    session=_maybe(words),
    label=_maybe(words),
    suspicious=st.booleans(),
)
_several_words = st.lists(words, max_size=3, unique=True).map(tuple)
sources = st.builds(
    Source,
    id=st.uuids().map(lambda id: f"source:{id}"),
    user_id=st.just("ana"),
    origin=words,
    external_id=texts,
    source_type=st.sampled_from(SourceType),
    content_type=st.sampled_from(ContentType),
    context_type=_maybe(st.sampled_from(ContextType)),
    created_at=moments,
    updated_at=moments,
    title=st.just("") | texts,
    summary=st.just("") | texts,
    keywords=_several_words,
    tags=_several_words,
    participants=_several_words.map(lambda names: tuple(dict.fromkeys(("ana", *names)))),
    provenance=maps,
    thread_id=_maybe(words),
    sensitivity=st.sampled_from(Sensitivity),
    status=st.sampled_from(source_model.ProcessingStatus),
    started_at=_maybe(moments),
    ended_at=_maybe(moments),
    processing_started_at=_maybe(moments),
    processing_completed_at=_maybe(moments),
    extraction_started_at=_maybe(moments),
    extraction_completed_at=_maybe(moments),
    version=st.integers(1, 9),
)
signals = st.builds(
    Signal,
    actor=words,
    at=moments,
    kind=st.sampled_from(SignalKind),
    confidence=_maybe(shares),
    thread=_maybe(words),
    evidence=st.lists(texts, max_size=2).map(tuple),
    source_id=_maybe(words),
    memory_id=_maybe(words),
)
_several_words = st.lists(words, min_size=1, max_size=3, unique=True)
_values = st.one_of(words, st.booleans(), st.integers(-(2**60), 2**60), _several_words)
_OF_FORM = {"goals_add": words, "tone": words, "goals": _several_words}


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    at = draw(moments)
    name = draw(st.sampled_from(["city", "tone", "goals", "goals_add", "shoe_size"]))
    return Proposal(
        id=f"proposal:{draw(st.uuids())}",
        name=name,
        value=draw(_OF_FORM.get(name, _values)),
        signals=tuple(draw(st.lists(signals, min_size=1, max_size=3))),
        reason=draw(st.just("") | texts),
        proposed_at=at,
        ends_at=at + draw(spans),
    )


journal_rows = st.builds(
    JournalRow,
    seq=st.integers(1, 10**6),
    ts=moments,
    user_id=st.just("ana"),
    revision=st.integers(0, 100),
    thread_id=_maybe(words),
    actor=_maybe(words),
    entry=entries,
)

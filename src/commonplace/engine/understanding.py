"""Message understanding: does it need a search, for what; known people, abbreviations.

By rules alone (`language/asking`); a message that was understood a moment ago is not read again.

The index knows which of them are there; their texts are fetched only when these have changed.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from commonplace.engine.access import readable_scopes, visibility_of
from commonplace.engine.context import EngineCaches, EngineContext
from commonplace.language.query.abbreviations import (
    Terminology,
    add_long_forms,
    build_terminology,
    is_valid_short_form,
    load_shipped_abbreviations,
    missing_long_forms,
)
from commonplace.language.query.follow_ups import Filled, expand_follow_up
from commonplace.language.query.message import MAX_RECENT_TURNS, RecentTurn, latest_turns
from commonplace.language.query.needs_search import needs_search
from commonplace.language.query.question import first_names
from commonplace.language.text.normalise import fold
from commonplace.model.access.principal import Principal, ReadableScope, merge_readable_scopes
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.profile.fields import Abbreviation
from commonplace.model.sources.source import SPOKEN_CONTENT
from commonplace.store.cache.bounded_cache import BoundedCache
from commonplace.store.cache.scope_index import ScopeIndex
from commonplace.store.queries import PassagesOf, SourceListing

_SHIPPED_TERMINOLOGY = build_terminology(load_shipped_abbreviations())
_CACHE_NAME = "vocabulary"
MAX_ANSWERS_PER_CALLER = 128


@dataclass(frozen=True, slots=True)
class AbbreviationStamp:
    """Which of the user's own abbreviations the caller may see, in one state of the index."""

    ids: tuple[str, ...] = ()
    units: tuple[int, ...] = ()  # other words are another unit


def abbreviation_stamp(
    index: ScopeIndex, engine: EngineContext, principal: Principal
) -> AbbreviationStamp:
    slots = index.abbreviations()
    if not slots:
        return AbbreviationStamp()
    seen = index.visible(visibility_of(principal), engine.clock())
    mine = [slot for slot in slots if seen[slot]]
    return AbbreviationStamp(tuple(index.ids[s] for s in mine), tuple(index.units[s] for s in mine))


def load_terminology(
    engine: EngineContext, principal: Principal, stamp: AbbreviationStamp
) -> Terminology:
    """What the caller's words are looked up in."""
    if not stamp.ids:
        return _SHIPPED_TERMINOLOGY
    cached = cached_answers(engine.caches, principal, stamp)
    table: Terminology | None = cached.get(_CACHE_NAME)
    if table is None:
        own = list(_own_abbreviations(engine, principal, stamp))
        table = build_terminology([*load_shipped_abbreviations(), *own])
        if len(own) == len(stamp.ids):  # else one vanished just now, and may come back
            cached.put(_CACHE_NAME, table)
    return table


def list_abbreviations(engine: EngineContext, principal: Principal) -> Sequence[Abbreviation]:
    """All that count for this caller, by their short form."""
    return load_caller_terminology(engine, principal).abbreviations


def load_caller_terminology(engine: EngineContext, principal: Principal) -> Terminology:
    with engine.index.reading(principal.scope) as index:
        stamp = abbreviation_stamp(index, engine, principal)
    return load_terminology(engine, principal, stamp)


def cached_answers(
    caches: EngineCaches, principal: Principal, stamp: AbbreviationStamp
) -> BoundedCache[Hashable, Any]:
    """Every caller has a cache of their own, so that nothing of one is served to another. It is
    empty under a new stamp: what was forgotten or erased is not kept here either."""
    return caches.understandings.get_or_make(
        caller_key(principal), lambda: BoundedCache(max_entries=MAX_ANSWERS_PER_CALLER), stamp
    )


def caller_key(principal: Principal) -> tuple[str, str | None, bool]:
    return principal.scope.key, principal.agent, principal.cleared


def _own_abbreviations(
    engine: EngineContext, principal: Principal, stamp: AbbreviationStamp
) -> Iterator[Abbreviation]:
    now, visibility = engine.clock(), visibility_of(principal)
    for memory in engine.store.fetch(principal.scope, stamp.ids):
        short, long = memory.metadata.get("subject"), memory.metadata.get("value")
        if not (isinstance(short, str) and isinstance(long, str) and is_valid_short_form(short)):
            continue  # changed into something that cannot be met
        if memory.is_live(now) and visibility.admits(memory):
            yield Abbreviation(short, long, own=True, id=memory.id)


def load_known_people(
    engine: EngineContext, principal: Principal, readings: Sequence[ReadableScope]
) -> tuple[Collection[str], AbbreviationStamp]:
    """People of every reading; abbreviations are a matter of one's own."""
    people: dict[str, None] = {}
    stamp = AbbreviationStamp()
    with engine.index.holding(readings) as indexes:
        for reading, index in zip(readings, indexes, strict=True):
            if reading.is_own:
                people |= dict.fromkeys(index.people)
                stamp = abbreviation_stamp(index, engine, principal)
            else:
                people |= dict.fromkeys(_open_names(index))
    return people, stamp


def _open_names(index: ScopeIndex) -> Iterator[str]:
    """Whom a source names that is not sensitive: of the others nobody else may know."""
    for name, sources in index.people.items():
        if any(index.sources[id].row.sensitivity != Sensitivity.HIGH for id in sources):
            yield name


_RECENT_PASSAGES = 4 * MAX_RECENT_TURNS  # of a conversation's end: a long turn has several


@dataclass(frozen=True, slots=True)
class Understanding:
    message: str
    needs_search: bool
    reasons: tuple[str, ...]  # each begins with a stable sentence; words follow after a colon
    query: str  # the message as it would stand alone, for recall
    expanded: tuple[Filled, ...]  # what was put in, and why

    @property
    def is_expanded(self) -> bool:
        return bool(self.expanded)


def understand_message(
    engine: EngineContext,
    principal: Principal,
    message: str,
    recent: Sequence[RecentTurn] | None = None,
    thread: str | None = None,
) -> Understanding:
    """``recent`` are the turns before the message, the oldest first; where they are not given, the
    last ones that the thread's conversation holds."""
    turns = load_recent_turns(engine, principal, thread, message) if recent is None else recent
    people, stamp = load_known_people(
        engine, principal, merge_readable_scopes(readable_scopes(engine, principal))
    )
    known = first_names(people) if principal.is_owner else frozenset()
    key = (message, tuple(latest_turns(turns)), known)
    cached = cached_answers(engine.caches, principal, stamp)
    kept: Understanding | None = cached.get(key)
    if kept is None:
        kept = build_understanding(
            message, key[1], known, load_terminology(engine, principal, stamp)
        )
        cached.put(key, kept)
    return kept


def build_understanding(
    message: str, turns: Sequence[RecentTurn], known: Collection[str], words: Terminology
) -> Understanding:
    """Pure."""
    asked = needs_search(message, turns, known)
    whole = expand_follow_up(message, turns, known)
    met = words.find_matches(whole.query)
    short = [
        Filled(each.said, each.abbreviation.long, "abbreviation")
        for each in missing_long_forms(whole.query, met)
    ]
    return Understanding(
        message,
        asked.needed,
        asked.reasons,
        add_long_forms(whole.query, met),
        (*whole.filled, *short),
    )


def load_recent_turns(
    engine: EngineContext, principal: Principal, thread: str | None, message: str = ""
) -> list[RecentTurn]:
    """The end of a thread's conversation. Whoever kept the message before asking about it finds it
    there as the last turn: it is not its own conversation."""
    if thread is None:
        return []
    listing = SourceListing(visibility=visibility_of(principal), thread_id=thread, limit=8)
    talks = engine.live_source_page(principal.scope, listing)
    talk = next((source for source in talks if source.content_type in SPOKEN_CONTENT), None)
    if talk is None:
        return []
    first = max(1, talk.passages - _RECENT_PASSAGES + 1)
    held = list(engine.store.passages(principal.scope, PassagesOf(talk.id, first)).values())
    turns = [
        RecentTurn(" ".join(passage.text for passage in pieces), pieces[0].role)
        for _, group in groupby(held, key=lambda passage: passage.turn)
        if not (pieces := list(group))[0].suspicious
    ]
    if turns and fold(turns[-1].text) == fold(message):
        turns.pop()
    return turns

"""Message understanding: is a search needed, and for what; people and abbreviations.

Rules alone decide (`language/query`). Results are cached per caller. The index lists the caller's
abbreviations; their texts are fetched only after a change.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any

import numpy as np
from rapidfuzz.distance import OSA

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
from commonplace.language.query.known_words import ContentWord, KnownWords, content_words
from commonplace.language.query.message import (
    MAX_MESSAGE_CHARACTERS,
    MAX_RECENT_TURNS,
    RecentTurn,
    latest_turns,
)
from commonplace.language.query.question import first_names
from commonplace.language.text.normalise import fold
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, ReadableScope, merge_readable_scopes
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.profile.fields import Abbreviation
from commonplace.model.sources.source import SPOKEN_CONTENT
from commonplace.store.cache.bounded_cache import BoundedCache
from commonplace.store.cache.scope_index import Mask, ScopeIndex
from commonplace.store.queries import PassagesOf, SourceListing

with lazy_imports(__name__):
    from commonplace.engine.llm.model_calls import ask_model
    from commonplace.language.llm.prompts import as_data, load_prompt
    from commonplace.language.query.follow_ups import Filled, expand_follow_up
    from commonplace.language.query.message import reason_text
    from commonplace.language.query.needs_search import needs_search
    from commonplace.language.safety.plain_line import plain_line
    from commonplace.language.safety.secrets import redact_secrets
    from commonplace.language.text.terms import analyse

_SHIPPED_TERMINOLOGY = build_terminology(load_shipped_abbreviations())
_CACHE_NAME = "vocabulary"
MAX_ANSWERS_PER_CALLER = 128
MOST_RARE, RARE_SHARE = 3, 0.1  # a word in so many texts of a store, or this share, is rare
# Words are corrected only if they are most of the message: "planets" is not "plants".
MOST_CORRECTED, MIN_CORRECTED_LETTERS = 1, 5


@dataclass(frozen=True, slots=True)
class AbbreviationStamp:
    """The caller's visible abbreviations in one state of the index: the cache key of their
    terminology."""

    ids: tuple[str, ...] = ()
    units: tuple[int, ...] = ()  # a changed text has another unit


def abbreviation_stamp(
    index: ScopeIndex, engine: EngineContext, principal: Principal
) -> AbbreviationStamp:
    slots = index.abbreviations()
    if not slots:
        return AbbreviationStamp()
    visible = index.visible(visibility_of(principal), engine.clock())
    mine = [slot for slot in slots if visible[slot]]
    return AbbreviationStamp(tuple(index.ids[s] for s in mine), tuple(index.units[s] for s in mine))


def load_terminology(
    engine: EngineContext, principal: Principal, stamp: AbbreviationStamp
) -> Terminology:
    """The abbreviations that apply to the caller: the shipped ones and their own."""
    if not stamp.ids:
        return _SHIPPED_TERMINOLOGY
    cached = cached_answers(engine.caches, principal, stamp)
    table: Terminology | None = cached.get(_CACHE_NAME)
    if table is None:
        own = list(_own_abbreviations(engine, principal, stamp))
        table = build_terminology([*load_shipped_abbreviations(), *own])
        if len(own) == len(stamp.ids):  # else one was removed just now: do not cache
            cached.put(_CACHE_NAME, table)
    return table


def list_abbreviations(engine: EngineContext, principal: Principal) -> Sequence[Abbreviation]:
    """All that apply to this caller, by their short form."""
    return load_caller_terminology(engine, principal).abbreviations


def load_caller_terminology(engine: EngineContext, principal: Principal) -> Terminology:
    with engine.index.reading(principal.scope) as index:
        stamp = abbreviation_stamp(index, engine, principal)
    return load_terminology(engine, principal, stamp)


def cached_answers(
    caches: EngineCaches, principal: Principal, stamp: AbbreviationStamp
) -> BoundedCache[Hashable, Any]:
    """A cache per caller, so that no caller gets results of another. A new stamp empties it, so
    that it does not retain forgotten or erased content."""
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
            continue  # was changed to an invalid short form
        if memory.is_live(now) and visibility.admits(memory):
            yield Abbreviation(short, long, own=True, id=memory.id)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the caller's memory knows by name and word."""

    people: Collection[str]  # of all readable scopes
    stamp: AbbreviationStamp  # of the caller's own abbreviations
    in_memory: Mapping[str, KnownWords]  # of each text that was asked about


def load_vocabulary(
    engine: EngineContext,
    principal: Principal,
    readings: Sequence[ReadableScope],
    texts: Sequence[str] = (),
) -> Vocabulary:
    people: dict[str, None] = {}
    stamp, in_memory = AbbreviationStamp(), dict[str, KnownWords]()
    with engine.index.holding(readings) as indexes:
        for reading, index in zip(readings, indexes, strict=True):
            if reading.is_own:
                people |= dict.fromkeys(index.people)
                stamp = abbreviation_stamp(index, engine, principal)
                in_memory = _find_known_words(index, engine, principal, texts)
            else:
                people |= dict.fromkeys(_open_names(index))
    return Vocabulary(people, stamp, in_memory)


def _open_names(index: ScopeIndex) -> Iterator[str]:
    """People named in a source that is not sensitive. Names in sensitive sources are hidden from
    other users."""
    for name, sources in index.people.items():
        if any(index.sources[id].row.sensitivity != Sensitivity.HIGH for id in sources):
            yield name


_RECENT_PASSAGES = 4 * MAX_RECENT_TURNS  # from the end of a conversation: a long turn has several


@dataclass(frozen=True, slots=True)
class Understanding:
    message: str
    needs_search: bool
    reasons: tuple[str, ...]  # a stable sentence, with details after a colon
    query: str  # the message as a self-contained query, for recall
    expanded: tuple[Filled, ...]  # what was added, and why

    @property
    def needs_no_memory(self) -> bool:
        """The message says so: a greeting, a calculation, a new text. Else nothing shows that it
        is about the user, and it may be in words that no rule knows."""
        return not self.needs_search and self.reasons != (reason_text("general"),)

    @property
    def is_unsure(self) -> bool:
        """No rule says yes or no: the message may be in words that none of them knows."""
        unknown = (reason_text("general"), reason_text("language"))
        follows = reason_text("generic_follow_up")
        return all(each in unknown or each.startswith(follows) for each in self.reasons)

    @property
    def is_expanded(self) -> bool:
        return bool(self.expanded)


def understand_message(
    engine: EngineContext,
    principal: Principal,
    message: str,
    recent: Sequence[RecentTurn] | None = None,
    thread: str | None = None,
    names: Collection[str] = (),
    *,
    asks_model: bool = False,
) -> Understanding:
    """``recent`` are the turns before the message, oldest first; by default the last turns of the
    thread. ``names``: folded words of the message that name a node of the caller's graph.
    ``asks_model``: a language model is asked where no rule is sure, and waited for."""
    with engine.store.read_session():
        turns = load_recent_turns(engine, principal, thread, message) if recent is None else recent
        latest = tuple(latest_turns(turns))
        understanding = _understand_by_rules(engine, principal, message, latest, names)
        if asks_model and understanding.is_unsure and principal.is_in_own_scope:
            if recent is None and principal.cleared:  # a model has no clearance
                uncleared = replace(principal, cleared=False)
                latest = tuple(latest_turns(load_recent_turns(engine, uncleared, thread, message)))
            return _ask_model(engine, principal, understanding, latest)
    return understanding


def _understand_by_rules(
    engine: EngineContext,
    principal: Principal,
    message: str,
    latest: tuple[RecentTurn, ...],
    names: Collection[str],
) -> Understanding:
    vocabulary = load_vocabulary(
        engine,
        principal,
        merge_readable_scopes(readable_scopes(engine, principal)),
        (message, *(turn.text for turn in latest)),
    )
    known = first_names(vocabulary.people) if principal.is_owner else frozenset()
    known |= frozenset(names)
    stamp, in_memory = vocabulary.stamp, vocabulary.in_memory
    key = (message, latest, known, tuple(in_memory.items()))
    cached = cached_answers(engine.caches, principal, stamp)
    understanding: Understanding | None = cached.get(key)
    if understanding is None:
        terminology = load_terminology(engine, principal, stamp)
        understanding = build_understanding(message, latest, known, terminology, in_memory)
        cached.put(key, understanding)
    return understanding


_LONGEST_ABOUT = 60  # characters
MAX_SHOWN_TURNS, MAX_SHOWN_CHARACTERS = 6, 500  # of the turns before, to a model


def _ask_model(
    engine: EngineContext,
    principal: Principal,
    understanding: Understanding,
    turns: Sequence[RecentTurn],
) -> Understanding:
    """The understanding with the word of a model; as the rules have it if there is none."""
    message = redact_secrets(understanding.message[:MAX_MESSAGE_CHARACTERS])
    values = {"turns": turns_as_data(turns), "message": as_data(message)}
    prompt = load_prompt("needs_search")
    reply = ask_model(engine, principal.own_scope, prompt, values, small=True, awaited=True)
    needed = reply.value.get("needed") if isinstance(reply.value, Mapping) else None
    if not isinstance(needed, bool):
        return understanding
    about = _words_of(reply.value.get("about"), [message, *(turn.text for turn in turns)])
    says = reason_text("model_yes" if needed else "model_no")
    reason = f"{says}: {about}" if needed and about else says
    return replace(understanding, needs_search=needed, reasons=(reason, *understanding.reasons))


def turns_as_data(turns: Sequence[RecentTurn]) -> str:
    """The last turns before a message, as data of a prompt."""
    shown = [
        {
            "by": turn.role or "unknown",
            "text": redact_secrets(turn.text)[-MAX_SHOWN_CHARACTERS:],
        }
        for turn in turns[-MAX_SHOWN_TURNS:]
    ]
    return as_data(shown)


def _words_of(about: object, texts: Sequence[str]) -> str:
    """What a model says to look up, if the words are those of the conversation."""
    line = plain_line(about, _LONGEST_ABOUT)
    if line is None:
        return ""
    given = {term for text in texts for term in analyse(text)}
    return line if given.issuperset(analyse(line)) else ""


def _find_known_words(
    index: ScopeIndex, engine: EngineContext, principal: Principal, texts: Sequence[str]
) -> dict[str, KnownWords]:
    """By the words of what the caller may see: hidden items must not show in the answer."""
    if not texts:
        return {}
    visible = index.visible(visibility_of(principal), engine.clock())
    memories, passages = visible & ~index.passages, visible & index.passages
    return {text: _known_words_of(index, text, memories, passages) for text in texts}


def _known_words_of(index: ScopeIndex, text: str, memories: Mask, passages: Mask) -> KnownWords:
    words = content_words(text[:MAX_MESSAGE_CHARACTERS])
    holders = np.zeros((len(words), index.size), dtype=bool)  # word × slot
    visible = memories | passages
    for row, word in zip(holders, words, strict=True):
        for term in word.terms:
            row[index.postings.of(term)[0]] = True
        row &= visible
        if len(words) <= MOST_CORRECTED and not row.any():
            for term in _similar_terms(index, word):
                row[index.postings.of(term)[0]] = True
            row &= visible
    rare = max(MOST_RARE, RARE_SHARE * np.count_nonzero(visible))
    counted = [(word, np.count_nonzero(row)) for word, row in zip(words, holders, strict=True)]
    return KnownWords(
        len(words),
        _held_together(words, holders & memories),
        _held_together(words, holders & passages),
        tuple(
            word.written
            for word, count in counted
            if count and word.is_name and not word.follows_name
        ),
        tuple(word.written for word, count in counted if 0 < count <= rare and word.is_definite),
        any(word.is_name and not count for word, count in counted),
    )


def _similar_terms(index: ScopeIndex, word: ContentWord) -> Iterator[str]:
    """Terms of the store that differ by one letter: "biscit" is biscuit."""
    for term in word.terms:
        if len(term) >= MIN_CORRECTED_LETTERS and term.isalpha():
            for other in index.postings.beginning_with(term[:2]):
                if OSA.distance(term, other, score_cutoff=1) <= 1:
                    yield other


def _held_together(words: Sequence[ContentWord], holders: Mask) -> tuple[str, ...]:
    """The words of the slot that holds most of them."""
    if not holders.size:
        return ()
    best = int(holders.sum(axis=0).argmax())
    return tuple(word.written for word, held in zip(words, holders[:, best], strict=True) if held)


def build_understanding(
    message: str,
    turns: Sequence[RecentTurn],
    known: Collection[str],
    terminology: Terminology,
    in_memory: Mapping[str, KnownWords] = MappingProxyType({}),
) -> Understanding:
    """Pure: from the given values alone."""
    search = needs_search(message, turns, known, in_memory)
    expanded = expand_follow_up(message, turns, known)
    matches = terminology.find_matches(expanded.query)
    short = [
        Filled(each.said, each.abbreviation.long, "abbreviation")
        for each in missing_long_forms(expanded.query, matches)
    ]
    return Understanding(
        message,
        search.needed,
        search.reasons,
        add_long_forms(expanded.query, matches),
        (*expanded.filled, *short),
    )


def load_recent_turns(
    engine: EngineContext, principal: Principal, thread: str | None, message: str = ""
) -> list[RecentTurn]:
    """The end of a thread's conversation. If its last turn is the message itself, that turn is left
    out."""
    if thread is None:
        return []
    listing = SourceListing(visibility=visibility_of(principal), thread_id=thread, limit=8)
    conversations = engine.live_source_page(principal.scope, listing)
    conversation = next(
        (source for source in conversations if source.content_type in SPOKEN_CONTENT), None
    )
    if conversation is None:
        return []
    first = max(1, conversation.passages - _RECENT_PASSAGES + 1)
    passages = list(
        engine.store.passages(principal.scope, PassagesOf(conversation.id, first)).values()
    )
    by_turn = (list(group) for _, group in groupby(passages, key=lambda passage: passage.turn))
    turns = [
        RecentTurn(" ".join(passage.text for passage in pieces), pieces[0].role)
        for pieces in by_turn
        if not any(piece.suspicious for piece in pieces)
    ]
    if turns and fold(turns[-1].text) == fold(message):
        turns.pop()
    return turns

"""What a message asks for, before anything is looked up: whether to look at all, and for what.

By rules alone (`language/asking`); a message that was understood a moment ago is not read again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from commonplace.desk import Desk, reach_of, visibility_of
from commonplace.language.asking.abbreviations import Terminology, news, with_long_forms
from commonplace.language.asking.follow_ups import Filled, expand
from commonplace.language.asking.needs_search import needs_search
from commonplace.language.asking.persons import first_names
from commonplace.language.asking.turns import LOOKED_AT, Turn, latest
from commonplace.language.normalise import fold
from commonplace.model.reach import each_scope_once
from commonplace.model.scope import Principal
from commonplace.model.source import SPOKEN
from commonplace.recall.known import known_before
from commonplace.recall.vocabulary import caller_of, vocabulary
from commonplace.store.port import SourceListing

_PASSAGES = 4 * LOOKED_AT  # of a conversation's end: a long turn has several


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


def understanding(
    desk: Desk,
    principal: Principal,
    message: str,
    recent: Sequence[Turn] | None = None,
    thread: str | None = None,
) -> Understanding:
    """``recent`` are the turns before the message, the oldest first; where they are not given, the
    last ones that the thread's conversation holds."""
    turns = recent_turns(desk, principal, thread, message) if recent is None else recent
    people, stamp = known_before(desk, principal, each_scope_once(reach_of(desk, principal)))
    known = first_names(people) if principal.is_owner else frozenset()
    caller, key = caller_of(principal), (message, tuple(latest(turns)), known)
    kept: Understanding | None = desk.kept.get(caller, stamp, key)
    if kept is None:
        kept = understood(message, key[1], known, vocabulary(desk, principal, stamp))
        desk.kept.put(caller, stamp, key, kept)
    return kept


def understood(
    message: str, turns: Sequence[Turn], known: Collection[str], words: Terminology
) -> Understanding:
    """Pure."""
    asked = needs_search(message, turns, known)
    whole = expand(message, turns, known)
    met = words.met_in(whole.query)
    short = [
        Filled(each.said, each.abbreviation.long, "abbreviation") for each in news(whole.query, met)
    ]
    return Understanding(
        message,
        asked.needed,
        asked.reasons,
        with_long_forms(whole.query, met),
        (*whole.filled, *short),
    )


def recent_turns(
    desk: Desk, principal: Principal, thread: str | None, message: str = ""
) -> list[Turn]:
    """The end of a thread's conversation. Whoever kept the message before asking about it finds it
    there as the last turn: it is not its own conversation."""
    if thread is None:
        return []
    listing = SourceListing(visibility=visibility_of(principal), thread_id=thread, limit=8)
    talks = desk.source_page(principal.scope, listing)
    talk = next((source for source in talks if source.content_type in SPOKEN), None)
    if talk is None:
        return []
    first = max(1, talk.passages - _PASSAGES + 1)
    held = [p for _, p in desk.store.passages_of(principal.scope, talk.id, first)]
    turns = [
        Turn(" ".join(passage.text for passage in pieces), pieces[0].role)
        for _, group in groupby(held, key=lambda passage: passage.turn)
        if not (pieces := list(group))[0].suspicious
    ]
    if turns and fold(turns[-1].text) == fold(message):
        turns.pop()
    return turns

"""What the index knows of the memories that some layer has a place for, and which of them it
takes. Rows are fetched for those alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from commonplace.model.abbreviation import is_abbreviation
from commonplace.model.categories import Categories, Mode
from commonplace.model.filters import Visibility
from commonplace.model.kinds import Kind
from commonplace.recall.context.budget import STABLE_SHARE
from commonplace.recall.context.layers import BY_NAME, RECENT, Name, is_wanted
from commonplace.store.index import Mask, ScopeIndex
from commonplace.store.sql.rows import exact_micros

PROFILE, GOALS = "profile", "goals"
_OF_KIND = {Kind.SOUL: Name.SOUL, Kind.RULE: Name.RULES}
_A_SENTENCE = 40  # words
_AROUND = 5  # tokens of a line beside its words: "- [", category, "] ", its end


@dataclass(frozen=True, slots=True)
class Asked:
    """What a context is asked for, checked."""

    query: str | None
    thread: str
    budget: int
    moment: datetime  # now, or the moment that is looked back at
    categories: tuple[str, ...] = ()  # only these; none: all that the agent may see
    is_past: bool = False
    turn: int | None = None  # of the thread, for the recall log

    def asks_for(self, category: str | None) -> bool:
        return not self.categories or category in self.categories


@dataclass(frozen=True, slots=True)
class Card:
    """A memory by what the index knows of it."""

    id: str
    kind: str
    category: str
    agent: str | None
    created: int  # microseconds
    weight: tuple[int, int]  # pinned, importance
    words: int


def cards(
    index: ScopeIndex, seen: Visibility, said: Categories, asked: Asked, now: datetime
) -> list[Card]:
    """Oldest first; of one moment, in the order in which they came."""
    size = index.size
    mask = index.visible(seen, now) & ~index.passages
    always = [PROFILE, *in_mode_all(said)]
    late = index.numeric["created_at"][:size] > exact_micros(asked.moment - RECENT)
    mask &= (
        _is(index, "kind", (Kind.SOUL, Kind.RULE, Kind.SUMMARY))
        | _is(index, "category", always)
        | (late & (_is(index, "kind", (Kind.EVENT,)) | _is(index, "category", (GOALS,))))
    )
    slots = np.flatnonzero(mask)
    slots = slots[np.argsort(index.numeric["created_at"][slots], kind="stable")]
    words = {name: _words(index, name) for name in ("kind", "category", "agent_id")}
    return [
        Card(
            index.ids[slot],
            str(words["kind"][index.coded["kind"][slot]]),
            str(words["category"][index.coded["category"][slot]]),
            words["agent_id"][index.coded["agent_id"][slot]],
            int(index.numeric["created_at"][slot]),
            (int(index.numeric["pinned"][slot]), int(index.numeric["importance"][slot])),
            int(index.lengths[slot]),
        )
        for slot in slots.tolist()
    ]


def in_mode_all(said: Categories) -> list[str]:
    return [category.name for category in said.in_mode(Mode.ALL)]


def _is(index: ScopeIndex, column: str, wanted: Iterable[str]) -> Mask:
    codes = [index.words[column].known(str(word)) for word in wanted]
    return np.isin(index.coded[column][: index.size], codes)


def _words(index: ScopeIndex, column: str) -> list[str | None]:
    return list(index.words[column].codes)  # codes count up in the order of arrival


@dataclass(frozen=True, slots=True)
class Taken:
    """The ids of each layer, in the order in which they are shown."""

    ids: Mapping[str, Sequence[str]]
    goals: frozenset[str]  # among the user's identity
    older: int  # how many the standing layer has before its first


def take(found: Sequence[Card], said: Categories, asked: Asked, agent: str | None) -> Taken:
    """Pure. Each card goes into the first layer that has a place for it."""
    since = exact_micros(asked.moment - RECENT)
    always = frozenset(in_mode_all(said))
    layers: dict[str, list[Card]] = {name: [] for name in Name}
    for card in found:
        name = _layer_of(card, since, always, asked, agent)
        if name:
            layers[name].append(card)
    layers[Name.SOUL] = layers[Name.SOUL][-_most(Name.SOUL) :]
    layers[Name.RULES] = _weightiest(layers[Name.RULES], _most(Name.RULES))
    for name in (Name.EPISODES, Name.SUMMARIES):
        layers[name] = layers[name][-_most(name) :][::-1]
    standing = _that_could_fit(layers[Name.STANDING], asked.budget)
    older = len(layers[Name.STANDING]) - len(standing)
    ids = {name: [card.id for card in own] for name, own in layers.items()}
    ids[Name.STANDING] = [card.id for card in standing]
    goals = frozenset(c.id for c in layers[Name.IDENTITY] if not _is_of_profile(c))
    return Taken(ids, goals, older)


def _layer_of(
    card: Card, since: int, always: frozenset[str], asked: Asked, agent: str | None
) -> Name | None:
    """Soul and rules are who the agent is, whatever categories it asks for."""
    if card.kind in _OF_KIND:
        is_mine = card.kind != Kind.SOUL or card.agent in (None, agent)
        return _OF_KIND[Kind(card.kind)] if is_mine else None
    if not asked.asks_for(card.category) or is_abbreviation(card.id):
        return None
    if not is_wanted(card.kind, card.category, asked.categories):
        return None
    is_late = card.created > since
    if _is_of_profile(card) or (card.category == GOALS and is_late):
        return Name.IDENTITY
    if card.category in always:
        return Name.STANDING
    if card.kind == Kind.SUMMARY:
        return Name.SUMMARIES
    return Name.EPISODES if card.kind == Kind.EVENT and is_late else None


def _is_of_profile(card: Card) -> bool:
    return card.id.startswith(f"{PROFILE}:")


def _weightiest(own: Sequence[Card], most: int) -> list[Card]:
    """The pinned, the important, the newest; shown oldest first, as all of them are."""
    best = sorted(own, key=lambda card: (card.weight, card.created))[-most:]
    chosen = {card.id for card in best}
    return [card for card in own if card.id in chosen]


def _that_could_fit(own: Sequence[Card], budget: int) -> list[Card]:
    """No word costs less than a token, so the rows of older ones need not be fetched. What is
    long is told in short, so its many words say nothing."""
    room = int(budget * STABLE_SHARE)
    for place in range(len(own) - 1, -1, -1):
        room -= min(own[place].words, _A_SENTENCE) + _AROUND
        if room < 0:
            return list(own[place + 1 :])
    return list(own)


def _most(name: Name) -> int:
    return BY_NAME[name].most or 0

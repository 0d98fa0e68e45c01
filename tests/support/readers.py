"""Who looks at a memory, and what there is to be seen: the table "Who sees what" as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from commonplace.api import Commonplace, User
from commonplace.errors import CommonplaceError
from commonplace.operations.serialization import as_data


@dataclass(frozen=True)
class Thing:
    """Something to be seen: known again by its id and by a word that stands nowhere else."""

    name: str
    marker: str
    text: str
    category: str
    allowed: str  # an agent whose allowlist names its category
    forbidden: str  # one whose list does not
    sensitive: bool = False
    of_team: bool = False  # brought by the owner into the team of a colleague
    has_guest: bool = False  # a friend takes part in it
    id: str = ""


Call = Callable[[User, Thing], Any]


@dataclass(frozen=True)
class Row:
    """How a read verb is called so that it could show a thing."""

    calls: Mapping[str, Call]  # by the thing's name
    text: bool = True  # its words are in the answer
    id: bool = True
    # Things of which the verb tells only the words, or only the id: a note on a node, a source that
    # something else cites.
    words_alone: tuple[str, ...] = ()
    ids_alone: tuple[str, ...] = ()
    # Where the words are withheld, or the thing is asked for by its id, the owner sees sensitive
    # ones without being cleared.
    by_id: bool = False
    never_sensitive: bool = False  # shows none, not even to who is cleared
    own_alone: bool = False  # shows what the owner's memory holds, and nothing of a team's
    learned_alone: bool = False  # shows sources by what was learned of them; guests learn nothing
    offered_alone: bool = False  # shows only what is offered to the reader, who has not accepted it
    quiet: bool = False  # also shows what was asked, so that nothing may have been asked before
    seen: Callable[[Any, Thing], bool] | None = None  # where neither words nor id are told: counts

    def tells_words(self, thing: Thing) -> bool:
        return self.text and thing.name not in self.ids_alone

    def tells_id(self, thing: Thing) -> bool:
        return self.id and thing.name not in self.words_alone


@dataclass(frozen=True)
class Column:
    """A reader, and the things that are shown to it."""

    name: str
    handle: Callable[[Commonplace, Thing], User]
    sees: Callable[[Thing, Row], bool]
    is_owner: bool = False  # of a memory, not necessarily of the one with the things
    is_offered: Callable[[Thing, Row], bool] = lambda thing, row: False

    @property
    def of_owner(self) -> bool:
        return self.name.startswith(("owner", "agent"))

    @property
    def is_guest(self) -> bool:
        return self.name.startswith("participant")


COLUMNS = (
    Column(
        "owner",
        lambda book, thing: book.user("ana"),
        lambda thing, row: not thing.sensitive or row.by_id,
        is_owner=True,
    ),
    Column(
        "owner, cleared",
        lambda book, thing: book.user("ana", cleared=True),
        # Cleared is for the own memory: of a team's sources the owner sees own ones by their id.
        lambda thing, row: not (thing.sensitive and thing.of_team) or row.by_id,
        is_owner=True,
    ),
    Column(
        "agent, category allowed",
        lambda book, thing: book.user("ana").agent(thing.allowed),
        lambda thing, row: not thing.sensitive,
    ),
    Column(
        "agent, category not allowed",
        lambda book, thing: book.user("ana").agent(thing.forbidden),
        lambda thing, row: False,
    ),
    Column(
        "agent, cleared, category allowed",
        lambda book, thing: book.user("ana", cleared=True).agent(thing.allowed),
        lambda thing, row: not (thing.sensitive and thing.of_team),
    ),
    Column(
        "agent, cleared, category not allowed",
        lambda book, thing: book.user("ana", cleared=True).agent(thing.forbidden),
        lambda thing, row: False,
    ),
    Column(
        "other user, cleared",
        lambda book, thing: book.user("bob", cleared=True),
        lambda thing, row: False,
    ),
    Column(
        "other user's agent, cleared",
        lambda book, thing: book.user("bob", cleared=True).agent(thing.allowed),
        lambda thing, row: False,
    ),
    Column(
        "team member, cleared",
        lambda book, thing: book.user("colleague", cleared=True),
        lambda thing, row: thing.of_team and not thing.sensitive,
        is_owner=True,
    ),
    Column(
        "team member's agent, category allowed",
        lambda book, thing: book.user("colleague", cleared=True).agent(thing.allowed),
        lambda thing, row: thing.of_team and not thing.sensitive,
    ),
    Column(
        "team member's agent, category not allowed",
        lambda book, thing: book.user("colleague", cleared=True).agent(thing.forbidden),
        lambda thing, row: False,
    ),
    Column(
        "participant who is not in the team, cleared",
        lambda book, thing: book.user("friend", cleared=True),
        lambda thing, row: thing.has_guest and not thing.sensitive,
        is_owner=True,
    ),
    Column(
        "participant who has not accepted, cleared",
        lambda book, thing: book.user("addressee", cleared=True),
        lambda thing, row: False,
        is_owner=True,
        is_offered=lambda thing, row: thing.has_guest and not thing.sensitive,
    ),
    Column(
        "participant who has not accepted, agent",
        lambda book, thing: book.user("addressee").agent(thing.allowed),
        lambda thing, row: False,
        is_offered=lambda thing, row: thing.has_guest and not thing.sensitive,
    ),
    Column(
        "participant's agent, category not allowed",
        lambda book, thing: book.user("friend", cleared=True).agent(thing.forbidden),
        lambda thing, row: False,
    ),
    Column(
        "invited to the team",
        lambda book, thing: book.user("invited", cleared=True),
        lambda thing, row: False,
    ),
    Column(
        "left the team, took part",
        lambda book, thing: book.user("leaver", cleared=True),
        lambda thing, row: False,
    ),
)


@dataclass(frozen=True)
class Seen:
    text: bool
    id: bool
    counted: bool
    told: str = field(repr=False, default="")


def look(call: Call, row: Row, handle: User, thing: Thing) -> Seen:
    """An error shows nothing; it may repeat the id that was given, and never the words."""
    try:
        answer = call(handle, thing)
        data = as_data(list(answer) if hasattr(answer, "__next__") else answer)
    except CommonplaceError as error:
        told = json.dumps(error.as_dict())
        return Seen(thing.marker in told, False, False, told)
    told = json.dumps(data, ensure_ascii=False)
    words_told = told.count(thing.marker) - _echoes(data, thing)
    counted = bool(row.seen and row.seen(data, thing))
    return Seen(words_told > 0, thing.id in told, counted, told)


def _echoes(data: Any, thing: Thing) -> int:
    """A search repeats the question, which may hold the words that are looked for."""
    if isinstance(data, list):
        return sum(_echoes(each, thing) for each in data)
    if not isinstance(data, dict):
        return 0
    asked = data.get("query")
    repeated = thing.marker in thing.text and isinstance(asked, str) and thing.text in asked
    return int(repeated) + sum(_echoes(each, thing) for each in data.values())

"""What a client may read and show by itself: `memory://…`, each an operation that only reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from mcp import types

from commonplace.book import User
from commonplace.errors import NotFound
from commonplace.operations import BY_NAME, Operation
from commonplace.surfaces.media_types import JSON

SCHEME = "memory://"
MOST_COMPLETIONS = 100  # the protocol's limit
_NAMES = re.compile(r"{(\w+)}")


def _memories(user: User) -> list[str]:
    return [memory.id for memory in user.list(limit=MOST_COMPLETIONS).memories]


def _sources(user: User) -> list[str]:
    return [source.id for source in user.sources(limit=MOST_COMPLETIONS).sources]


@dataclass(frozen=True)
class Place:
    path: str  # names in braces are arguments of the operation
    name: str  # of the operation
    title: str
    help: str
    # What an argument may be, for clients that complete what is typed.
    known: Mapping[str, Callable[[User], list[str]]] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return SCHEME + self.path

    @property
    def is_template(self) -> bool:
        return "{" in self.path

    @property
    def operation(self) -> Operation:
        return BY_NAME[self.name]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = _NAMES.split(re.escape(self.uri).replace(r"\{", "{").replace(r"\}", "}"))
        named = (f"(?P<{part}>[^/]+)" if n % 2 else part for n, part in enumerate(parts))
        return re.compile("".join(named))

    def arguments(self, uri: str) -> dict[str, str] | None:
        """What the address names, when it is one of these. Ids are written as a template expands
        them: a slash within a name is %2F."""
        found = self._pattern.fullmatch(uri)
        return found and {name: unquote(value) for name, value in found.groupdict().items()}


PLACES: tuple[Place, ...] = (
    Place("profile", "profile", "Profile", "Who the user is: fields and notes."),
    Place("proposals", "profile proposals", "Proposals", "What the profile might say; it waits."),
    Place("conflicts", "conflicts", "Conflicts", "Open questions: which of two values is right?"),
    Place("memories", "list", "Memories", "The newest memories."),
    Place("sources", "sources", "Sources", "The newest conversations, mails and documents."),
    Place("categories", "categories", "Categories", "What the caller may see, and how it is used."),
    Place(
        "memories/{id}",
        "show",
        "Memory",
        "One memory whole, with its versions and links.",
        {"id": _memories},
    ),
    Place(
        "memories/{id}/history",
        "history",
        "History",
        "One memory's life: who did what, when.",
        {"id": _memories},
    ),
    Place("sources/{id}", "show", "Source", "A source with its passages.", {"id": _sources}),
    Place("changes/{thread}", "change-log", "Changes", "What was changed in one conversation."),
)


def listed() -> list[types.Resource]:
    return [
        types.Resource(
            uri=place.uri,
            name=place.path,
            title=place.title,
            description=place.help,
            mime_type=JSON,
        )
        for place in PLACES
        if not place.is_template
    ]


def templates() -> list[types.ResourceTemplate]:
    return [
        types.ResourceTemplate(
            uri_template=place.uri,
            name=_NAMES.sub(r"\1", place.path).replace("/", "-"),
            title=place.title,
            description=place.help,
            mime_type=JSON,
        )
        for place in PLACES
        if place.is_template
    ]


def read(user: User, uri: str) -> Any:
    for place in PLACES:
        arguments = place.arguments(uri)
        if arguments is not None:
            return place.operation.call(user, arguments)
    raise NotFound(
        f"There is no {uri!r} here.", remedy="See resources/list and its templates.", field="uri"
    )


def completed(user: User, template: str, argument: str, begun: str) -> list[str]:
    """Ids that begin as what was typed does."""
    for place in PLACES:
        if place.uri == template and argument in place.known:
            known = place.known[argument](user)
            return [each for each in known if each.startswith(begun)][:MOST_COMPLETIONS]
    return []

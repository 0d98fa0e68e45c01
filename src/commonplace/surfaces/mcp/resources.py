"""MCP resources and the prompt, with the reference page of tools and resources."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from mcp import types

from commonplace.api import User
from commonplace.errors import NotFound, UnknownField
from commonplace.operations.serialization import JSON
from commonplace.operations.table import BY_NAME, Operation

SCHEME = "memory://"
MOST_COMPLETIONS = 100  # the protocol's limit
_NAMES = re.compile(r"{(\w+)}")


def _memory_ids(user: User) -> list[str]:
    return [memory.id for memory in user.list(limit=MOST_COMPLETIONS).memories]


def _source_ids(user: User) -> list[str]:
    return [source.id for source in user.sources(limit=MOST_COMPLETIONS).sources]


def _run_ids(user: User) -> list[str]:
    return [run.id for run in user.sleep_log(limit=MOST_COMPLETIONS) if run.id]


@dataclass(frozen=True)
class McpResource:
    path: str  # names in braces are arguments of the operation
    name: str  # of the operation
    title: str
    help: str
    # Values of an argument, for completion.
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
        """The arguments of a matching URI, else None. Ids are percent-encoded: a slash within a
        name is %2F."""
        found = self._pattern.fullmatch(uri)
        return found and {name: unquote(value) for name, value in found.groupdict().items()}


RESOURCES: tuple[McpResource, ...] = (
    McpResource("profile", "profile", "Profile", "Who the user is: fields and notes."),
    McpResource(
        "proposals",
        "profile proposals",
        "Proposals",
        "Proposed profile values that wait for the owner.",
    ),
    McpResource(
        "conflicts", "conflicts", "Conflicts", "Open questions: which of two values is right?"
    ),
    McpResource(
        "forget-requests",
        "forget-requests",
        "Requests to forget",
        "What the user asked to forget, with the items that may be meant.",
    ),
    McpResource(
        "invitations",
        "sources invitations",
        "Invitations",
        "Sources that others offer; the user accepts or declines them.",
    ),
    McpResource("memories", "list", "Memories", "The newest memories."),
    McpResource("sources", "sources", "Sources", "The newest conversations, mails and documents."),
    McpResource("storylines", "storylines", "Storylines", "What many sources say about one thing."),
    McpResource("macros", "macros", "Macros", "What several storylines say over months."),
    McpResource(
        "categories",
        "categories",
        "Categories",
        "Categories that the caller may read, and how they are used.",
    ),
    McpResource("sleep", "sleep log", "Sleep", "What nightly maintenance did, and why."),
    McpResource(
        "sleep/{run}", "sleep log", "Run of sleep", "One run with its actions.", {"run": _run_ids}
    ),
    McpResource(
        "memories/{id}",
        "show",
        "Memory",
        "A memory with its versions and links.",
        {"id": _memory_ids},
    ),
    McpResource(
        "memories/{id}/history",
        "history",
        "History",
        "History of a memory: who did what, when.",
        {"id": _memory_ids},
    ),
    McpResource(
        "sources/{id}", "show", "Source", "A source with its passages.", {"id": _source_ids}
    ),
    McpResource(
        "changes/{thread}", "change-log", "Changes", "What was changed in one conversation."
    ),
)


def list_resources() -> list[types.Resource]:
    return [
        types.Resource(
            uri=place.uri,
            name=place.path,
            title=place.title,
            description=place.help,
            mime_type=JSON,
        )
        for place in RESOURCES
        if not place.is_template
    ]


def list_resource_templates() -> list[types.ResourceTemplate]:
    return [
        types.ResourceTemplate(
            uri_template=place.uri,
            name=_NAMES.sub(r"\1", place.path).replace("/", "-"),
            title=place.title,
            description=place.help,
            mime_type=JSON,
        )
        for place in RESOURCES
        if place.is_template
    ]


def read_resource(user: User, uri: str) -> Any:
    for place in RESOURCES:
        arguments = place.arguments(uri)
        if arguments is not None:
            return place.operation.call(user, arguments)
    raise NotFound(
        f"There is no {uri!r} here.", remedy="See resources/list and its templates.", field="uri"
    )


def complete_argument(user: User, template: str, argument: str, begun: str) -> list[str]:
    """Ids with the typed prefix."""
    for place in RESOURCES:
        if place.uri == template and argument in place.known:
            known = place.known[argument](user)
            return [each for each in known if each.startswith(begun)][:MOST_COMPLETIONS]
    return []


PROMPT_NAME = "start-of-turn"
_NOTHING_REMEMBERED = "Nothing is remembered yet."
_PROMPT_ARGUMENTS = {
    "message": "The user's message; memories that match it are included.",
    "thread": "The conversation that it belongs to.",
}


def list_prompts() -> list[types.Prompt]:
    return [
        types.Prompt(
            name=PROMPT_NAME,
            title="Start of a turn",
            description="Puts the stored context before your message: your profile, rules, recent "
            "changes, and memories that match the message.",
            arguments=[
                types.PromptArgument(name=name, description=help, required=False)
                for name, help in _PROMPT_ARGUMENTS.items()
            ],
        )
    ]


def get_prompt(user: User, name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    if name != PROMPT_NAME:
        raise NotFound(f"Unknown prompt {name!r}.", remedy=f"There is {PROMPT_NAME}.", field="name")
    for argument in given:
        if argument not in _PROMPT_ARGUMENTS:
            raise UnknownField(f"Unknown parameter {argument!r}.", field=argument)
    message = given.get("message", "").strip()
    query = {"query": message} if message else {}
    thread = {"thread": given["thread"]} if given.get("thread") else {}
    context = BY_NAME["context"].call(user, {**query, **thread})
    texts = [context.text or _NOTHING_REMEMBERED, *filter(None, [message])]
    return types.GetPromptResult(
        description="What is known at the start of this turn.",
        messages=[
            types.PromptMessage(role="user", content=types.TextContent(text=text)) for text in texts
        ],
    )

"""The prompt: what is known, put before what the user says."""

from __future__ import annotations

from collections.abc import Mapping

from mcp import types

from commonplace.book import User
from commonplace.errors import NotFound, UnknownField
from commonplace.operations import BY_NAME

NAME = "start-of-turn"
_EMPTY = "Nothing is remembered yet."
_ARGUMENTS = {
    "message": "What the user says; what it brings to mind is recalled.",
    "thread": "The conversation it belongs to.",
}


def listed() -> list[types.Prompt]:
    return [
        types.Prompt(
            name=NAME,
            title="Start of a turn",
            description="Puts what is known before what you say: who you are, your rules, what "
            "changed, and what your message brings to mind.",
            arguments=[
                types.PromptArgument(name=name, description=told, required=False)
                for name, told in _ARGUMENTS.items()
            ],
        )
    ]


def written(user: User, name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    if name != NAME:
        raise NotFound(f"Unknown prompt {name!r}.", remedy=f"There is {NAME}.", field="name")
    for argument in given:
        if argument not in _ARGUMENTS:
            raise UnknownField(f"Unknown parameter {argument!r}.", field=argument)
    message = given.get("message", "").strip()
    asked = {"query": message} if message else {}
    thread = {"thread": given["thread"]} if given.get("thread") else {}
    context = BY_NAME["context"].call(user, {**asked, **thread})
    texts = [context.text or _EMPTY, *filter(None, [message])]
    return types.GetPromptResult(
        description="What is known at the start of this turn.",
        messages=[
            types.PromptMessage(role="user", content=types.TextContent(text=text)) for text in texts
        ],
    )

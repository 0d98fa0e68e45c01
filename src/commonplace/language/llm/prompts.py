"""Prompts: one Markdown file each, with the JSON schema of its answer beside it.

    version: 1
    max_tokens: 2000
    --- system
    …
    --- user
    … {{passages}} …

A change of a prompt or of its schema raises the version, which is part of the cache key. Texts of
users and sources are inserted as JSON, so that none of them can end its fence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from commonplace.language.llm.language_model import Message, MessageRole, ModelRequest

_SECTION = re.compile(r"^--- (system|user)\n", re.MULTILINE)
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    version: int
    max_tokens: int
    system: str
    user: str
    schema: Mapping[str, Any]

    @property
    def id(self) -> str:
        return f"{self.name}/{self.version}"

    def request(self, values: Mapping[str, str]) -> ModelRequest:
        """``values``: one for each {{place}} of the user message."""
        messages = [Message(MessageRole.SYSTEM, self.system)] if self.system else []
        user = _PLACE.sub(lambda place: values[place[1]], self.user)
        messages.append(Message(MessageRole.USER, user))
        return ModelRequest(messages, self.name, self.schema, self.max_tokens)


@cache
def load_prompt(name: str) -> Prompt:
    folder = resources.files("commonplace.language.llm") / "prompts"
    head, *sections = _SECTION.split((folder / f"{name}.md").read_text(encoding="utf-8"))
    settings = dict(line.split(": ", 1) for line in head.strip().splitlines())
    texts = dict(zip(sections[::2], map(str.strip, sections[1::2]), strict=True))
    schema = json.loads((folder / f"{name}.schema.json").read_text(encoding="utf-8"))
    return Prompt(
        name,
        int(settings["version"]),
        int(settings["max_tokens"]),
        texts.get("system", ""),
        texts["user"],
        schema,
    )


def as_data(value: object) -> str:
    """JSON in one line, for texts of users and sources."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


@cache
def _fragment(name: str) -> str:
    folder = resources.files("commonplace.language.llm") / "prompts" / "fragments"
    return (folder / f"{name}.md").read_text(encoding="utf-8").strip()


def fragment(name: str, **values: str) -> str:
    """What adapters add to any prompt, such as the form of the answer."""
    return _PLACE.sub(lambda place: values[place[1]], _fragment(name))

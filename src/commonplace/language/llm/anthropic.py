"""Models behind Anthropic's messages. The answer is the input of a tool that the model must call,
whose schema is the answer's; servers that refuse this are asked for JSON in words."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from commonplace.language.http.json_client import HttpRefusal, JsonClient
from commonplace.language.llm.answers import RawAnswer, complete_checked, with_form_in_words
from commonplace.language.llm.language_model import (
    BadModelAnswer,
    Message,
    MessageRole,
    ModelAnswer,
    ModelRequest,
)
from commonplace.language.llm.server import ModelServer
from commonplace.language.llm.server_calls import endpoint_of, post_with_options

_VERSION = "2023-06-01"


class MessageForm(StrEnum):
    TOOL = "tool"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class _MessageOptions:
    """What the server and the model accept."""

    form: MessageForm = MessageForm.TOOL
    has_temperature: bool = True

    def without(self, refusal: HttpRefusal) -> _MessageOptions | None:
        """The next to try; None: there is nothing left to do without."""
        if self.has_temperature and "temperature" in refusal.details:
            return replace(self, has_temperature=False)
        if self.form is MessageForm.TOOL:
            return replace(self, form=MessageForm.TEXT)
        return None


class AnthropicModel:
    def __init__(
        self,
        server: ModelServer,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = f"anthropic:{server.model}"
        self._server = server
        headers = {"anthropic-version": _VERSION}
        if server.key:
            headers["x-api-key"] = server.key
        self._client = JsonClient(endpoint_of(server, headers), sleep, now)
        self._options = _MessageOptions()  # replaced as a whole, so that threads need no lock

    @property
    def mode(self) -> str:
        """How the form of an answer is asked for."""
        return str(self._options.form)

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """One time limit for all requests that it takes."""
        deadline = self._client.deadline()
        return complete_checked(lambda asked: self._ask(asked, deadline), request)

    def _ask(self, request: ModelRequest, deadline: float) -> RawAnswer:
        payload = partial(self._payload, request)
        found, options = post_with_options(
            self._client, "messages", payload, self._options, deadline
        )
        self._options = options
        return _raw_answer(found)

    def _payload(self, request: ModelRequest, options: _MessageOptions) -> Mapping[str, Any]:
        is_tool = options.form is MessageForm.TOOL
        messages = request.messages if is_tool else with_form_in_words(request)
        return {
            "model": self._server.model,
            "max_tokens": request.max_tokens,
            **_conversation(messages),
            **({"temperature": request.temperature} if options.has_temperature else {}),
            **(_forced_tool(request) if is_tool else {}),
        }


def _conversation(messages: Sequence[Message]) -> Mapping[str, Any]:
    """The system's message stands apart."""
    system = "\n\n".join(each.content for each in messages if each.role is MessageRole.SYSTEM)
    turns = [
        {"role": str(each.role), "content": each.content}
        for each in messages
        if each.role is not MessageRole.SYSTEM
    ]
    return {"messages": turns, **({"system": system} if system else {})}


def _forced_tool(request: ModelRequest) -> Mapping[str, Any]:
    tool = {
        "name": request.schema_name,
        "description": "Takes the answer.",
        "input_schema": request.schema,
    }
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": request.schema_name}}


def _raw_answer(found: Any) -> RawAnswer:
    try:
        counted = found.get("usage") or {}
        return RawAnswer(
            "".join(_parts(found["content"])),
            _read_tokens(counted),
            counted.get("output_tokens"),
            is_truncated=found.get("stop_reason") == "max_tokens",
            is_refused=found.get("stop_reason") == "refusal",
        )
    except (KeyError, TypeError, AttributeError):
        raise BadModelAnswer("the model's server did not answer in its protocol") from None


def _read_tokens(counted: Mapping[str, Any]) -> object:
    """Tokens of the prompt, those in the server's cache included."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    numbers = [counted[name] for name in names if isinstance(counted.get(name), int)]
    return sum(numbers) if numbers else None


def _parts(content: Any) -> Iterator[str]:
    """The tool's input, if it was called; else what was written."""
    blocks = [block for block in content if isinstance(block, dict)]
    inputs = [block["input"] for block in blocks if block.get("type") == "tool_use"]
    if inputs:
        yield json.dumps(inputs[0], ensure_ascii=False)
        return
    yield from (str(block["text"]) for block in blocks if block.get("type") == "text")

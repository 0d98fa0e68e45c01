"""Models behind OpenAI's chat completions: OpenAI, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter …

Servers differ in how the form of an answer is asked for and in the names of options. What a server
refuses with 400 is tried in the next way, and what works is remembered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from commonplace.language.http.json_client import HttpRefusal, JsonClient
from commonplace.language.llm.answers import (
    RawAnswer,
    complete_checked,
    is_json,
    with_form_in_words,
)
from commonplace.language.llm.language_model import BadModelAnswer, ModelAnswer, ModelRequest
from commonplace.language.llm.server import ModelServer
from commonplace.language.llm.server_calls import endpoint_of, post_with_options


class AnswerForm(StrEnum):
    JSON_SCHEMA = "json_schema"  # the server sees to it that the schema is followed
    JSON_OBJECT = "json_object"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class _ChatOptions:
    """What a server understands."""

    form: AnswerForm = AnswerForm.JSON_SCHEMA
    limit: str = "max_tokens"  # or max_completion_tokens
    has_temperature: bool = True
    ignores_schema: bool = False  # it takes a schema and does not follow it

    def without(self, refusal: HttpRefusal) -> _ChatOptions | None:
        """The next to try; None: there is nothing left to do without."""
        told = refusal.details
        if self.limit == "max_tokens" and "max_completion_tokens" in told:
            return replace(self, limit="max_completion_tokens")
        if self.has_temperature and "temperature" in told and "response_format" not in told:
            return replace(self, has_temperature=False)
        simpler = {
            AnswerForm.JSON_SCHEMA: AnswerForm.JSON_OBJECT,
            AnswerForm.JSON_OBJECT: AnswerForm.TEXT,
        }.get(self.form)
        return None if simpler is None else replace(self, form=simpler)


class OpenAiModel:
    def __init__(
        self,
        server: ModelServer,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = f"openai:{server.model}"
        self._server = server
        headers = {"Authorization": f"Bearer {server.key}"} if server.key else {}
        self._client = JsonClient(endpoint_of(server, headers), sleep, now)
        self._options = _ChatOptions()  # replaced as a whole, so that threads need no lock

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
            self._client, "chat/completions", payload, self._options, deadline
        )
        answer = _raw_answer(found)
        if options.form is AnswerForm.JSON_SCHEMA and not answer.is_truncated:
            follows = answer.is_refused or is_json(answer.text)
            options = replace(options, ignores_schema=options.ignores_schema or not follows)
        self._options = options
        return answer

    def _payload(self, request: ModelRequest, options: _ChatOptions) -> Mapping[str, Any]:
        in_words = options.ignores_schema or options.form is not AnswerForm.JSON_SCHEMA
        messages = with_form_in_words(request) if in_words else request.messages
        return {
            "model": self._server.model,
            "messages": [{"role": str(each.role), "content": each.content} for each in messages],
            options.limit: request.max_tokens,
            **({"temperature": request.temperature} if options.has_temperature else {}),
            **_response_format(request, options.form),
        }


def _response_format(request: ModelRequest, form: AnswerForm) -> Mapping[str, Any]:
    match form:
        case AnswerForm.TEXT:
            return {}
        case AnswerForm.JSON_OBJECT:
            return {"response_format": {"type": "json_object"}}
    shape = {"name": request.schema_name, "strict": True, "schema": request.schema}
    return {"response_format": {"type": "json_schema", "json_schema": shape}}


def _raw_answer(found: Any) -> RawAnswer:
    try:
        choice = found["choices"][0]
        message = choice["message"]
        text = "".join(_texts(message.get("content")))
        counted = found.get("usage") or {}
        return RawAnswer(
            text,
            counted.get("prompt_tokens"),
            counted.get("completion_tokens"),
            is_truncated=choice.get("finish_reason") == "length",
            is_refused=bool(message.get("refusal")) and not text.strip(),
        )
    except (KeyError, IndexError, TypeError, AttributeError):
        raise BadModelAnswer("the model's server did not answer in its protocol") from None


def _texts(content: Any) -> Iterator[str]:
    """A text, or parts of which some are texts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]

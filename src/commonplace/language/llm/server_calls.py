"""Calls of a model's server: the limits of its client, and failures as those of the protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, Self, TypeVar

from commonplace.language.http.json_client import (
    BadHttpAnswer,
    HttpEndpoint,
    HttpRefusal,
    HttpServerDown,
    JsonClient,
)
from commonplace.language.llm.language_model import (
    BadModelAnswer,
    ModelDown,
    ModelInputTooLong,
    ModelRefused,
)
from commonplace.language.llm.server import KEY_VARIABLE, ModelServer

OPTION_REFUSALS = frozenset({400, 415, 422})  # statuses of an option that a server does not know
_TITLE = "the model's server"
_MAX_BYTES = 8 << 20
_JITTER = 0.5
_LONGEST_COOLDOWN = 300.0  # seconds
_STATUS_REMEDIES = {
    401: f"the key was refused; check {KEY_VARIABLE}",
    402: "there is no credit left; check the account of the key",
    403: f"the key may not use this model; check {KEY_VARIABLE} and model",
    404: "there is no such model or address; check model and model_url",
}
_CONTENT_TOO_LARGE = 413
# How servers say that a prompt does not fit: OpenAI, vLLM, llama.cpp, LM Studio, Ollama, text
# generation inference, Mistral, Gemini, Anthropic, Bedrock. A refusal of max_tokens, which is about
# the answer, has none of these words.
_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window|limit)"
    r"|maximum (?:prompt|input) length"
    r"|too many (?:input |prompt )?tokens"
    r"|(?:prompt|input|request)(?: is|[ _])? ?too[ _](?:long|large)"
    r"|reduce the (?:length|size) of the (?:messages|prompt|input)"
    r"|input token count\b.*\bexceeds"
    r"|`?inputs`? (?:tokens \+|must have less than)",
    re.IGNORECASE,
)
_FIELDS = ("message", "code", "type", "detail")  # of an error
_TOLD = 500  # characters of a refusal without the form of the protocol


def endpoint_of(server: ModelServer, headers: Mapping[str, str]) -> HttpEndpoint:
    return HttpEndpoint(
        server.url,
        _TITLE,
        server.timeout,
        headers,
        max_bytes=_MAX_BYTES,
        jitter=_JITTER,
        longest_cooldown=_LONGEST_COOLDOWN,
    )


class RequestOptions(Protocol):
    """What a server may refuse of a request."""

    def without(self, refusal: HttpRefusal) -> Self | None:
        """None: there is nothing simpler."""
        ...


OptionsT = TypeVar("OptionsT", bound=RequestOptions)


def post_with_options(
    client: JsonClient,
    path: str,
    payload: Callable[[OptionsT], Mapping[str, Any]],
    options: OptionsT,
    deadline: float,
) -> tuple[Any, OptionsT]:
    """The answer, and the options with which the server gave it: what it refuses is left out."""
    with failures_of_the_server():
        while True:
            try:
                return client.post(path, payload(options), deadline=deadline), options
            except HttpRefusal as refusal:
                if is_too_long(refusal):
                    raise
                simpler = options.without(refusal)
                if refusal.status not in OPTION_REFUSALS or simpler is None:
                    raise
                options = simpler


def is_too_long(refusal: HttpRefusal) -> bool:
    if refusal.status == _CONTENT_TOO_LARGE:
        return True
    return refusal.status in OPTION_REFUSALS and bool(_TOO_LONG.search(_told_by(refusal)))


def _told_by(refusal: HttpRefusal) -> str:
    """What the server itself says: some repeat the request, whose texts may be about anything."""
    try:
        body = json.loads(refusal.details)
    except (ValueError, RecursionError):
        return refusal.details[:_TOLD]
    error = body.get("error", body) if isinstance(body, dict) else body
    said = [error.get(name) for name in _FIELDS] if isinstance(error, dict) else [error]
    return " ".join(each for each in said if isinstance(each, str))


@contextmanager
def failures_of_the_server() -> Iterator[None]:
    """Failures of HTTP as those of a model; no message repeats what the server says."""
    try:
        yield
    except HttpServerDown as error:
        raise ModelDown(str(error)) from None
    except BadHttpAnswer as error:
        raise BadModelAnswer(str(error)) from None
    except HttpRefusal as error:
        if is_too_long(error):
            raise ModelInputTooLong(f"{error}: the prompt is too long for the model") from None
        meaning = _STATUS_REMEDIES.get(error.status, "check model and model_url")
        raise ModelRefused(f"{error}: {meaning}") from None

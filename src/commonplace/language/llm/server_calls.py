"""Calls of a model's server: the limits of its client, and failures as those of the protocol."""

from __future__ import annotations

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
from commonplace.language.llm.language_model import BadModelAnswer, ModelDown, ModelRefused
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
    413: "the prompt is too long for it",
}


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
                simpler = options.without(refusal)
                if refusal.status not in OPTION_REFUSALS or simpler is None:
                    raise
                options = simpler


@contextmanager
def failures_of_the_server() -> Iterator[None]:
    """Failures of HTTP as those of a model; by the status only."""
    try:
        yield
    except HttpServerDown as error:
        raise ModelDown(str(error)) from None
    except BadHttpAnswer as error:
        raise BadModelAnswer(str(error)) from None
    except HttpRefusal as error:
        meaning = _STATUS_REMEDIES.get(
            error.status, "check model and model_url; the prompt may be too long for the model"
        )
        raise ModelRefused(f"{error}: {meaning}") from None

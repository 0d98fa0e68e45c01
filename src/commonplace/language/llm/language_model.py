"""The protocol of language models: messages and a JSON schema in, a checked value out.

A model is optional, and nothing that it answers is trusted: its value has the form of the schema,
and what it says is checked against the text that it was given (language/grounding).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class MessageRole(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    role: MessageRole
    content: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    messages: Sequence[Message]
    schema_name: str  # letters, digits, "_"
    schema: Mapping[str, Any]  # of the answer, in the subset that strict modes accept
    max_tokens: int  # of the answer
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class TokenCount:
    read: int = 0  # of the prompt
    written: int = 0  # of the answer

    def __add__(self, other: TokenCount) -> TokenCount:
        return TokenCount(self.read + other.read, self.written + other.written)

    @property
    def total(self) -> int:
        return self.read + self.written


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    value: Any  # has the form of the schema
    text: str  # as the model wrote it
    tokens: TokenCount
    is_repaired: bool = False  # the first answer did not have the form


class ModelFailure(Exception):
    """The model gave no usable answer. The message contains neither texts nor keys."""

    tokens: TokenCount = TokenCount()  # that were spent all the same


class ModelDown(ModelFailure):
    """Not reachable, too slow, or overloaded: later it may answer."""


class ModelRefused(ModelFailure):
    """Key, name or address is wrong, or the person behind the model said no."""


class ModelInputTooLong(ModelFailure):
    """The request is longer than the model or its server takes: less text may fit."""


class BadModelAnswer(ModelFailure):
    """Not of the form of the schema, also after one repair."""

    is_truncated: bool = False  # cut off at the token limit: less text may fit


class LanguageModel(Protocol):
    @property
    def name(self) -> str:
        """Such as openai:gpt-5-mini; part of the cache key."""
        ...

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Raises ModelFailure."""
        ...


class ModelProvider(Protocol):
    """The models that may see a user's text."""

    @property
    def name(self) -> str:
        """As in the settings."""
        ...

    def model_for(self, user_id: str, *, small: bool = False) -> LanguageModel | None:
        """None: there is none now, such as a client that is not connected. ``small``: for a cheap
        step."""
        ...


@dataclass(frozen=True, slots=True)
class ModelLimits:
    daily_tokens: int = 500_000  # per user and day (UTC); 0: none are spent
    concurrency: int = 2  # calls at once, of this process; one is not for jobs, if there are more
    read_price: float = 0.0  # per million tokens of prompts
    written_price: float = 0.0  # per million tokens of answers
    cache_days: float = 30.0


class ModelSlots:
    """At most ``calls`` calls at once. Jobs take all but one, so that whoever waits for an answer
    does not wait for a job; only if there is a single slot do they share it."""

    def __init__(self, calls: int) -> None:
        self._all = threading.Semaphore(calls)
        self._for_jobs = threading.Semaphore(max(calls - 1, 1))

    @contextmanager
    def hold(self, *, awaited: bool) -> Iterator[bool]:
        """One slot for a call. ``awaited``: somebody waits for the answer. Gives whether all slots
        were taken before."""
        kinds = [self._all] if awaited else [self._for_jobs, self._all]
        had_to_wait = False
        with ExitStack() as held:
            for slots in kinds:
                if not slots.acquire(blocking=False):
                    had_to_wait = True
                    slots.acquire()
                held.callback(slots.release)
            yield had_to_wait


CONNECTED = "mcp"  # the provider whose models are those of connected clients


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """What the engine has of language models: who answers, and the limits."""

    provider: ModelProvider
    limits: ModelLimits = field(default_factory=ModelLimits)
    slots: ModelSlots = field(default_factory=lambda: ModelSlots(ModelLimits().concurrency))
    # By user and day: tokens that a failing store did not count. They are spent all the same.
    uncounted: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def sees_memories(self) -> bool:
        """The agent behind a connected client may be allowed some categories only: it is given
        turns and sources, and no memories of others."""
        return self.provider.name != CONNECTED

"""Ask a language model: from the cache, within the user's daily budget, and counted.

A model is asked outside any transaction, never with texts of two users, and never twice for the
same input: the answer is kept with the prompt's version and the source that it is about, and is
erased with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.language.llm.language_model import TokenCount
from commonplace.language.llm.prompts import Prompt
from commonplace.model.access.principal import Scope


class ModelOutcome(StrEnum):
    ANSWERED = "answered"
    CACHED = "cached"
    NO_MODEL = "no_model"  # none is configured, or none is there for this user now
    OVER_BUDGET = "over_budget"  # the user's tokens of today are spent
    DOWN = "down"  # may answer later
    REFUSED = "refused"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The value is None unless the outcome is ANSWERED or CACHED."""

    outcome: ModelOutcome
    value: Any = None
    model: str = ""
    tokens: TokenCount = field(default_factory=TokenCount)

    @property
    def has_answer(self) -> bool:
        return self.outcome in (ModelOutcome.ANSWERED, ModelOutcome.CACHED)


def ask_model(
    engine: EngineContext,
    scope: Scope,
    prompt: Prompt,
    values: Mapping[str, str],
    *,
    source: str | None = None,
    small: bool = False,
) -> ModelReply:
    """``scope``: the user whose texts are in the prompt. ``source``: the source that the answer
    rests on; None: memories, so that any erasure in the scope deletes the answer."""
    raise NotImplementedError

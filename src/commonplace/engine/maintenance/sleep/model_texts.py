"""What a night may ask a language model for, and what became of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC
from typing import TypeVar

from commonplace.engine.llm.model_calls import is_over_budget
from commonplace.engine.maintenance.sleep.task import Night

TEXTS_AT_ONCE = 2  # of a slice: closing a store waits for one
TEXTS_A_NIGHT = 20  # that one task asks a model for in a day; rules write the rest
RULES = "rules"
Written = TypeVar("Written")
NO_MODEL, OVER_BUDGET = "no model", "over budget"


@dataclass(slots=True)
class ModelWork:
    """The usage of one prompt before a task asks; afterwards it says what was added."""

    night: Night
    prompt: str  # its name
    model: str  # empty: there is none, or it may not be asked
    tokens_before: int
    left: int  # texts that it may still be asked for
    unusable: int = 0  # answers, and calls without one

    @classmethod
    def begin(cls, night: Night, prompt: str) -> ModelWork:
        """What was asked today counts, so that a run which goes on after it was interrupted asks
        for no more."""
        used = _used(night, prompt)
        left = max(0, TEXTS_A_NIGHT - used["asked"])
        return cls(night, prompt, _model_name(night), used["tokens"], left)

    @property
    def may_ask(self) -> bool:
        access = self.night.engine.model
        if not self.model or access is None or self.left <= 0:
            return False
        return not is_over_budget(self.night.engine, access, self.night.scope)

    def count(self, text: Written | None) -> Written | None:
        """What the model wrote; None: nothing that can be used."""
        self.left -= 1
        self.unusable += text is None
        return text

    @property
    def tokens(self) -> int:
        return _used(self.night, self.prompt)["tokens"] - self.tokens_before

    @property
    def outcome(self) -> str:
        """Why rules' texts stay; empty: nothing speaks against the model's."""
        if self.night.dry_run:
            return ""
        if not self.model:
            return NO_MODEL
        if self.unusable:
            return f"unusable answers: {self.unusable}"
        return "" if self.may_ask or self.left <= 0 else OVER_BUDGET


def erasures(night: Night) -> int:
    """If it has changed, a text that was written before the decision may tell what was erased."""
    return night.engine.store.counters(night.scope).erasures


def _model_name(night: Night) -> str:
    access = night.engine.model
    if access is None or night.dry_run:
        return ""
    model = access.provider.model_for(night.scope.name, small=False)
    return model.name if model else ""


def _used(night: Night, prompt: str) -> Counter[str]:
    """How often this prompt was asked today, and the tokens of it."""
    day = night.engine.clock().astimezone(UTC).date().isoformat()
    used: Counter[str] = Counter()
    for row in night.engine.store.model_usage(night.scope, day):
        if row.prompt.partition("/")[0] == prompt:
            used.update(asked=row.calls + row.cached, tokens=row.tokens)
    return used

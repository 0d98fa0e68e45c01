"""What a night may ask a language model for, and what became of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC

from commonplace.engine.llm.model_calls import is_over_budget
from commonplace.engine.maintenance.sleep.task import Night
from commonplace.model.sleep import SleepTask

TEXTS_A_NIGHT = 20  # that one task has a model write in a run; rules write the rest
RULES = "rules"
NO_MODEL, OVER_BUDGET = "no model", "over budget"


@dataclass(frozen=True, slots=True)
class ModelWork:
    """The usage of one prompt before a task asks; afterwards it says what was added."""

    night: Night
    prompt: str  # its name
    model: str  # empty: there is none, or it may not be asked
    before: Counter[str]

    @classmethod
    def begin(cls, night: Night, prompt: str) -> ModelWork:
        return cls(night, prompt, _model_name(night), _usage(night, prompt))

    @property
    def may_ask(self) -> bool:
        access = self.night.engine.model
        if not self.model or access is None:
            return False
        return not is_over_budget(self.night.engine, access, self.night.scope)

    @property
    def tokens(self) -> int:
        return self._added["tokens"]

    @property
    def outcome(self) -> str:
        """Why the rules' texts stay; empty: nothing speaks against the model's."""
        if self.night.dry_run:
            return ""
        if not self.model:
            return NO_MODEL
        added = self._added
        if unused := added["failed"] + added["dropped"]:
            return f"unusable answers: {unused}"
        return "" if self.may_ask else OVER_BUDGET

    @property
    def _added(self) -> Counter[str]:
        return _usage(self.night, self.prompt) - self.before


def texts_left(night: Night, task: SleepTask) -> int:
    """How many a model may still write in this run. Texts by rules count, too: a run that goes on
    after it was interrupted must not ask for more."""
    written = sum(each.items for each in night.run.results if each.task is task)
    return max(0, TEXTS_A_NIGHT - written)


def erasures(night: Night) -> int:
    """If it has changed, a text that was written before the decision may tell what was erased."""
    return night.engine.store.counters(night.scope).erasures


def _model_name(night: Night) -> str:
    access = night.engine.model
    if access is None or night.dry_run:
        return ""
    model = access.provider.model_for(night.scope.name, small=False)
    return model.name if model else ""


def _usage(night: Night, prompt: str) -> Counter[str]:
    day = night.engine.clock().astimezone(UTC).date().isoformat()
    total: Counter[str] = Counter()
    for row in night.engine.store.model_usage(night.scope, day):
        if row.prompt.partition("/")[0] == prompt:
            total.update(tokens=row.tokens, failed=row.failed, dropped=row.dropped)
    return total

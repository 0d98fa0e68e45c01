"""A language model given in Python, and what is kept of its calls, for tests of a bare store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from commonplace.api import Commonplace
from commonplace.engine.context import EngineContext
from commonplace.language.llm.language_model import (
    ModelAccess,
    ModelAnswer,
    ModelLimits,
    ModelRequest,
    ModelSlots,
    TokenCount,
)
from commonplace.language.llm.prompts import Prompt
from commonplace.model.journal import Entry, Op
from commonplace.model.model_calls import (
    KeepModelAnswer,
    KeptModelAnswer,
    ModelReading,
    SetReading,
)
from support.clock import START


@dataclass
class ToldModel:
    """The caller's own model: answers what it was told to, and remembers what it was asked."""

    answer: Callable[[ModelRequest], ModelAnswer]
    name: str = "python:told"
    asked: list[ModelRequest] = field(default_factory=list)

    def complete(self, request: ModelRequest) -> ModelAnswer:
        self.asked.append(request)
        return self.answer(request)


@dataclass
class OnlyModel:
    """The same model for everybody; None: it is not there now."""

    model: ToldModel | None
    name: str = "python:told"

    def model_for(self, user_id: str, *, small: bool = False) -> ToldModel | None:
        return self.model


def saying(value: Any, read: int = 100, written: int = 20) -> Callable[[ModelRequest], ModelAnswer]:
    return lambda request: ModelAnswer(value, "", TokenCount(read, written))


def failing(failure: Exception) -> Callable[[ModelRequest], ModelAnswer]:
    def fail(request: ModelRequest) -> ModelAnswer:
        raise failure

    return fail


def with_model(book: Commonplace, model: ToldModel | None, **limits: Any) -> EngineContext:
    """The engine of an open book, with this model."""
    slots = limits.pop("slots", None) or ModelSlots(2)
    access = ModelAccess(OnlyModel(model), ModelLimits(**limits), slots)
    return replace(book._engine, model=access)


def a_prompt(version: int = 1) -> Prompt:
    return Prompt("say", version, 100, "Say what it says.", "{{text}}", {"type": "object"})


def a_kept_answer(
    answer: str = '{"says":"The lamp is green"}', *, source: str | None = None, **fields: Any
) -> KeptModelAnswer:
    made = {
        "digest": "d1",
        "prompt": "say/1",
        "model": "python:told",
        "read": 100,
        "written": 20,
        "at": START,
    }
    return KeptModelAnswer(**{**made, "answer": answer, "source": source, **fields})


def keeping(answer: KeptModelAnswer, erasures: int = 0) -> KeepModelAnswer:
    return KeepModelAnswer(answer, erasures)


def a_reading(source: str = "source:1", at: datetime = START, **fields: Any) -> ModelReading:
    made = {"source_scope": "user:ana", "passages": 2, "digest": "abc", "prompt": "read_turns/1"}
    return ModelReading(source=source, at=at, **{**made, **fields})


def reading(
    now: ModelReading, before: ModelReading | None = None, *, gone: bool = False
) -> SetReading:
    return SetReading(now, Entry(op=Op.UPDATE, subject=now.source), before, gone)

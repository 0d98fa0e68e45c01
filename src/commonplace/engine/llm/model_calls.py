"""Ask a language model: from what is kept, within the user's daily budget, and counted.

A model is asked outside any transaction, never with texts of two users, and never twice for the
same input: the answer is kept with the prompt's version and the source that it is about, and is
erased with it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.errors import CommonplaceError
from commonplace.language.llm.language_model import (
    BadModelAnswer,
    LanguageModel,
    ModelAccess,
    ModelAnswer,
    ModelFailure,
    ModelInputTooLong,
    ModelLimits,
    ModelRefused,
    ModelRequest,
    TokenCount,
)
from commonplace.language.llm.prompts import Prompt
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping
from commonplace.model.model_calls import KeepModelAnswer, KeptModelAnswer, ModelUsageRow

log = logging.getLogger("commonplace")


class ModelOutcome(StrEnum):
    ANSWERED = "answered"
    CACHED = "cached"
    NO_MODEL = "no_model"  # none is configured, or none is there for this user now
    OVER_BUDGET = "over_budget"  # the user's tokens of today are spent
    DOWN = "down"  # may answer later
    REFUSED = "refused"
    TOO_LONG = "too_long"  # the prompt, for the model or its server
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The value is None unless the outcome is ANSWERED or CACHED."""

    outcome: ModelOutcome
    value: Any = None
    model: str = ""
    tokens: TokenCount = field(default_factory=TokenCount)  # that this call spent

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
    awaited: bool = False,
) -> ModelReply:
    """``scope``: the user whose texts are in the prompt. ``source``: the source that the answer
    rests on; None: memories, so that any erasure in the scope deletes the answer. ``awaited``:
    somebody waits for it, so that it does not wait for calls of jobs.

    Call it in the read session in which the texts were read: if one of them is erased later, the
    answer is not kept. The transaction ends before the model is asked. Raises no ModelFailure."""
    access = engine.model
    model = access.provider.model_for(scope.name, small=small) if access else None
    if access is None or model is None:
        return ModelReply(ModelOutcome.NO_MODEL)
    call = _ModelCall(engine, access, model, scope, prompt, prompt.request(values), source)
    known = call.look_up()
    if reply := call.reply_without_model(known):
        return reply
    with access.slots.hold(awaited=awaited) as had_to_wait:
        if not had_to_wait:
            return call.ask(known)
        # Meanwhile another call may have had this answer, or spent the budget.
        waited = replace(call.look_up(), erasures=known.erasures)
        return call.reply_without_model(waited) or call.ask(waited)


def count_findings(
    engine: EngineContext, scope: Scope, prompt: Prompt, kept: int, dropped: int, model: str = ""
) -> None:
    """Adds to the usage how many findings of an answer stood the check. ``model``: the reply's;
    empty: the findings are the caller's."""
    now = engine.clock()
    row = ModelUsageRow(_day(now), prompt.id, model, kept=kept, dropped=dropped)
    _record(engine, Bookkeeping(scope, now, model_usage=(row,)))


def count_call(
    engine: EngineContext,
    scope: Scope,
    prompt: Prompt,
    model: str,
    tokens: TokenCount,
    failed: bool,
) -> None:
    """Adds a call that was made without `ask_model` to the usage."""
    now = engine.clock()
    row = ModelUsageRow(
        _day(now),
        prompt.id,
        model,
        calls=1,
        failed=int(failed),
        read=tokens.read,
        written=tokens.written,
    )
    _record(engine, Bookkeeping(scope, now, model_usage=(row,)))


def is_over_budget(engine: EngineContext, access: ModelAccess, scope: Scope) -> bool:
    today = engine.store.model_usage(scope, _day(engine.clock()))
    return sum(row.tokens for row in today) >= access.limits.daily_tokens


def oldest_model_answer(engine: EngineContext, now: datetime) -> datetime:
    """Answers from before are not used any more, and are deleted."""
    limits = engine.model.limits if engine.model else ModelLimits()
    return now - timedelta(days=limits.cache_days)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the store says before a call, in one transaction."""

    answer: KeptModelAnswer | None
    tokens_today: int
    erasures: int


@dataclass(frozen=True, slots=True)
class _ModelCall:
    engine: EngineContext
    access: ModelAccess
    model: LanguageModel
    scope: Scope
    prompt: Prompt
    request: ModelRequest
    source: str | None

    @property
    def digest(self) -> str:
        return input_digest(self.prompt.id, model_identity(self.model), self.request)

    def look_up(self) -> _Known:
        store, now = self.engine.store, self.engine.clock()
        with store.read_session():
            erasures = store.counters(self.scope).erasures
            answer = store.model_answer(self.scope, self.digest)
            today = store.model_usage(self.scope, _day(now))
            store.end_read_transaction()
        is_usable = answer is not None and answer.at >= oldest_model_answer(self.engine, now)
        spent = sum(row.tokens for row in today)
        spent += self.access.uncounted.get((self.scope.key, _day(now)), 0)
        return _Known(answer if is_usable else None, spent, erasures)

    def reply_without_model(self, known: _Known) -> ModelReply | None:
        if known.answer is not None:
            self._record(usage=self._usage(cached=1))
            return ModelReply(ModelOutcome.CACHED, known.answer.value, self.model.name)
        if known.tokens_today >= self.access.limits.daily_tokens:
            return ModelReply(ModelOutcome.OVER_BUDGET, model=self.model.name)
        return None

    def ask(self, known: _Known) -> ModelReply:
        try:
            answer = self.model.complete(self.request)
        except ModelFailure as failure:
            return self._failed(failure, failure.tokens)
        except Exception as failure:  # a model given in Python may raise anything
            return self._failed(failure, TokenCount())
        kept = self._to_keep(answer, known.erasures)
        self._record(usage=self._usage(answer.tokens), answers=kept)
        return ModelReply(ModelOutcome.ANSWERED, answer.value, self.model.name, answer.tokens)

    def _failed(self, failure: Exception, tokens: TokenCount) -> ModelReply:
        """Of a failure that is not ours, only the type is logged: its message may quote texts."""
        message = str(failure) if isinstance(failure, ModelFailure) else type(failure).__name__
        log.warning("model %s, prompt %s: %s", self.model.name, self.prompt.id, message)
        self._record(usage=self._usage(tokens, failed=1))
        return ModelReply(_outcome_of(failure), model=self.model.name, tokens=tokens)

    def _to_keep(self, answer: ModelAnswer, erasures: int) -> tuple[KeepModelAnswer, ...]:
        text = _as_json(answer.value)
        if text is None or self.access.limits.cache_days <= 0:
            return ()
        kept = KeptModelAnswer(
            self.digest,
            self.source,
            self.prompt.id,
            self.model.name,
            text,
            answer.tokens.read,
            answer.tokens.written,
            self.engine.clock(),
        )
        return (KeepModelAnswer(kept, erasures),)

    def _usage(
        self, tokens: TokenCount | None = None, *, cached: int = 0, failed: int = 0
    ) -> ModelUsageRow:
        return ModelUsageRow(
            _day(self.engine.clock()),
            self.prompt.id,
            self.model.name,
            calls=int(tokens is not None),
            cached=cached,
            failed=failed,
            read=tokens.read if tokens else 0,
            written=tokens.written if tokens else 0,
        )

    def _record(self, usage: ModelUsageRow, answers: tuple[KeepModelAnswer, ...] = ()) -> None:
        now = self.engine.clock()
        bookkeeping = Bookkeeping(self.scope, now, model_usage=(usage,), model_answers=answers)
        if not _record(self.engine, bookkeeping):
            of_today = (self.scope.key, usage.day)
            uncounted = self.access.uncounted
            uncounted[of_today] = uncounted.get(of_today, 0) + usage.tokens


def model_identity(model: LanguageModel) -> str:
    """Models of one name at two servers are two models. One given as an object is its name."""
    address = getattr(model, "address", "")
    return f"{model.name} at {address}" if address else model.name


def input_digest(prompt_id: str, model: str, request: ModelRequest) -> str:
    """Of everything that decides the answer, under which it is kept."""
    messages = [[message.role, message.content] for message in request.messages]
    given = json.dumps([prompt_id, model, messages]).encode()
    return blake2b(given, digest_size=20).hexdigest()


def _as_json(value: Any) -> str | None:
    """None: it cannot be stored, such as half of a surrogate pair."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError):
        return None
    return text


def _outcome_of(failure: Exception) -> ModelOutcome:
    match failure:
        case ModelRefused():
            return ModelOutcome.REFUSED
        case ModelInputTooLong():
            return ModelOutcome.TOO_LONG
        case BadModelAnswer():
            return ModelOutcome.MALFORMED
        case _:
            return ModelOutcome.DOWN


def _record(engine: EngineContext, bookkeeping: Bookkeeping) -> bool:
    """False: the store fails, which must not lose the caller the answer."""
    try:
        engine.store.record(bookkeeping)
    except CommonplaceError as error:
        log.warning("a model's answer was not recorded: %s", error.code)
        return False
    return True


def _day(now: datetime) -> str:
    return now.astimezone(UTC).date().isoformat()

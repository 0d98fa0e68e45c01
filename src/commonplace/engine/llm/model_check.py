"""Check of the configured language models: a tiny question, and what is wrong if it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from commonplace.engine.context import EngineContext
from commonplace.engine.llm.model_calls import count_call, is_over_budget
from commonplace.language.llm.language_model import (
    BadModelAnswer,
    LanguageModel,
    ModelAccess,
    ModelDown,
    ModelFailure,
    ModelInputTooLong,
    ModelRefused,
    TokenCount,
)
from commonplace.language.llm.prompts import load_prompt
from commonplace.model.access.principal import Scope

_ONE, _OTHER = 17, 25
_NOT_CONFIGURED = (
    "Set COMMONPLACE_MODEL: openai:NAME (with COMMONPLACE_MODEL_URL for another server, such as "
    "http://localhost:11434/v1), anthropic:NAME or mcp; keys in COMMONPLACE_MODEL_KEY."
)
_NOT_CONNECTED = (
    "Connect an MCP client that offers sampling and acts for the owner, to a server that runs "
    "with this setting."
)
_NO_BUDGET = "Wait until tomorrow (UTC), or raise model_daily_tokens."
_REMEDIES: tuple[tuple[type[ModelFailure], str], ...] = (
    (ModelDown, "Check model_url and that its server runs; a slow model needs model_timeout."),
    (ModelRefused, "Correct the setting that is named; if a person said no, connect again."),
    (ModelInputTooLong, "Give the model a longer context in its server, or use another one."),
    (BadModelAnswer, "Use a model that follows a JSON schema, or a larger one."),
    (ModelFailure, "Call again."),
)


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """One model. ``mode``: how the form of an answer is asked for, such as json_schema."""

    model: str  # empty: none is configured
    ok: bool
    small: bool = False  # for the cheap steps
    mode: str = ""
    seconds: float = 0.0
    read: int = 0  # tokens
    written: int = 0
    problem: str = ""
    remedy: str = ""


def check_models(
    engine: EngineContext, scope: Scope, timer: Callable[[], float] = time.monotonic
) -> Sequence[ModelCheck]:
    """Each configured model is asked once, never from what is kept. The calls count."""
    access = engine.model
    if access is None:
        problem = "No language model is configured: rules alone read."
        return [ModelCheck("", False, problem=problem, remedy=_NOT_CONFIGURED)]
    models = _models_for(access, scope.name)
    if not models:
        problem = f"No model of {access.provider.name} is there for this user now."
        return [ModelCheck(access.provider.name, False, problem=problem, remedy=_NOT_CONNECTED)]
    if is_over_budget(engine, access, scope):
        problem = "The tokens of today are spent."
        return [ModelCheck(models[0].name, False, problem=problem, remedy=_NO_BUDGET)]
    engine.store.end_read_transaction()
    return [
        _check(engine, access, scope, model, place > 0, timer) for place, model in enumerate(models)
    ]


def _models_for(access: ModelAccess, user_id: str) -> Sequence[LanguageModel]:
    large = access.provider.model_for(user_id)
    small = access.provider.model_for(user_id, small=True)
    if large is None:
        return []
    return [large] if small is None or small.name == large.name else [large, small]


def _check(
    engine: EngineContext,
    access: ModelAccess,
    scope: Scope,
    model: LanguageModel,
    small: bool,
    timer: Callable[[], float],
) -> ModelCheck:
    prompt = load_prompt("check")
    request = prompt.request({"one": str(_ONE), "other": str(_OTHER)})
    failed = False
    with access.slots.hold(awaited=True):
        began = timer()
        try:
            answer = model.complete(request)
            tokens, problem, remedy = answer.tokens, "", ""
            if answer.value["sum"] != _ONE + _OTHER:
                problem, remedy = "It answers, but wrongly.", "Use a larger model."
        except ModelFailure as failure:
            failed, tokens, problem = True, failure.tokens, _sentence(str(failure))
            remedy = next(text for kind, text in _REMEDIES if isinstance(failure, kind))
        except Exception as failure:  # a model given in Python may raise anything
            failed, tokens, problem = True, TokenCount(), f"It raised {type(failure).__name__}."
            remedy = "Correct the object that was given as model."
        seconds = round(timer() - began, 3)
    count_call(engine, scope, prompt, model.name, tokens, failed)
    return ModelCheck(
        model.name,
        not problem,
        small,
        getattr(model, "mode", ""),
        seconds,
        tokens.read,
        tokens.written,
        problem,
        remedy,
    )


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:].rstrip('.')}."

"""Language models by name, a caller's own object, and the limits: from the settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from commonplace.errors import BadSettings
from commonplace.language.llm.language_model import (
    CONNECTED,
    LanguageModel,
    ModelAccess,
    ModelLimits,
    ModelProvider,
    ModelSlots,
)
from commonplace.language.llm.providers import (
    ConfiguredModels,
    ConnectedModels,
    LazyModel,
)
from commonplace.language.llm.server import DEFAULT_URLS, ModelServer
from commonplace.settings import Settings

_HINT = "Write openai:NAME, anthropic:NAME or mcp."


def model_access(
    given: str | LanguageModel | ModelProvider | None, settings: Settings
) -> ModelAccess | None:
    """``given``: an object in place of the setting's name. None: no model, rules alone."""
    limits = _limits(settings)
    if given is None or isinstance(given, str):
        provider = _named_provider(settings)
    else:
        provider = _given_provider(given)
    if provider is None:
        return None
    return ModelAccess(provider, limits, ModelSlots(limits.concurrency))


def _limits(settings: Settings) -> ModelLimits:
    read, written = _prices(settings.model_prices)
    return ModelLimits(
        settings.model_daily_tokens,
        settings.model_concurrency,
        read,
        written,
        settings.model_cache_days,
    )


def _prices(text: str) -> tuple[float, float]:
    if not text.strip():
        return 0.0, 0.0
    try:
        read, written = map(float, text.split("/"))
    except ValueError:
        read = written = math.nan
    if not (0 <= read < math.inf and 0 <= written < math.inf):
        raise BadSettings(
            f"model_prices must be two prices, not {text!r}.",
            remedy="Write the prices of a million tokens, read and written, such as 0.25/2.",
            field="model_prices",
        )
    return read, written


def _given_provider(given: Any) -> ModelProvider:
    if hasattr(given, "model_for") and isinstance(getattr(given, "name", None), str):
        return cast(ModelProvider, given)
    if callable(getattr(given, "complete", None)) and isinstance(getattr(given, "name", None), str):
        return ConfiguredModels(given, given)
    raise BadSettings(
        f"{type(given).__name__} is not a language model.",
        remedy="Give a name, or an object with name and complete.",
        field="model",
    )


def _named_provider(settings: Settings) -> ModelProvider | None:
    name, small_name = settings.model.strip(), settings.model_small.strip()
    provider, small_provider = name.partition(":")[0], small_name.partition(":")[0]
    if small_name and provider != small_provider:
        raise BadSettings(
            f"model_small must be of the same provider as model, not {small_name!r}.",
            remedy=f"Write {provider}:NAME." if name else "Set model, too.",
            field="model_small",
        )
    if not name:
        return None
    if name == CONNECTED:
        return ConnectedModels(settings.model_timeout)
    large = _make_model(name, settings, "model")
    return ConfiguredModels(
        large, _make_model(small_name, settings, "model_small") if small_name else large
    )


def _make_model(name: str, settings: Settings, field: str) -> LanguageModel:
    """What is wrong with the settings is told at once."""
    provider, _, served = name.partition(":")
    if provider not in _ADAPTERS or not served.strip():
        raise BadSettings(f"Unknown model {name!r}.", remedy=_HINT, field=field)
    server = ModelServer(
        settings.model_url or DEFAULT_URLS[provider],
        served.strip(),
        settings.model_key,
        settings.model_timeout,
    )
    return LazyModel(name, server.address, lambda: _ADAPTERS[provider](server))


def _openai(server: ModelServer) -> LanguageModel:
    module = import_module("commonplace.language.llm.openai")
    return cast(LanguageModel, module.OpenAiModel(server))


def _anthropic(server: ModelServer) -> LanguageModel:
    module = import_module("commonplace.language.llm.anthropic")
    return cast(LanguageModel, module.AnthropicModel(server))


_ADAPTERS: dict[str, Callable[[ModelServer], LanguageModel]] = {
    "openai": _openai,
    "anthropic": _anthropic,
}

"""Which model may see a user's text: the configured ones for all users, or the user's own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from commonplace.language.llm.language_model import (
    CONNECTED,
    LanguageModel,
    ModelAnswer,
    ModelRequest,
)


class LazyModel:
    """A model whose adapter is loaded with the first question: most commands ask none."""

    def __init__(self, name: str, address: str, load: Callable[[], LanguageModel]):
        self.name = name
        self.address = address  # of its server; part of the key of kept answers, and never shown
        self._load = load
        self._model: LanguageModel | None = None
        self._lock = threading.Lock()

    @property
    def mode(self) -> str:
        """How the form of an answer is asked for."""
        return getattr(self._model, "mode", "")

    def complete(self, request: ModelRequest) -> ModelAnswer:
        with self._lock:
            if self._model is None:
                self._model = self._load()
        return self._model.complete(request)


@dataclass(frozen=True, slots=True)
class ConfiguredModels:
    """The same for all users."""

    large: LanguageModel
    small: LanguageModel

    @property
    def name(self) -> str:
        return self.large.name

    def model_for(self, user_id: str, *, small: bool = False) -> LanguageModel | None:
        return self.small if small else self.large


class ConnectedModels:
    """Models of clients that are connected now, each for the user whom its client acts for. The
    one that connected last answers."""

    name = CONNECTED

    def __init__(self, timeout: float = 60.0) -> None:
        self.timeout = timeout  # seconds, of a call
        self._notify: Callable[[], object] = lambda: None
        self._by_user: dict[str, dict[object, ConfiguredModels]] = {}
        self._lock = threading.Lock()

    def connect(self, user_id: str, connection: object, models: ConfiguredModels) -> None:
        """``connection``: to be named again when it ends."""
        with self._lock:
            self._by_user.setdefault(user_id, {})[connection] = models
        self._notify()

    def disconnect(self, user_id: str, connection: object) -> None:
        with self._lock:
            models = self._by_user.get(user_id, {})
            models.pop(connection, None)
            if not models:
                self._by_user.pop(user_id, None)

    def when_connected(self, notify: Callable[[], object]) -> None:
        """``notify`` is called after each connection: there may be something to read."""
        self._notify = notify

    def users(self) -> tuple[str, ...]:
        """Those who have a model now."""
        with self._lock:
            return tuple(self._by_user)

    def model_for(self, user_id: str, *, small: bool = False) -> LanguageModel | None:
        with self._lock:
            connected = list(self._by_user.get(user_id, {}).values())
        return connected[-1].model_for(user_id, small=small) if connected else None

"""OpenAI-compatible embedder over HTTP; off unless configured.

Nothing is sent unless this embedder is chosen. Failures count as an outage: the text is stored and
embedded later. No message contains the key.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from commonplace.errors import HTTP_EMBEDDER_PREFIX
from commonplace.language.embedders.embedder import (
    Calibration,
    EmbedderDown,
    EmbedderServer,
    SymmetricEmbedder,
    Vectors,
    unit_rows,
)
from commonplace.language.http.json_client import (
    BadHttpAnswer,
    HttpEndpoint,
    HttpRefusal,
    HttpServerDown,
    JsonClient,
)

ATTEMPTS = 3
COOLDOWN_SECONDS = 10.0  # seconds without requests to a server that is down: every call would wait
_CACHED_TEXTS = 256
_MAX_BYTES = 256 << 20
_STATUS_REMEDIES = {
    401: "the key was refused; check embedder_key",
    403: "the key may not use this model; check embedder_key and embedder_model",
    404: "there is no such model or address; check embedder_url and embedder_model",
}


class OpenAiEmbedder(SymmetricEmbedder):
    # Unknown models are uncalibrated; `commonplace calibrate` measures them.
    calibration = Calibration({})

    def __init__(
        self,
        server: EmbedderServer,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = HTTP_EMBEDDER_PREFIX + server.model
        self._server = server
        self._client = JsonClient(_endpoint(server), sleep, now)
        self._dimension: int | None = None
        self._recent: dict[str, Vectors] = {}

    @property
    def dimension(self) -> int:
        """Detected from the first response, and required from then on."""
        if self._dimension is None:
            self._request(["dimension"])
        assert self._dimension is not None
        return self._dimension

    def hold_to(self, dimension: int) -> None:
        """Set the dimension that the store already has, so that no request is needed."""
        self._dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Duplicate and recent texts are sent once: a write that is retried after a conflict needs
        the same vectors again."""
        known = dict(self._recent)
        missing = [text for text in dict.fromkeys(texts) if text.strip() and text not in known]
        for start in range(0, len(missing), self._server.batch):
            batch = missing[start : start + self._server.batch]
            cut = [text[: self._server.max_chars] for text in batch]
            known.update(zip(batch, unit_rows(self._request(cut)), strict=True))
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for place, text in enumerate(texts):
            if text in known:
                rows[place] = known[text]
        # Replaced as a whole, so that threads need no lock.
        self._recent = dict(list(known.items())[-_CACHED_TEXTS:])
        return rows

    def _request(self, texts: Sequence[str]) -> Vectors:
        """All attempts together are limited by the time-out."""
        payload = {"model": self._server.model, "input": list(texts), "encoding_format": "float"}
        try:
            answer = self._client.post(
                "embeddings", payload, deadline=self._client.deadline(), attempts=ATTEMPTS
            )
        except HttpRefusal as error:
            meaning = _STATUS_REMEDIES.get(
                error.status, "check embedder_url, embedder_model and _max_chars"
            )
            raise EmbedderDown(f"{error}: {meaning}") from None
        except (HttpServerDown, BadHttpAnswer) as error:
            raise EmbedderDown(str(error)) from None
        return self._vectors(answer, len(texts))

    # ——— responses ———

    def _vectors(self, answer: Any, count: int) -> Vectors:
        """In the order of `index`: servers may respond in any order."""
        try:
            placed = {int(item["index"]): item["embedding"] for item in answer["data"]}
            rows = np.array([placed[place] for place in range(count)], dtype=np.float32)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise EmbedderDown(
                "the embedder's server did not return one vector for each text"
            ) from None
        if rows.ndim != 2 or rows.shape[1] == 0 or len(placed) != count:
            raise EmbedderDown("the embedder's server did not return one vector for each text")
        if not np.isfinite(rows).all():
            raise EmbedderDown("the embedder's server returned a value that is not a number")
        if self._dimension is None:
            self._dimension = rows.shape[1]
        if rows.shape[1] != self._dimension:
            raise EmbedderDown(
                f"the embedder's answer has {rows.shape[1]} dimensions, not {self._dimension}"
            )
        return rows


def _endpoint(server: EmbedderServer) -> HttpEndpoint:
    return HttpEndpoint(
        server.url,
        "the embedder's server",
        server.timeout,
        {"Authorization": f"Bearer {server.key}"} if server.key else {},
        max_bytes=_MAX_BYTES,
        cooldown=COOLDOWN_SECONDS,
    )

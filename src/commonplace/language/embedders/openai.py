"""OpenAI-compatible embedder over HTTP; off unless configured.

Nothing is sent unless this embedder is chosen. Failures count as an outage: the text is stored and
embedded later. No message contains the key.
"""

from __future__ import annotations

import http.client
import json
import math
import time
import urllib.error
import urllib.request
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

ATTEMPTS = 3
_FIRST_WAIT = 0.5  # seconds; doubled for each retry
COOLDOWN_SECONDS = 10.0  # seconds without requests to a server that is down: every call would wait
_CACHED_TEXTS = 256
_MIN_TIMEOUT = 0.01  # seconds; a sleep may take slightly longer than requested
_MAX_BYTES = 256 << 20
_BLOCK = 1 << 16
_RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
_STATUS_REMEDIES = {
    401: "the key was refused; check embedder_key",
    403: "the key may not use this model; check embedder_key and embedder_model",
    404: "there is no such model or address; check embedder_url and embedder_model",
}


class _TransientFailure(Exception):
    """A retry may succeed."""

    def __init__(self, why: str, wait: float | None = None):
        super().__init__(why)
        self.wait = wait  # seconds, if known


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the key and the texts to an address that was not configured."""

    def redirect_request(self, *_: Any) -> None:
        return None


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
        self._sleep = sleep
        self._now = now
        self._dimension: int | None = None
        self._cooldown_until = -math.inf
        self._recent: dict[str, Vectors] = {}
        # Loopback traffic must not leave the machine through a proxy from the environment.
        direct = [urllib.request.ProxyHandler({})] if server.is_loopback else []
        self._opener = urllib.request.build_opener(_NoRedirects, *direct)

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
        deadline = self._now() + self._server.timeout
        if self._now() < self._cooldown_until:
            raise EmbedderDown("the embedder's server failed a moment ago; it is tried again soon")
        wait = _FIRST_WAIT
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._vectors(self._ask(texts, deadline), len(texts))
            except _TransientFailure as trouble:
                pause = wait if trouble.wait is None else trouble.wait
                if attempt == ATTEMPTS or self._now() + pause >= deadline:
                    self._cooldown_until = self._now() + COOLDOWN_SECONDS
                    raise EmbedderDown(str(trouble)) from None
                self._sleep(pause)
                wait *= 2
        raise AssertionError("the last attempt returns or raises")

    # ——— requests ———

    def _ask(self, texts: Sequence[str], deadline: float) -> Any:
        payload = {"model": self._server.model, "input": list(texts), "encoding_format": "float"}
        request = urllib.request.Request(
            f"{self._server.url.rstrip('/')}/embeddings",
            data=json.dumps(payload).encode(),
            headers={"Content-Type": "application/json", **self._authorization()},
        )
        try:
            return json.loads(self._answer(request, deadline))
        except urllib.error.HTTPError as error:
            with error:  # closes its connection
                raise self._refusal(error) from None
        except TimeoutError:
            raise self._too_slow() from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._too_slow() from None
            # Nothing listens there: an immediate retry would only delay the caller.
            why = f"the embedder's server cannot be reached: {error.reason}"
            raise _TransientFailure(why, wait=math.inf) from None
        except (OSError, http.client.HTTPException):
            raise _TransientFailure(
                "the embedder's server closed the connection during its answer"
            ) from None
        except ValueError:
            raise EmbedderDown("the embedder's server did not answer in JSON") from None

    def _answer(self, request: urllib.request.Request, deadline: float) -> bytes:
        """The time-out also limits a server that sends slowly."""
        received = bytearray()
        left = max(deadline - self._now(), _MIN_TIMEOUT)
        with self._opener.open(request, timeout=left) as response:
            while block := response.read1(_BLOCK):
                received += block
                if self._now() > deadline:
                    raise TimeoutError
                if len(received) > _MAX_BYTES:
                    raise EmbedderDown("the answer of the embedder's server is too long")
        return bytes(received)

    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._server.key}"} if self._server.key else {}

    def _too_slow(self) -> _TransientFailure:
        return _TransientFailure(
            f"the embedder's server took longer than {self._server.timeout:g} s"
        )

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """By the status code only: the server's message may repeat the key or a text."""
        if error.code in _RETRIED_STATUSES:
            why = f"the embedder's server answers {error.code}"
            return _TransientFailure(why, _seconds(error.headers.get("Retry-After")))
        meaning = _STATUS_REMEDIES.get(
            error.code, "check embedder_url, embedder_model and _max_chars"
        )
        return EmbedderDown(f"the embedder's server answers {error.code}: {meaning}")

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


def _seconds(retry_after: str | None) -> float | None:
    try:
        wait = float(retry_after or "")
    except ValueError:
        return None
    return wait if wait >= 0 and math.isfinite(wait) else None

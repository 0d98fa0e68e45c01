"""Numbers of a running server, in Prometheus' text format. No names, no texts."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._within: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._answered: Counter[str] = Counter()
        self.in_progress = 0
        self.streams = 0

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[method, route, status] += 1
            self._answered[route] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]
            for bucket in BUCKETS:
                self._within[route, bucket] += seconds <= bucket

    def text(self) -> str:
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        name = "commonplace_http_requests_total"
        yield from _head(name, "counter", "Requests that were answered.")
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'{name}{{method="{method}",route="{route}",status="{status}"}} {count}'
        name = "commonplace_http_request_seconds"
        yield from _head(name, "histogram", "How long they took.")
        for route, count in sorted(self._answered.items()):
            for bucket in BUCKETS:
                within = self._within[route, bucket]
                yield f'{name}_bucket{{route="{route}",le="{bucket:g}"}} {within}'
            yield f'{name}_bucket{{route="{route}",le="+Inf"}} {count}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {count}'
        yield from _head("commonplace_http_in_progress", "gauge", "Requests under way.")
        yield f"commonplace_http_in_progress {self.in_progress}"
        yield from _head("commonplace_streams", "gauge", "Listeners to changes.")
        yield f"commonplace_streams {self.streams}"


def _head(name: str, kind: str, told: str) -> Iterator[str]:
    yield f"# HELP {name} {told}"
    yield f"# TYPE {name} {kind}"

"""Request logs as JSON lines, and metrics for Prometheus. No content."""

from __future__ import annotations

import json
import logging
import threading
import traceback
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

LOGGER_NAME = "commonplace.http"
log = logging.getLogger(LOGGER_NAME)


class JsonLogFormatter(logging.Formatter):
    """JSON lines. Exceptions are logged by class and location: messages may contain user data."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        facts = getattr(record, "facts", None)
        fields |= facts if facts is not None else {"message": record.getMessage()}
        if record.exc_info and record.exc_info[0]:
            fields |= {
                "exception": record.exc_info[0].__name__,
                "where": _error_location(record.exc_info[2]),
            }
        return json.dumps(fields, ensure_ascii=False)


def _error_location(trace: Any) -> str:
    frames = traceback.extract_tb(trace)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def write_request(
    *,
    id: str,
    method: str,
    route: str,
    status: int,
    seconds: float,
    error: BaseException | None = None,
) -> None:
    facts = {
        "request": id,
        "method": method,
        "route": route,
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    trace = (type(error), error, error.__traceback__) if error else None
    level = logging.ERROR if status >= 500 else logging.INFO
    log.log(level, "request", exc_info=trace, extra={"facts": facts})


def log_to_stderr() -> None:
    """For the server's own process; an embedding program configures its own handlers."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLogFormatter())
    for name, level in (
        (LOGGER_NAME, logging.INFO),
        ("commonplace", logging.INFO),
        ("uvicorn", logging.WARNING),
        ("mcp", logging.ERROR),  # lower levels log what clients sent
        ("opentelemetry", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.setLevel(level)
    for name in ("commonplace", "uvicorn", "mcp", "opentelemetry"):
        logging.getLogger(name).handlers = [handler]
        logging.getLogger(name).propagate = False


METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
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
        yield from _metric_head(name, "counter", "Requests that were answered.")
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'{name}{{method="{method}",route="{route}",status="{status}"}} {count}'
        name = "commonplace_http_request_seconds"
        yield from _metric_head(name, "histogram", "How long they took.")
        for route, count in sorted(self._answered.items()):
            for bucket in BUCKETS:
                within = self._within[route, bucket]
                yield f'{name}_bucket{{route="{route}",le="{bucket:g}"}} {within}'
            yield f'{name}_bucket{{route="{route}",le="+Inf"}} {count}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {count}'
        yield from _metric_head("commonplace_http_in_progress", "gauge", "Requests under way.")
        yield f"commonplace_http_in_progress {self.in_progress}"
        yield from _metric_head("commonplace_streams", "gauge", "Listeners to changes.")
        yield f"commonplace_streams {self.streams}"


def _metric_head(name: str, kind: str, help: str) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"

"""What a server writes down of each request: JSON lines without content, queries or keys."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any

NAME = "commonplace.http"
log = logging.getLogger(NAME)


class JsonLines(logging.Formatter):
    """One object a line. Of an exception only its class and place: its words may be content."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        facts = getattr(record, "facts", None)
        told |= facts if facts is not None else {"message": record.getMessage()}
        if record.exc_info and record.exc_info[0]:
            told |= {"exception": record.exc_info[0].__name__, "where": _where(record.exc_info[2])}
        return json.dumps(told, ensure_ascii=False)


def _where(trace: Any) -> str:
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
    """For a server's own process; a program that embeds it has handlers of its own."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name, level in (
        (NAME, logging.INFO),
        ("commonplace", logging.INFO),
        ("uvicorn", logging.WARNING),
        ("mcp", logging.ERROR),  # below that it tells what clients sent
        ("opentelemetry", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.setLevel(level)
    for name in ("commonplace", "uvicorn", "mcp", "opentelemetry"):
        logging.getLogger(name).handlers = [handler]
        logging.getLogger(name).propagate = False

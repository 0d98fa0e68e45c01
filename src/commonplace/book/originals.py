"""What `ingest` was given: a file, or content itself, checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commonplace.errors import InvalidInput, TooLong
from commonplace.ingest.decode import MAX_CHARACTERS
from commonplace.ingest.original import Original
from commonplace.model import check
from commonplace.model.memory import Sensitivity
from commonplace.model.source import MAX_ORIGINAL_BYTES, ContextType, SourceType
from commonplace.model.ttl_policy import TtlPolicy

MAX_EXTERNAL_ID = 1000
_LONGEST_PATH = 4096
_FILES = frozenset(
    [".txt", ".md", ".markdown", ".eml", ".jsonl", ".ndjson", ".json", ".vtt", ".srt", ".html"]
)


def original_from(given: Mapping[str, Any]) -> Original:
    raw, name = read_original(given["original"])
    words = {name: given[name] for name in ("format", "title", "origin") if given[name] is not None}
    external_id = given["external_id"]
    return Original(
        raw=raw,
        name=name,
        append=check.flag(given["append"], "append"),
        date=None if given["date"] is None else check.when(given["date"], "date"),
        external_id=None
        if external_id is None
        else check.text(external_id, "external_id", MAX_EXTERNAL_ID),
        source_type=_choice(given, "source_type", SourceType),
        context_type=_choice(given, "context_type", ContextType),
        sensitivity=_choice(given, "sensitivity", Sensitivity, {"sensitive": "high"}),
        ttl_policy=_choice(given, "ttl_policy", TtlPolicy),
        participants=_words(given, "participants"),
        tags=_words(given, "tags"),
        metadata={} if given["metadata"] is None else check.metadata(given["metadata"]),
        thread_id=None if given["thread"] is None else check.word(given["thread"], "thread"),
        **{name: check.text(value, name, check.MAX_SENTENCE) for name, value in words.items()},
    )


def _choice(given: Mapping[str, Any], name: str, of: Any, aliases: Any = None) -> Any:
    value = given[name]
    return None if value is None else check.choice(value, name, of, aliases or {})


def _words(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return () if given[name] is None else check.words(given[name], name)


def read_original(original: object) -> tuple[bytes, str | None]:
    """The bytes, and the file's name if they are from one."""
    match original:
        case bytes():
            return _short_enough(original), None
        case Path():
            return _read(original), str(original.absolute())
        case str() if _names_a_file(original):
            return _read(Path(original)), str(Path(original).absolute())
        case str():
            check.text(original, "original", MAX_CHARACTERS)
            return original.encode("utf-8"), None
        case _:
            raise InvalidInput(
                f"original must be a path, text or bytes, not {type(original).__name__}.",
                field="original",
            )


def _names_a_file(text: str) -> bool:
    """One line that is the path of a file; one that only looks like it is a mistake."""
    if "\n" in text or "\0" in text or not 0 < len(text) <= _LONGEST_PATH:
        return False
    try:
        if os.path.exists(text):
            return True
    except (OSError, ValueError):
        return False
    looks = " " not in text.strip() and Path(text).suffix.lower() in _FILES
    if looks:
        raise InvalidInput(
            f"There is no file {text!r}.",
            remedy="Check the path; to store this text itself, use remember.",
            field="original",
        )
    return False


def _read(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise InvalidInput(
                f"{path} is a folder.", remedy="Give its files one by one.", field="original"
            )
        if path.stat().st_size > MAX_ORIGINAL_BYTES:
            raise _too_long()
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", field="original") from error


def _short_enough(raw: bytes) -> bytes:
    if len(raw) > MAX_ORIGINAL_BYTES:
        raise _too_long()
    return raw


def _too_long() -> TooLong:
    return TooLong(
        f"The source is too long: the limit is {MAX_CHARACTERS:,} characters.",
        remedy="Split it into several sources.",
        field="original",
    )

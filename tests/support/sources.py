"""Sources made by hand for a bare store, and originals of every format for the verbs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from commonplace.engine.indexing import build_passage_indexing
from commonplace.model.changeset import AddSource, ChangeSource, RemoveSource, build_source_removal
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.sources.source import (
    SOURCE_CATEGORY,
    ContentType,
    Passage,
    ProcessingStatus,
    Source,
    SourceType,
)
from support.clock import START
from support.making import EMBEDDER


def a_source(external_id: str = "talk 1", **fields: Any) -> Source:
    made = {
        "id": f"source:{uuid.uuid4()}",
        "user_id": "ana",
        "origin": "test",
        "external_id": external_id,
        "source_type": SourceType.CHAT,
        "content_type": ContentType.CONVERSATION,
        "participants": ("ana",),
        "created_at": START,
        "updated_at": START,
    }
    return Source(**{**made, **fields})


def told_of(source: Source, op: Op = Op.UPDATE, event: Event = Event.UPDATE) -> Entry:
    return Entry(
        op=op, event=event, subject=source.id, category=SOURCE_CATEGORY, new_ref=source.ref
    )


def bringing(source: Source, original: bytes = b"raw") -> AddSource:
    return AddSource(source, original, told_of(source, Op.CREATE, Event.ADD))


def altering(before: Source, **fields: Any) -> ChangeSource:
    """A change of the row alone."""
    after = before.evolve(**{"version": before.version + 1, **fields})
    return ChangeSource(before, after, told_of(after))


def appending(before: Source, original: bytes) -> ChangeSource:
    after = before.evolve(parts=before.parts + 1, version=before.version + 1)
    return ChangeSource(before, after, told_of(after), original)


def filling(before: Source, texts: Sequence[str], *, vectors: bool = True) -> ChangeSource:
    """Passages after those that are there."""
    first = before.passages + 1
    passages = [
        Passage(
            source_id=before.id,
            number=number,
            turn=number,
            text=text,
            speaker="Dana",
            at=START + timedelta(minutes=number),
        )
        for number, text in enumerate(texts, first)
    ]
    rows = EMBEDDER.embed(texts)
    indexed = tuple(
        (passage, build_passage_indexing(before, passage, row if vectors else None))
        for passage, row in zip(passages, rows, strict=True)
    )
    after = before.evolve(
        status=ProcessingStatus.PROCESSED,
        passages=before.passages + len(passages),
        version=before.version + 1,
    )
    return ChangeSource(before, after, told_of(after), passages=indexed)


def ending(source: Source, event: Event = Event.ERASE) -> RemoveSource:
    return build_source_removal(source, event=event)


# ——— originals ———


def turn(speaker: str, text: str, minutes: int = 0, **fields: Any) -> dict[str, Any]:
    at = (START + timedelta(minutes=minutes)).isoformat()
    return {"speaker": speaker, "text": text, "time": at, **fields}


def chat(*turns: Mapping[str, Any]) -> str:
    return "\n".join(json.dumps(each) for each in turns)


def letter(
    text: str, *, id: str = "<1@example.org>", subject: str = "Trip", headers: Iterable[str] = ()
) -> bytes:
    lines = [
        "From: Dana Levi <dana@example.org>",
        "To: Ana <ana@example.org>",
        f"Subject: {subject}",
        f"Message-ID: {id}",
        "Date: Sun, 01 Mar 2026 09:30:00 +0000",
        "Content-Type: text/plain; charset=utf-8",
        *headers,
    ]
    return ("\n".join(lines) + f"\n\n{text}\n").encode()


def slack(*messages: tuple[str, str, str], channel: str = "garden") -> str:
    """(ts, user, text) of each."""
    listed = [
        {"type": "message", "ts": ts, "user": user, "text": text} for ts, user, text in messages
    ]
    return json.dumps({"channel": channel, "messages": listed})


def one_of_each(word: str) -> dict[str, bytes]:
    """An original of every format that says the word once."""
    return {
        "text": f"The harbour is quiet. A {word} stands by the water.".encode(),
        "markdown": f"# Harbour\n\nIt is quiet.\n\n## Birds\n\nA {word} stands there.\n".encode(),
        "html": f"<html><title>Harbour</title><p>A {word} stands there.</p></html>".encode(),
        "conversation": chat(
            turn("Dana", "What did you see at the harbour?"),
            turn("Ana", f"A {word} stood by the water.", 1),
        ).encode(),
        "email": letter(f"Hello Ana,\n\nI saw a {word} at the harbour.\n"),
        "slack": slack(
            ("1772355600.000100", "U1", "Who was at the harbour?"),
            ("1772355660.000200", "U2", f"Me. A {word} stood there."),
        ).encode(),
        "transcript": (
            f"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Dana>A {word} stood by the water.\n"
        ).encode(),
        "whatsapp": f"[01/03/2026, 09:30:00] Dana: A {word} stood by the water.\n".encode(),
    }

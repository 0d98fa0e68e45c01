"""`commonplace ingest FILE …`: files, or what is piped in, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from commonplace.book import User
from commonplace.errors import InvalidInput
from commonplace.ingest.ingest import Ingested
from commonplace.surfaces.cli.draw import drawn

PIPED = "-"


@dataclass(frozen=True, slots=True)
class Refused:
    file: str
    code: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class IngestedFiles:
    """What became of several; one that is refused does not stop the others."""

    ingested: tuple[Ingested, ...]
    refused: tuple[Refused, ...]


def ingest_files(me: User, original: Sequence[str], **arguments: Any) -> Ingested | IngestedFiles:
    files = original
    if len(files) == 1:
        return _ingest(me, files[0], arguments)
    if "external_id" in arguments and not arguments.get("append"):
        raise InvalidInput(
            "Several files cannot have one external_id.",
            remedy="Ingest them one by one, or say --append: they are parts of one source.",
            field="external_id",
        )
    ingested, refused = [], []
    with _bar() as bar:
        for file in bar.track(files, description="ingesting"):
            try:
                ingested.append(_ingest(me, file, arguments))
            except InvalidInput as error:
                refused.append(Refused(file, error.code, error.message, error.remedy))
    return IngestedFiles(tuple(ingested), tuple(refused))


def _ingest(me: User, file: str, arguments: Mapping[str, Any]) -> Ingested:
    """A path is a path here: one that leads nowhere is a mistake, never a text to keep."""
    original = sys.stdin.buffer.read() if file == PIPED else Path(file)
    return me.ingest(original, **arguments)


def still_waits(answer: Any, arguments: Mapping[str, Any]) -> bool:
    """Somebody waited for it, and it could not be processed yet."""
    if isinstance(answer, IngestedFiles):
        return any(still_waits(each, arguments) for each in answer.ingested)
    return isinstance(answer, Ingested) and not answer.is_processed and arguments.get("wait", True)


def _bar() -> Progress:
    """Gone when it is done, and absent where nobody watches."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@drawn.register
def _files(answer: IngestedFiles) -> Any:
    return Group(*map(drawn, answer.ingested), *map(_refused, answer.refused))


def _refused(refused: Refused) -> Text:
    told = Text.assemble((f"✗ {refused.file}: ", "bold red"), refused.message)
    return told.append(f"\n  → {refused.remedy}")

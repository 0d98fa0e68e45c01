"""QMSum: meetings, and queries whose answer stands in spans of utterances.

Marks of the transcribers such as {vocalsound} are taken out; what had nothing else is no unit.
Queries about a whole meeting have no evidence, so only the specific ones are asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.quality.dataset import (
    Dataset,
    DatasetQuestion,
    DatasetSource,
    DatasetUser,
    EvidenceUnit,
    parse_json,
    remarks_of,
    unreadable,
)

FOLDER = "meetings"
CATEGORY = "specific"
_MARKS = re.compile(r"\{[a-z]+\}|<[a-z]+>")


def files(data: Path) -> list[Path]:
    return sorted((data / FOLDER).glob("*.jsonl"))


def load(data: Path) -> list[Dataset]:
    owners, without = [], 0
    for file in files(data):
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(filter(str.strip, lines), 1):
            try:
                owner, lost = _owner(f"{file.stem}-{number}", parse_json(line, file))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise unreadable(file, f"meeting {number}: {error!r}") from error
            owners.append(owner)
            without += lost
    remarks = remarks_of([(without, "queries have no evidence and were left out")])
    return [Dataset("meetings", tuple(owners), remarks)]


def _owner(name: str, meeting: Mapping[str, Any]) -> tuple[DatasetUser, int]:
    said = [_unit(place, each) for place, each in enumerate(meeting["meeting_transcripts"])]
    units = tuple(unit for unit in said if unit.text)
    known = {unit.id for unit in units}
    asked = meeting["specific_query_list"]
    questions = tuple(
        DatasetQuestion(str(each["query"]), gold, CATEGORY)
        for each in asked
        if (gold := in_spans(each.get("relevant_text_span") or ()) & known)
    )
    source = DatasetSource(name, name, units)
    return DatasetUser(name, (source,), questions), len(asked) - len(questions)


def _unit(place: int, said: Mapping[str, Any]) -> EvidenceUnit:
    text = " ".join(_MARKS.sub(" ", str(said["content"])).split())
    return EvidenceUnit(str(place), text, speaker=str(said["speaker"]))


def in_spans(spans: Sequence[Sequence[Any]]) -> frozenset[str]:
    """Both ends of a span belong to it."""
    return frozenset(
        str(place) for first, last in spans for place in range(int(first), int(last) + 1)
    )

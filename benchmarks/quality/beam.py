"""BEAM: long chats with an assistant, probing questions in ten abilities.

A batch of the chat is a session, a message is a unit. Questions that nothing in the chat answers
(`abstention`) have no evidence, so they are left out here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.quality.dataset import (
    Dataset,
    DatasetQuestion,
    DatasetSource,
    DatasetUser,
    EvidenceUnit,
    read_json,
    remarks_of,
    unreadable,
)

FOLDERS = "beam*"
_QUESTIONS = Path("probing_questions") / "probing_questions.json"
_MARK = re.compile(r"\s*->->[\s\d,]*$")  # the set's own numbering, at the end of a message
_DROPPED, _WITHOUT = "dropped", "without"


def files(data: Path) -> list[Path]:
    found = data.glob(f"{FOLDERS}/*/chat.json")
    return sorted(chat for chat in found if (chat.parent / _QUESTIONS).exists())


def load(data: Path) -> list[Dataset]:
    counts: Counter[str] = Counter()
    owners = []
    for chat in files(data):
        try:
            owners.append(_owner(chat, counts))
        except (KeyError, TypeError, AttributeError) as error:
            raise unreadable(chat, repr(error)) from error
    remarks = remarks_of(
        (
            (counts[_DROPPED], "evidence ids name no message and were dropped"),
            (counts[_WITHOUT], "questions have no evidence and were left out"),
        )
    )
    return [Dataset("beam", tuple(owners), remarks)]


def _owner(chat: Path, counts: Counter[str]) -> DatasetUser:
    sources = tuple(_batches(read_json(chat)))
    known = {unit.id for source in sources for unit in source.units}
    questions = []
    for ability, asked in read_json(chat.parent / _QUESTIONS).items():
        for each in asked:
            ids = set(ids_in(each.get("source_chat_ids")))
            gold = frozenset(ids & known)
            counts[_DROPPED] += len(ids - known)
            if gold:
                questions.append(DatasetQuestion(str(each["question"]), gold, str(ability)))
            else:
                counts[_WITHOUT] += 1
    return DatasetUser(f"{chat.parent.parent.name}-{chat.parent.name}", sources, tuple(questions))


def ids_in(given: Any) -> Iterator[str]:
    """Ids stand in lists, in lists of lists, and under names such as `original_info`."""
    if isinstance(given, Mapping):
        given = list(given.values())
    if isinstance(given, list):
        for each in given:
            yield from ids_in(each)
    elif given is not None:
        yield str(given)


def _batches(chat: Sequence[Mapping[str, Any]]) -> Iterator[DatasetSource]:
    when: str | None = None
    for number, batch in enumerate(chat, 1):
        when = moment(batch.get("time_anchor")) or when
        began, units = None, []
        for message in (message for turn in batch["turns"] for message in turn):
            when = moment(message.get("time_anchor")) or when
            began = began or when
            text = _MARK.sub("", str(message["content"])).strip()
            if text:
                units.append(
                    EvidenceUnit(str(message["id"]), text, role=str(message["role"]), time=when)
                )
        if units:
            yield DatasetSource(f"batch_{number}", f"Chat, part {number}", tuple(units), began)


def moment(written: Any) -> str | None:
    """A day such as "March-15-2024"; those that follow without one are of the same day."""
    try:
        return datetime.strptime(str(written), "%B-%d-%Y").isoformat()
    except ValueError:
        return None

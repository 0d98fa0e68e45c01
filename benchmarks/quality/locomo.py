"""LoCoMo: long conversations between two friends, with questions.

A picture that was shared counts with its caption, as the set's own retrieval baseline has it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.quality.dataset import (
    ADVERSARIAL,
    Dataset,
    DatasetQuestion,
    DatasetSource,
    DatasetUser,
    EvidenceUnit,
    read_json,
    remarks_of,
    unreadable,
)

FOLDER = "locomo"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: ADVERSARIAL}

_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?\s*(\d+):(\d+)")  # "D1:3"; also "D:11:26" and "D8:6; D9:17"
_REPAIRED, _DROPPED, _WITHOUT = "repaired", "dropped", "without"


def files(data: Path) -> list[Path]:
    return sorted((data / FOLDER).glob("*.json"))


def load(data: Path) -> list[Dataset]:
    counts: Counter[str] = Counter()
    owners = []
    for file in files(data):
        whole = read_json(file)
        samples = whole if isinstance(whole, list) else [whole]
        for number, sample in enumerate(samples, 1):
            try:
                owners.append(_owner(sample, f"{file.stem}-{number}", counts))
            except (KeyError, TypeError, AttributeError) as error:
                raise unreadable(file, f"conversation {number}: {error!r}") from error
    remarks = remarks_of(
        (
            (counts[_REPAIRED], "malformed evidence ids were repaired"),
            (counts[_DROPPED], "evidence ids name no turn and were dropped"),
            (counts[_WITHOUT], "questions have no evidence and were left out"),
        )
    )
    return [Dataset("locomo", tuple(owners), remarks)]


def _owner(sample: Mapping[str, Any], name: str, counts: Counter[str]) -> DatasetUser:
    sources = tuple(_sessions(sample["conversation"]))
    known = {unit.id for source in sources for unit in source.units}
    questions = []
    for asked in sample["qa"]:
        gold = evidence(asked.get("evidence") or (), known, counts)
        if gold:
            category = CATEGORIES.get(asked["category"], str(asked["category"]))
            questions.append(DatasetQuestion(str(asked["question"]), gold, category))
        else:
            counts[_WITHOUT] += 1
    return DatasetUser(str(sample.get("sample_id") or name), sources, tuple(questions))


def evidence(given: Sequence[Any], known: set[str], counts: Counter[str]) -> frozenset[str]:
    """What is evident is repaired, the rest is dropped; both are counted."""
    found: set[str] = set()
    for written in given:
        ids = [f"D{int(s)}:{int(t)}" for s, t in _TURN.findall(str(written))]
        real = {id for id in ids if id in known}
        counts[_DROPPED] += len(ids) - len(real) if ids else 1
        counts[_REPAIRED] += bool(real) and ids != [written]
        found |= real
    return frozenset(found)


def _sessions(conversation: Mapping[str, Any]) -> Iterator[DatasetSource]:
    named = ((_SESSION.fullmatch(key), turns) for key, turns in conversation.items())
    numbered = sorted((int(match[1]), turns) for match, turns in named if match and turns)
    people = f"{conversation.get('speaker_a', '')} and {conversation.get('speaker_b', '')}"
    for number, turns in numbered:
        when = moment(conversation.get(f"session_{number}_date_time"))
        units = tuple(_unit(turn, when) for turn in turns)
        spoken = tuple(unit for unit in units if unit.text.strip())
        yield DatasetSource(f"session_{number}", f"{people}, session {number}", spoken, when)


def _unit(turn: Mapping[str, Any], when: str | None) -> EvidenceUnit:
    text = str(turn.get("text") or "")
    caption = turn.get("blip_caption")
    if caption:
        text = f"{text} [{caption}]".strip()
    return EvidenceUnit(str(turn["dia_id"]), text, speaker=str(turn["speaker"]), time=when)


def moment(written: str | None) -> str | None:
    """ "1:56 pm on 8 May, 2023" in the order that the rest of the world sorts by."""
    if not written:
        return None
    for layout in ("%I:%M %p on %d %B, %Y", "%d %B, %Y"):
        try:
            return datetime.strptime(written.strip(), layout).isoformat()
        except ValueError:
            continue
    return None

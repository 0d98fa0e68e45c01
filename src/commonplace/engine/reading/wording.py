"""What a prompt says of passages, their speakers and the owner. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from commonplace.language.extract.values import ExtractionInput
from commonplace.language.grounding.values import GivenPassage, SpokenBy
from commonplace.language.llm.prompts import as_data

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NOTHING = "(none)"
OWNER, MACHINE = "owner", "assistant"


def given_passages(account: ExtractionInput, context: Iterable[int]) -> tuple[GivenPassage, ...]:
    """The passages that a model may be given: never one that reads like instructions. ``context``:
    the numbers of those that were read before."""
    known = frozenset(context)
    return tuple(
        GivenPassage(
            number=each.number,
            text=each.text,
            at=each.at,
            by=_spoken_by(each.by_owner, each.by_machine),
            speaker=each.speaker,
            is_context=each.number in known,
        )
        for each in account.passages
        if not each.suspicious and each.text.strip()
    )


def _spoken_by(by_owner: bool, by_machine: bool) -> SpokenBy:
    if by_machine:
        return SpokenBy.MACHINE
    return SpokenBy.OWNER if by_owner else SpokenBy.OTHER


def has_news(given: Iterable[GivenPassage]) -> bool:
    """Whether a person says something in it: a machine's words are no evidence."""
    return any(not each.is_context and each.by is not SpokenBy.MACHINE for each in given)


def turn_values(
    account: ExtractionInput,
    given: Iterable[GivenPassage],
    known: Mapping[str, tuple[datetime, str]],
) -> Mapping[str, str]:
    """``known``: when it was said, and the statement, by its key."""
    passages = tuple(given)
    lines = (
        as_data({"known": key, "said": f"{at:%Y-%m-%d}", "text": text})
        for key, (at, text) in known.items()
    )
    return {
        "owner": _owner(account),
        "known": "\n".join(lines) or _NOTHING,
        "context": _lines(each for each in passages if each.is_context),
        "turns": _lines(each for each in passages if not each.is_context),
    }


def source_values(account: ExtractionInput, given: Iterable[GivenPassage]) -> Mapping[str, str]:
    about = {
        "type": str(account.source_type),
        "title": account.title,
        "date": _moment(account.date),
        "participants": list(account.participants),
    }
    return {"owner": _owner(account), "about": as_data(about), "passages": _lines(given)}


def _owner(account: ExtractionInput) -> str:
    names = dict.fromkeys((account.owner.name, *sorted(account.owner.names)))
    return as_data([name for name in names if name])


def _lines(passages: Iterable[GivenPassage]) -> str:
    lines = [
        as_data(
            {
                "passage": each.number,
                "by": _name_of(each),
                "at": _moment(each.at),
                "text": each.text,
            }
        )
        for each in passages
    ]
    return "\n".join(lines) or _NOTHING


def _name_of(passage: GivenPassage) -> str:
    match passage.by:
        case SpokenBy.OWNER:
            return OWNER
        case SpokenBy.MACHINE:
            return MACHINE
        case _:
            return passage.speaker or ""


def _moment(at: datetime) -> str:
    """With the weekday, in English whatever the locale."""
    return f"{_DAYS[at.weekday()]} {at:%Y-%m-%d %H:%M}"

"""Labelled pairs and statements, with what a reader expects of them.

They live beside the source (`labelled/`, with a README on how they were made) and are not shipped.
"""

from __future__ import annotations

import argparse
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OPEN, SEALED = HALVES = ("open", "sealed")

SAME = frozenset({"repeat", "rewording"})
CHANGED = "changed"
DIFFERENT_SUBJECTS = frozenset({"other_subject", "unrelated"})  # cases about different things

OTHER_KINDS = ("note", "fact", "event", "rule")  # neither a contact nor a kv

_LEADING = re.compile(r"^(?:my|our|the|a|an|his|her|their) ")
_EDGES = " .,:;!?"
_LEAST_DIGITS = 7  # fewer do not tell a phone from another


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """What was known, what is said a day later, and the relations a reader would accept."""

    id: str
    language: str
    case: str
    kind: str
    old: Mapping[str, Any]  # arguments of `remember`
    new: Mapping[str, Any]
    expect: frozenset[str]

    @property
    def must_change(self) -> bool:
        return self.expect == {CHANGED}

    @property
    def must_differ(self) -> bool:
        """A number, date, name or negation differs: it is not the same thing said again."""
        return not self.expect & SAME


@dataclass(frozen=True, slots=True)
class LabelledStatement:
    """Something said without a kind, and what it should be filed as."""

    id: str
    language: str
    text: str
    kinds: tuple[str, ...]  # accepted; the first is what most readers would say
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # accepted values of each
    categories: tuple[str, ...] = ()  # accepted; none: not judged

    @property
    def wanted(self) -> str:
        return "other" if self.kinds == OTHER_KINDS else self.kinds[0]

    def fields_right(self, metadata: Mapping[str, Any]) -> bool:
        return all(
            any(is_same_value(name, wanted, str(metadata.get(name, ""))) for wanted in accepted)
            for name, accepted in self.fields.items()
        )


def is_same_value(name: str, wanted: str, found: str) -> bool:
    """Whether a field holds what was wanted, however it is written. Case counts in values."""
    if name == "phone":
        return _same_phone(_digits(wanted), _digits(found))
    if name == "value":
        return _plain(wanted) == _plain(found)
    return _words(wanted) == _words(found)


def _same_phone(one: str, other: str) -> bool:
    """Equal, or one of them with a country's prefix."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _LEAST_DIGITS and long.endswith(short)


def _digits(phone: str) -> str:
    return "".join(filter(str.isdigit, phone)).lstrip("0")


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip(_EDGES)


def _words(text: str) -> str:
    return _LEADING.sub("", " ".join(_plain(text).casefold().split()))


def read_pairs(folder: Path, half: str) -> list[LabelledPair]:
    return [
        LabelledPair(**{**row, "expect": frozenset(row["expect"])})
        for row in _rows(folder / f"relations-{half}.jsonl")
    ]


def read_statements(folder: Path, half: str, name: str = "statements") -> list[LabelledStatement]:
    return [_statement(row) for row in _rows(folder / f"{name}-{half}.jsonl")]


def _statement(row: Mapping[str, Any]) -> LabelledStatement:
    one = OTHER_KINDS if row.get("kind") == "other" else (row.get("kind"),)
    return LabelledStatement(
        row["id"],
        row["language"],
        row["text"],
        tuple(row.get("kinds", one)),
        {name: tuple(values) for name, values in row.get("fields", {}).items()},
        tuple(row.get("categories", ())),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def labelled_parser(name: str, description: str | None, page: Path) -> argparse.ArgumentParser:
    """The options of a benchmark over labelled examples that can write its page."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=description)
    parser.add_argument("--half", choices=HALVES, help="default: both")
    parser.add_argument(
        "--show", action="store_true", help="list the wrong answers in the open half"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("labelled"),
        metavar="FOLDER",
        help="labelled examples (%(default)s)",
    )
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=page,
        metavar="PAGE",
        help=f"write the report ({page})",
    )
    return parser

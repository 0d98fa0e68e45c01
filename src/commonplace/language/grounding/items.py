"""Items that a model found, read leniently: one that is malformed never loses the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from commonplace.language.fields.writing_policy import MAX_CHARACTERS
from commonplace.language.text.sentences import split_sentences
from commonplace.model.validation import MAX_QUESTION, stored_form

MAX_ITEMS = 200  # of one list; the others count as malformed
MAX_QUOTE = 2_000  # characters
MAX_NAME = 80
MAX_FIELD = 300
MAX_ALIASES = 8
MAX_QUESTIONS = 3  # of one item
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")

MEMORY_KINDS = frozenset(("fact", "preference", "plan", "event", "contact", "value", "rule"))
_NEEDED = {"value": ("subject", "value"), "contact": ("subject",)}  # fields, else it is a fact


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedItem:
    """What all items have: the words that they rest on."""

    passage: int | None  # None: not said, or not a number
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem(QuotedItem):
    kind: str
    text: str
    subject: str = ""
    value: str = ""
    phone: str = ""
    email: str = ""
    role: str = ""
    when: str = ""
    until: str = ""
    ended: bool = False
    corrects: str = ""
    profile: str = ""
    importance: int = 2
    questions: tuple[str, ...] = ()  # that it answers


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationItem(QuotedItem):
    source: str  # "from": "me" or a name
    target: str  # "to"
    type: str
    source_type: str = ""
    target_type: str = ""
    description: str = ""
    attitude: int | None = None
    proximity: int | None = None
    since: str = ""
    until: str = ""
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NameItem(QuotedItem):
    name: str
    type: str
    aliases: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteItem(QuotedItem):
    about: tuple[str, ...]
    text: str
    lifetime: str = "month"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetItem(QuotedItem):
    what: str


@dataclass(frozen=True, slots=True)
class ReadItems:
    memories: tuple[MemoryItem, ...] = ()
    relations: tuple[RelationItem, ...] = ()
    names: tuple[NameItem, ...] = ()
    notes: tuple[NoteItem, ...] = ()
    forget: tuple[ForgetItem, ...] = ()
    malformed: int = 0


class MalformedItem(ValueError):
    """A field is missing or has a wrong form."""


ItemT = TypeVar("ItemT", bound=QuotedItem)


def read_items(value: object) -> ReadItems:
    if not isinstance(value, Mapping):
        return ReadItems(malformed=1)
    counts: list[int] = []
    return ReadItems(
        memories=_read_list(value, "memories", _read_memory, counts),
        relations=_read_list(value, "relations", _read_relation, counts),
        names=_read_list(value, "names", _read_name, counts),
        notes=_read_list(value, "notes", _read_note, counts),
        forget=_read_list(value, "forget", _read_forget, counts),
        malformed=sum(counts),
    )


def _read_list(
    value: Mapping[Any, Any],
    name: str,
    read: Callable[[_ItemFields], ItemT],
    counts: list[int],
) -> tuple[ItemT, ...]:
    listed = value.get(name)
    if listed is None:
        return ()
    if not isinstance(listed, list | tuple):
        counts.append(1)
        return ()
    found = list(_read_each(listed[:MAX_ITEMS], read))
    counts.append(len(listed) - len(found))
    return tuple(found)


def _read_each(listed: Sequence[Any], read: Callable[[_ItemFields], ItemT]) -> Iterator[ItemT]:
    for each in listed:
        if isinstance(each, Mapping):
            try:
                yield read(_ItemFields(each))
            except MalformedItem:
                continue


def _read_memory(given: _ItemFields) -> MemoryItem:
    kind = given.word("kind")
    if kind not in MEMORY_KINDS:
        raise MalformedItem(kind)
    lacking = next(
        (name for name in _NEEDED.get(kind, ()) if not given.text(name, MAX_FIELD)), None
    )
    if lacking is not None:
        kind = "fact"  # its text says what it says
    return MemoryItem(
        **given.place(),
        kind=kind,
        text=_shortened(given.needed("text", MAX_QUOTE)),
        subject=given.text("subject", MAX_FIELD),
        value=given.text("value", MAX_FIELD),
        phone=given.text("phone", MAX_NAME),
        email=given.text("email", MAX_FIELD),
        role=given.text("role", MAX_NAME),
        when=given.text("when", MAX_FIELD),
        until=given.text("until", MAX_FIELD),
        corrects=given.text("corrects", MAX_FIELD),
        ended=given.flag("ended"),
        profile=given.word("profile"),
        importance=given.degree("importance") or 2,
        questions=given.texts("questions", MAX_QUESTION)[:MAX_QUESTIONS],
    )


def _shortened(text: str) -> str:
    """The sentences that fit into a memory."""
    if len(text) <= MAX_CHARACTERS:
        return text
    kept = ""
    for sentence in split_sentences(text):
        longer = f"{kept} {sentence}".strip()
        if len(longer) > MAX_CHARACTERS:
            break
        kept = longer
    if not kept:
        raise MalformedItem("text")
    return kept


def _read_relation(given: _ItemFields) -> RelationItem:
    return RelationItem(
        **given.place(),
        source=given.needed("from", MAX_NAME),
        target=given.needed("to", MAX_NAME),
        type=given.needed("type", MAX_NAME),
        source_type=given.word("from_type"),
        target_type=given.word("to_type"),
        description=given.text("description", MAX_FIELD),
        attitude=given.degree("attitude"),
        proximity=given.degree("proximity"),
        since=given.text("since", MAX_FIELD),
        until=given.text("until", MAX_FIELD),
        ended=given.flag("ended"),
    )


def _read_name(given: _ItemFields) -> NameItem:
    return NameItem(
        **given.place(),
        name=given.needed("name", MAX_NAME),
        type=given.word("type"),
        aliases=given.texts("aliases", MAX_NAME),
        description=given.text("description", MAX_FIELD),
    )


def _read_note(given: _ItemFields) -> NoteItem:
    about = given.texts("about", MAX_NAME)
    if not about:
        raise MalformedItem("about")
    return NoteItem(
        **given.place(),
        about=about[:2],
        text=given.needed("text", MAX_FIELD),
        lifetime=given.word("lifetime"),
    )


def _read_forget(given: _ItemFields) -> ForgetItem:
    return ForgetItem(**given.place(), what=given.needed("what", MAX_FIELD))


class _ItemFields:
    """The fields of one item. What is optional and has a wrong form counts as absent."""

    def __init__(self, given: Mapping[Any, Any]) -> None:
        self._given = given

    def place(self) -> dict[str, Any]:
        number = self._given.get("passage")
        if isinstance(number, str) and number.isdecimal() and len(number) < 10:
            number = int(number)
        is_number = isinstance(number, int) and not isinstance(number, bool)
        return {
            "passage": number if is_number else None,
            "quote": self.needed("quote", MAX_QUOTE),
        }

    def needed(self, name: str, longest: int) -> str:
        found = self._clean(self._given.get(name), longest)
        if not found:
            raise MalformedItem(name)
        return found

    def text(self, name: str, longest: int) -> str:
        return self._clean(self._given.get(name), longest) or ""

    def texts(self, name: str, longest: int) -> tuple[str, ...]:
        given = self._given.get(name)
        listed = given if isinstance(given, list | tuple) else [given]
        cleaned = (self._clean(each, longest) for each in listed[:MAX_ALIASES])
        return tuple(each for each in cleaned if each)

    def word(self, name: str) -> str:
        return self.text(name, MAX_NAME).casefold()

    def flag(self, name: str) -> bool:
        given = self._given.get(name)
        return given is True or (isinstance(given, str) and given.casefold() == "true")

    def degree(self, name: str) -> int | None:
        given = self._given.get(name)
        if isinstance(given, str) and given.isdecimal() and len(given) == 1:
            given = int(given)
        if isinstance(given, bool) or not isinstance(given, int):
            return None
        return given if 1 <= given <= 5 else None

    def _clean(self, value: object, longest: int) -> str | None:
        """None: absent, no text, or too long."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value) if abs(value) < 10**18 else ""
        if not isinstance(value, str) or len(value) > longest:
            return None
        return " ".join(stored_form(_UNWRITABLE.sub(" ", value)).split())

"""Frames: what a text claims of a subject, in the wordings of frames.toml."""

from dataclasses import dataclass
from functools import cache

from commonplace.language.statements.lexicon import data, plain_word, roles
from commonplace.language.statements.token import Kind, Token

_DROPPED = frozenset({"article", "filler", "not", "aux"})
_LONGEST_GAP = 5


@dataclass(frozen=True, slots=True)
class Frame:
    """Something that can be said of a subject."""

    name: str
    says: str
    many: bool = False
    symmetric: bool = False
    secret: bool = False
    dated: bool = False
    one: bool = False  # all its nouns mean one thing
    roles: bool = False  # a person has one such post


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a wording: one of some words, or a gap for the subject or the value."""

    words: frozenset[str]
    prefixes: tuple[str, ...] = ()
    optional: bool = False
    gap: str = ""  # S or V
    needs: str = ""  # what the gap begins with, "num" or "years", or holds, "school" or "gym"


@dataclass(frozen=True, slots=True)
class Wording:
    """One way to say a frame."""

    frame: Frame
    slots: tuple[Slot, ...]
    was: bool = False
    negates: bool = False
    value_first: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A wording found in a text: which tokens it took, and those of its gaps."""

    wording: Wording
    start: int
    end: int
    subject: tuple[int, int] | None = None
    value: tuple[int, int] | None = None
    glued: int = 0  # letters of a prefix glued to the value's first word


@cache
def frames() -> dict[str, Frame]:
    """All frames by name."""
    flags = ("many", "symmetric", "secret", "dated", "one", "roles")
    return {
        name: Frame(name, row["says"], **{flag: bool(row.get(flag)) for flag in flags})
        for name, row in data("frames").items()
    }


@cache
def wordings(language: str) -> dict[str, tuple[Wording, ...]]:
    """The wordings of a language, by each word that can open one; longer ones first."""
    found: dict[str, list[Wording]] = {}
    for name, row in data("frames").items():
        for key in ("", "_was", "_not", "_by"):
            for pattern in row.get(language + key, ()):
                slots = _slots(pattern, language)
                wording = Wording(frames()[name], slots, key == "_was", key == "_not", key == "_by")
                for word in slots[0].words if slots else ():
                    found.setdefault(word, []).append(wording)
    return {
        word: tuple(sorted(options, key=lambda wording: -len(wording.slots)))
        for word, options in found.items()
    }


def _slots(pattern: str, language: str) -> tuple[Slot, ...]:
    slots = []
    for piece in pattern.split():
        optional, piece = piece.endswith("?"), piece.rstrip("?")
        if piece in ("S", "V", "V_num", "V_years", "V_school", "V_gym"):
            gap, _, needs = piece.partition("_")
            slots.append(Slot(frozenset(), gap=gap, needs=needs))
            continue
        options = [plain_word(option) for option in piece.split("|")]
        prefixes = tuple(option[:-1] for option in options if option.endswith("*"))
        words = [option for option in options if not option.endswith("*")]
        kept = frozenset(w for w in words if roles(language).get(w) not in _DROPPED)
        if kept or prefixes:
            slots.append(Slot(kept, prefixes, optional or len(kept) < len(words)))
    return tuple(slots)


@dataclass(frozen=True, slots=True)
class Noun:
    """A name for a frame."""

    parts: tuple[str, ...]
    frame: Frame
    sort: str  # the first of the forms that mean one thing: "landlord|landlady"


@cache
def nouns(language: str) -> dict[str, tuple[Noun, ...]]:
    """The names of frames ("manager"), by their first word, longest first."""
    found: dict[str, list[Noun]] = {}
    for name, row in data("frames").items():
        for entry in row.get(f"{language}_noun", ()):
            forms = entry.split("|")
            for form in forms:
                parts = tuple(plain_word(part) for part in form.split())
                parts = tuple(p for p in parts if roles(language).get(p) not in _DROPPED) or parts
                noun = Noun(parts, frames()[name], plain_word(forms[0]))
                found.setdefault(parts[0], []).append(noun)
    return {
        first: tuple(sorted(options, key=lambda noun: -len(noun.parts)))
        for first, options in found.items()
    }


def dropped(token: Token) -> bool:
    """Tokens that no wording has: they may stand anywhere."""
    return token.role in _DROPPED


def match(wording: Wording, stream: list[Token], at: int) -> Found | None:
    """The wording from `at` on, if it is there."""
    position, glued = at, 0
    gaps: dict[str, tuple[int, int]] = {}
    slots = wording.slots
    for number, slot in enumerate(slots):
        if slot.gap:
            if number + 1 == len(slots):  # a gap at the end takes all that follows
                if not _begins(stream, position, slot.needs):
                    return None
                break
            end = _gap_end(stream, position, slot, slots[number + 1])
            if end is None:
                return None
            gaps[slot.gap] = (position, end)
            position = end
            continue
        token = stream[position] if position < len(stream) else None
        if token is not None and token.word in slot.words and token.kind is not Kind.MARK:
            position += 1
        elif token is not None and (prefix := _prefix(slot, token)):
            if token.word == prefix:
                position += 1
                while position < len(stream) and stream[position].word in "-־":
                    position += 1
            else:
                glued = len(prefix)
        elif not slot.optional:
            return None
    if position == at:
        return None
    return Found(wording, at, position, gaps.get("S"), gaps.get("V"), glued)


def _prefix(slot: Slot, token: Token) -> str:
    for prefix in slot.prefixes:
        if token.word.startswith(prefix) and (len(token.word) > 2 or token.word == prefix):
            return prefix
    return ""


def _begins(stream: list[Token], position: int, needs: str) -> bool:
    if position >= len(stream):
        return False
    token = stream[position]
    if needs == "num":
        return token.kind in (Kind.NUMBER, Kind.TIME)
    if needs in data("places"):
        return any(_is_place(t.word, needs) for t in stream[position:])
    return not needs or token.term.startswith("q:months:")


@cache
def _is_place(word: str, sort: str) -> bool:
    """A word of places.toml, with a Hebrew prefix or a German beginning too."""
    known = [plain_word(place) for place in data("places")[sort].split()]
    ends = tuple(place[1:] for place in known if place[0] == "-")
    return word in known or (word[:1] in "בלה" and word[1:] in known) or word.endswith(ends)


def _gap_end(stream: list[Token], start: int, gap: Slot, after: Slot) -> int | None:
    if not _begins(stream, start, gap.needs):
        return None
    if after.optional and gap.needs:
        return start + 1
    for end in range(start + 1, min(start + _LONGEST_GAP, len(stream)) + 1):
        if end < len(stream) and (stream[end].word in after.words or _prefix(after, stream[end])):
            return end
        if after.optional and end == len(stream):
            return end
    return None

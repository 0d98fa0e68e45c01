"""Predicate frames and their wordings, loaded from frames.toml."""

from dataclasses import dataclass
from functools import cache

from commonplace.language.compare.tokens import CompareToken, CompareTokenKind
from commonplace.language.text.lexicon import fold_word, load_table, word_roles

_DROPPED_ROLES = frozenset({"article", "filler", "not", "aux"})
_LONGEST_GAP = 5


@dataclass(frozen=True, slots=True)
class PredicateFrame:
    """A predicate that a subject can have."""

    name: str
    says: str
    many: bool = False
    symmetric: bool = False
    secret: bool = False
    dated: bool = False
    one: bool = False  # all its nouns have the same meaning
    roles: bool = False  # a person holds one such post


@dataclass(frozen=True, slots=True)
class WordingSlot:
    """An element of a wording: one of some words, or a gap for the subject or the value."""

    words: frozenset[str]
    prefixes: tuple[str, ...] = ()
    optional: bool = False
    gap: str = ""  # S or V
    needs: str = ""  # what the gap begins with ("num", "years") or contains ("school", "gym")


@dataclass(frozen=True, slots=True)
class FrameWording:
    """One wording of a frame."""

    frame: PredicateFrame
    slots: tuple[WordingSlot, ...]
    was: bool = False
    negates: bool = False
    value_first: bool = False


@dataclass(frozen=True, slots=True)
class WordingMatch:
    """A wording found in a text: its tokens, and those of its gaps."""

    wording: FrameWording
    start: int
    end: int
    subject: tuple[int, int] | None = None
    value: tuple[int, int] | None = None
    prefix_length: int = 0  # length of the prefix of the value's first word


@cache
def load_frames() -> dict[str, PredicateFrame]:
    flags = ("many", "symmetric", "secret", "dated", "one", "roles")
    return {
        name: PredicateFrame(name, row["says"], **{flag: bool(row.get(flag)) for flag in flags})
        for name, row in load_table("frames").items()
    }


@cache
def load_wordings(language: str) -> dict[str, tuple[FrameWording, ...]]:
    """Wordings of a language, by each possible first word; longer ones first."""
    found: dict[str, list[FrameWording]] = {}
    for name, row in load_table("frames").items():
        for key in ("", "_was", "_not", "_by"):
            for pattern in row.get(language + key, ()):
                slots = _parse_slots(pattern, language)
                wording = FrameWording(
                    load_frames()[name], slots, key == "_was", key == "_not", key == "_by"
                )
                for word in slots[0].words if slots else ():
                    found.setdefault(word, []).append(wording)
    return {
        word: tuple(sorted(options, key=lambda wording: -len(wording.slots)))
        for word, options in found.items()
    }


def _parse_slots(pattern: str, language: str) -> tuple[WordingSlot, ...]:
    slots = []
    for piece in pattern.split():
        optional, piece = piece.endswith("?"), piece.rstrip("?")
        if piece in ("S", "V", "V_num", "V_years", "V_school", "V_gym"):
            gap, _, needs = piece.partition("_")
            slots.append(WordingSlot(frozenset(), gap=gap, needs=needs))
            continue
        options = [fold_word(option) for option in piece.split("|")]
        prefixes = tuple(option[:-1] for option in options if option.endswith("*"))
        words = [option for option in options if not option.endswith("*")]
        kept = frozenset(w for w in words if word_roles(language).get(w) not in _DROPPED_ROLES)
        if kept or prefixes:
            slots.append(WordingSlot(kept, prefixes, optional or len(kept) < len(words)))
    return tuple(slots)


@dataclass(frozen=True, slots=True)
class FrameNoun:
    """A noun for a frame."""

    parts: tuple[str, ...]
    frame: PredicateFrame
    sort: str  # the first of the forms with one meaning: "landlord|landlady"


@cache
def load_nouns(language: str) -> dict[str, tuple[FrameNoun, ...]]:
    """Nouns of frames ("manager") by first word, longest first."""
    found: dict[str, list[FrameNoun]] = {}
    for name, row in load_table("frames").items():
        for entry in row.get(f"{language}_noun", ()):
            forms = entry.split("|")
            for form in forms:
                parts = tuple(fold_word(part) for part in form.split())
                parts = (
                    tuple(p for p in parts if word_roles(language).get(p) not in _DROPPED_ROLES)
                    or parts
                )
                noun = FrameNoun(parts, load_frames()[name], fold_word(forms[0]))
                found.setdefault(parts[0], []).append(noun)
    return {
        first: tuple(sorted(options, key=lambda noun: -len(noun.parts)))
        for first, options in found.items()
    }


@cache
def symmetric_words(language: str) -> frozenset[str]:
    """Verbs and nouns that hold from both ends: "married", "neighbour"."""
    verbs = (
        word
        for first, wordings in load_wordings(language).items()
        for wording in wordings
        if wording.frame.symmetric and sum(bool(slot.words) for slot in wording.slots) == 1
        for word in (first,)
    )
    nouns = (
        part
        for listed in load_nouns(language).values()
        for noun in listed
        if noun.frame.symmetric
        for part in noun.parts[-1:]
    )
    return frozenset((*verbs, *nouns))


def is_dropped(token: CompareToken) -> bool:
    """Tokens that no wording contains: they may occur anywhere."""
    return token.role in _DROPPED_ROLES


def match_wording(
    wording: FrameWording, stream: list[CompareToken], at: int
) -> WordingMatch | None:
    """The wording at `at`, if it matches."""
    position, prefix_length = at, 0
    gaps: dict[str, tuple[int, int]] = {}
    slots = wording.slots
    for number, slot in enumerate(slots):
        if slot.gap:
            if number + 1 == len(slots):  # a gap at the end takes the rest
                if not _gap_fits(stream, position, slot.needs):
                    return None
                break
            end = _gap_end(stream, position, slot, slots[number + 1])
            if end is None:
                return None
            gaps[slot.gap] = (position, end)
            position = end
            continue
        token = stream[position] if position < len(stream) else None
        if (
            token is not None
            and token.word in slot.words
            and token.kind is not CompareTokenKind.MARK
        ):
            position += 1
        elif token is not None and (prefix := _value_prefix(slot, token)):
            if token.word == prefix:
                position += 1
                while position < len(stream) and stream[position].word in "-־":
                    position += 1
            else:
                prefix_length = len(prefix)
        elif not slot.optional:
            return None
    if position == at:
        return None
    return WordingMatch(wording, at, position, gaps.get("S"), gaps.get("V"), prefix_length)


def _value_prefix(slot: WordingSlot, token: CompareToken) -> str:
    for prefix in slot.prefixes:
        if token.word.startswith(prefix) and (len(token.word) > 2 or token.word == prefix):
            return prefix
    return ""


def _gap_fits(stream: list[CompareToken], position: int, needs: str) -> bool:
    if position >= len(stream):
        return False
    token = stream[position]
    if needs == "num":
        return token.kind in (CompareTokenKind.NUMBER, CompareTokenKind.TIME)
    if needs in load_table("places"):
        return any(_is_place(t.word, needs) for t in stream[position:])
    return not needs or token.term.startswith("q:months:")


@cache
def _is_place(word: str, sort: str) -> bool:
    """A word of places.toml, also with a Hebrew prefix or at the end of a German compound."""
    known = [fold_word(place) for place in load_table("places")[sort].split()]
    ends = tuple(place[1:] for place in known if place[0] == "-")
    return word in known or (word[:1] in "בלה" and word[1:] in known) or word.endswith(ends)


def _gap_end(
    stream: list[CompareToken], start: int, gap: WordingSlot, after: WordingSlot
) -> int | None:
    if not _gap_fits(stream, start, gap.needs):
        return None
    if after.optional and gap.needs:
        return start + 1
    for end in range(start + 1, min(start + _LONGEST_GAP, len(stream)) + 1):
        if end < len(stream) and (
            stream[end].word in after.words or _value_prefix(after, stream[end])
        ):
            return end
        if after.optional and end == len(stream):
            return end
    return None

"""What somebody is, in words: "our new piano teacher", «סוכן הביטוח שלנו», «המורה של הבת שלי».

The words of a role open or close what is said about a person. What only says whose or that it is
new ("my", "new", «שלי», «החדשה») is no part of it.
"""

import re
from dataclasses import dataclass

from commonplace.language.wordlists import word_lists

_LISTS = word_lists("people.txt")
_PAIRS = frozenset(
    tuple(role.split("-")) for role in _LISTS["he role"] if re.fullmatch("[א-ת]+-[א-ת]+", role)
)
_HEBREW = re.compile("[א-ת]")
_OWNER = re.compile(r"(?:(?:the|my|our|his|her|a|an|new|current|usual)\s+)+", re.IGNORECASE)
_WHERE = re.compile(r"\s(?:at|of|for|from|in)\s", re.IGNORECASE)
_ENGLISH_WORDS = 4


@dataclass(frozen=True, slots=True)
class Opening:
    """The role that a phrase opens with, and the words after it."""

    role: str
    rest: tuple[str, ...]


def role_in(phrase: str) -> str:
    """The role when a phrase says nothing else; empty when it does."""
    if _HEBREW.search(phrase):
        opening = hebrew_role_first(phrase.split())
        return opening.role if opening and not opening.rest else ""
    return english_role(phrase)


def english_role(phrase: str) -> str:
    """ "piano teacher" of "my new piano teacher"; a capital without "my" is a name's."""
    owner = _OWNER.match(phrase)
    role = phrase[owner.end() :] if owner else phrase
    words = _WHERE.split(role)[0].split()
    if not 1 <= len(words) <= _ENGLISH_WORDS:
        return ""
    if not {words[-1].casefold(), "-".join(words[-2:]).casefold()} & _LISTS["en role"]:
        return ""
    named = len(words) > 1 and words[0][0].isupper()
    sure = owner or words[0].endswith("'s") or words[0].casefold() in _LISTS["en field"]
    return "" if named and not sure else role


def hebrew_role_first(words: list[str]) -> Opening | None:
    """The role at the beginning of Hebrew words, with what belongs to it."""
    length = _hebrew_length(words)
    if not length:
        return None
    role, rest = words[:length], words[length:]
    while rest:
        if rest[0] in _LISTS["he owner"]:
            rest = rest[1:]
        elif rest[0] == "של" and len(rest) > 1:
            whose = 3 if rest[2:3] and rest[2] in _LISTS["he owner"] else 2
            role, rest = [*role, *rest[:whose]], rest[whose:]
        else:
            break
    return Opening(" ".join([_bare(role[0]), *role[1:]]), tuple(rest))


def is_pair(words: list[str]) -> bool:
    """Whether Hebrew words open with a role of two: «רואה החשבון», «בעל הבית»."""
    return len(words) > 1 and (_bare(words[0]), words[1].removeprefix("ה")) in _PAIRS


def _hebrew_length(words: list[str]) -> int:
    """How many words a role itself has; 0 when there is none."""
    if is_pair(words):
        return 2
    if not words or _bare(words[0]) not in _LISTS["he role"]:
        return 0
    field = words[1] if len(words) > 1 else ""
    glued = field[1:] if field[:1] in ("ה", "ל") else field  # רופאת השיניים, מורה לפסנתר
    return 2 if {field, glued} & _LISTS["he field"] else 1


def _bare(word: str) -> str:
    """A Hebrew noun without its article; what begins with ו doubles it after one (הווטרינר)."""
    if word in _LISTS["he role"]:  # הנדימן
        return word
    bare = word.removeprefix("ה")
    return bare.replace("וו", "ו", 1) if bare.startswith("וו") else bare

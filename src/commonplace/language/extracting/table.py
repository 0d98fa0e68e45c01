"""The tables of patterns beside this file, and what stands in braces in them.

``{name}`` is one of the words of a list; ``{a:person}`` is a mark (or a list of marks, "Dana, Noa
and Ben") of a node of that sort, called ``a``. What sorts there are is in
marks.toml. Whose something is ("Noa's") is not meant where a pattern does not say so.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from commonplace.language.observing.patterns import Bilingual, any_of, filled

_SLOT = re.compile(r"\{(\w+):(\w+)\}")
# "A girl called Yasmin".
_CALLED = r"(?:(?:an?|this|the) (?:[\w-]+ ){1,4}?(?:called|named) )?"
# "A start-up called Acme", "our client Globex": what may stand before the name of a thing.
_BEFORE = (
    r"(?:(?:the|an?|⟨p\d+[ih]?⟩'s) (?:[\w-]+ ){1,4}?(?:called|named|at|of) |the |⟨p\d+[ih]?⟩'s "
    r"(?:[\w-]+ ){0,3}?(?:[\w-]+, )?|an? (?:[\w-]+ ){0,3}?(?:[\w-]+, (?:the )?)?)?"
)

# "Uri married my sister": not me.
_ITSELF = r"(?!'s\b)"


@cache
def data(name: str) -> Mapping[str, Any]:
    file = resources.files(__package__).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def not_told() -> Bilingual:
    """What makes of the words after it something denied, imagined or wished for."""
    return any_of(data("said")["not_told"]["patterns"])


def words_of(name: str) -> Mapping[str, str]:
    words: Mapping[str, str] = data(name)["words"]
    return words


def letters_of(pattern: str) -> tuple[str, ...]:
    """What kinds of marks a pattern needs."""
    sorts = data("marks")["sorts"]
    return tuple(sorts[sort] for _, sort in _SLOT.findall(pattern))


@cache
def compiled(pattern: str, name: str = "") -> re.Pattern[str]:
    """A pattern of a table, with its lists and marks in place."""
    sorts = data("marks")["sorts"]
    words = {**words_of("marks"), **(words_of(name) if name else {})}

    def marks(slot: re.Match[str]) -> str:
        owns = pattern.startswith("'s", slot.end())
        may_own = owns or pattern.startswith(("(?:'s", "(?!'s", "(?='s"), slot.end())
        found = _marks(slot[1], sorts[slot[2]], begins=slot.start() == 0, owns=owns)
        return found if may_own else found + _ITSELF

    return re.compile(filled(_SLOT.sub(marks, pattern), words), re.IGNORECASE)


def _marks(name: str, letters: str, *, begins: bool, owns: bool) -> str:
    """``begins``: a pattern that begins with a mark itself is found much faster. ``owns``: what
    follows belongs to all of a list; else the list ends before "Odile and her kids"."""
    mark = f"⟨[{letters}]\\d+[imhry]?⟩"
    before = _BEFORE if letters != "p" else "" if begins else _CALLED
    alone = "" if owns else "(?!'s )"
    several = rf"(?:(?:, (?:the )?{mark}){{0,8}},? (?:and|&|ו-?) ?(?:the )?{mark}{alone})?"
    return f"{before}(?P<{name}>{mark}{several})"

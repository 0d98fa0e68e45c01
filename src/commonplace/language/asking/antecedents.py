"""What the turns before a message leave in the air: a question, a person, a thing, a deed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from commonplace.language.asking.cues import word_set
from commonplace.language.asking.persons import Mention, may_be, persons_in
from commonplace.language.asking.shapes import bare
from commonplace.language.asking.turns import Turn, taken_up

_CLAUSE = r"[^.!?;:\n—]{2,160}"
_DEED = re.compile(
    r"\b(?:(?:if|whether) (?:i|we) should|should (?:i|we)|(?:i|we) (?:should|could|might|will|can)|"
    r"(?:want|wanted|need|needed|have|had|plan|planned|planning|going|decide|decided|hope|hoping|"
    r"try|trying|about|promised|meant|intend|whether|how|like) to|"
    r"(?:thinking|think|thought|dreaming) (?:of|about)|considering|consider|regret|regretting) "
    rf"(?:really |maybe |actually )?({_CLAUSE})",
    re.IGNORECASE,
)
_DEED_HE = re.compile(
    r"(?<![א-ת])(?:אם|האם|רוצה|רציתי|חושב|חושבת|מתלבט|מתלבטת|שוקל|שוקלת|צריך|צריכה|מתכנן|מתכננת|"
    rf"החלטתי|כדאי לי|עומד|עומדת|מתכוון|מתכוונת) (ל[א-ת]{{2,}}{_CLAUSE})"
)
# "the red bike", "my passport", "which headphones": up to where the next small word stands.
_THING = re.compile(
    r"\b(?P<det>the|my|our|a|an|which|that)\s+(?P<np>[^\W\d_][\w'’-]*(?:\s+[^\W\d_][\w'’-]*){0,3})",
    re.IGNORECASE,
)
_THING_HE = re.compile(r"(?<![א-ת])(?:את )?(ה[א-ת]{3,}(?: של[א-ת]*)?|[א-ת]{3,} שלי)(?![א-ת])")
_PAIR = re.compile(r"\s*(?:,|and|&|ו)\s*$|\s+(?:and|&)\s+|\s*,\s*(?:and )?|\s+ו", re.IGNORECASE)


class Antecedents:
    """Looked for from the newest turn back, and only when asked for."""

    def __init__(self, said: Sequence[Turn], known: Collection[str] = ()):
        self._said = [turn for turn in said if turn.text.strip()]
        self.known = known

    @cached_property
    def question(self) -> str:
        """The user's last words that say something: what a follow-up takes up."""
        turn = taken_up(turn for turn in self._said if bare(turn.text))
        return _last_sentence(bare(turn.text)) if turn else ""

    @cached_property
    def last(self) -> str:
        return _last_sentence(bare(self._said[-1].text)) if self._said else ""

    @cached_property
    def deed(self) -> str:
        for turn in self._users_first():
            for pattern in (_DEED, _DEED_HE):
                found = pattern.search(turn.text)
                if found:
                    return found[1].strip(" ,'\"")
        return ""

    @cached_property
    def thing(self) -> str:
        return next((thing for turn in self._users_first() if (thing := _thing(turn.text))), "")

    def person(self, pronoun: str | None) -> str:
        """The last one named whom the pronoun can mean."""
        for turn in reversed(self._said):
            for mention in reversed(persons_in(turn.text, self.known)):
                if pronoun is None or may_be(mention, pronoun):
                    return mention.text
        return ""

    @cached_property
    def people(self) -> str:
        """ "Ruth and Adam": two who are named together, last."""
        for turn in reversed(self._said):
            found = persons_in(turn.text, self.known)
            for one, other in reversed(list(pairwise(found))):
                if _are_together(turn.text, one, other):
                    return turn.text[one.start : other.end]
        return ""

    def _users_first(self) -> Iterator[Turn]:
        """Who asks knows what they mean; an answer may wander."""
        yield from (turn for turn in reversed(self._said) if turn.is_users)
        yield from (turn for turn in reversed(self._said) if not turn.is_users)


def _are_together(text: str, one: Mention, other: Mention) -> bool:
    return _PAIR.fullmatch(text[one.end : other.start]) is not None


def _last_sentence(text: str) -> str:
    """The last one of some length: "Sure. And when was it?" """
    parts = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n", text) if part.strip()]
    return next((part for part in reversed(parts) if len(part.split()) > 1), text)


def _thing(text: str) -> str:
    """The last thing that is spoken of as known."""
    things = [_as_thing(match) for match in _THING.finditer(text)]
    named = [thing for thing in things if thing]
    if named:
        return named[-1]
    hebrew = _THING_HE.findall(text)
    return hebrew[-1] if hebrew else ""


def _as_thing(match: re.Match[str]) -> str:
    words = []
    for word in match["np"].split():
        if word.lower() in word_set("en", "ends_a_thing"):
            break
        words.append(word)
    if not words:
        return ""
    determiner = match["det"].lower()
    article = "the" if determiner in ("which", "a", "an") else determiner
    of_whom = _OF_WHOM.match(match.string, match.start("np") + len(" ".join(words)))
    return f"{article} {' '.join(words)}{of_whom[0] if of_whom else ''}"


_OF_WHOM = re.compile(r" (?:from|at|with|by|of|for) [A-Z][\w'’-]*")  # "a job offer from Google"

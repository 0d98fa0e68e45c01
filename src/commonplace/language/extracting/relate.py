"""Edges between the found nodes, where a sentence tells how they relate. See patterns.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product

from commonplace.language.extracting.apposition import DENIED
from commonplace.language.extracting.dating import Stretch, stretch_in
from commonplace.language.extracting.forms import ROLES, by_name_alone
from commonplace.language.extracting.found import KEPT_FROM, FoundEdge, FoundNode
from commonplace.language.extracting.marking import GUESSED, MARK, SPOKEN_TO, Marked
from commonplace.language.extracting.patterns import Telling, When, as_told, fitting
from commonplace.language.extracting.retelling import retold, retold_wholly
from commonplace.language.extracting.table import compiled, data, not_told
from commonplace.language.observing.hebrew import is_hebrew
from commonplace.language.observing.meant import not_meant, taken_back
from commonplace.language.observing.own_words import BLOT
from commonplace.language.observing.patterns import Bilingual, any_of
from commonplace.model.graph.relationships import relationship
from commonplace.model.graph.words import NodeType

# What somebody feels for another is no relation of its own, where there is one.
FEELINGS = frozenset({"admires", "likes", "dislikes", "misses", "conflict"})
_MOST_MARKS = 30  # what names more is a list
_GUESS = 0.12  # what a pronoun costs
_HEARSAY = 0.12
_NOT_FIRST_HAND = 0.05  # somebody other than the owner speaks, or nobody knows who


@dataclass(frozen=True, slots=True)
class Told:
    """A relation where it stands in its sentence."""

    telling: Telling
    match: re.Match[str]
    clause: str  # the part of the sentence that tells it


def relate(sentences: Iterable[Marked], nodes: Sequence[FoundNode]) -> list[FoundEdge]:
    """Each relation once for a sentence, and only what is sure enough to be kept."""
    found: list[FoundEdge] = []
    for marked in sentences:
        for told in relations_in(marked, nodes):
            found += _edges(told, marked, nodes)
    return _distinct(found)


def relations_in(marked: Marked, nodes: Sequence[FoundNode]) -> Iterator[Told]:
    """What a sentence tells. Of what it asks, denies, imagines or jokes about: nothing."""
    if not 0 < len(MARK.findall(marked.text)) <= _MOST_MARKS:
        return
    is_statement = not is_question(marked.text) and not taken_back(marked.utterance.own)
    texts = (marked.text, marked.shorter, by_name_alone(marked.shorter))
    for text in dict.fromkeys(texts):
        letters = "".join(mark[1] for mark in MARK.finditer(text))
        for telling in fitting(is_hebrew(text), letters):
            if telling.is_written and marked.utterance.speaker is not None:
                continue
            if telling.is_called_off(text):
                continue
            for match in telling.pattern.finditer(text):
                if _is_of_another(text, match) or _is_no_one(match):
                    continue
                if telling.is_named and SPOKEN_TO in _how(match["b"]):
                    continue  # "Omer is my brother, you met": you is nobody's name
                if (telling.is_named and _is_named(text, match)) or (
                    is_statement and is_told(text, match, marked, nodes)
                ):
                    yield Told(as_told(telling, match), match, _clause(text, match))


def _is_of_another(text: str, match: re.Match[str]) -> bool:
    """ "The mother of Dana works at Acme", «אמא של דנה עובדת באקמי»: Dana does not."""
    mark = MARK.match(text, match.start())
    if mark is None or text.startswith("'s", mark.end()):
        return False
    near = max(0, match.start() - _NEAR)
    return _AFTER_A_ROLE.search(text, near, match.start()) is not None


def _is_no_one(match: re.Match[str]) -> bool:
    """ "Tom or Luca is my boss": nobody knows which; "Paul Smith shirts" are a brand's."""
    text = match.string
    return any(
        _OR_BEFORE.search(text, max(0, start - _NEAR), start)
        or _OR_AFTER.match(text, end)
        or (name == "b" and is_a_brand(text, end))
        for name, (start, end) in ((each, match.span(each)) for each in match.groupdict())
        if name in _ENDS and start >= 0
    )


def is_a_brand(text: str, end: int) -> bool:
    """Whether what stands behind a name says so: "Granny Smith apples"."""
    return _goods().match(text, end) is not None


@cache
def _goods() -> re.Pattern[str]:
    return compiled(r" {goods}\b(?!')")


def _how(marks: str) -> set[str]:
    """How those were called who are marked."""
    return {mark[3] for mark in MARK.finditer(marks)}


_NEAR = 20  # characters
_ENDS = ("a", "b", "both")  # the groups of patterns that are ends of edges
_OR_BEFORE = re.compile(r"⟩,? (?:or|או) $")
_OR_AFTER = re.compile(r",? (?:or|או) (?:the |an? )?⟨")
_AFTER_A_ROLE = re.compile(rf"(?:\b(?:{ROLES})s? of|(?<![א-ת])של) $", re.IGNORECASE)
_ASKS_WHO = re.compile(r"\W*(?:is|was)(?:n't)? ⟨p\d+\w?⟩ ⟨p\d+\w?⟩'s", re.IGNORECASE)


def _is_named(text: str, match: re.Match[str]) -> bool:
    """ "Where is my brother Dan?" says who he is; "is Dan my brother?" and "not my brother Dan" do
    not."""
    near = max(0, match.start() - _NEAR)
    return not DENIED.search(text, near, match.start()) and not _ASKS_WHO.match(text)


def is_question(text: str) -> bool:
    return text.rstrip(" )\"'”").endswith(("?", "？"))


# ——— the clause in which it stands ———

_BOUNDARY = re.compile(
    rf"{BLOT}+|[;:]|\s[–—-]\s|,?\s(?:but|because|although|though|whereas|however|so that|while)\s"
    r"|,\s(?=⟨p\d+\w?⟩(?:'s (?:\w+ ){1,3}⟨p\d+⟩)? (?!and\b|or\b|&)[a-z])"
    r"|(?<!⟩)\sand\s(?=⟨p\d+\w?⟩ (?!and\b|or\b|&)[a-z])|,\s(?:and|so|then|yet)\s"
    r"|,?\s(?:אבל|כי|למרות|ולכן|לכן)\s",
    re.IGNORECASE,
)


def _clause(text: str, match: re.Match[str]) -> str:
    start, end = 0, len(text)
    for boundary in _BOUNDARY.finditer(text):
        if boundary.end() <= match.start():
            start = boundary.end()
        elif boundary.start() >= match.end():
            end = boundary.start()
            break
    return text[start:end]


def clauses(text: str) -> list[str]:
    """The parts of a sentence that stand side by side."""
    return [part for part in _BOUNDARY.split(text) if part.strip(" .,!")]


# "What worries me most is the rent" asks nothing.
_WHAT_IS = re.compile(r"^(?:and |but )?what (?=[^?]{3,40} is\b)", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:if|unless|provided|assuming|or|maybe|perhaps|hopefully|but|not|no|just|right|lol|ha)\b",
    re.I,
)
_WOULD_LIKE = re.compile(r"\bI would (?:\w+ )?(?:like|love) to\b")


def is_told(text: str, match: re.Match[str], marked: Marked, nodes: Sequence[FoundNode]) -> bool:
    """Not denied, not imagined, not wished for. What a pattern itself holds ("can't stand") is
    its own matter, so that only the words before it are looked at."""
    clause = _without_what_follows(_clause(text, match), match[0])
    before = clause[: clause.find(match[0])]
    if not_told().search(before):
        return False
    words = _WOULD_LIKE.sub("I want to", marked.in_words(clause, nodes))  # a wish, and meant
    words = _WHAT_IS.sub("", words).replace("believe in", "value")  # no doubt is meant
    reason = not_meant(words)
    return reason is None or reason in ("about_the_talk", "request")


def _without_what_follows(clause: str, told: str) -> str:
    """ "Ruth lives in Cork, and thinks that we should …": what is told ends at the comma, unless a
    condition follows."""
    end = clause.find(told) + len(told)
    comma = clause.find(", ", end)
    is_whole = comma < 0 or _CONDITION.match(clause, comma + 2) is not None
    return clause if is_whole else clause[:comma]


@cache
def _hearsay() -> Bilingual:
    return any_of(data("said")["not_told"]["hearsay"])


# ——— edges ———


def _edges(told: Told, marked: Marked, nodes: Sequence[FoundNode]) -> Iterator[FoundEdge]:
    telling, utterance = told.telling, marked.utterance
    when, ends = _when(told, marked, nodes)
    said = told.match[0]  # by itself, where what stands around it cannot be retold
    description = retold(marked, told.clause, nodes) or retold_wholly(marked, said, nodes)
    for a, b, guessed in _pairs(told, utterance.speaker):
        confidence = _confidence(told, marked, guessed)
        if a == b or confidence < KEPT_FROM or (guessed and _is_feeling_for_thing(told, nodes[b])):
            continue
        yield FoundEdge(
            a=a,
            b=b,
            type=telling.type,
            attitude=telling.attitude,
            proximity=telling.proximity,
            description=description,
            confidence=confidence,
            valid_from=when.start,
            valid_to=when.end,
            ends=ends,
            is_state=telling.when is When.STATE,
            place=utterance.place,
        )


def _is_feeling_for_thing(told: Told, end: FoundNode) -> bool:
    """ "I love it": nobody knows what, until they have seen it."""
    return told.telling.type in FEELINGS and end.type is not NodeType.PERSON


def _when(told: Told, marked: Marked, nodes: Sequence[FoundNode]) -> tuple[Stretch, bool]:
    """From when to when, and whether all that is told is its end."""
    telling = told.telling
    words = marked.in_words(told.clause, nodes)
    when = stretch_in(words, marked.utterance.at, telling.when)
    if not telling.ends:
        return when, False
    if when.start and when.end:  # "I worked at Acme from 2015 to 2019"
        return when, False
    return Stretch(when.end or when.start), True


def _pairs(told: Told, speaker: int | None) -> Iterator[tuple[int, int, bool]]:
    """The ends of each edge, and whether one of them is a guess. A pattern that names no first end
    ("the trip to Madeira") speaks of its speaker."""
    groups = told.match.groupdict()
    if "both" not in groups and "a" not in groups:
        groups["a"] = f"⟨p{speaker}i⟩" if speaker is not None else ""
    if groups.get("both"):
        marks = MARK.findall(groups["both"])
        pairs: Iterable[tuple[tuple[str, ...], ...]] = combinations(marks, 2)
        if "b" in groups:  # all of them with what the pattern tells besides
            pairs = product(marks, MARK.findall(groups["b"]))
    else:
        pairs = product(_of_whom(told.match, groups["a"]), MARK.findall(groups["b"]))
    for one, other in pairs:
        a, b = (other, one) if told.telling.turned else (one, other)
        yield int(a[1]), int(b[1]), GUESSED in (a[2], b[2])


def _of_whom(match: re.Match[str], whose: str) -> list[tuple[str, ...]]:
    """ "Oksana, and my lead Martin": "my" is said of nobody else, as "Tom and Ann's" is."""
    marks: list[tuple[str, ...]] = MARK.findall(whose)
    owns = "a" in match.re.groupindex and match.string.startswith("'s", match.end("a"))
    return marks[-1:] if owns and marks and marks[-1][2] == "i" else marks


def _confidence(told: Told, marked: Marked, guessed: bool) -> float:
    confidence = told.telling.confidence
    if guessed:
        confidence -= _GUESS
    before = told.clause[: told.clause.find(told.match[0])]
    if _hearsay().search(before):
        confidence -= _HEARSAY
    if marked.utterance.speaker != 0:
        confidence -= _NOT_FIRST_HAND
    return round(confidence, 2)


def _distinct(edges: Sequence[FoundEdge]) -> list[FoundEdge]:
    """Of what one passage tells twice, the surest; and what it tells of attitude and proximity."""
    kept: dict[tuple[object, ...], FoundEdge] = {}
    for edge in edges:
        ends = (edge.a, edge.b)
        if relationship(edge.type).is_mutual:
            ends = (min(ends), max(ends))
        key = (*ends, edge.type, edge.ends, edge.passage)
        known = kept.get(key)
        if known is None:
            kept[key] = edge
        elif edge.confidence > known.confidence:
            kept[key] = _dated(edge, known).also_told(known.place, *known.repeated)
        else:
            kept[key] = _dated(known, edge).also_told(edge.place)
    return list(kept.values())


def _dated(edge: FoundEdge, other: FoundEdge) -> FoundEdge:
    """ "I have a new job at Acme, I start at Acme on Monday": the one tells when, for both."""
    if edge.valid_from or edge.valid_to:
        return edge
    return replace(edge, valid_from=other.valid_from, valid_to=other.valid_to)

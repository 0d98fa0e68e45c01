"""The rules' names and a finder's, together.

A rule with a sure sign keeps its name and its kind. Where the rules only guess, the finder says
what it is; what they lack it adds. What both found alike is surer than either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from commonplace.language.extracting.finder import FoundName, NameFinder
from commonplace.language.extracting.found import EVENT, LOCATION, ORGANIZATION, PRODUCT
from commonplace.language.extracting.mention import KNOWN, Mention, Vote, elected
from commonplace.language.extracting.vocabulary import COMMON, NO_NAMES, PERSON
from commonplace.language.extracting.written import Passage
from commonplace.language.names import bare

# What a finder's word is worth alone. Of people it knows most; organisations it mistakes often.
FOUND = {PERSON: 0.68, LOCATION: 0.62, ORGANIZATION: 0.48, PRODUCT: 0.48, EVENT: 0.6}
FULL_NAME = 0.72


def with_finder(passage: Passage, named: Sequence[Mention], finder: NameFinder) -> list[Mention]:
    found = [each for each in finder.find(passage.text) if _is_name(passage.text, each)]
    kept = list(_supported(named, found))
    added = (
        _mention(passage, each)
        for each in found
        if not any(each.start < one.end and one.start < each.end for one in kept)
    )
    return sorted((*kept, *added), key=lambda each: each.start)


def _supported(named: Sequence[Mention], found: Sequence[FoundName]) -> Iterator[Mention]:
    for one in named:
        here = [each for each in found if each.start < one.end and one.start < each.end]
        same = [each for each in here if (each.start, each.end) == (one.start, one.end)]
        sure = elected(one.votes).weight >= KNOWN
        if same or (here and sure):
            vote = _vote((same or here)[0], one.text)
            yield replace(one, votes=(*one.votes, vote))
        elif sure or not here:
            yield one


def _mention(passage: Passage, found: FoundName) -> Mention:
    text = passage.text[found.start : found.end]
    vote = _vote(found, text)
    return Mention(passage.number, found.start, found.end, text, _key(text), (vote,))


def _vote(found: FoundName, text: str) -> Vote:
    full = found.kind == PERSON and " " in text and text.replace(" ", "").isalpha()
    return Vote(found.kind, FULL_NAME if full else FOUND[found.kind], "finder")


def _key(text: str) -> str:
    return " ".join(bare(word) for word in text.split())


def _is_name(text: str, found: FoundName) -> bool:
    """A model may take a day or a small word for a name."""
    words = _key(text[found.start : found.end]).split()
    return bool(words) and not all(word in COMMON or word in NO_NAMES for word in words)

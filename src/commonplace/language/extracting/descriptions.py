"""What a source plainly says that somebody or something is, as one sentence about it.

"Dana, our new CTO, …" → "Dana is the user's CTO."; "Acme is a bakery in Jena" as it stands. What
somebody is comes before whose they are. Where nothing is plain there is no description: a node
without one is better than a node with a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from commonplace.language.extracting.apposition import DENIED
from commonplace.language.extracting.described import kinds_of_nouns
from commonplace.language.extracting.found import FoundNode
from commonplace.language.extracting.marking import MARK, Marked
from commonplace.language.extracting.relate import is_question, is_told
from commonplace.language.extracting.table import compiled, data
from commonplace.language.extracting.unnamed import words_for
from commonplace.language.extracting.utterances import OWNER
from commonplace.language.extracting.vocabulary import PERSON
from commonplace.language.observing import english
from commonplace.language.observing.hebrew import is_hebrew
from commonplace.language.observing.in_sentence import USER
from commonplace.language.observing.meant import taken_back
from commonplace.language.policy import check_writing
from commonplace.language.suspicious import is_suspicious
from commonplace.model.graph.words import NodeType
from commonplace.model.kinds import Kind

_TABLE = "descriptions"
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)
_OF_SOMEBODY = re.compile(r"(?:one of )?⟨p\d+i?⟩'s ")
_NEW = re.compile(r"\b(?:new|brand-new|current) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Saying:
    """One way of saying what something is."""

    says: str
    is_named: bool  # it holds whatever the sentence says
    is_free: bool  # its noun is not looked at

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first needed, as those of relations are."""
        return compiled(self.says, _TABLE)


class _Described(NamedTuple):
    rank: int  # what it is, before whose it is
    order: int  # in which it was said
    node: int
    sentence: str


def with_descriptions(
    nodes: Sequence[FoundNode], sentences: Iterable[Marked]
) -> tuple[FoundNode, ...]:
    """The owner says in the profile who they are."""
    best: dict[int, _Described] = {}
    for order, marked in enumerate(sentences):
        for found in _said_in(marked, order, nodes):
            best[found.node] = min(best.get(found.node, found), found)
    return tuple(
        replace(node, description=best[place].sentence) if place in best else node
        for place, node in enumerate(nodes)
    )


@cache
def _sayings() -> tuple[Saying, ...]:
    return tuple(
        Saying(says, entry.get("named", False), entry.get("free", False))
        for entry in data(_TABLE)["description"]
        for says in entry["says"]
    )


def _said_in(marked: Marked, order: int, nodes: Sequence[FoundNode]) -> Iterator[_Described]:
    text = marked.text
    if not MARK.search(text) or is_question(text) or is_hebrew(text):
        return
    if taken_back(marked.utterance.own):
        return
    for saying in _sayings():
        for match in saying.pattern.finditer(text):
            place = _place(match)
            what = _plain(match["what"])
            if place == OWNER or not what or match["x"] in what:
                continue
            words = marked.in_words(what, nodes)
            is_one = saying.is_free or _noun(words) in _nouns(_kind(nodes[place]))
            if not is_one or not _is_said(saying, match, marked, nodes):
                continue
            if sentence := _sentence(match, words, marked, nodes):
                yield _Described(_rank(what), order, place, sentence)


def _place(match: re.Match[str]) -> int:
    mark = MARK.fullmatch(match["x"])
    return int(mark[2]) if mark else OWNER


def _is_said(
    saying: Saying, match: re.Match[str], marked: Marked, nodes: Sequence[FoundNode]
) -> bool:
    if DENIED.search(marked.text[: match.start()]):
        return False
    return saying.is_named or is_told(marked.text, match, marked, nodes)


def _rank(what: str) -> int:
    return 1 if _OF_SOMEBODY.match(what) else 0


# ——— the words that say it ———


def _plain(what: str) -> str:
    """Up to where they end; empty where they say what somebody thinks of it."""
    for ends in data(_TABLE)["ends"]["patterns"]:
        what = re.split(ends, what, maxsplit=1, flags=re.IGNORECASE)[0]
    what = _NEW.sub("", what).strip(" '\"-–—")
    return "" if _opinions().search(what) else what


def _noun(what: str) -> str:
    """ "nurse" of "a nurse at Acme"."""
    alone = re.split(data(_TABLE)["ends"]["after_noun"], what, maxsplit=1, flags=re.IGNORECASE)[0]
    return alone.split()[-1].lower() if alone.split() else ""


def _kind(node: FoundNode) -> str:
    return PERSON if node.type is NodeType.PERSON else node.subtype


@cache
def _nouns(kind: str) -> frozenset[str]:
    table = data(_TABLE)["nouns"]
    kinds = {kind, *table["also"].get(kind, "").split()}
    found = {noun for noun, its_kind in kinds_of_nouns().items() if its_kind in kinds}
    found |= {noun for each in kinds for noun in table.get(each, "").split()}
    if kind == PERSON:
        found |= words_for("kin")
        found |= set(data("marks")["words"]["job_noun"].lower().split())
    return frozenset(found) - frozenset(table["empty"].split())


@cache
def _opinions() -> re.Pattern[str]:
    """What somebody thinks of it says nothing of what it is; a best friend is one."""
    lists = data("said")["opinions"]["words"].values()
    words = "|".join(sorted({word for each in lists for word in each.split()}))
    return re.compile(rf"\b(?!(?:best|good|great) friend\b)(?:{words})\b", re.IGNORECASE)


# ——— the sentence ———


def _sentence(match: re.Match[str], words: str, marked: Marked, nodes: Sequence[FoundNode]) -> str:
    """In the third person, by the writing policy; empty where it cannot be."""
    name, speaker = nodes[_place(match)].name, marked.utterance.speaker
    subject = USER if speaker in (None, OWNER) else nodes[speaker].name
    if "@" in name + subject or (speaker is None and _FIRST_PERSON.search(words)):
        return ""
    verb = match.groupdict().get("verb") or "is"
    sentence = english.retold(f"{name} {verb.lower()} {words}", subject) or ""
    is_fit = sentence and not check_writing(Kind.FACT, sentence) and not is_suspicious(sentence)
    return sentence if is_fit else ""

"""Edges told by sentences, by kinship words and titles; attitudes; what counts as asserted.

An opinion makes no edge of its own, and neither does a feeling for somebody, where it is told how
the two relate: "I miss Lorna" is about a friend.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product

from commonplace.language.extract.marking import (
    ADDRESSEE_SUFFIX,
    GUESSED_SUFFIX,
    MARK,
    PERSON_LETTER,
    MarkedUtterance,
    to_third_person,
    to_third_person_or_original,
)
from commonplace.language.extract.names.nominal_mentions import NEGATION_BEFORE, possessive_phrase
from commonplace.language.extract.patterns import (
    RelationPattern,
    RelationTiming,
    compile_pattern,
    load_pattern_table,
    patterns_for,
    resolve_role,
    unasserted_patterns,
)
from commonplace.language.extract.relations.validity import ValidityPeriod, find_validity
from commonplace.language.extract.sentences import ROLE_NOUNS, drop_roles_before_names
from commonplace.language.extract.values import MIN_CONFIDENCE, FoundEdge, FoundNode
from commonplace.language.observe.detectors import is_retracted, non_statement_reason
from commonplace.language.observe.hebrew import is_hebrew
from commonplace.language.observe.own_words import MASK
from commonplace.language.text.lexicon import BilingualPattern, any_pattern
from commonplace.language.text.normalise import fold
from commonplace.model.graph.types import NodeType, is_description, relationship_type

# What somebody feels for another is no relation of its own, where there is one.
FEELINGS = frozenset({"admires", "likes", "dislikes", "misses", "conflict"})
_MAX_MARKS = 30  # what names more is a list
_PRONOUN_PENALTY = 0.12  # what a pronoun costs
_HEARSAY_PENALTY = 0.12
_OTHER_SPEAKER_PENALTY = 0.05  # somebody other than the owner speaks, or nobody knows who


@dataclass(frozen=True, slots=True)
class RelationMatch:
    """A relation where it stands in its sentence."""

    assertion: RelationPattern
    match: re.Match[str]
    clause: str  # the part of the sentence that tells it


def find_edges(sentences: Iterable[MarkedUtterance], nodes: Sequence[FoundNode]) -> list[FoundEdge]:
    """Each relation once for a sentence, and only what is sure enough to be kept."""
    found: list[FoundEdge] = []
    for marked in sentences:
        for told in match_relations(marked, nodes):
            found += _build_edges(told, marked, nodes)
    return _merge_repeated_edges(found)


def match_relations(marked: MarkedUtterance, nodes: Sequence[FoundNode]) -> Iterator[RelationMatch]:
    """What a sentence tells. Of what it asks, denies, imagines or jokes about: nothing."""
    if not 0 < len(MARK.findall(marked.text)) <= _MAX_MARKS:
        return
    is_statement = not is_question(marked.text) and not is_retracted(marked.utterance.own)
    texts = (
        marked.text,
        marked.text_without_asides,
        drop_roles_before_names(marked.text_without_asides),
    )
    for text in dict.fromkeys(texts):
        letters = "".join(mark[1] for mark in MARK.finditer(text))
        for assertion in patterns_for(is_hebrew(text), letters):
            if assertion.is_written and marked.utterance.speaker is not None:
                continue
            if assertion.is_cancelled(text):
                continue
            for match in assertion.pattern.finditer(text):
                if _is_said_of_other(text, match) or _is_alternative_or_brand(match):
                    continue
                if assertion.is_named and ADDRESSEE_SUFFIX in _mark_suffixes(match["b"]):
                    continue  # "Omer is my brother, you met": you is nobody's name
                if (assertion.is_named and _is_asserted_role(text, match)) or (
                    is_statement and is_asserted(text, match, marked, nodes)
                ):
                    yield RelationMatch(
                        resolve_role(assertion, match), match, _clause_around(text, match)
                    )


def _is_said_of_other(text: str, match: re.Match[str]) -> bool:
    """ "The mother of Dana works at Acme", «אמא של דנה עובדת באקמי»: Dana does not."""
    mark = MARK.match(text, match.start())
    if mark is None or text.startswith("'s", mark.end()):
        return False
    near = max(0, match.start() - _CONTEXT_WINDOW)
    return _AFTER_A_ROLE.search(text, near, match.start()) is not None


def _is_alternative_or_brand(match: re.Match[str]) -> bool:
    """ "Tom or Luca is my boss": nobody knows which; "Paul Smith shirts" are a brand's."""
    text = match.string
    return any(
        _OR_BEFORE.search(text, max(0, start - _CONTEXT_WINDOW), start)
        or _OR_AFTER.match(text, end)
        or (name == "b" and is_brand(text, end))
        for name, (start, end) in ((each, match.span(each)) for each in match.groupdict())
        if name in _END_GROUPS and start >= 0
    )


def is_brand(text: str, end: int) -> bool:
    """Whether what stands behind a name says so: "Granny Smith apples"."""
    return _goods_pattern().match(text, end) is not None


@cache
def _goods_pattern() -> re.Pattern[str]:
    return compile_pattern(r" {goods}\b(?!')")


def _mark_suffixes(marks: str) -> set[str]:
    """How those were called who are marked."""
    return {mark[3] for mark in MARK.finditer(marks)}


_CONTEXT_WINDOW = 20  # characters
_END_GROUPS = ("a", "b", "both")  # the groups of patterns that are ends of edges
_OR_BEFORE = re.compile(r"⟩,? (?:or|או) $")
_OR_AFTER = re.compile(r",? (?:or|או) (?:the |an? )?⟨")
_AFTER_A_ROLE = re.compile(rf"(?:\b(?:{ROLE_NOUNS})s? of|(?<![א-ת])של) $", re.IGNORECASE)
_QUESTION_ABOUT_ROLE = re.compile(r"\W*(?:is|was)(?:n't)? ⟨p\d+\w?⟩ ⟨p\d+\w?⟩'s", re.IGNORECASE)


def _is_asserted_role(text: str, match: re.Match[str]) -> bool:
    """ "Where is my brother Dan?" says who he is; "is Dan my brother?" and "not my brother Dan" do
    not."""
    near = max(0, match.start() - _CONTEXT_WINDOW)
    return not NEGATION_BEFORE.search(text, near, match.start()) and not _QUESTION_ABOUT_ROLE.match(
        text
    )


def is_question(text: str) -> bool:
    return text.rstrip(" )\"'”").endswith(("?", "？"))


# ——— the clause in which it stands ———

_BOUNDARY = re.compile(
    rf"{MASK}+|[;:]|\s[–—-]\s|,?\s(?:but|because|although|though|whereas|however|so that|while)\s"
    r"|,\s(?=⟨p\d+\w?⟩(?:'s (?:\w+ ){1,3}⟨p\d+⟩)? (?!and\b|or\b|&)[a-z])"
    r"|(?<!⟩)\sand\s(?=⟨p\d+\w?⟩ (?!and\b|or\b|&)[a-z])|,\s(?:and|so|then|yet)\s"
    r"|,?\s(?:אבל|כי|למרות|ולכן|לכן)\s",
    re.IGNORECASE,
)


def _clause_around(text: str, match: re.Match[str]) -> str:
    start, end = 0, len(text)
    for boundary in _BOUNDARY.finditer(text):
        if boundary.end() <= match.start():
            start = boundary.end()
        elif boundary.start() >= match.end():
            end = boundary.start()
            break
    return text[start:end]


def split_clauses(text: str) -> list[str]:
    """The parts of a sentence that stand side by side."""
    return [part for part in _BOUNDARY.split(text) if part.strip(" .,!")]


# "What worries me most is the rent" asks nothing.
_WHAT_CLEFT = re.compile(r"^(?:and |but )?what (?=[^?]{3,40} is\b)", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:if|unless|provided|assuming|or|maybe|perhaps|hopefully|but|not|no|just|right|lol|ha)\b",
    re.I,
)
_WOULD_LIKE = re.compile(r"\bI would (?:\w+ )?(?:like|love) to\b")


def is_asserted(
    text: str, match: re.Match[str], marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> bool:
    """Not denied, not imagined, not wished for. What a pattern itself holds ("can't stand") is
    its own matter, so that only the words before it are looked at."""
    clause = _cut_after_comma(_clause_around(text, match), match[0])
    before = clause[: clause.find(match[0])]
    if unasserted_patterns().search(before):
        return False
    words = _WOULD_LIKE.sub("I want to", marked.in_words(clause, nodes))  # a wish, and meant
    words = _WHAT_CLEFT.sub("", words).replace("believe in", "value")  # no doubt is meant
    reason = non_statement_reason(words)
    return reason is None or reason in ("about_the_talk", "request")


def _cut_after_comma(clause: str, told: str) -> str:
    """ "Ruth lives in Cork, and thinks that we should …": what is told ends at the comma, unless a
    condition follows."""
    end = clause.find(told) + len(told)
    comma = clause.find(", ", end)
    is_whole = comma < 0 or _CONDITION.match(clause, comma + 2) is not None
    return clause if is_whole else clause[:comma]


@cache
def _hearsay_patterns() -> BilingualPattern:
    return any_pattern(load_pattern_table("wording")["not_told"]["hearsay"])


# ——— edges ———


def _build_edges(
    told: RelationMatch, marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> Iterator[FoundEdge]:
    assertion, utterance = told.assertion, marked.utterance
    when, ends = _validity_of(told, marked, nodes)
    said = told.match[0]  # by itself, where what stands around it cannot be retold
    description = to_third_person_or_original(marked, told.clause, nodes) or to_third_person(
        marked, said, nodes
    )
    for a, b, guessed in _edge_ends(told, utterance.speaker):
        confidence = _confidence(told, marked, guessed)
        if (
            a == b
            or confidence < MIN_CONFIDENCE
            or (guessed and _is_feeling_for_thing(told, nodes[b]))
        ):
            continue
        yield FoundEdge(
            a=a,
            b=b,
            type=assertion.type,
            attitude=assertion.attitude,
            proximity=assertion.proximity,
            description=description,
            confidence=confidence,
            valid_from=when.start,
            valid_to=when.end,
            ends=ends,
            is_state=assertion.when is RelationTiming.STATE,
            place=utterance.place,
        )


def _is_feeling_for_thing(told: RelationMatch, end: FoundNode) -> bool:
    """ "I love it": nobody knows what, until they have seen it."""
    return told.assertion.type in FEELINGS and end.type is not NodeType.PERSON


def _validity_of(
    told: RelationMatch, marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> tuple[ValidityPeriod, bool]:
    """From when to when, and whether all that is told is its end."""
    assertion = told.assertion
    words = marked.in_words(told.clause, nodes)
    when = find_validity(words, marked.utterance.at, assertion.when)
    if not assertion.ends:
        return when, False
    if when.start and when.end:  # "I worked at Acme from 2015 to 2019"
        return when, False
    return ValidityPeriod(when.end or when.start), True


def _edge_ends(told: RelationMatch, speaker: int | None) -> Iterator[tuple[int, int, bool]]:
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
        pairs = product(_owning_marks(told.match, groups["a"]), MARK.findall(groups["b"]))
    for one, other in pairs:
        a, b = (other, one) if told.assertion.is_reversed else (one, other)
        yield int(a[1]), int(b[1]), GUESSED_SUFFIX in (a[2], b[2])


def _owning_marks(match: re.Match[str], whose: str) -> list[tuple[str, ...]]:
    """ "Oksana, and my lead Martin": "my" is said of nobody else, as "Tom and Ann's" is."""
    marks: list[tuple[str, ...]] = MARK.findall(whose)
    owns = "a" in match.re.groupindex and match.string.startswith("'s", match.end("a"))
    return marks[-1:] if owns and marks and marks[-1][2] == "i" else marks


def _confidence(told: RelationMatch, marked: MarkedUtterance, guessed: bool) -> float:
    confidence = told.assertion.confidence
    if guessed:
        confidence -= _PRONOUN_PENALTY
    before = told.clause[: told.clause.find(told.match[0])]
    if _hearsay_patterns().search(before):
        confidence -= _HEARSAY_PENALTY
    if marked.utterance.speaker != 0:
        confidence -= _OTHER_SPEAKER_PENALTY
    return round(confidence, 2)


def _merge_repeated_edges(edges: Sequence[FoundEdge]) -> list[FoundEdge]:
    """Of what one passage tells twice, the surest; and what it tells of attitude and proximity."""
    kept: dict[tuple[object, ...], FoundEdge] = {}
    for edge in edges:
        ends = (edge.a, edge.b)
        if relationship_type(edge.type).is_mutual:
            ends = (min(ends), max(ends))
        key = (*ends, edge.type, edge.ends, edge.passage)
        known = kept.get(key)
        if known is None:
            kept[key] = edge
        elif edge.confidence > known.confidence:
            kept[key] = _with_dates_of(edge, known).with_repetitions(known.place, *known.repeated)
        else:
            kept[key] = _with_dates_of(known, edge).with_repetitions(edge.place)
    return list(kept.values())


def _with_dates_of(edge: FoundEdge, other: FoundEdge) -> FoundEdge:
    """ "I have a new job at Acme, I start at Acme on Monday": the one tells when, for both."""
    if edge.valid_from or edge.valid_to:
        return edge
    return replace(edge, valid_from=other.valid_from, valid_to=other.valid_to)


_TITLE_CONFIDENCE = 0.85


def find_title_relations(
    sentences: Iterable[MarkedUtterance], nodes: Sequence[FoundNode]
) -> list[FoundEdge]:
    """Once for a source. "Their mum" is a word, and no name."""
    found: dict[tuple[int, int], FoundEdge] = {}
    for marked in sentences:
        speaker = marked.utterance.speaker
        for mark in MARK.finditer(marked.text):
            letter, number, called = mark.groups()
            node = int(number)
            if letter != PERSON_LETTER or called or speaker is None or node == speaker:
                continue
            if is_brand(marked.text, mark.end()):
                continue
            type = _kin_relation(nodes[node], nodes[speaker]) or _professional_relation(
                nodes[node], f"⟨p{number}⟩", marked.text
            )
            known = found.get((speaker, node))
            if type and known:
                found[speaker, node] = known.with_repetitions(marked.utterance.place)
            elif type:
                found[speaker, node] = FoundEdge(
                    a=speaker,
                    b=node,
                    type=type,
                    description=to_third_person_or_original(marked, marked.text, nodes),
                    confidence=_TITLE_CONFIDENCE,
                    place=marked.utterance.place,
                )
    return list(found.values())


def _kin_relation(node: FoundNode, speaker: FoundNode) -> str | None:
    """By the first word of one of its names. Of several uncles each has a name besides; and "Mum"
    alone is the owner's: that of others is "Tamar's mum"."""
    names = [fold(name) for name in (node.name, *node.aliases)]
    for word, type in _relations_by_kin_word().items():
        theirs = {fold(possessive_phrase(name, word)) for name in (speaker.name, *speaker.aliases)}
        alone = {word} if speaker.is_owner else theirs
        is_alone = type != "relative" and not alone.isdisjoint(names)
        if is_alone or any(_is_titled(name, word) for name in names):
            return type
    return None


def _is_titled(name: str, word: str) -> bool:
    """ "Grandpa Arne"; «אמא של נועה» is no name."""
    return name.startswith(f"{word} ") and not is_description(name)


def _professional_relation(node: FoundNode, mark: str, text: str) -> str | None:
    """By a title, where the sentence tells of being with whoever has it."""
    titles = (fold(name).split()[0].strip(".") for name in (node.name, *node.aliases) if name)
    type = next(
        (_relations_by_title()[title] for title in titles if title in _relations_by_title()), None
    )
    if type is None or is_question(text):
        return None
    told = (compile_pattern(says) for says in load_pattern_table("wording")["goes_to"]["patterns"])
    return type if any(mark in match[0] for each in told for match in each.finditer(text)) else None


@cache
def _relations_by_title() -> Mapping[str, str]:
    table = load_pattern_table("wording")["titled"]
    return {word: type for type, words in table.items() for word in words.split()}


@cache
def _relations_by_kin_word() -> Mapping[str, str]:
    table = load_pattern_table("wording")["kin"]
    return {fold(word): type for type, words in table.items() for word in words.split()}


_NodePair = frozenset[int]
_WEAK_RELATIONS = FEELINGS | {"acquaintance"}  # says nothing where something else is told


def apply_attitudes(
    edges: Sequence[FoundEdge], sentences: Iterable[MarkedUtterance], nodes: Sequence[FoundNode]
) -> list[FoundEdge]:
    related = {
        _node_pair(edge) for edge in edges if edge.type not in _WEAK_RELATIONS and not edge.ends
    }
    opinions = dict(_find_opinions(sentences, nodes))
    for edge in edges:
        if edge.type in FEELINGS and edge.attitude is not None:
            opinions[_node_pair(edge)] = edge.attitude
    return [
        _with_attitude(edge, opinions.get(_node_pair(edge)), nodes)
        for edge in edges
        if edge.type not in _WEAK_RELATIONS or _node_pair(edge) not in related
    ]


def _node_pair(edge: FoundEdge) -> _NodePair:
    return frozenset((edge.a, edge.b))


def _with_attitude(edge: FoundEdge, attitude: int | None, nodes: Sequence[FoundNode]) -> FoundEdge:
    between_people = all(nodes[end].type is NodeType.PERSON for end in (edge.a, edge.b))
    if attitude is None or edge.attitude is not None or edge.ends or not between_people:
        return edge
    return replace(edge, attitude=attitude)


def _find_opinions(
    sentences: Iterable[MarkedUtterance], nodes: Sequence[FoundNode]
) -> Iterator[tuple[_NodePair, int]]:
    """Whoever speaks thinks so."""
    before: MarkedUtterance | None = None
    for marked in sentences:
        speaker = marked.utterance.speaker
        if speaker is not None and not is_question(marked.text):
            for person, word in _match_opinions(marked, before, nodes):
                if attitude := _opinion_words().get(word.strip(".,!").lower()):
                    yield frozenset((speaker, person)), attitude
        before = marked


def _match_opinions(
    marked: MarkedUtterance, before: MarkedUtterance | None, nodes: Sequence[FoundNode]
) -> Iterator[tuple[int, str]]:
    table = load_pattern_table("wording")["opinions"]
    pattern = compile_pattern(table["hebrew" if is_hebrew(marked.text) else "person"])
    for match in pattern.finditer(marked.text):
        if is_asserted(marked.text, match, marked, nodes):
            for _, number, _ in MARK.findall(match["a"]):
                yield int(number), match["word"]
    after = compile_pattern(table["said_after"]).match(marked.text)
    if after and before is not None and len(before.persons) == 1:
        yield before.persons[0], after["word"]


@cache
def _opinion_words() -> Mapping[str, int]:
    table = load_pattern_table("wording")["opinions"]["words"]
    return {word: int(attitude) for attitude, words in table.items() for word in words.split()}

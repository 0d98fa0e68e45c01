"""Edges stated by sentences, kinship words and titles; attitudes; what counts as asserted.

An opinion is an attribute of an edge, not an edge. A feeling for a person becomes an edge only if
no other relation of the two is stated: "I miss Lorna" is about a friend.
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

# Feelings are edges only if there is no other relation.
FEELINGS = frozenset({"admires", "likes", "dislikes", "misses", "conflict"})
_MAX_MARKS = 30  # more is a list
_PRONOUN_PENALTY = 0.12  # an end was given by a pronoun
_HEARSAY_PENALTY = 0.12
_OTHER_SPEAKER_PENALTY = 0.05  # the speaker is unknown or not the owner


@dataclass(frozen=True, slots=True)
class RelationMatch:
    """A relation pattern's match in a sentence."""

    pattern: RelationPattern
    match: re.Match[str]
    clause: str  # the part of the sentence that states it


def find_edges(sentences: Iterable[MarkedUtterance], nodes: Sequence[FoundNode]) -> list[FoundEdge]:
    """Edges with sufficient confidence, each relation once per sentence."""
    found: list[FoundEdge] = []
    for marked in sentences:
        for relation in match_relations(marked, nodes):
            found += _build_edges(relation, marked, nodes)
    return _merge_repeated_edges(found)


def match_relations(marked: MarkedUtterance, nodes: Sequence[FoundNode]) -> Iterator[RelationMatch]:
    """Relations that a sentence asserts: not those in questions, negations, hypotheses or jokes."""
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
        for pattern in patterns_for(is_hebrew(text), letters):
            if pattern.is_written and marked.utterance.speaker is not None:
                continue
            if pattern.is_cancelled(text):
                continue
            for match in pattern.pattern.finditer(text):
                if _is_about_other(text, match) or _is_alternative_or_brand(match):
                    continue
                if pattern.is_named and ADDRESSEE_SUFFIX in _mark_suffixes(match["b"]):
                    continue  # "Omer is my brother, you met": "you" is not a name
                if (pattern.is_named and _is_asserted_role(text, match)) or (
                    is_statement and is_asserted(text, match, marked, nodes)
                ):
                    yield RelationMatch(
                        resolve_role(pattern, match), match, _clause_around(text, match)
                    )


def _is_about_other(text: str, match: re.Match[str]) -> bool:
    """ "The mother of Dana works at Acme", «אמא של דנה עובדת באקמי»: Dana does not."""
    mark = MARK.match(text, match.start())
    if mark is None or text.startswith("'s", mark.end()):
        return False
    window_start = max(0, match.start() - _CONTEXT_WINDOW)
    return _AFTER_A_ROLE.search(text, window_start, match.start()) is not None


def _is_alternative_or_brand(match: re.Match[str]) -> bool:
    """ "Tom or Luca is my boss" is undecided; "Paul Smith shirts" is a brand."""
    text = match.string
    return any(
        _OR_BEFORE.search(text, max(0, start - _CONTEXT_WINDOW), start)
        or _OR_AFTER.match(text, end)
        or (name == "b" and is_brand(text, end))
        for name, (start, end) in ((each, match.span(each)) for each in match.groupdict())
        if name in _END_GROUPS and start >= 0
    )


def is_brand(text: str, end: int) -> bool:
    """Whether the words after a name show a brand: "Granny Smith apples"."""
    return _goods_pattern().match(text, end) is not None


@cache
def _goods_pattern() -> re.Pattern[str]:
    return compile_pattern(r" {goods}\b(?!')")


def _mark_suffixes(marks: str) -> set[str]:
    """Form letters of the marks."""
    return {mark[3] for mark in MARK.finditer(marks)}


_CONTEXT_WINDOW = 20  # characters
_END_GROUPS = ("a", "b", "both")  # groups that are the ends of an edge
_OR_BEFORE = re.compile(r"⟩,? (?:or|או) $")
_OR_AFTER = re.compile(r",? (?:or|או) (?:the |an? )?⟨")
_AFTER_A_ROLE = re.compile(rf"(?:\b(?:{ROLE_NOUNS})s? of|(?<![א-ת])של) $", re.IGNORECASE)
_QUESTION_ABOUT_ROLE = re.compile(r"\W*(?:is|was)(?:n't)? ⟨p\d+\w?⟩ ⟨p\d+\w?⟩'s", re.IGNORECASE)


def _is_asserted_role(text: str, match: re.Match[str]) -> bool:
    """ "Where is my brother Dan?" asserts the role; "is Dan my brother?" and "not my brother Dan"
    do not."""
    window_start = max(0, match.start() - _CONTEXT_WINDOW)
    return not NEGATION_BEFORE.search(
        text, window_start, match.start()
    ) and not _QUESTION_ABOUT_ROLE.match(text)


def is_question(text: str) -> bool:
    return text.rstrip(" )\"'”").endswith(("?", "？"))


# ——— clauses ———

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
    """Coordinate clauses of a sentence."""
    return [part for part in _BOUNDARY.split(text) if part.strip(" .,!")]


# "What worries me most is the rent" is not a question.
_WHAT_CLEFT = re.compile(r"^(?:and |but )?what (?=[^?]{3,40} is\b)", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:if|unless|provided|assuming|or|maybe|perhaps|hopefully|but|not|no|just|right|lol|ha)\b",
    re.I,
)
_WOULD_LIKE = re.compile(r"\bI would (?:\w+ )?(?:like|love) to\b")


def is_asserted(
    text: str, match: re.Match[str], marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> bool:
    """False if negated, hypothetical or wished for. Only the words before the match are checked:
    the pattern itself may contain a negation ("can't stand")."""
    clause = _cut_after_comma(_clause_around(text, match), match[0])
    before = clause[: clause.find(match[0])]
    if unasserted_patterns().search(before):
        return False
    # a wish that states a preference
    words = _WOULD_LIKE.sub("I want to", marked.in_words(clause, nodes))
    # "believe" is not a doubt here
    words = _WHAT_CLEFT.sub("", words).replace("believe in", "value")
    reason = non_statement_reason(words)
    return reason is None or reason in ("about_the_talk", "request")


def _cut_after_comma(clause: str, statement: str) -> str:
    """ "Ruth lives in Cork, and thinks that we should …": the statement ends at the comma, unless a
    condition follows."""
    end = clause.find(statement) + len(statement)
    comma = clause.find(", ", end)
    is_whole = comma < 0 or _CONDITION.match(clause, comma + 2) is not None
    return clause if is_whole else clause[:comma]


@cache
def _hearsay_patterns() -> BilingualPattern:
    return any_pattern(load_pattern_table("wording")["not_told"]["hearsay"])


# ——— edges ———


def _build_edges(
    relation: RelationMatch, marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> Iterator[FoundEdge]:
    pattern, utterance = relation.pattern, marked.utterance
    when, ends = _validity_of(relation, marked, nodes)
    matched_text = relation.match[0]  # fallback if its clause cannot be rewritten
    description = to_third_person_or_original(marked, relation.clause, nodes) or to_third_person(
        marked, matched_text, nodes
    )
    for a, b, guessed in _edge_ends(relation, utterance.speaker):
        confidence = _confidence(relation, marked, guessed)
        if (
            a == b
            or confidence < MIN_CONFIDENCE
            or (guessed and _is_feeling_for_thing(relation, nodes[b]))
        ):
            continue
        yield FoundEdge(
            a=a,
            b=b,
            type=pattern.type,
            attitude=pattern.attitude,
            proximity=pattern.proximity,
            description=description,
            confidence=confidence,
            valid_from=when.start,
            valid_to=when.end,
            ends=ends,
            is_state=pattern.when is RelationTiming.STATE,
            place=utterance.place,
        )


def _is_feeling_for_thing(relation: RelationMatch, end: FoundNode) -> bool:
    """ "I love it": a thing referred to by a pronoun is too uncertain."""
    return relation.pattern.type in FEELINGS and end.type is not NodeType.PERSON


def _validity_of(
    relation: RelationMatch, marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> tuple[ValidityPeriod, bool]:
    """The validity period, and whether only the end of the relation is stated."""
    pattern = relation.pattern
    if pattern.is_named and "noun" in relation.match.groupdict():
        return ValidityPeriod(), False  # "my friend Amara starts in January": the friend does not
    words = marked.in_words(relation.clause, nodes)
    when = find_validity(words, marked.utterance.at, pattern.when)
    if not pattern.ends:
        return when, False
    if pattern.when is RelationTiming.AHEAD and not (when.start or when.end):
        return when, False  # it ends at an unknown time: until then it holds
    if when.start and when.end:  # "I worked at Acme from 2015 to 2019"
        return when, False
    return ValidityPeriod(when.end or when.start), True


def _edge_ends(relation: RelationMatch, speaker: int | None) -> Iterator[tuple[int, int, bool]]:
    """The ends of each edge, and whether one of them is a guess. In a pattern without a first end
    ("the trip to Madeira") it is the speaker."""
    groups = relation.match.groupdict()
    if "both" not in groups and "a" not in groups:
        groups["a"] = f"⟨p{speaker}i⟩" if speaker is not None else ""
    if groups.get("both"):
        marks = MARK.findall(groups["both"])
        pairs: Iterable[tuple[tuple[str, ...], ...]] = combinations(marks, 2)
        if "b" in groups:  # each of them with each b
            pairs = product(marks, MARK.findall(groups["b"]))
    else:
        pairs = product(_owning_marks(relation.match, groups["a"]), MARK.findall(groups["b"]))
    for one, other in pairs:
        a, b = (other, one) if relation.pattern.is_reversed else (one, other)
        yield int(a[1]), int(b[1]), GUESSED_SUFFIX in (a[2], b[2])


def _owning_marks(match: re.Match[str], owners: str) -> list[tuple[str, ...]]:
    """ "Oksana, and my lead Martin": "my" binds to Martin only; in "Tom and Ann's" the possessive
    binds to both."""
    marks: list[tuple[str, ...]] = MARK.findall(owners)
    owns = "a" in match.re.groupindex and match.string.startswith("'s", match.end("a"))
    return marks[-1:] if owns and marks and marks[-1][2] == "i" else marks


def _confidence(relation: RelationMatch, marked: MarkedUtterance, guessed: bool) -> float:
    confidence = relation.pattern.confidence
    if guessed:
        confidence -= _PRONOUN_PENALTY
    before = relation.clause[: relation.clause.find(relation.match[0])]
    if _hearsay_patterns().search(before):
        confidence -= _HEARSAY_PENALTY
    if marked.utterance.speaker != 0:
        confidence -= _OTHER_SPEAKER_PENALTY
    return round(confidence, 2)


def _merge_repeated_edges(edges: Sequence[FoundEdge]) -> list[FoundEdge]:
    """The most confident of equal edges in a passage, with the attitude and proximity of all."""
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
    """ "I have a new job at Acme, I start at Acme on Monday": the date applies to both edges."""
    if edge.valid_from or edge.valid_to:
        return edge
    return replace(edge, valid_from=other.valid_from, valid_to=other.valid_to)


_TITLE_CONFIDENCE = 0.85


def find_title_relations(
    sentences: Iterable[MarkedUtterance], nodes: Sequence[FoundNode]
) -> list[FoundEdge]:
    """Relations by kinship word or title, once per source. "Their mum" is not a name."""
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
    """Relation by the first word of a name. "Uncle" needs a name, because there may be several;
    "Mum" alone is the owner's: others' is "Tamar's mum"."""
    names = [fold(name) for name in (node.name, *node.aliases)]
    for word, type in _relations_by_kin_word().items():
        owned_names = {
            fold(possessive_phrase(name, word)) for name in (speaker.name, *speaker.aliases)
        }
        alone = {word} if speaker.is_owner else owned_names
        is_alone = type != "relative" and not alone.isdisjoint(names)
        if is_alone or any(_is_titled(name, word) for name in names):
            return type
    return None


def _is_titled(name: str, word: str) -> bool:
    """True for "Grandpa Arne"; «אמא של נועה» is not a name."""
    return name.startswith(f"{word} ") and not is_description(name)


def _professional_relation(node: FoundNode, mark: str, text: str) -> str | None:
    """Relation by a title, if the sentence states a visit or contact."""
    titles = (fold(name).split()[0].strip(".") for name in (node.name, *node.aliases) if name)
    type = next(
        (_relations_by_title()[title] for title in titles if title in _relations_by_title()), None
    )
    if type is None or is_question(text):
        return None
    visit_patterns = (
        compile_pattern(pattern) for pattern in load_pattern_table("wording")["goes_to"]["patterns"]
    )
    return (
        type
        if any(mark in match[0] for each in visit_patterns for match in each.finditer(text))
        else None
    )


@cache
def _relations_by_title() -> Mapping[str, str]:
    table = load_pattern_table("wording")["titled"]
    return {word: type for type, words in table.items() for word in words.split()}


@cache
def _relations_by_kin_word() -> Mapping[str, str]:
    table = load_pattern_table("wording")["kin"]
    return {fold(word): type for type, words in table.items() for word in words.split()}


_NodePair = frozenset[int]
_WEAK_RELATIONS = FEELINGS | {"acquaintance"}  # dropped if another relation is stated


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
    """Opinions, attributed to the speaker."""
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

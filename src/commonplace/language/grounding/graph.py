"""Grounded nodes, relations and notes of a source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from commonplace.language.extract.names.gazetteer import HEBREW_GIVEN_NAMES
from commonplace.language.extract.people.participants import parse_participant
from commonplace.language.extract.values import (
    ENTITY_TYPES,
    LOCATION,
    FoundEdge,
    FoundNode,
    FoundNote,
    SourceExtraction,
    TextLocation,
)
from commonplace.language.fields.names import fold_name
from commonplace.language.grounding.checks.actors import OWNER, deeds_in, name_of
from commonplace.language.grounding.checks.certainty import is_supposed
from commonplace.language.grounding.checks.negation import is_opposite, polarity_of
from commonplace.language.grounding.checks.numbers import unknown_numbers
from commonplace.language.grounding.checks.predicates import is_judged
from commonplace.language.grounding.checks.relation_cues import (
    felt,
    is_role_of_another,
    says_relation,
)
from commonplace.language.grounding.checks.words import content_words
from commonplace.language.grounding.evidence import GivenEvidence, Support
from commonplace.language.grounding.items import ItemT, NameItem, NoteItem, RelationItem
from commonplace.language.grounding.placing import (
    PlacedQuote,
    Rejected,
    clause_with,
    is_swapped,
    place_quote,
)
from commonplace.language.grounding.relation_deeds import is_told_turned
from commonplace.language.grounding.relation_types import (
    DirectedType,
    read_relation_type,
    role_type,
    types_between,
)
from commonplace.language.grounding.times import ResolvedTime, resolve_time, write_time
from commonplace.language.grounding.values import DropReason, SpokenBy
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.lexicon import load_word_lists
from commonplace.language.text.normalise import split_words
from commonplace.language.text.sentences import is_past
from commonplace.model.graph.assertion import NoteLifetime
from commonplace.model.graph.types import NodeType, is_description, relationship_type

CONFIDENCE = 0.8
OTHERS_CONFIDENCE = 0.75  # what others say
ANIMAL = "animal"
_BEINGS = frozenset(("person", ANIMAL, ""))  # also where the type is not given
_WORDS = load_word_lists("grounding/words.txt")
_OWNER = frozenset(word.replace("_", " ") for word in _WORDS["owner"])
_NOBODY, _KIN_NAMES = _WORDS["nobody"], _WORDS["kin names"]
_FIRST_PERSON = re.compile(r"\b(?:I|my|me|mine|our)\b|(?<![א-ת])(?:אני|שלי|שלנו|לי)(?![א-ת])", re.I)
_POSSESSIVE = re.compile(r"(?:my|our|your|his|her|their)\s", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|a|an)\s+", re.IGNORECASE)
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours)\b|(?<![א-ת])(?:אתה|את|שלך|לך)(?![א-ת])", re.I)
_TYPES = {
    "person": (NodeType.PERSON, ""),
    "concept": (NodeType.CONCEPT, ""),
    ANIMAL: (NodeType.ENTITY, ANIMAL),
    "place": (NodeType.ENTITY, LOCATION),
    "company": (NodeType.ENTITY, "organization"),
    "organisation": (NodeType.ENTITY, "organization"),
    **{subtype: (NodeType.ENTITY, subtype) for subtype in ENTITY_TYPES},
}


class GraphFindings:
    """Collects what is grounded. The owner is the first node."""

    def __init__(self, evidence: GivenEvidence, owner_name: str) -> None:
        self._evidence = evidence
        owner = FoundNode(type=NodeType.PERSON, name=owner_name, is_owner=True)
        self._nodes: list[FoundNode] = [owner]
        self._by_name: dict[str, int] = {}
        self._edges: dict[tuple[int, int, str, bool, int], FoundEdge] = {}
        self._notes: list[FoundNote] = []
        self.dropped: Counter[DropReason] = Counter()

    def extraction(self) -> SourceExtraction:
        return SourceExtraction(
            nodes=tuple(self._nodes), edges=tuple(self._edges.values()), notes=tuple(self._notes)
        )

    @property
    def names(self) -> list[str]:
        """Of all nodes: fuller ones than in the passages around an item are known from others."""
        return [name for node in self._nodes for name in (node.name, *node.aliases)]

    def add_names(self, items: Iterable[NameItem]) -> None:
        """The longest names first: a shorter one is the same person."""
        for item in sorted(items, key=lambda each: -len(each.name.split())):
            self._count(self._add_name, item)

    def add_relations(self, items: Iterable[RelationItem]) -> None:
        for item in items:
            self._count(self._add_relation, item)

    def add_notes(self, items: Iterable[NoteItem]) -> None:
        for item in items:
            self._count(self._add_note, item)

    def _count(self, add: Callable[[ItemT], None], item: ItemT) -> None:
        try:
            add(item)
        except Rejected as rejected:
            self.dropped[rejected.reason] += 1

    # ——— names ———

    def _add_name(self, item: NameItem) -> None:
        place = self._place(item)
        support = self._evidence.support_at(place.index)
        kind = _TYPES.get(item.type)
        if kind is None:
            raise Rejected(DropReason.MALFORMED)
        if self._owner_end(item.name, place) is not None:
            return
        index = self._node(item.name, kind, place, support)
        node = self._nodes[index]
        aliases = tuple(
            alias
            for alias in item.aliases
            if support.has_name(alias) and self._is_free(alias, index)
        )
        for alias in aliases:
            self._by_name.setdefault(_key(alias), index)
        self._nodes[index] = replace(
            node,
            aliases=tuple(dict.fromkeys((*node.aliases, *(a for a in aliases if a != node.name)))),
            description=node.description or self._described(item.description, place, support),
        )

    def _is_free(self, alias: str, index: int) -> bool:
        known = self._by_name.get(_key(alias), index)
        return known == index and _key(alias) not in _NOBODY and not is_description(alias)

    def _node(
        self, name: str, kind: tuple[NodeType, str], place: PlacedQuote, support: Support
    ) -> int:
        key = _key(name)
        if key in _NOBODY or _describes(name, kind[0]) or _is_role(key, name):
            raise Rejected(DropReason.MALFORMED)
        is_known = support.has_part_of_name(name) and (
            key in self._by_name or self._evidence.has_name_somewhere(name)
        )
        if not (is_known or support.has_name(name)):
            raise Rejected(DropReason.UNGROUNDED_NAME)
        if is_suspicious(name):
            raise Rejected(DropReason.SUSPICIOUS)
        index = self._by_name.get(key)
        if index is None:
            index = self._shorter(key, kind)
        if index is None:
            index = len(self._nodes)
            type, subtype = kind
            self._nodes.append(
                FoundNode(type=type, subtype=subtype, name=name, confidence=CONFIDENCE)
            )
        self._by_name.setdefault(key, index)
        number = place.passage.given.number
        node = self._nodes[index]
        if number not in node.passages:
            where = TextLocation(number, place.start, place.end)
            node = replace(node, passages=(*node.passages, number), places=(*node.places, where))
            self._nodes[index] = node
        return index

    def _shorter(self, key: str, kind: tuple[NodeType, str]) -> int | None:
        """ "Pavel" is the only Pavel Horak."""
        if kind[0] is not NodeType.PERSON or " " in key:
            return None
        fuller = {
            index
            for name, index in self._by_name.items()
            if name.split()[0] == key and self._nodes[index].type is NodeType.PERSON
        }
        return fuller.pop() if len(fuller) == 1 else None

    # ——— relations ———

    def _add_relation(self, item: RelationItem) -> None:
        place = self._place(item)
        support = self._evidence.support_at(place.index)
        source, target = (self._owner_end(name, place) for name in (item.source, item.target))
        read = read_relation_type(
            item.type,
            from_owner=source == 0,
            to_owner=target == 0,
            quote=place.quote,
            other=item.target if source == 0 else item.source,
            of_people={item.source_type, item.target_type} <= _BEINGS,
        )
        if read is None:
            raise Rejected(DropReason.MALFORMED)
        item = replace(item, ended=item.ended or read.is_over)
        if not item.ended and self._is_denied(item, read.type, place):
            raise Rejected(DropReason.NEGATED)
        if is_supposed(item.description, place.basis):
            raise Rejected(DropReason.NOT_STATED)
        kinds = _kinds_of_ends(item, read.type, read.is_turned)
        for end, kind in zip((source, target), kinds, strict=True):
            if end is None and kind is None:
                raise Rejected(DropReason.MALFORMED)
        ends = [
            self._node(name, kind, place, support) if end is None and kind else end or 0
            for name, end, kind in zip(
                (item.source, item.target), (source, target), kinds, strict=True
            )
        ]
        a, b = reversed(ends) if read.is_turned else ends
        if a == b:
            raise Rejected(DropReason.MALFORMED)
        self._check_type(item, read.type, place, support)
        if self._is_turned(item, (source, target), read, place):
            raise Rejected(DropReason.SWAPPED_NAMES)
        self._add_edge(self._edge(item, a, b, read.type, place, support))

    def _check_type(
        self, item: RelationItem, type: str, place: PlacedQuote, support: Support
    ) -> None:
        """Two names beside each other do not tell what they are to each other."""
        if not is_judged(place.passage.given.text, place.passage.language):
            return
        near, ends = support.text_around(item.source, item.target), (item.source, item.target)
        about = bool(item.description) and support.has_said_word(item.description)
        is_described = about and bool(self._described(item.description, place, support))
        says = says_relation(type, item.type, near, ends, is_described=is_described)
        names = frozenset(word for name in self.names for word in split_words(name))
        if not says or is_role_of_another(type, near, ends, names):
            raise Rejected(DropReason.UNGROUNDED_WORDS)

    def _add_edge(self, edge: FoundEdge) -> None:
        """Once for each passage and pair, with the attitude and proximity of all."""
        ends = (edge.a, edge.b)
        if relationship_type(edge.type).is_mutual:
            ends = (min(ends), max(ends))
        key = (*ends, edge.type, edge.ends, edge.passage)
        known = self._edges.get(key)
        if known is not None:
            edge = replace(
                known,
                attitude=known.attitude or edge.attitude,
                proximity=known.proximity or edge.proximity,
                valid_from=known.valid_from or edge.valid_from,
                valid_to=known.valid_to or edge.valid_to,
                description=known.description or edge.description,
            )
        self._edges[key] = edge

    def _edge(
        self, item: RelationItem, a: int, b: int, type: str, place: PlacedQuote, support: Support
    ) -> FoundEdge:
        since, until = (_resolve(words, item, place) for words in (item.since, item.until))
        is_over = item.ended and not (since and until)
        if is_over:
            day = until or since
            start, end = day.begins if day else None, None
        else:
            start, end = since.begins if since else None, until.ends if until else None
        if start and end and end <= start:
            end = None
        is_own = place.passage.given.by is SpokenBy.OWNER
        return FoundEdge(
            a=a,
            b=b,
            type=type,
            attitude=felt(item.attitude, place.sentence),
            proximity=item.proximity,
            description=self._described(item.description, place, support),
            confidence=CONFIDENCE if is_own else OTHERS_CONFIDENCE,
            valid_from=start,
            valid_to=end,
            ends=is_over,
            place=TextLocation(place.passage.given.number, place.start, place.end),
        )

    def _is_turned(
        self,
        item: RelationItem,
        owner_ends: tuple[int | None, int | None],
        read: DirectedType,
        place: PlacedQuote,
    ) -> bool:
        names = [
            OWNER if end == 0 else name_of(name)
            for name, end in zip((item.source, item.target), owner_ends, strict=True)
        ]
        a, b = reversed(names) if read.is_turned else names
        deeds = deeds_in(
            place.said,
            (item.source, item.target),
            place.passage.language,
            self._evidence.owner_words,
        )
        return is_told_turned(read.type, a, b, deeds)

    def _is_denied(self, item: RelationItem, type: str, place: PlacedQuote) -> bool:
        """ "Tilda is not my sister"."""
        polarity = polarity_of(place.basis)
        nouns = (word for word in split_words(place.basis) if role_type(word) == type)
        forms = [polarity_of(noun).asserted for noun in nouns]
        if any(form and form <= polarity.denied - polarity.asserted for form in forms):
            return True
        names = f"{item.source} {item.target} user"
        ignored = frozenset().union(*content_words(names, place.passage.language))
        return is_opposite(item.description, place.basis, ignored)

    # ——— notes ———

    def _add_note(self, item: NoteItem) -> None:
        place = self._place(item)
        support = self._evidence.support_at(place.index)
        ends = [self._known(name, place) for name in item.about]
        about = tuple(dict.fromkeys(end for end in ends if end is not None))
        if not about:
            raise Rejected(DropReason.UNGROUNDED_NAME)
        text = self._described(item.text, place, support)
        if not text:
            raise Rejected(DropReason.UNGROUNDED_WORDS)
        self._notes.append(
            FoundNote(
                about=about,
                content=text,
                lifetime=_lifetime(item.lifetime),
                place=TextLocation(place.passage.given.number, place.start, place.end),
            )
        )

    def _known(self, name: str, place: PlacedQuote) -> int | None:
        owner = self._owner_end(name, place)
        return self._by_name.get(_key(name)) if owner is None else owner

    # ——— common ———

    def _place(self, item: NameItem | RelationItem | NoteItem) -> PlacedQuote:
        place = place_quote(item, self._evidence)
        if is_suspicious(place.quote):
            raise Rejected(DropReason.SUSPICIOUS)
        return place

    def _described(self, text: str, place: PlacedQuote, support: Support) -> str:
        """The text with dates; empty if the passages do not carry it."""
        if not text:
            return ""
        said = place.at.date()
        language = support.language_of(text)
        is_grounded = not (
            support.unknown_names(text)
            or unknown_numbers(text, language, support.numbers, frozenset(), said)
            or not support.has_times(text, (said,))
            or support.has_number_of_another(text)
            or support.lacks_predicate(text)
            or is_opposite(text, place.basis, frozenset())
            or is_swapped(text, place, support, self._evidence)
            or any(secret in text for secret in place.passage.secrets)
            or is_suspicious(text)
        )
        backwards = is_past(place.sentence)
        return write_time(text, None, place.at, backwards=backwards) if is_grounded else ""

    def _owner_end(self, name: str, place: PlacedQuote) -> int | None:
        """The index of the owner, or of who speaks of themselves; None: somebody else."""
        key = _key(name)
        if key in _OWNER:
            speaker = self._speaker_of(place)
            return 0 if speaker is None else speaker
        return 0 if self._evidence.is_owner_name(name) else None

    def _speaker_of(self, place: PlacedQuote) -> int | None:
        """Who says "I" where the owner does not speak."""
        given = place.passage.given
        if given.by is SpokenBy.OWNER or not _FIRST_PERSON.search(place.quote):
            return None
        if _SECOND_PERSON.search(place.quote) or not given.speaker:
            return None
        name = parse_participant(given.speaker).name or given.speaker
        support = self._evidence.support_at(place.index)
        return self._node(name, (NodeType.PERSON, ""), place, support)


def _describes(name: str, type: NodeType) -> bool:
    """ "my sister", "Sarah's husband"; "Joe's Pizza" and "University of Leeds" are names."""
    if type is NodeType.PERSON:
        return is_description(name)
    return _POSSESSIVE.match(name) is not None


def _is_role(key: str, name: str) -> bool:
    """ "sister", but not "Mum"; «עמית» is a colleague or a name."""
    is_name = name[:1].isupper() or key in _KIN_NAMES or key in HEBREW_GIVEN_NAMES
    return role_type(key) is not None and not is_name


def _key(name: str) -> str:
    return " ".join(map(fold_name, _ARTICLE.sub("", name, count=1).split()))


def _kinds_of_ends(
    item: RelationItem, type: str, is_turned: bool
) -> tuple[tuple[NodeType, str] | None, tuple[NodeType, str] | None]:
    """What a type alone makes certain fills in what is not given."""
    source, target = _TYPES.get(item.source_type), _TYPES.get(item.target_type)
    if type in types_between("people"):
        source, target = source or _TYPES["person"], target or _TYPES["person"]
    for last in ("place", "organization"):
        if type in types_between(f"person and {last}"):
            known = (_TYPES["person"], _TYPES[last])
            first, second = reversed(known) if is_turned else known
            source, target = source or first, target or second
    return source or _TYPES["person"], target or (NodeType.ENTITY, "")


def _resolve(words: str, item: RelationItem, place: PlacedQuote) -> ResolvedTime | None:
    if not words or not place.passage.has(words):
        return None
    clause = clause_with(words, place)
    backwards = item.ended or is_past(clause)
    return resolve_time(words, clause, place.at, backwards=backwards)


def _lifetime(written: str) -> NoteLifetime:
    try:
        return NoteLifetime(written)
    except ValueError:
        return NoteLifetime.MONTH

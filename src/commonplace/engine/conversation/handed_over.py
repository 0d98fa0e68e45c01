"""Facts and relations that a caller found in a turn and hands over with it.

An agent that has read a turn with a model of its own need not have it read again. Nothing of it is
taken on trust: an item rests on words of the turn, as one of our own model does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commonplace.engine.graph.extraction.told import HandedFindings
from commonplace.engine.memories.candidates import Skipped, SkipReason
from commonplace.errors import InvalidInput
from commonplace.language.extract.values import (
    FoundEdge,
    FoundNode,
    OwnerIdentity,
    SourceExtraction,
    TextLocation,
)
from commonplace.language.grounding.carrying import find_carrying_sentence
from commonplace.language.grounding.evidence import GivenEvidence
from commonplace.language.grounding.ground import ground
from commonplace.language.grounding.values import DropReason, GivenPassage, SpokenBy
from commonplace.language.llm.prompts import load_prompt
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.sentences import unwrap_lines
from commonplace.model import validation
from commonplace.model.memory.candidate import MemoryCandidate
from commonplace.model.sources.source import (
    ConversationTurn,
    Passage,
    Source,
    SourceType,
    SpeakerRole,
)

MAX_HANDED = 20  # items of a list
_NOT_HANDED = {"passage", "questions"}  # fields of a model's item that a caller does not give
MAX_RATING = 5  # of importance, attitude, proximity
# Fields that say something; "me" of a relation is no content word.
_STATED = ("text", "value", "phone", "email", "from", "to", "description")
_MEMORIES, _RELATIONS = "memories", "relations"


@dataclass(frozen=True, slots=True)
class HandedOver:
    """With the fields of an item of `read_turns`, without its passage."""

    facts: tuple[Mapping[str, Any], ...] = ()
    relations: tuple[Mapping[str, Any], ...] = ()


def read_handed_over(facts: object, relations: object) -> HandedOver:
    """A fact may be a text alone."""
    return HandedOver(
        tuple(_read_item(each, "facts", _MEMORIES, ("text",)) for each in _listed(facts, "facts")),
        tuple(
            _read_item(each, "relations", _RELATIONS, ("from", "to", "type"))
            for each in _listed(relations, "relations")
        ),
    )


def _listed(given: object, field: str) -> Sequence[Any]:
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        raise InvalidInput(f"{field} must be a list of items.", field=field)
    if len(given) > MAX_HANDED:
        raise InvalidInput(f"Give at most {MAX_HANDED} {field}.", field=field)
    return given


def _read_item(
    given: object, field: str, list_name: str, required: Sequence[str]
) -> Mapping[str, Any]:
    """The fields and their types are those of the answer to `read_turns`."""
    item = {"text": given} if isinstance(given, str) and field == "facts" else given
    if not isinstance(item, Mapping):
        raise InvalidInput(f"Each of {field} must be a map of fields.", field=field)
    known = {
        name: schema for name, schema in _item_schema(list_name).items() if name not in _NOT_HANDED
    }
    validation.known_fields(item, known, f"An item of {field}")
    given_values = {name: value for name, value in item.items() if value is not None}
    for name in required:
        validation.text(given_values.get(name, ""), name, validation.MAX_SENTENCE)
    return {name: _read_value(value, name, known[name]) for name, value in given_values.items()}


def _item_schema(list_name: str) -> Mapping[str, Mapping[str, Any]]:
    properties: Mapping[str, Any] = load_prompt("read_turns").schema["properties"]
    found: Mapping[str, Mapping[str, Any]] = properties[list_name]["items"]["properties"]
    return found


def _read_value(value: object, name: str, schema: Mapping[str, Any]) -> Any:
    if "boolean" in schema["type"]:
        return validation.flag(value, name)
    if "integer" in schema["type"]:
        return validation.integer(value, name, 1, MAX_RATING)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number or value == "":
        return str(value)  # a value of 1450; an empty field says nothing
    limit = validation.MAX_CONTENT if name == "quote" else validation.MAX_SENTENCE
    cleaned = validation.text(value, name, limit)
    if "enum" not in schema:
        return cleaned
    if cleaned.casefold() not in schema["enum"]:
        listed = ", ".join(each for each in schema["enum"] if each)
        raise InvalidInput(f"{name} must be one of {listed}, not {cleaned!r}.", field=name)
    return cleaned.casefold()


@dataclass(frozen=True, slots=True)
class GroundedHandOver:
    """What of it stands the check."""

    candidates: tuple[MemoryCandidate, ...] = ()
    graph: SourceExtraction = field(default_factory=SourceExtraction)
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacedItem:
    """An item with the words that it rests on."""

    item: dict[str, Any]
    is_carried: bool = True  # they have enough of its words


def ground_handed_over(
    handed: HandedOver,
    turn: ConversationTurn,
    given: Sequence[GivenPassage],
    owner: OwnerIdentity,
) -> GroundedHandOver:
    """``given``: the turn's passages, with those before it as context. Items are checked one by
    one, so that each that is dropped is reported with its reason."""
    if is_suspicious(turn.text):
        return refused_hand_over(handed, SkipReason.SUSPICIOUS)
    kept: dict[str, list[dict[str, Any]]] = {_MEMORIES: [], _RELATIONS: []}
    skipped: list[Skipped] = []
    evidence = GivenEvidence(given, owner)
    for name, items in ((_MEMORIES, handed.facts), (_RELATIONS, handed.relations)):
        for item in items:
            placed = _place(item, evidence)
            if reason := _why_not(name, placed, given, owner):
                skipped.append(_skipped(item, SkipReason.UNGROUNDED, reason))
            else:
                kept[name].append(placed.item)
    found = ground(kept, given, owner, SourceType.CHAT)
    candidates = tuple(each.as_candidate() for each in found.memories)
    return GroundedHandOver(candidates, found.graph, tuple(skipped))


def _why_not(
    name: str, placed: PlacedItem, given: Sequence[GivenPassage], owner: OwnerIdentity
) -> str:
    """The reason for which an item is dropped; empty if it stands."""
    found = ground({name: [placed.item]}, given, owner, SourceType.CHAT)
    if not (found.memories or found.graph.edges):
        return str(next(iter(found.dropped), DropReason.MALFORMED))
    return "" if placed.is_carried else str(DropReason.UNGROUNDED_WORDS)


def refused_hand_over(handed: HandedOver, reason: SkipReason) -> GroundedHandOver:
    items = (*handed.facts, *handed.relations)
    return GroundedHandOver(skipped=tuple(_skipped(each, reason, "") for each in items))


def _place(item: Mapping[str, Any], evidence: GivenEvidence) -> PlacedItem:
    """Without a quote, it rests on the sentence that carries it."""
    quoted = item.get("quote")
    if isinstance(quoted, str) and quoted.strip():
        new = next(each.given for each in evidence.passages if not each.given.is_context)
        return PlacedItem({"kind": "fact", **item, "passage": new.number})
    stated = " . ".join(str(item[name]) for name in _STATED if item.get(name))
    found = find_carrying_sentence(stated, evidence, relation=str(item.get("type", "")))
    if found is None:
        return PlacedItem(dict(item), is_carried=False)
    placed = {"kind": "fact", **item, "passage": found.passage, "quote": found.text}
    return PlacedItem(placed, found.is_enough)


def _skipped(item: Mapping[str, Any], reason: SkipReason, detail: str) -> Skipped:
    quote = str(item.get("quote") or "")
    if "text" in item:
        return Skipped(str(item["text"]), quote, str(item.get("kind", "fact")), 0.0, reason, detail)
    stated = f"{item['from']} {item['type']} {item['to']}"
    return Skipped(stated, quote, "relation", 0.0, reason, detail)


# ——— passages ———


def passages_of_turn(
    source: Source,
    turn: ConversationTurn,
    is_own: bool,
    passages: Iterable[Passage],
    before: Sequence[tuple[Source, Passage]],
) -> list[GivenPassage]:
    """``before``: what was said before it, numbered so that it comes before."""
    context = [
        _given(source, each, _by_role(each.role, each.speaker is None), is_context=True)
        for source, each in before
        if not each.suspicious
    ]
    by = SpokenBy.OWNER if is_own else SpokenBy.OTHER
    by = by if turn.role is SpeakerRole.USER else SpokenBy.MACHINE
    new = [replace(_given(source, each, by), at=turn.at) for each in passages]
    return [*context, *new]


def _by_role(role: str | None, is_unnamed: bool) -> SpokenBy:
    if role not in (None, SpeakerRole.USER):
        return SpokenBy.MACHINE
    return SpokenBy.OWNER if is_unnamed else SpokenBy.OTHER


def _given(
    source: Source, passage: Passage, by: SpokenBy, *, is_context: bool = False
) -> GivenPassage:
    return GivenPassage(
        number=passage.number,
        text=unwrap_lines(passage.text),
        at=source.local_time(passage.at),
        by=by,
        speaker=passage.speaker,
        is_context=is_context,
    )


def located(source: Source, found: SourceExtraction, numbers: Mapping[int, int]) -> HandedFindings:
    """The findings with the numbers that their passages have in the source."""
    return HandedFindings(
        source,
        replace(
            found,
            nodes=tuple(_located_node(node, numbers) for node in found.nodes),
            edges=tuple(_located_edge(edge, numbers) for edge in found.edges),
            notes=(),
        ),
    )


def _located_node(node: FoundNode, numbers: Mapping[int, int]) -> FoundNode:
    passages = tuple(numbers[each] for each in node.passages if each in numbers)
    places = tuple(_located_place(each, numbers) for each in node.places if each.passage in numbers)
    return replace(node, passages=passages, places=places)


def _located_edge(edge: FoundEdge, numbers: Mapping[int, int]) -> FoundEdge:
    repeated = tuple(
        _located_place(each, numbers) for each in edge.repeated if each.passage in numbers
    )
    return replace(edge, place=_located_place(edge.place, numbers), repeated=repeated)


def _located_place(place: TextLocation, numbers: Mapping[int, int]) -> TextLocation:
    return replace(place, passage=numbers.get(place.passage, place.passage))

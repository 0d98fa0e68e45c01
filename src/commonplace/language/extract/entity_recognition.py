"""Named entities of a source: mentions are found and resolved to nodes with spans.

Known names are then searched in all passages again. This finds what is not recognised by itself:
"sarah" in lower case, names at the start of a sentence, names in machine text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence

from commonplace.language.extract.names.english_names import (
    find_capitalised_names,
    find_lowercase_names,
)
from commonplace.language.extract.names.gazetteer import (
    AMBIGUOUS_GIVEN_NAMES,
    COMMON_WORDS,
    GIVEN_NAMES,
    HEBREW_GIVEN_NAMES,
    PERSON,
)
from commonplace.language.extract.names.hebrew_names import find_hebrew_names
from commonplace.language.extract.names.kind_evidence import share_kind_in_lists
from commonplace.language.extract.names.nominal_mentions import (
    find_appositions,
    find_nominal_mentions,
    is_denied,
    is_unique_role,
    phrase_for_owner,
    phrase_words,
)
from commonplace.language.extract.names.words import (
    CERTAIN,
    KNOWN,
    SURE,
    EntityMention,
    KindVote,
    TokenizedPassage,
    Word,
    combine_votes,
    is_adjacent,
    split_words,
)
from commonplace.language.extract.people.entity_resolution import (
    Individual,
    IndividualIndex,
    build_node,
    find_by_initials,
    parse_person_name,
)
from commonplace.language.extract.people.participants import (
    could_write_as,
    list_participants,
    parse_participant,
)
from commonplace.language.extract.values import (
    ORGANIZATION,
    AttributedPassage,
    ExtractionInput,
    NodeSpan,
    RecognisedNodes,
    TextLocation,
)
from commonplace.language.fields.names import fold_name

_MAX_WORDS = 6
_HEBREW_PREFIX_LETTERS = "בלמהושכ"
_SHORT_STEM = 3  # letters: with a prefix letter, a shorter stem is mostly another word
_HEBREW_HEAD_NOUNS = frozenset(("חברת", "פרויקט", "ארגון", "עמותת", "אפליקציית", "סטארטאפ"))
_SpellingIndex = dict[tuple[str, ...], int]


def find_repeated_mentions(
    individuals: Sequence[Individual],
    passages: Iterable[TokenizedPassage],
    spans: Iterable[NodeSpan],
) -> list[NodeSpan]:
    by_spelling = _index_spellings(individuals)
    covered: dict[int, set[int]] = {}
    for span in spans:
        covered.setdefault(span.passage, set()).update(range(span.start, span.end))
    return [
        span
        for passage in passages
        for span in _spans_in_passage(
            passage, by_spelling, individuals, covered.get(passage.number, set())
        )
    ]


def _index_spellings(individuals: Sequence[Individual]) -> _SpellingIndex:
    """Individuals by the words of each spelling; ambiguous spellings are left out."""
    owners: dict[tuple[str, ...], set[int]] = {}
    for number, individual in enumerate(individuals):
        for spelling in _spellings(individual):
            if spelling and len(spelling) <= _MAX_WORDS:
                owners.setdefault(spelling, set()).add(number)
    return {row: numbers.pop() for row, numbers in owners.items() if len(numbers) == 1}


def _spellings(individual: Individual) -> Iterator[tuple[str, ...]]:
    for spelling in individual.spellings:
        yield tuple(fold_name(word) for word in spelling.replace(".", " ").split())
        yield _without_head_noun(spelling)
    if individual.name is not None:
        yield individual.name.parts[:1]
        if individual.name.is_full:
            yield individual.name.parts[-1:]


def _without_head_noun(spelling: str) -> tuple[str, ...]:
    """«נטעים» of «חברת נטעים»."""
    head, _, name = spelling.partition(" ")
    return (fold_name(name),) if head in _HEBREW_HEAD_NOUNS and " " not in name else ()


def _spans_in_passage(
    passage: TokenizedPassage,
    by_spelling: _SpellingIndex,
    individuals: Sequence[Individual],
    covered: set[int],
) -> Iterator[NodeSpan]:
    words, at = passage.words, 0
    while at < len(words):
        length, number, prefix_length = _longest_match(words, at, by_spelling, individuals)
        if length:
            start, end = words[at].start + prefix_length, words[at + length - 1].end
            if not covered.intersection(range(start, end)):
                yield NodeSpan(passage.number, start, end, number)
        at += max(length, 1)


def _longest_match(
    words: Sequence[Word], at: int, by_spelling: _SpellingIndex, individuals: Sequence[Individual]
) -> tuple[int, int, int]:
    """Number of words, individual, and length of the Hebrew prefix: «מנטעים»."""
    row: tuple[str, ...] = ()
    found = (0, 0, 0)
    for place in range(at, min(len(words), at + _MAX_WORDS)):
        if place > at and not is_adjacent(words[place - 1], words[place]):
            break
        row = (*row, words[place].key)
        number = by_spelling.get(row)
        if number is not None and _is_name_here(words[at : place + 1], individuals[number]):
            found = (len(row), number, 0)
    bare_key = words[at].key[1:]
    if (
        not found[0]
        and words[at].hebrew
        and words[at].key[0] in _HEBREW_PREFIX_LETTERS
        and len(bare_key) > _SHORT_STEM
    ):
        number = by_spelling.get((bare_key,))
        if number is not None and individuals[number].kind != PERSON:
            found = (1, number, 1)
    return found


def _is_name_here(row: Sequence[Word], individual: Individual) -> bool:
    """Whether the words are a name here: common words and things need a capital."""
    if any(word.hebrew for word in row):
        return True
    capital = any(word.capital for word in row)
    if len(row) > 1:
        return capital or individual.kind == PERSON
    word = row[0]
    if word.key in COMMON_WORDS or word.key in AMBIGUOUS_GIVEN_NAMES or len(word.key) < 3:
        return word.capital_signals_name
    return capital or (individual.kind == PERSON and word.key in GIVEN_NAMES)


_OWNER = 0


def recognise_entities(source: ExtractionInput) -> RecognisedNodes:
    passages = {
        passage.number: TokenizedPassage(passage.number, passage.text, split_words(passage.text))
        for passage in source.passages
    }
    index = _index_participants(source)
    readable = [
        passage for passage in source.passages if not passage.by_machine and not passage.suspicious
    ]
    mentions: list[EntityMention] = []
    pairs: list[tuple[EntityMention, EntityMention]] = []
    for passage in readable:
        found = find_mentions(passages[passage.number])
        pairs += find_appositions(passage.text, found)
        mentions += found
    spans = _assign_mentions(
        index, mentions, pairs, {passage.number: passage for passage in readable}
    )
    spans += find_repeated_mentions(index.individuals, passages.values(), spans)
    return _build_nodes(source, index.individuals, spans)


def find_mentions(passage: TokenizedPassage) -> list[EntityMention]:
    """Mentions in text order. A phrase may contain a name: "Maya's wedding"."""
    named = _without_overlaps([*find_capitalised_names(passage), *find_hebrew_names(passage)])
    named = sorted(_without_overlaps([*named, *find_lowercase_names(passage)]), key=_text_order)
    named = share_kind_in_lists(passage.text, named)
    asserted = (
        each for each in find_nominal_mentions(passage) if not is_denied(passage.text, each)
    )
    phrases = _phrases_around_names(asserted, named)
    return sorted((*named, *phrases), key=_text_order)


def _text_order(mention: EntityMention) -> tuple[int, int]:
    return mention.start, -mention.end


def _without_overlaps(mentions: Iterable[EntityMention]) -> list[EntityMention]:
    kept: list[EntityMention] = []
    covered: set[int] = set()
    for each in mentions:
        place = range(each.start, each.end)
        if not covered.intersection(place):
            kept.append(each)
            covered.update(place)
    return kept


def _phrases_around_names(
    phrases: Iterable[EntityMention], named: Sequence[EntityMention]
) -> Iterator[EntityMention]:
    """Phrases that overlap no name, except one inside them: "Maya's wedding"."""
    starts = [each.start for each in named]
    for phrase in phrases:
        at = bisect_left(starts, phrase.start)
        if at and named[at - 1].end > phrase.start:
            continue
        inside = named[at : bisect_left(starts, phrase.end)]
        if all(each.end < phrase.end for each in inside):
            yield phrase


# ——— resolution ———


def _index_participants(source: ExtractionInput) -> IndividualIndex:
    """The owner first, then the listed participants."""
    index, owner = IndividualIndex(source.owner.others), source.owner
    index.new(PERSON)
    index.individuals[_OWNER].is_owner = True
    for name in sorted(
        {owner.name, *owner.names} - {""}, key=lambda each: (each != owner.name, each)
    ):
        if "@" not in name:
            index.call(_OWNER, name, fold_name(name), CERTAIN)
    owner_addresses = {address.casefold() for address in owner.addresses}
    names = {fold_name(name) for name in (owner.name, *owner.names)}
    index.individuals[_OWNER].addresses = _owner_addresses(source, owner_addresses)
    for one in list_participants(source):
        if fold_name(one.name) in names or (
            one.address in owner_addresses and could_write_as(one.name, names)
        ):
            continue
        number = index.add_person(one.name, fold_name(one.name), certain=CERTAIN)
        individual = index.individuals[number]
        individual.addresses = tuple(dict.fromkeys((*individual.addresses, one.address)))
        individual.passages = (*individual.passages, *one.passages)
    return index


def _owner_addresses(source: ExtractionInput, owner_addresses: Collection[str]) -> tuple[str, ...]:
    """The owner's addresses that this source has."""
    source_addresses = {parse_participant(each).address for each in source.participants}
    return tuple(sorted(source_addresses.intersection(owner_addresses)))


def _assign_mentions(
    index: IndividualIndex,
    mentions: Sequence[EntityMention],
    pairs: Sequence[tuple[EntityMention, EntityMention]],
    passages: dict[int, AttributedPassage],
) -> list[NodeSpan]:
    """Resolve names first, then the phrases that refer to them."""
    votes: dict[str, list[KindVote]] = {}
    for each in mentions:
        votes.setdefault(each.key, []).extend(each.votes)
    for phrase, named in pairs:
        if phrase.votes[0].kind == PERSON and not (
            _is_a_company(phrase, votes[named.key]) or _may_be_a_company(phrase, named)
        ):
            votes[named.key].append(KindVote(PERSON, SURE, "apposition"))
    kinds = {key: _decide_kind(index, key, each) for key, each in votes.items()}
    for each in mentions:
        if not each.phrase and index.has_room and _is_resolved_first(each, kinds[each.key]):
            _resolve_name(index, each, kinds[each.key])
    numbers: dict[EntityMention, int] = {}
    for each in mentions:
        if not each.phrase and index.has_room:
            numbers[each] = _resolve_name(index, each, kinds[each.key])
    for phrase, named in pairs:
        if named in numbers and index.individuals[numbers[named]].kind == phrase.votes[0].kind:
            _add_apposition(index, phrase, numbers[named], passages)
            numbers[phrase] = numbers[named]
        elif named in numbers and _is_a_company(phrase, votes[named.key]):
            numbers[phrase] = numbers[named]
    for each in mentions:
        if each.phrase and each not in numbers and index.has_room:
            number = _resolve_phrase(index, each, kinds[each.key], passages[each.passage])
            if number is not None:
                numbers[each] = number
    return [NodeSpan(m.passage, m.start, m.end, number) for m, number in numbers.items()]


def _is_a_company(phrase: EntityMention, votes: Sequence[KindVote]) -> bool:
    """ "Microsoft is my favourite client": the name decides the kind, not the phrase."""
    is_sure = any(
        vote.kind == ORGANIZATION and vote.weight >= KNOWN and vote.by in ("known", "head")
        for vote in votes
    )
    return is_sure and not phrase_words("companies_too").isdisjoint(phrase.key.split())


def _may_be_a_company(phrase: EntityMention, named: EntityMention) -> bool:
    """ "My supplier is Metro": a person only if the name is a person's name."""
    name = parse_person_name(named.key)
    is_a_name = bool(name.title) or name.first in GIVEN_NAMES or name.first in HEBREW_GIVEN_NAMES
    return not is_a_name and not phrase_words("mostly_companies").isdisjoint(phrase.key.split())


def _decide_kind(index: IndividualIndex, key: str, votes: Sequence[KindVote]) -> KindVote:
    """A participant is a person, whatever the evidence. A longer name must be a person's: "Ana
    Stein" may be Ana, "Ana Hotel" is not."""
    vote, number = combine_votes(votes), index.person(key)
    one = None if number is None else index.individuals[number]
    if one is None or one.name is None or one.weight < CERTAIN:
        return vote
    is_longer = len(key.split()) > len(one.name.parts)
    return vote if is_longer and vote.kind != PERSON else KindVote(PERSON, CERTAIN)


def _is_resolved_first(mention: EntityMention, vote: KindVote) -> bool:
    """Names that others may abbreviate: full names, and things of a certain kind."""
    if vote.kind == PERSON:
        return parse_person_name(mention.key).is_full
    return not _is_doubtful(mention, vote)


def _is_doubtful(mention: EntityMention, vote: KindVote) -> bool:
    return vote.weight < KNOWN and len(mention.key.split()) == 1


def _resolve_name(index: IndividualIndex, mention: EntityMention, vote: KindVote) -> int:
    doubtful = _is_doubtful(mention, vote)
    if doubtful and mention.text.isupper():
        number = find_by_initials(mention.key, index.individuals)
        if number is not None:
            index.call(number, mention.text, index.individuals[number].name_key, vote.weight)
            return number
    number = index.thing(vote.kind, mention.key, doubtful)
    person = index.person(mention.key) if doubtful or vote.kind == PERSON else None
    if person is not None or (vote.kind == PERSON and not (doubtful and number is not None)):
        return _resolve_person(index, mention, vote)
    if number is None:
        number = index.new(vote.kind)
    index.add_thing_name(number, mention, vote.weight)
    return number


def _resolve_person(index: IndividualIndex, mention: EntityMention, vote: KindVote) -> int:
    number = index.person(mention.key)
    if number is None:
        number = index.new(PERSON)
    index.call(number, mention.text, mention.key, vote.weight)
    return number


def _add_apposition(
    index: IndividualIndex,
    phrase: EntityMention,
    number: int,
    passages: dict[int, AttributedPassage],
) -> None:
    if is_unique_role(phrase):
        passage = passages[phrase.passage]
        written = phrase_for_owner(phrase, passage)
        index.add_phrase(number, written, phrase.passage, _phrase_key(phrase, passage))


def _resolve_phrase(
    index: IndividualIndex, mention: EntityMention, vote: KindVote, passage: AttributedPassage
) -> int | None:
    """None if the phrase's owner is unknown: an unknown speaker's "my manager"."""
    key, written = _phrase_key(mention, passage), phrase_for_owner(mention, passage)
    number = index.phrase(key)
    if number is None and not written:
        return None
    if number is None:
        number = index.new(vote.kind)
    index.individuals[number].weight = max(index.individuals[number].weight, vote.weight)
    index.add_phrase(number, written, mention.passage, key)
    return number


def _phrase_key(mention: EntityMention, passage: AttributedPassage) -> str:
    """Key by speaker: "my manager" depends on who speaks; "Mum" and "my mum" are the same."""
    alone = mention.key.removeprefix("my ").removeprefix("our ")
    key = alone if alone in phrase_words("alone") else mention.key
    return f"{'' if passage.by_owner else passage.speaker or '?'}|{key}"


# ——— result ———


def _build_nodes(
    source: ExtractionInput, individuals: Sequence[Individual], spans: list[NodeSpan]
) -> RecognisedNodes:
    spans = sorted(spans, key=_span_order)
    places: dict[int, list[TextLocation]] = {}
    for span in spans:
        places.setdefault(span.node, []).append(TextLocation(span.passage, span.start, span.end))
    nodes = tuple(
        build_node(one, source.owner, places.get(number, ()))
        for number, one in enumerate(individuals)
    )
    return RecognisedNodes(nodes=nodes, spans=tuple(spans))


def _span_order(span: NodeSpan) -> tuple[int, int, int]:
    return span.passage, span.start, -span.end

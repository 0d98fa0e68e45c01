"""Named entities of a source: find mentions, join them into one node each, with spans.

So "sarah" in small letters, a name at a sentence's beginning, and all that machines say.
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
_SHORT_STEM = 3  # letters: with one more in front it is mostly another word
_HEBREW_HEAD_NOUNS = frozenset(("חברת", "פרויקט", "ארגון", "עמותת", "אפליקציית", "סטארטאפ"))
_SpellingIndex = dict[tuple[str, ...], int]


def find_repeated_mentions(
    individuals: Sequence[Individual],
    passages: Iterable[TokenizedPassage],
    spans: Iterable[NodeSpan],
) -> list[NodeSpan]:
    rows = _index_spellings(individuals)
    taken: dict[int, set[int]] = {}
    for span in spans:
        taken.setdefault(span.passage, set()).update(range(span.start, span.end))
    return [
        span
        for passage in passages
        for span in _spans_in_passage(passage, rows, individuals, taken.get(passage.number, set()))
    ]


def _index_spellings(individuals: Sequence[Individual]) -> _SpellingIndex:
    """Every spelling as a row of words; a row that several share stands for nobody."""
    owners: dict[tuple[str, ...], set[int]] = {}
    for number, one in enumerate(individuals):
        for spelling in _spellings(one):
            if spelling and len(spelling) <= _MAX_WORDS:
                owners.setdefault(spelling, set()).add(number)
    return {row: numbers.pop() for row, numbers in owners.items() if len(numbers) == 1}


def _spellings(one: Individual) -> Iterator[tuple[str, ...]]:
    for spelling in one.spellings:
        yield tuple(fold_name(word) for word in spelling.replace(".", " ").split())
        yield _without_head_noun(spelling)
    if one.name is not None:
        yield one.name.parts[:1]
        if one.name.is_full:
            yield one.name.parts[-1:]


def _without_head_noun(spelling: str) -> tuple[str, ...]:
    """«נטעים» of «חברת נטעים»."""
    head, _, name = spelling.partition(" ")
    return (fold_name(name),) if head in _HEBREW_HEAD_NOUNS and " " not in name else ()


def _spans_in_passage(
    passage: TokenizedPassage,
    rows: _SpellingIndex,
    individuals: Sequence[Individual],
    taken: set[int],
) -> Iterator[NodeSpan]:
    words, at = passage.words, 0
    while at < len(words):
        length, number, glued = _longest_match(words, at, rows, individuals)
        if length:
            start, end = words[at].start + glued, words[at + length - 1].end
            if not taken.intersection(range(start, end)):
                yield NodeSpan(passage.number, start, end, number)
        at += max(length, 1)


def _longest_match(
    words: Sequence[Word], at: int, rows: _SpellingIndex, individuals: Sequence[Individual]
) -> tuple[int, int, int]:
    """How many words, who, and how many letters are glued to the first: «מנטעים»."""
    row: tuple[str, ...] = ()
    found = (0, 0, 0)
    for place in range(at, min(len(words), at + _MAX_WORDS)):
        if place > at and not is_adjacent(words[place - 1], words[place]):
            break
        row = (*row, words[place].key)
        number = rows.get(row)
        if number is not None and _is_name_here(words[at : place + 1], individuals[number]):
            found = (len(row), number, 0)
    bare_key = words[at].key[1:]
    if (
        not found[0]
        and words[at].hebrew
        and words[at].key[0] in _HEBREW_PREFIX_LETTERS
        and len(bare_key) > _SHORT_STEM
    ):
        number = rows.get((bare_key,))
        if number is not None and individuals[number].kind != PERSON:
            found = (1, number, 1)
    return found


def _is_name_here(row: Sequence[Word], one: Individual) -> bool:
    """A word like others needs its capital, and so does the name of a thing."""
    if any(word.hebrew for word in row):
        return True
    capital = any(word.capital for word in row)
    if len(row) > 1:
        return capital or one.kind == PERSON
    word = row[0]
    if word.key in COMMON_WORDS or word.key in AMBIGUOUS_GIVEN_NAMES or len(word.key) < 3:
        return word.capital_signals_name
    return capital or (one.kind == PERSON and word.key in GIVEN_NAMES)


_OWNER = 0


def recognise_entities(account: ExtractionInput) -> RecognisedNodes:
    passages = {
        said.number: TokenizedPassage(said.number, said.text, split_words(said.text))
        for said in account.said
    }
    roster = _index_participants(account)
    read = [said for said in account.said if not said.by_machine and not said.suspicious]
    mentions: list[EntityMention] = []
    pairs: list[tuple[EntityMention, EntityMention]] = []
    for said in read:
        here = find_mentions(passages[said.number])
        pairs += find_appositions(said.text, here)
        mentions += here
    spans = _assign_mentions(roster, mentions, pairs, {said.number: said for said in read})
    spans += find_repeated_mentions(roster.individuals, passages.values(), spans)
    return _build_nodes(account, roster.individuals, spans)


def find_mentions(passage: TokenizedPassage) -> list[EntityMention]:
    """In the order of the text. A phrase may hold a name: "Maya's wedding"."""
    named = _without_overlaps([*find_capitalised_names(passage), *find_hebrew_names(passage)])
    named = sorted(_without_overlaps([*named, *find_lowercase_names(passage)]), key=_text_order)
    named = share_kind_in_lists(passage.text, named)
    meant = (each for each in find_nominal_mentions(passage) if not is_denied(passage.text, each))
    phrases = _phrases_around_names(meant, named)
    return sorted((*named, *phrases), key=_text_order)


def _text_order(mention: EntityMention) -> tuple[int, int]:
    return mention.start, -mention.end


def _without_overlaps(mentions: Iterable[EntityMention]) -> list[EntityMention]:
    """Those that overlap no earlier one."""
    kept: list[EntityMention] = []
    taken: set[int] = set()
    for each in mentions:
        place = range(each.start, each.end)
        if not taken.intersection(place):
            kept.append(each)
            taken.update(place)
    return kept


def _phrases_around_names(
    phrases: Iterable[EntityMention], named: Sequence[EntityMention]
) -> Iterator[EntityMention]:
    """Phrases that no name reaches into, unless it is their beginning: "Maya's wedding"."""
    starts = [each.start for each in named]
    for phrase in phrases:
        at = bisect_left(starts, phrase.start)
        if at and named[at - 1].end > phrase.start:
            continue
        inside = named[at : bisect_left(starts, phrase.end)]
        if all(each.end < phrase.end for each in inside):
            yield phrase


# ——— who is who ———


def _index_participants(account: ExtractionInput) -> IndividualIndex:
    """The owner comes first, then all whom the source lists."""
    roster, owner = IndividualIndex(account.owner.others), account.owner
    roster.new(PERSON)
    roster.individuals[_OWNER].is_owner = True
    for name in sorted(
        {owner.name, *owner.names} - {""}, key=lambda each: (each != owner.name, each)
    ):
        if "@" not in name:
            roster.call(_OWNER, name, fold_name(name), CERTAIN)
    mine = {address.casefold() for address in owner.addresses}
    names = {fold_name(name) for name in (owner.name, *owner.names)}
    roster.individuals[_OWNER].addresses = _owner_addresses(account, mine)
    for one in list_participants(account):
        if fold_name(one.name) in names or (
            one.address in mine and could_write_as(one.name, names)
        ):
            continue
        number = roster.add_person(one.name, fold_name(one.name), certain=CERTAIN)
        individual = roster.individuals[number]
        individual.addresses = tuple(dict.fromkeys((*individual.addresses, one.address)))
        individual.passages = (*individual.passages, *one.passages)
    return roster


def _owner_addresses(account: ExtractionInput, mine: Collection[str]) -> tuple[str, ...]:
    """The owner's addresses, as far as this source has them: no other one tells of them."""
    here = {parse_participant(each).address for each in account.participants}
    return tuple(sorted(here.intersection(mine)))


def _assign_mentions(
    roster: IndividualIndex,
    mentions: Sequence[EntityMention],
    pairs: Sequence[tuple[EntityMention, EntityMention]],
    said: dict[int, AttributedPassage],
) -> list[NodeSpan]:
    """Names first, then the phrases that stand for some of them."""
    votes: dict[str, list[KindVote]] = {}
    for each in mentions:
        votes.setdefault(each.key, []).extend(each.votes)
    for phrase, named in pairs:
        if phrase.votes[0].kind == PERSON and not (
            _is_a_company(phrase, votes[named.key]) or _may_be_a_company(phrase, named)
        ):
            votes[named.key].append(KindVote(PERSON, SURE, "apposition"))
    kinds = {key: _decide_kind(roster, key, each) for key, each in votes.items()}
    for each in mentions:
        if not each.phrase and roster.has_room and _is_resolved_first(each, kinds[each.key]):
            _resolve_name(roster, each, kinds[each.key])
    numbers: dict[EntityMention, int] = {}
    for each in mentions:
        if not each.phrase and roster.has_room:
            numbers[each] = _resolve_name(roster, each, kinds[each.key])
    for phrase, named in pairs:
        if named in numbers and roster.individuals[numbers[named]].kind == phrase.votes[0].kind:
            _add_apposition(roster, phrase, numbers[named], said)
            numbers[phrase] = numbers[named]
        elif named in numbers and _is_a_company(phrase, votes[named.key]):
            numbers[phrase] = numbers[named]
    for each in mentions:
        if each.phrase and each not in numbers and roster.has_room:
            number = _resolve_phrase(roster, each, kinds[each.key], said[each.passage])
            if number is not None:
                numbers[each] = number
    return [NodeSpan(m.passage, m.start, m.end, number) for m, number in numbers.items()]


def _is_a_company(phrase: EntityMention, votes: Sequence[KindVote]) -> bool:
    """ "Microsoft is my favourite client": the name says what it is, and not the phrase."""
    is_sure = any(
        vote.kind == ORGANIZATION and vote.weight >= KNOWN and vote.by in ("known", "head")
        for vote in votes
    )
    return is_sure and not phrase_words("companies_too").isdisjoint(phrase.key.split())


def _may_be_a_company(phrase: EntityMention, named: EntityMention) -> bool:
    """ "My supplier is Metro": only a name that people have says that it is a person."""
    name = parse_person_name(named.key)
    is_a_name = bool(name.title) or name.first in GIVEN_NAMES or name.first in HEBREW_GIVEN_NAMES
    return not is_a_name and not phrase_words("mostly_companies").isdisjoint(phrase.key.split())


def _decide_kind(roster: IndividualIndex, key: str, votes: Sequence[KindVote]) -> KindVote:
    """Whoever takes part is a person, whatever the words around the name say. A name with more
    words is theirs only if it is a person's: of Ana, "Ana Stein", and not "Ana Hotel"."""
    vote, number = combine_votes(votes), roster.person(key)
    one = None if number is None else roster.individuals[number]
    if one is None or one.name is None or one.weight < CERTAIN:
        return vote
    is_longer = len(key.split()) > len(one.name.parts)
    return vote if is_longer and vote.kind != PERSON else KindVote(PERSON, CERTAIN)


def _is_resolved_first(mention: EntityMention, vote: KindVote) -> bool:
    """Names that others are short for: full ones, and things of which the kind is sure."""
    if vote.kind == PERSON:
        return parse_person_name(mention.key).is_full
    return not _is_doubtful(mention, vote)


def _is_doubtful(mention: EntityMention, vote: KindVote) -> bool:
    return vote.weight < KNOWN and len(mention.key.split()) == 1


def _resolve_name(roster: IndividualIndex, mention: EntityMention, vote: KindVote) -> int:
    doubtful = _is_doubtful(mention, vote)
    if doubtful and mention.text.isupper():
        number = find_by_initials(mention.key, roster.individuals)
        if number is not None:
            roster.call(number, mention.text, roster.individuals[number].name_key, vote.weight)
            return number
    number = roster.thing(vote.kind, mention.key, doubtful)
    person = roster.person(mention.key) if doubtful or vote.kind == PERSON else None
    if person is not None or (vote.kind == PERSON and not (doubtful and number is not None)):
        return _resolve_person(roster, mention, vote)
    if number is None:
        number = roster.new(vote.kind)
    roster.add_thing_name(number, mention, vote.weight)
    return number


def _resolve_person(roster: IndividualIndex, mention: EntityMention, vote: KindVote) -> int:
    number = roster.person(mention.key)
    if number is None:
        number = roster.new(PERSON)
    roster.call(number, mention.text, mention.key, vote.weight)
    return number


def _add_apposition(
    roster: IndividualIndex, phrase: EntityMention, number: int, said: dict[int, AttributedPassage]
) -> None:
    if is_unique_role(phrase):
        here = said[phrase.passage]
        written = phrase_for_owner(phrase, here)
        roster.add_phrase(number, written, phrase.passage, _phrase_key(phrase, here))


def _resolve_phrase(
    roster: IndividualIndex, mention: EntityMention, vote: KindVote, said: AttributedPassage
) -> int | None:
    """None: nobody knows whose manager "my manager" is."""
    key, written = _phrase_key(mention, said), phrase_for_owner(mention, said)
    number = roster.phrase(key)
    if number is None and not written:
        return None
    if number is None:
        number = roster.new(vote.kind)
    roster.individuals[number].weight = max(roster.individuals[number].weight, vote.weight)
    roster.add_phrase(number, written, mention.passage, key)
    return number


def _phrase_key(mention: EntityMention, said: AttributedPassage) -> str:
    """ "my manager" is another one in another's mouth; "Mum" and "my mum" are one."""
    alone = mention.key.removeprefix("my ").removeprefix("our ")
    key = alone if alone in phrase_words("alone") else mention.key
    return f"{'' if said.by_owner else said.speaker or '?'}|{key}"


# ——— what is handed on ———


def _build_nodes(
    account: ExtractionInput, individuals: Sequence[Individual], spans: list[NodeSpan]
) -> RecognisedNodes:
    spans = sorted(spans, key=_span_order)
    places: dict[int, list[TextLocation]] = {}
    for span in spans:
        places.setdefault(span.node, []).append(TextLocation(span.passage, span.start, span.end))
    nodes = tuple(
        build_node(one, account.owner, places.get(number, ()))
        for number, one in enumerate(individuals)
    )
    return RecognisedNodes(nodes=nodes, spans=tuple(spans))


def _span_order(span: NodeSpan) -> tuple[int, int, int]:
    return span.passage, span.start, -span.end

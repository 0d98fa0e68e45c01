"""Whoever and whatever has a name in a source: one node each, and where they are spoken of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence

from commonplace.language.extracting.again import spoken_of_again
from commonplace.language.extracting.apposition import is_denied, same_as, says_who
from commonplace.language.extracting.capitals import named_by_capitals
from commonplace.language.extracting.found import ORGANIZATION, Account, Place, Said, Span, Spotted
from commonplace.language.extracting.hebrew_names import named_in_hebrew
from commonplace.language.extracting.individuals import Individual, Roster, by_letters
from commonplace.language.extracting.lists import with_lists
from commonplace.language.extracting.mention import (
    CERTAIN,
    KNOWN,
    SURE,
    Mention,
    Vote,
    elected,
)
from commonplace.language.extracting.nodes import as_node
from commonplace.language.extracting.owner_here import may_be
from commonplace.language.extracting.people import person_name
from commonplace.language.extracting.small_letters import named_in_small_letters
from commonplace.language.extracting.taking_part import as_listed, taking_part
from commonplace.language.extracting.unnamed import unnamed, words_for
from commonplace.language.extracting.vocabulary import GIVEN, HEBREW_GIVEN, PERSON
from commonplace.language.extracting.whose import as_the_reader_says
from commonplace.language.extracting.written import Passage, words_of
from commonplace.language.names import bare

_OWNER = 0


def spot(account: Account) -> Spotted:
    passages = {
        said.number: Passage(said.number, said.text, words_of(said.text)) for said in account.said
    }
    roster = _with_those_who_take_part(account)
    read = [said for said in account.said if not said.by_machine and not said.suspicious]
    mentions: list[Mention] = []
    pairs: list[tuple[Mention, Mention]] = []
    for said in read:
        here = mentions_in(passages[said.number])
        pairs += same_as(said.text, here)
        mentions += here
    spans = _assigned(roster, mentions, pairs, {said.number: said for said in read})
    spans += spoken_of_again(roster.individuals, passages.values(), spans)
    return _spotted(account, roster.individuals, spans)


def mentions_in(passage: Passage) -> list[Mention]:
    """In the order of the text. A phrase may hold a name: "Maya's wedding"."""
    named = _apart([*named_by_capitals(passage), *named_in_hebrew(passage)])
    named = sorted(_apart([*named, *named_in_small_letters(passage)]), key=_place_of)
    named = with_lists(passage.text, named)
    meant = (each for each in unnamed(passage) if not is_denied(passage.text, each))
    phrases = _around_names(meant, named)
    return sorted((*named, *phrases), key=_place_of)


def _place_of(mention: Mention) -> tuple[int, int]:
    return mention.start, -mention.end


def _apart(mentions: Iterable[Mention]) -> list[Mention]:
    """Those that overlap no earlier one."""
    kept: list[Mention] = []
    taken: set[int] = set()
    for each in mentions:
        place = range(each.start, each.end)
        if not taken.intersection(place):
            kept.append(each)
            taken.update(place)
    return kept


def _around_names(phrases: Iterable[Mention], named: Sequence[Mention]) -> Iterator[Mention]:
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


def _with_those_who_take_part(account: Account) -> Roster:
    """The owner comes first, then all whom the source lists."""
    roster, owner = Roster(account.owner.others), account.owner
    roster.new(PERSON)
    roster.individuals[_OWNER].is_owner = True
    for name in sorted(
        {owner.name, *owner.names} - {""}, key=lambda each: (each != owner.name, each)
    ):
        if "@" not in name:
            roster.call(_OWNER, name, bare(name), CERTAIN)
    mine = {address.casefold() for address in owner.addresses}
    names = {bare(name) for name in (owner.name, *owner.names)}
    roster.individuals[_OWNER].addresses = _addresses_here(account, mine)
    for one in taking_part(account):
        if bare(one.name) in names or (one.address in mine and may_be(one.name, names)):
            continue
        number = roster.add_person(one.name, bare(one.name), certain=CERTAIN)
        individual = roster.individuals[number]
        individual.addresses = tuple(dict.fromkeys((*individual.addresses, one.address)))
        individual.passages = (*individual.passages, *one.passages)
    return roster


def _addresses_here(account: Account, mine: Collection[str]) -> tuple[str, ...]:
    """The owner's addresses, as far as this source has them: no other one tells of them."""
    here = {as_listed(each).address for each in account.participants}
    return tuple(sorted(here.intersection(mine)))


def _assigned(
    roster: Roster,
    mentions: Sequence[Mention],
    pairs: Sequence[tuple[Mention, Mention]],
    said: dict[int, Said],
) -> list[Span]:
    """Names first, then the phrases that stand for some of them."""
    votes: dict[str, list[Vote]] = {}
    for each in mentions:
        votes.setdefault(each.key, []).extend(each.votes)
    for phrase, named in pairs:
        if phrase.votes[0].kind == PERSON and not (
            _is_a_company(phrase, votes[named.key]) or _may_be_a_company(phrase, named)
        ):
            votes[named.key].append(Vote(PERSON, SURE, "apposition"))
    kinds = {key: _elected(roster, key, each) for key, each in votes.items()}
    for each in mentions:
        if not each.phrase and roster.has_room and _comes_first(each, kinds[each.key]):
            _named(roster, each, kinds[each.key])
    numbers: dict[Mention, int] = {}
    for each in mentions:
        if not each.phrase and roster.has_room:
            numbers[each] = _named(roster, each, kinds[each.key])
    for phrase, named in pairs:
        if named in numbers and roster.individuals[numbers[named]].kind == phrase.votes[0].kind:
            _stands_for(roster, phrase, numbers[named], said)
            numbers[phrase] = numbers[named]
        elif named in numbers and _is_a_company(phrase, votes[named.key]):
            numbers[phrase] = numbers[named]
    for each in mentions:
        if each.phrase and each not in numbers and roster.has_room:
            number = _by_phrase(roster, each, kinds[each.key], said[each.passage])
            if number is not None:
                numbers[each] = number
    return [Span(m.passage, m.start, m.end, number) for m, number in numbers.items()]


def _is_a_company(phrase: Mention, votes: Sequence[Vote]) -> bool:
    """ "Microsoft is my favourite client": the name says what it is, and not the phrase."""
    is_sure = any(
        vote.kind == ORGANIZATION and vote.weight >= KNOWN and vote.by in ("known", "head")
        for vote in votes
    )
    return is_sure and not words_for("companies_too").isdisjoint(phrase.key.split())


def _may_be_a_company(phrase: Mention, named: Mention) -> bool:
    """ "My supplier is Metro": only a name that people have says that it is a person."""
    name = person_name(named.key)
    is_a_name = bool(name.title) or name.first in GIVEN or name.first in HEBREW_GIVEN
    return not is_a_name and not words_for("mostly_companies").isdisjoint(phrase.key.split())


def _elected(roster: Roster, key: str, votes: Sequence[Vote]) -> Vote:
    """Whoever takes part is a person, whatever the words around the name say. A name with more
    words is theirs only if it is a person's: of Ana, "Ana Stein", and not "Ana Hotel"."""
    vote, number = elected(votes), roster.person(key)
    one = None if number is None else roster.individuals[number]
    if one is None or one.name is None or one.weight < CERTAIN:
        return vote
    is_longer = len(key.split()) > len(one.name.parts)
    return vote if is_longer and vote.kind != PERSON else Vote(PERSON, CERTAIN)


def _comes_first(mention: Mention, vote: Vote) -> bool:
    """Names that others are short for: full ones, and things of which the kind is sure."""
    if vote.kind == PERSON:
        return person_name(mention.key).is_full
    return not _is_doubtful(mention, vote)


def _is_doubtful(mention: Mention, vote: Vote) -> bool:
    return vote.weight < KNOWN and len(mention.key.split()) == 1


def _named(roster: Roster, mention: Mention, vote: Vote) -> int:
    doubtful = _is_doubtful(mention, vote)
    if doubtful and mention.text.isupper():
        number = by_letters(mention.key, roster.individuals)
        if number is not None:
            roster.call(number, mention.text, roster.individuals[number].name_key, vote.weight)
            return number
    number = roster.thing(vote.kind, mention.key, doubtful)
    person = roster.person(mention.key) if doubtful or vote.kind == PERSON else None
    if person is not None or (vote.kind == PERSON and not (doubtful and number is not None)):
        return _person(roster, mention, vote)
    if number is None:
        number = roster.new(vote.kind)
    roster.call_thing(number, mention, vote.weight)
    return number


def _person(roster: Roster, mention: Mention, vote: Vote) -> int:
    number = roster.person(mention.key)
    if number is None:
        number = roster.new(PERSON)
    roster.call(number, mention.text, mention.key, vote.weight)
    return number


def _stands_for(roster: Roster, phrase: Mention, number: int, said: dict[int, Said]) -> None:
    if says_who(phrase):
        here = said[phrase.passage]
        written = as_the_reader_says(phrase, here)
        roster.call_by_phrase(number, written, phrase.passage, _phrase_key(phrase, here))


def _by_phrase(roster: Roster, mention: Mention, vote: Vote, said: Said) -> int | None:
    """None: nobody knows whose manager "my manager" is."""
    key, written = _phrase_key(mention, said), as_the_reader_says(mention, said)
    number = roster.phrase(key)
    if number is None and not written:
        return None
    if number is None:
        number = roster.new(vote.kind)
    roster.individuals[number].weight = max(roster.individuals[number].weight, vote.weight)
    roster.call_by_phrase(number, written, mention.passage, key)
    return number


def _phrase_key(mention: Mention, said: Said) -> str:
    """ "my manager" is another one in another's mouth; "Mum" and "my mum" are one."""
    alone = mention.key.removeprefix("my ").removeprefix("our ")
    key = alone if alone in words_for("alone") else mention.key
    return f"{'' if said.by_owner else said.speaker or '?'}|{key}"


# ——— what is handed on ———


def _spotted(account: Account, individuals: Sequence[Individual], spans: list[Span]) -> Spotted:
    spans = sorted(spans, key=_in_order)
    places: dict[int, list[Place]] = {}
    for span in spans:
        places.setdefault(span.node, []).append(Place(span.passage, span.start, span.end))
    nodes = tuple(
        as_node(one, account.owner, places.get(number, ()))
        for number, one in enumerate(individuals)
    )
    return Spotted(nodes=nodes, spans=tuple(spans))


def _in_order(span: Span) -> tuple[int, int, int]:
    return span.passage, span.start, -span.end

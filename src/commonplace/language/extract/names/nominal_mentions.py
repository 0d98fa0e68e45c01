"""Nominal mentions ("my manager"): found, and matched with the name of the person.

The phrase is the node's name. The owner's stay "my manager". A phrase of another speaker is named
after the speaker ("Maya's manager"); a phrase of an unknown speaker is dropped. "Dana's husband"
belongs to Dana.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from commonplace.language.extract.names.gazetteer import COMMON_WORDS, PERSON, load_name_table
from commonplace.language.extract.names.words import (
    DOUBTFUL,
    KNOWN,
    LIKELY,
    EntityMention,
    KindVote,
    TokenizedPassage,
    Word,
    build_mention,
    is_adjacent,
)
from commonplace.language.extract.patterns import unasserted_patterns
from commonplace.language.extract.sentences import HEBREW_MY_FORMS, HEBREW_POSSESSIVES
from commonplace.language.extract.values import (
    EVENT,
    GROUP,
    ORGANIZATION,
    PROJECT,
    AttributedPassage,
)
from commonplace.language.observe.hebrew import is_hebrew
from commonplace.language.text.lexicon import load_word_lists, stop_words
from commonplace.language.text.sentences import is_past

FIRST_PERSON_POSSESSIVES = frozenset(("my", "our"))
_DETERMINERS = FIRST_PERSON_POSSESSIVES | {"the"}
_OTHER_DETERMINERS = frozenset(
    ("a", "the", "your", "his", "her", "their", "every", "any", "another")
)
_VERB_ENDINGS = ("s", "ing", "ly", "ed")
_NON_MODIFIERS = stop_words("en") | frozenset(load_name_table("phrases")["no_modifiers"].split())
_MAX_MODIFIERS = 2  # words between "my" and the noun


@cache
def phrase_words(what: str) -> frozenset[str]:
    """A list of phrases.toml."""
    found = frozenset(load_name_table("phrases")[what].split())
    if what == "kin":
        return found | load_word_lists("fields/people.txt")["en role"] - phrase_words("group")
    return found


def find_nominal_mentions(passage: TokenizedPassage) -> Iterator[EntityMention]:
    words = passage.words
    at = 0
    while at < len(words):
        found = (
            _determined_phrase(passage, at)
            or _bare_kin_word(passage, at)
            or _phrase_without_article(passage, at)
        )
        if found is None:
            at += 1
            continue
        yield found
        at = next(
            (place for place in range(at, len(words)) if words[place].start >= found.end),
            len(words),
        )


def _determined_phrase(passage: TokenizedPassage, at: int) -> EntityMention | None:
    """ "my …", "our …", "the …", "Dana's …"."""
    words = passage.words
    opener = words[at]
    owned = opener.owns and opener.capital and opener.key not in COMMON_WORDS
    if opener.key not in _DETERMINERS and not owned:
        return None
    if at and words[at - 1].key == "as" and not opener.first:
        return None  # "joined as our engineer" is a description, not a mention
    place = _find_head(words, at + 1)
    if place is None:
        return None
    if _modifies_next_noun(words, place):
        return None
    determiner = "'s" if owned else opener.key
    head = words[place - 2 if words[place].key == "law" else place].key
    kind, weight = _phrase_kind(determiner, [word.key for word in words[at + 1 : place]], head)
    if kind == EVENT and weight == DOUBTFUL and _has_location(words, place + 1):
        weight = KNOWN
    if not weight:
        return None
    whole = owned or _includes_determiner(determiner, at, place)
    begin = at if whole else at + 1
    return build_mention(
        passage, begin, place + 1, (KindVote(kind, weight, "phrase"),), phrase=True
    )


def _has_location(words: Sequence[Word], at: int) -> bool:
    """ "the reunion in Tromsø"."""
    return (
        at + 1 < len(words) and words[at].key in ("in", "at") and words[at + 1].capital_signals_name
    )


def _modifies_next_noun(words: Sequence[Word], place: int) -> bool:
    """ "our pilot customer", "my wedding dress": the noun modifies the next one."""
    following = words[place + 1] if place + 1 < len(words) else None
    if following is None or words[place].key in load_name_table("phrases")["kin"].split():
        return False
    if not _is_next_noun(words[place], following):
        return False
    key = following.key
    return key not in stop_words("en") and not is_past(key) and not key.endswith(_VERB_ENDINGS)


def _includes_determiner(determiner: str, at: int, place: int) -> bool:
    """ "my manager" includes its "my", "the engineering team" leaves out the article."""
    return place == at + 1 or determiner in FIRST_PERSON_POSSESSIVES


def _bare_kin_word(passage: TokenizedPassage, at: int) -> EntityMention | None:
    """ "Mum called": used as a name, unless it is somebody else's."""
    word = passage.words[at]
    if word.key not in phrase_words("alone") or word.among_capitals:
        return None
    before = passage.words[at - 1] if at and not word.first else None
    if before is not None and (before.owns or before.key in _OTHER_DETERMINERS):
        return None
    if before is not None and not word.capital and not _is_function_word_or_verb(before.key):
        return None  # "an awesome mom"
    return build_mention(passage, at, at + 1, (KindVote(PERSON, LIKELY, "phrase"),), phrase=True)


def _is_function_word_or_verb(key: str) -> bool:
    """True for function words and verbs: they are not modifiers."""
    return key in stop_words("en") or is_past(key)


def _phrase_without_article(passage: TokenizedPassage, at: int) -> EntityMention | None:
    words = passage.words
    if words[at].key not in phrase_words("fields") or at + 1 == len(words):
        return None
    head = words[at + 1]
    if not _is_next_noun(words[at], head):
        return None
    kind, weight = _phrase_kind("", [words[at].key], head.key)
    if not weight or kind == PERSON:
        return None
    end = at + 3 if _is_compound(words, at + 1) else at + 2
    if end == at + 3:
        kind, weight = _phrase_kind("", [words[at].key], words[at + 2].key)
    return build_mention(passage, at, end, (KindVote(kind, weight, "phrase"),), phrase=True)


def _find_head(words: Sequence[Word], begin: int) -> int | None:
    """Position of the head noun of a phrase that begins here."""
    for place in range(begin, min(len(words), begin + _MAX_MODIFIERS + 1)):
        word, before = words[place], words[place - 1]
        is_separated = word.first or word.gap not in (" ", "\xa0")
        if (
            is_separated
            or (word.capital and not _is_short_acronym(word))
            or (place > begin and before.owns)
        ):
            return None
        if _is_head_noun(word.key):
            if [each.key for each in words[place + 1 : place + 3]] == ["in", "law"]:
                return place + 2
            return place + 1 if _is_compound(words, place) else place
        if word.key in _NON_MODIFIERS or is_past(word.key) or word.key.endswith("ly"):
            return None
    return None


def _is_short_acronym(word: Word) -> bool:
    """ "Q4", "YC": capitals that may precede a noun."""
    return len(word.text) < 4 and word.text.isupper()


def _is_compound(words: Sequence[Word], place: int) -> bool:
    """ "team offsite": the last noun decides the kind."""
    following = words[place + 1] if place + 1 < len(words) else None
    return (
        following is not None
        and _is_next_noun(words[place], following)
        and _is_head_noun(following.key)
    )


def _is_next_noun(one: Word, other: Word) -> bool:
    return is_adjacent(one, other) and not other.capital


@cache
def _is_head_noun(key: str) -> bool:
    lists = ("kin", "group", "project", "event", "occasion", "organization")
    return any(key in phrase_words(each) for each in lists)


def _phrase_kind(determiner: str, before: list[str], head: str) -> tuple[str, float]:
    """Kind of the phrase, and the confidence that it is worth a node."""
    is_possessed = determiner in FIRST_PERSON_POSSESSIVES or determiner == "'s"
    modified = bool([word for word in before if word not in phrase_words("overlooked")])
    if head in phrase_words("group"):
        return GROUP, _group_weight(determiner, before, head)
    if head in phrase_words("kin"):
        close = head in load_name_table("phrases")["kin"].split()
        return PERSON, LIKELY + 0.05 if determiner in FIRST_PERSON_POSSESSIVES or (
            is_possessed and close
        ) else 0.0
    if head in phrase_words("project"):
        return PROJECT, KNOWN if modified else 0.0
    if head in phrase_words("event"):
        return EVENT, KNOWN if is_possessed or modified else DOUBTFUL if determiner else 0.0
    if head in phrase_words("occasion"):
        return EVENT, DOUBTFUL if modified else 0.0
    return ORGANIZATION, DOUBTFUL if is_possessed else 0.0


def _group_weight(determiner: str, before: list[str], head: str) -> float:
    modified = bool(before)
    if head == "board" and modified and before[-1] not in phrase_words("fields"):
        return 0.0  # "my cork board"
    if determiner == "the" and not modified and head in phrase_words("vague"):
        return DOUBTFUL
    return KNOWN if determiner or modified else 0.0


_BEFORE_A_NAME = re.compile(
    r"(?: there| here| at work| now)?,? |'s (?:called|named) |'s name is "
    r"|(?: is|,) (?:named|called) | will be | was |'s "
    r"|[^.;!?]{0,60}[,;] (?:her|his) name(?:'s| is) "  # "my aunt is here, her name is Ruth"
    r"| is (?:still |now |actually )?| \(|: | קוראים ל| שמה | היא | הוא | יהיה | תהיה |, "
)
_AFTER_A_NAME = re.compile(r", | is |'s | \(|, who is | היא | הוא ")
_PHRASE_END = re.compile(r"\s*(?:$|[,.;:)!?\n—–])| (?:from|at) ")
_COPULA = re.compile(r" is |'s | היא | הוא ")
_POSSESSIVE = re.compile(r"['’]s [a-z]")
NEGATION_BEFORE = re.compile(
    r"(?:\b(?:not|never|no longer)|n['’]t)\s+(?:really |actually |truly )?$", re.IGNORECASE
)
_QUESTION_BEFORE = re.compile(r"(?:^|[.!?\n]\s*)(?:[Ii]s|[Ww]as)(?:n['’]t)?(?: [A-Z]\w*){1,3} $")
_NEGATION_WINDOW, _SENTENCE_WINDOW = 80, 300  # characters
_SENTENCE_END = re.compile(r"[.!?;:\n]\s")


def is_denied(text: str, phrase: EntityMention) -> bool:
    """ "Gil is not my friend", "is Dan my brother?": the phrase has no referent. ("I don't like my
    manager" has one.)"""
    window_start = max(0, phrase.start - _NEGATION_WINDOW)
    denied = NEGATION_BEFORE.search(text, window_start, phrase.start) or _QUESTION_BEFORE.search(
        text, window_start, phrase.start
    )
    return denied is not None


def find_appositions(
    text: str, mentions: Sequence[EntityMention]
) -> Iterator[tuple[EntityMention, EntityMention]]:
    """Pairs of a phrase and the name it refers to; mentions are in text order."""
    outermost = list(_outermost(mentions))
    starts = {each.start for each in outermost}
    for one, other in pairwise(outermost):
        if one.phrase == other.phrase or _is_alternative(text, one, other):
            continue
        between = text[one.end : other.start]
        if _COPULA.fullmatch(between) and not _is_stated(text, one.start, other.end):
            continue
        if _COPULA.fullmatch(between) and _POSSESSIVE.match(text, other.end):
            continue  # "my sister is Dana's friend"
        if one.phrase and _BEFORE_A_NAME.fullmatch(between):
            if not between.startswith(",") or _PHRASE_END.match(text, other.end):
                yield one, other
        elif other.end + 1 in starts:
            continue  # "Tom is my sister Shira's husband"
        elif other.phrase and _AFTER_A_NAME.fullmatch(between):
            listed = text[: one.start].endswith((", ", "and "))
            closed = _PHRASE_END.match(text, other.end) and not (between == ", " and listed)
            if closed or _COPULA.fullmatch(between):
                yield other, one


def _is_alternative(text: str, one: EntityMention, other: EntityMention) -> bool:
    """ "Tom or Luca is my boss": undecided."""
    return text.endswith((" or ", " או "), 0, one.start) or text.startswith(
        (" or ", " או "), other.end
    )


def _is_stated(text: str, start: int, end: int) -> bool:
    """False for "it is not true that Dan is my brother", "I wish Dan was", and questions."""
    before, after = (
        text[max(0, start - _SENTENCE_WINDOW) : start],
        text[end : end + _SENTENCE_WINDOW],
    )
    ends = _SENTENCE_END.search(after)
    is_question = after[: ends.end() if ends else None].rstrip().endswith("?")
    return not is_question and not unasserted_patterns().search(_SENTENCE_END.split(before)[-1])


def _outermost(mentions: Sequence[EntityMention]) -> Iterator[EntityMention]:
    """Mentions without the names inside phrases: of "Dana's husband Tom" the phrase and Tom."""
    reached = 0
    for each in mentions:
        if each.start >= reached:
            yield each
        reached = max(reached, each.end)


def is_unique_role(phrase: EntityMention) -> bool:
    """Whether usually one person has the role: people have many friends."""
    return phrase_words("many").isdisjoint(phrase.key.split())


_OF = "של"


def phrase_for_owner(phrase: EntityMention, passage: AttributedPassage) -> str:
    """The phrase from the owner's point of view; empty if the speaker is unknown."""
    thing = "" if passage.by_owner else _possessed_noun(phrase.text)
    if not thing:
        return phrase.text
    if passage.speaker is None or "@" in passage.speaker:
        return "" if phrase.votes[0].kind == PERSON else phrase.text
    return possessive_phrase(passage.speaker, thing)


def possessive_phrase(speaker: str, thing: str) -> str:
    return f"{thing} {_OF} {speaker}" if is_hebrew(thing) else f"{speaker}'s {thing}"


def _possessed_noun(text: str) -> str:
    """ "manager" of "my manager", «אחות» of «אחותי»; empty for "Dana's manager"."""
    words = text.split()
    if words[0].casefold() in FIRST_PERSON_POSSESSIVES:
        return " ".join(words[1:])
    if text.casefold() in phrase_words("alone"):
        return text.casefold()
    if words[-1] in HEBREW_POSSESSIVES:
        return " ".join(words[:-1])
    return HEBREW_MY_FORMS.get(text) or (text if text in phrase_words("he_kin_names") else "")

"""Who did what to whom: the same deed, told with the two in each other's place.

English and Hebrew. Only a deed with a name on both sides of its verb is read, and only what is told
in the same way in both texts is compared: a deed from the other end has another verb ("borrowed")
or another preposition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from commonplace.language.compare.frames import symmetric_words
from commonplace.language.compare.tokens import OWNER_TERM, CompareToken, CompareTokenKind
from commonplace.language.extract.names.gazetteer import HEBREW_GIVEN_NAMES
from commonplace.language.fields.names import fold_name
from commonplace.language.grounding.checks.tokens import tokens_of
from commonplace.language.grounding.relation_types import role_type
from commonplace.language.text.detect import Script, detect_script
from commonplace.language.text.lexicon import load_patterns
from commonplace.language.text.normalise import split_words
from commonplace.language.text.terms import term_of
from commonplace.model.graph.types import relationship_type

OWNER = frozenset((OWNER_TERM,))
_LANGUAGES = frozenset(("en", "he"))
_CLAUSE_ENDS = frozenset(".,;!?:\n()…–—")
_BREAKS = frozenset(("and", "clause", "if"))
_SKIPPED = frozenset(("article", "filler", "aux", "copula", "past", "future", "maybe", "pron"))
_LEADS = frozenset(("prep", "by", "of"))
_HEBREW_MARKERS = "בכלמ"
_HEBREW_ENDINGS = ("תה", "תי", "נו", "ה", "ת", "ו")
_HEBREW_VOWELS = str.maketrans("", "", "ויא")
_ADVERB = re.compile(r"\w{3,}ly")
_SPEAKER = "me"


@dataclass(frozen=True, slots=True)
class NamedEnd:
    """A name in a clause, or the owner."""

    name: frozenset[str]
    start: int  # its tokens
    end: int
    marker: str = ""  # the Hebrew letter in front of it
    has_thing: bool = False  # "Mark's …"

    def is_same(self, other: frozenset[str]) -> bool:
        return self.name <= other or other <= self.name


@dataclass(frozen=True, slots=True)
class Deed:
    """ "Mark lent Eva a drill"; "Mark's boss is Eva" has the noun as its verb."""

    actor: NamedEnd
    verb: str
    other: NamedEnd
    marker: str = ""  # the preposition before the other
    word: str = ""  # the verb, as it is written

    @property
    def is_noun_of(self) -> bool:
        return self.actor.has_thing and not (self.other.has_thing or self.marker)

    def is_turned(self, stated: Deed) -> bool:
        """Whether it is the stated deed with its ends in each other's place."""
        return (
            self._has_form_of(stated)
            and stated.actor.is_same(self.other.name)
            and stated.other.is_same(self.actor.name)
            and not stated.actor.is_same(self.actor.name)
        )

    def is_stated_by(self, stated: Deed) -> bool:
        return (
            self._has_form_of(stated)
            and stated.actor.is_same(self.actor.name)
            and stated.other.is_same(self.other.name)
        )

    def _has_form_of(self, stated: Deed) -> bool:
        return (self.verb, self.marker, self.actor.has_thing, self.other.has_thing) == (
            stated.verb,
            stated.marker,
            stated.actor.has_thing,
            stated.other.has_thing,
        )


@dataclass(frozen=True, slots=True)
class TextOfSpeaker:
    """Words, and who "I" is in them."""

    text: str
    speaker: frozenset[str] = OWNER


def name_of(name: str) -> frozenset[str]:
    return frozenset(split_words(name))


def has_swapped_actors(
    text: str,
    basis: TextOfSpeaker,
    around: Iterable[TextOfSpeaker],
    language: str,
    owner_names: Set[str] = frozenset(),
) -> bool:
    """Whether a deed of the basis is told of each other in the text. ``around``: all that was said;
    what is told there in the text's way counts for it. ``owner_names``: words of them."""
    if language not in _LANGUAGES:
        return False
    names = _names_in(text, language) | _names_in(basis.text, language)
    reader = _ClauseReader(language, names, owner_names)
    claimed = [deed for deed in reader.deeds(TextOfSpeaker(text)) if not _is_mutual(deed, language)]
    if not claimed or _tells_of_both(basis.text, language):
        return False
    if _tells_of_both(text, language) or _has_one_of("in_turn", text, language):
        return False
    stated = list(reader.deeds(basis))
    turned = [deed for deed in claimed if any(map(deed.is_turned, stated))]
    return bool(turned) and not all(
        any(reader.may_state(deed, each) for each in (basis, *around)) for deed in turned
    )


def deeds_in(
    basis: TextOfSpeaker, names: Iterable[str], language: str, owner_names: Set[str] = frozenset()
) -> list[Deed]:
    """Deeds with these names at their ends."""
    if language not in _LANGUAGES or _tells_of_both(basis.text, language):
        return []
    known = _names_in(basis.text, language).union(*map(name_of, names))
    found = _ClauseReader(language, known, owner_names).deeds(basis)
    return [deed for deed in found if not _is_mutual(deed, language)]


class _ClauseReader:
    """Reads deeds between known names, in texts of one language."""

    def __init__(self, language: str, names: Set[str], owner_names: Set[str]) -> None:
        self._language = language
        self._names = names
        self._owner_names = owner_names
        self._words = _words_of(language)

    def deeds(self, given: TextOfSpeaker) -> Iterator[Deed]:
        for clause in self._clauses(given):
            if any(token.role == "not" for token in clause):
                continue
            ends = self._ends(clause, given.speaker)
            for one, other in pairwise(ends):
                deed = self._deed(clause, one, other)
                if deed is not None:
                    yield deed

    def may_state(self, deed: Deed, given: TextOfSpeaker) -> bool:
        """Whether the deed is told, or may be meant: "she lent Mark a ladder", "lent him one"."""
        return any(map(deed.is_stated_by, self.deeds(given))) or any(
            self._may_mean(deed, clause, place, self._ends(clause, given.speaker))
            for clause in self._clauses(given)
            for place, token in enumerate(clause)
            if self._verb(token) == deed.verb
        )

    def _may_mean(
        self, deed: Deed, clause: Sequence[CompareToken], place: int, ends: Sequence[NamedEnd]
    ) -> bool:
        """Whether the verb at this place has a pronoun or nothing for one end, and for the other
        that of the deed, a pronoun or nothing."""
        before = next((each for each in reversed(ends) if each.end <= place), None)
        after = next((each for each in ends if each.start > place), None)
        is_open = before is None or _has_pronoun(clause[before.end : place])
        return is_open and (after is None or after.is_same(deed.other.name))

    def _clauses(self, given: TextOfSpeaker) -> Iterator[list[CompareToken]]:
        clause: list[CompareToken] = []
        for token in tokens_of(given.text, self._language):
            is_mark = token.kind is CompareTokenKind.MARK and token.text in _CLAUSE_ENDS
            is_break = token.role in _BREAKS and token.word not in self._names
            if is_mark or is_break:
                yield clause
                clause = []
            else:
                clause.append(token)
        yield clause

    def _ends(self, clause: Sequence[CompareToken], speaker: frozenset[str]) -> list[NamedEnd]:
        """The names of a clause; words of one name stand together."""
        found: list[NamedEnd] = []
        for place, token in enumerate(clause):
            end = self._end(token, place, speaker)
            if end is None:
                continue
            if found and self._continues(found[-1], end, token):
                first = found.pop()
                end = NamedEnd(first.name | end.name, first.start, end.end, first.marker)
            found.append(end)
        return [
            replace(each, has_thing=each.end < len(clause) and clause[each.end].role == "poss")
            for each in found
        ]

    def _continues(self, first: NamedEnd, end: NamedEnd, token: CompareToken) -> bool:
        is_someone_else = token.role == _SPEAKER or end.marker or OWNER in (first.name, end.name)
        return first.end == end.start and not is_someone_else

    def _end(self, token: CompareToken, place: int, speaker: frozenset[str]) -> NamedEnd | None:
        if token.role == _SPEAKER:
            return NamedEnd(OWNER if _is_user(token) else speaker, place, place + 1)
        word = fold_name(token.word)
        marker = ""
        if self._language == "he" and word not in self._names and word[:1] in _HEBREW_MARKERS:
            word, marker = word[1:], word[:1]
        if word not in self._names or token.kind is CompareTokenKind.NUMBER:
            return None
        name = OWNER if word in self._owner_names else frozenset((word,))
        return NamedEnd(name, place, place + 1, marker)

    def _deed(self, clause: Sequence[CompareToken], one: NamedEnd, other: NamedEnd) -> Deed | None:
        """What stands between the two, if the first one does it."""
        leading = clause[one.start - 1] if one.start else None
        if one.marker or (leading is not None and self._marker(leading)):
            return None
        between = clause[one.end + one.has_thing : other.start]
        if any(token.word in self._words["beside"] for token in between):
            return None
        markers = [marker for token in between if (marker := self._marker(token))]
        marker = other.marker or (markers[-1] if markers else "")
        content = [token for token in between if self._marker(token) or not self._is_silent(token)]
        if not content:
            is_linked = any(token.word in self._words["be"] for token in between)
            return self._noun_after(clause, one, other) if is_linked else None
        if self._marker(content[0]) or content[0].is_value:
            return None
        lead = between[: between.index(content[0])]
        has_be = any(token.word in self._words["be"] for token in lead)
        told = [token for token in content if not self._marker(token)]
        word = (told[-1] if one.has_thing else told[0]).word  # "Mark's new boss"
        verb = _stem(word, self._language)
        if not verb:
            return None
        if marker == "of" and has_be:  # "is the boss of Mark"
            return Deed(replace(other, has_thing=True), verb, one, word=word)
        if has_be and not one.has_thing and not word.endswith("ing"):
            if marker == "by":
                return Deed(other, verb, one, word=word)
            marker = f"passive {marker}"
        return Deed(one, verb, other, marker, word)

    def _noun_after(
        self, clause: Sequence[CompareToken], one: NamedEnd, other: NamedEnd
    ) -> Deed | None:
        """ "Mark is Eva's boss": Eva's boss is Mark."""
        rest = clause[other.end + 1 :]
        content = [token for token in rest if not self._is_silent(token)]
        if not other.has_thing or one.has_thing or not content:
            return None
        until = next((n for n, token in enumerate(content) if self._marker(token)), len(content))
        noun = content[until - 1] if until else content[0]
        return Deed(other, self._verb(noun), replace(one, has_thing=False), word=noun.word)

    def _marker(self, token: CompareToken) -> str:
        """A preposition; the sign of a Hebrew object is one."""
        if token.role in _LEADS or token.word in ("to", "than", "after", "על", "את"):
            return token.word
        return ""

    def _is_silent(self, token: CompareToken) -> bool:
        word = token.word
        is_adverb = word in self._words["adverbs"] or _ADVERB.fullmatch(word) is not None
        is_be = word in self._words["be"]
        return token.role in _SKIPPED or token.role in ("my", "have") or is_adverb or is_be

    def _verb(self, token: CompareToken) -> str:
        return _stem(token.word, self._language)


def _is_user(token: CompareToken) -> bool:
    """ "The user" and «המשתמש», whoever speaks."""
    return "user" in token.word or "משתמש" in token.word


def _has_pronoun(tokens: Iterable[CompareToken]) -> bool:
    return any(token.role == "pron" or token.word in ("who", "ש") for token in tokens)


def _is_mutual(deed: Deed, language: str) -> bool:
    role = role_type(deed.word)
    is_mutual_role = role is not None and relationship_type(role).is_mutual
    return is_mutual_role or deed.verb in _mutual_verbs(language)


def _tells_of_both(text: str, language: str) -> bool:
    return _has_one_of("each_other", text, language)


def _has_one_of(listed: str, text: str, language: str) -> bool:
    return not _words_of(language)[listed].isdisjoint(split_words(text))


def _names_in(text: str, language: str) -> frozenset[str]:
    if language == "he":
        words = map(fold_name, split_words(text))
        forms = {form for word in words for form in (word, word[1:])}
        return frozenset(form for form in forms if len(form) > 1 and form in HEBREW_GIVEN_NAMES)
    tokens = tokens_of(text, language)
    return frozenset(
        fold_name(token.word) for token in tokens if token.kind is CompareTokenKind.NAME
    )


@cache
def _words_of(language: str) -> dict[str, frozenset[str]]:
    """By name; missing ones are empty."""
    listed = load_patterns("grounding/checks/actors")[language]
    names = ("mutual", "each_other", "in_turn", "beside", "adverbs", "be")
    return {name: frozenset(listed.get(name, "").split()) for name in names}


@cache
def _mutual_verbs(language: str) -> frozenset[str]:
    words = _words_of(language)["mutual"] | symmetric_words(language)
    return frozenset(_stem(word, language) for word in words)


def verb_stem(verb: str) -> str:
    """As in a deed."""
    return _stem(verb, "he" if detect_script(verb) is Script.HEBREW else "en")


@cache
def _stem(word: str, language: str) -> str:
    if language == "he":
        ending = next((end for end in _HEBREW_ENDINGS if word.endswith(end)), "")
        bare = word.removesuffix(ending) if len(word) - len(ending) > 1 else word
        return bare.translate(_HEBREW_VOWELS) or bare
    word = _present_forms().get(word, word)
    return term_of(word, language) or ""


@cache
def _present_forms() -> dict[str, str]:
    listed = load_patterns("grounding/checks/actors")["en"]["past"]
    entries = (entry.split("=") for entry in listed.split())
    return {form: present for present, forms in entries for form in forms.split(",")}

"""Relationship types in questions: which ones a question asks for, and how an edge is said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from commonplace.language.text.lexicon import load_patterns
from commonplace.language.text.normalise import fold, split_words
from commonplace.language.text.terms import analyse

NounGroups = tuple[frozenset[str], ...]  # forms that mean the same are one group


@dataclass(frozen=True, slots=True)
class RelationWords:
    """The words of one relationship type, in every form that a question may have."""

    type: str
    says: str = ""  # the sentence, with {a} and {b}; empty: by a noun
    words: frozenset[str] = frozenset()
    nouns: NounGroups = ()  # what b is to a
    turned: NounGroups = ()  # what a is to b
    spelled: tuple[str, ...] = ()  # the nouns as they are written, the most specific first
    instead_of: frozenset[str] = frozenset()  # types that are not meant when this one is

    @property
    def all_words(self) -> frozenset[str]:
        return self.words.union(*self.nouns, *self.turned)


@dataclass(frozen=True, slots=True)
class AskedRelation:
    """A type that a question asks for. With a noun, one end holds that role: ``group``."""

    relation: RelationWords
    words: frozenset[str]  # of the question, by which it asks
    group: frozenset[str] = frozenset()  # the noun in all its forms; empty: asked for by a verb
    is_turned: bool = False  # a holds the role, not b

    @property
    def type(self) -> str:
        return self.relation.type

    def contradicts(self, said: Collection[str]) -> bool:
        """Whether an edge says another noun of the same type: a sister is not a brother."""
        groups = self.relation.turned if self.is_turned else self.relation.nouns
        others = (group for group in groups[:-1] if group != self.group)
        is_general = bool(groups) and self.group == groups[-1]
        return (
            bool(self.group)
            and not is_general
            and self.group.isdisjoint(said)
            and not all(group.isdisjoint(said) for group in others)
        )


def question_forms(text: str) -> frozenset[str]:
    """The words of a text, as they are written and as stems."""
    words = [word.removesuffix("'s").removesuffix("’s") for word in split_words(fold(text))]
    return frozenset(form for word in words for form in _forms(word))


def find_asked_relations(forms: Collection[str], stored: Iterable[str] = ()) -> list[AskedRelation]:
    """The types that the words of a question ask for. ``stored``: types that the graph holds; one
    that no table lists is asked for by its own words."""
    types = dict.fromkeys([*_table(), *stored])
    found = []
    for type in types:
        relation = relation_words(type)
        found += list(_asked_nouns(relation, forms)) or list(_asked_words(relation, forms))
    replaced = frozenset[str]().union(*(each.relation.instead_of for each in found))
    return [each for each in found if each.type not in replaced]


def relation_words(type: str) -> RelationWords:
    return _table().get(type) or _own_words(type)


def say_relation(type: str, a: str, b: str, said: Collection[str] = ()) -> str:
    """The sentence of an edge. ``said``: the words of its description, which may name the role."""
    relation = relation_words(type)
    if relation.says:
        return relation.says.format(a=a, b=b)
    for groups, holder, other in ((relation.nouns, b, a), (relation.turned, a, b)):
        for noun in relation.spelled:
            if noun in said and any(noun in group for group in groups):
                return f"{holder} is {_possessive(other)} {noun}"
    return f"{b} is {_possessive(a)} {_general_noun(relation)}"


def idle_forms() -> frozenset[str]:
    """Words that ask for anything about somebody: "what do you know about …"."""
    return _idle_forms()


def _possessive(name: str) -> str:
    return f"{name}'s"


def _general_noun(relation: RelationWords) -> str:
    if relation.type == "child":
        return "parent"
    if relation.type == "grandchild":
        return "grandparent"
    if relation.type == "reports-to":
        return "manager"
    return relation.type.replace("-", " ")


def _asked_nouns(relation: RelationWords, forms: Collection[str]) -> Iterable[AskedRelation]:
    for groups, is_turned in ((relation.nouns, False), (relation.turned, True)):
        for group in groups:
            if asked := group.intersection(forms):
                yield AskedRelation(relation, asked, group, is_turned)


def _asked_words(relation: RelationWords, forms: Collection[str]) -> Iterable[AskedRelation]:
    if asked := relation.words.intersection(forms):
        yield AskedRelation(relation, asked)


@cache
def _table() -> Mapping[str, RelationWords]:
    return {row["type"]: _read_row(row) for row in load_patterns("query/relations")["relation"]}


@cache
def _own_words(type: str) -> RelationWords:
    """A type outside the table: "sponsors" is a verb, "godmother" a noun."""
    parts = type.replace("_", "-").split("-")
    is_verb = len(parts) > 1 or parts[0].endswith("s")
    forms = frozenset(form for part in parts if len(part) > 2 for form in _forms(fold(part)))
    if is_verb:
        return RelationWords(type, f"{{a}} {' '.join(parts)} {{b}}", forms)
    return RelationWords(type, nouns=(forms,), spelled=(fold(type),))


@cache
def _idle_forms() -> frozenset[str]:
    words = load_patterns("query/relations")["idle"]["words"].split()
    return frozenset(form for word in words for form in _forms(fold(word)))


def _read_row(row: Mapping[str, Any]) -> RelationWords:
    nouns, turned = row.get("nouns", ()), row.get("turned", ())
    return RelationWords(
        row["type"],
        row.get("says", ""),
        _all_forms(row.get("words", "")),
        tuple(map(_all_forms, nouns)),
        tuple(map(_all_forms, turned)),
        tuple(fold(word) for group in (*nouns, *turned) for word in group.split()),
        frozenset(row.get("instead_of", ())),
    )


def _all_forms(words: str) -> frozenset[str]:
    return frozenset(form for word in words.split() for form in _forms(fold(word)))


@lru_cache(maxsize=16_384)
def _forms(word: str) -> tuple[str, ...]:
    """A word and its stem."""
    return (word, *analyse(word))

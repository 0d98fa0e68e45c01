"""The nodes that a question names. Words decide here: no model knows every name. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache

from commonplace.language.extracting.people import person_name
from commonplace.language.extracting.spot import mentions_in
from commonplace.language.extracting.written import Passage, words_of
from commonplace.language.names import MANY_NAMES, said_of, without_prefix, words_that_name
from commonplace.language.stopwords import stop_words
from commonplace.model.graph.naming import names_another
from commonplace.model.graph.words import NodeType
from commonplace.recall.explore.explanation import Match, MetBy
from commonplace.recall.explore.spelled import PART, folded
from commonplace.recall.explore.view import View

LONGEST_NAME = 8  # words


def named(view: View, query: str) -> dict[str, Match]:
    """By a whole name, or people by a part of theirs: "Dana" names Dana Levi."""
    people = frozenset(people_named(view, query))
    whole = [
        id
        for id in named_nodes(query, view)
        if id in people or view.picture.nodes[id].type is not NodeType.PERSON
    ]
    parts = people_named(view, _without(view, query, whole))
    found = dict.fromkeys(parts, PART) | dict.fromkeys(whole, 1.0)
    return {
        id: Match(by=MetBy.EXACT if worth == 1.0 else MetBy.FUZZY, asked=query, similarity=worth)
        for id, worth in found.items()
    }


def _without(view: View, query: str, whole: Sequence[str]) -> str:
    """Who asks about Dana Levi does not ask about Dana Cohen."""
    names = (name for id in whole for name in view.picture.nodes[id].names)
    used = {word for name in names for word in folded(name).split()}
    return " ".join(word for word in query.split() if not used.issuperset(folded(word).split()))


def named_nodes(query: str, view: View) -> list[str]:
    """By whole names."""
    return list(dict.fromkeys(id for _, ids in _met(query, view) for id in ids))


def surely_named(query: str, view: View) -> list[str]:
    """Those of them for whom nobody else can be meant: "Grace Miller" is not the Grace who is known
    here, be it that she is the only one."""
    said = {id: name for name, ids in _met(query, view) for id in ids}
    people = {id for id in said if view.picture.nodes[id].type is NodeType.PERSON}
    names = _written_names(query) if people else ()
    return [id for id in said if id not in people or not _is_another(said[id], names)]


def _written_names(text: str) -> list[str]:
    """The names in a text, known or not, folded and without titles."""
    found = mentions_in(Passage(0, text, words_of(text)))
    return [folded(" ".join(person_name(each.key).parts)) for each in found if not each.phrase]


def _is_another(said: str, names: Sequence[str]) -> bool:
    """Whether a name never stands alone, but always as a part of a longer one."""
    return said not in names and any(f" {said} " in f" {name} " for name in names)


def _met(query: str, view: View) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names, and whose they are: the longest first, each word in one of them. A name of small words
    alone ("It") is not taken for one."""
    words = folded(query).split()
    taken: set[int] = set()
    for length in range(min(LONGEST_NAME, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = range(start, start + length)
            said = words[start : start + length]
            if taken & set(span) or _small_words().issuperset(said):
                continue
            whole = _called(view, " ".join(said))
            if whole:
                taken |= set(span)
                yield " ".join(said), whole


@cache
def _small_words() -> frozenset[str]:
    """Of languages that share no letters: those of French are names elsewhere."""
    return stop_words("en") | stop_words("he") | stop_words("ru")


def _called(view: View, name: str) -> tuple[str, ...]:
    """In Hebrew also without its prefix, unless a small word would be left."""
    bare = without_prefix(name)
    return view.called.get(name) or (() if bare in _small_words() else view.called.get(bare, ()))


def people_named(view: View, query: str) -> list[str]:
    """By one of their names as well, or, among a few, by one that is spelt alike. What describes
    them by another's name, "Lena's husband", names them only as a whole."""
    near: Collection[str] = view.people.keys()
    if len(near) > MANY_NAMES:
        near = {
            name for word in words_that_name(query) for name in view.people_by_word.get(word, ())
        }
    said = f" {folded(query)} "
    found = [
        name
        for name in sorted(said_of(query, near))
        if not names_another(name) or f" {folded(name)} " in said
    ]
    return [id for name in found for id in view.people[name]]

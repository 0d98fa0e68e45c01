"""Other wordings of a question, as a language model gave them: few, short, plain. Pure.

They are untrusted: they are searched as texts, and can change neither filters nor scopes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from commonplace.language.query.overview import parse_overview
from commonplace.language.safety.plain_line import plain_line
from commonplace.language.text.normalise import fold

MAX_PHRASINGS = 5
MAX_PHRASING = 200  # characters; a longer one is no question


def read_phrasings(answer: object, query: str) -> tuple[str, ...]:
    """The usable wordings in the answer to the prompt `deep_query`: the self-contained one first,
    without those that repeat the query or each other."""
    if not isinstance(answer, Mapping):
        return ()
    asks_for_all = _asks_for_all(query)
    usable: dict[str, str] = {}
    for text in _texts_in(answer):
        plain = plain_line(text, MAX_PHRASING)
        if plain is not None and (asks_for_all or not _asks_for_all(plain)):
            usable.setdefault(fold(plain), plain)
    usable.pop(fold(query), None)
    return tuple(usable.values())


def _texts_in(answer: Mapping[str, object]) -> Iterator[object]:
    yield answer.get("rewrite")
    phrasings = answer.get("phrasings")
    if isinstance(phrasings, Sequence) and not isinstance(phrasings, str):
        yield from phrasings[:MAX_PHRASINGS]
    yield answer.get("step_back")


def _asks_for_all(text: str) -> bool:
    """ "What do you remember?" finds everything: nobody asked for that."""
    overview = parse_overview(text)
    return overview is not None and overview.is_of_all

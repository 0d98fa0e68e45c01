"""Names in one list are of one kind: "we use Figma and PostHog", "Sarah, Tom and Ezgi"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from commonplace.language.extracting.mention import DOUBTFUL, KNOWN, Mention, Vote, elected

_LINK = re.compile(r"(?P<last>,? (?:and|or|&|ו) ?)|, ")
_LONGEST_LINK = 6
_FROM, _TO = "from ", " to "  # "switched from Jenkins to Buildkite"
_BESIDE = 0.7  # what the others of a list are worth
_ANY = 0.4


def with_lists(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Mentions in the text's order; what is not sure takes the kind of the others in its list."""
    return [each for chain in _chains(text, mentions) for each in _alike(chain)]


def _chains(text: str, mentions: Sequence[Mention]) -> Iterator[list[Mention]]:
    """Rows of names with commas that end in "and"; names by themselves are rows of one."""
    row: list[Mention] = []
    for each in mentions:
        between = text[row[-1].end : each.start] if row else ""
        link = _LINK.fullmatch(between) if len(between) <= _LONGEST_LINK else None
        if between == _TO and text[: row[-1].start].endswith(_FROM):
            yield [row.pop(), each]
            continue
        if row and link is None:
            yield from ([one] for one in row)
            row = []
        row.append(each)
        if link is not None and link["last"]:
            yield row
            row = []
    yield from ([one] for one in row)


def _alike(chain: Sequence[Mention]) -> Iterator[Mention]:
    votes = [elected(each.votes) for each in chain]
    kinds = {vote.kind for vote in votes if vote.weight >= _BESIDE}
    for each, vote in zip(chain, votes, strict=True):
        fits = vote.weight <= DOUBTFUL or vote.kind in kinds
        if len(kinds) == 1 and fits and _ANY <= vote.weight < KNOWN and len(chain) > 1:
            kind = next(iter(kinds))
            yield replace(each, votes=(*each.votes, Vote(kind, _BESIDE, "list")))
        else:
            yield each

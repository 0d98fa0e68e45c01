"""`docs/graph-tour.md`: four sources become a graph, which is explored, traversed and queried for
the past; then one source is erased."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

from rich.console import Console

from commonplace.api import Commonplace, User
from commonplace.surfaces.cli.render import drawn
from tools.spring import AFTERWARDS, ARRIVALS, FOLDER, Calendar, live_through_it, opened

NAME = "Ana"
EXPLORED = "Who works at Brightwater?"
COLLEAGUES = (
    "MATCH (me:Person {is_owner: true})-[a]-(place:Entity)-[b]-(other:Person) "
    "WHERE a.relationship_type = 'works-at' AND b.relationship_type = 'works-at' "
    "AND NOT other.is_owner RETURN other.name AS who, place.name AS place ORDER BY who"
)
OVER = (
    "MATCH (p:Person)-[r]-(e:Entity) WHERE r.valid_to IS NOT NULL RETURN p.name AS who, "
    "r.relationship_type AS was, e.name AS what, r.valid_to AS until ORDER BY what"
)
THEN = "2026-03-12"
ERASED_TEXT = "Yael Peretz"
STANDING_TEXT = "Kestrel"
_PLACES = 9
_WIDTH = 96
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DATA = f"../tools/{FOLDER}"

_BEGINNING = f"""# A tour of the graph

Ana talks with a friend, with her sister and with Omer, and gets a letter. Extraction turns these
four sources into a graph, and on {AFTERWARDS:%-d %B %Y} the graph is queried. The output below is
that of the commands, with the default embedder and rules only: no language model, no network. Ids
are shortened. All commands are in the [reference](reference/commands.md); why assertions are stored
instead of nodes and edges is a [decision](decisions/0027-tellings.md).

## Ingest and extract
"""
_EXTRACTED = """
Usually a worker extracts new sources. Here it is done by hand (setting `extraction`) to show the
result of each. "Last Monday" and "yesterday" are relative to the day on which they were said.

## The graph

![The graph of this month](images/graph.svg)

Dashed: it has ended. Red: only the letter asserts it; it is erased at the end of this tour. The
picture is drawn from `commonplace graph --format json --past`; `--format dot` and `graphml` are for
other programs."""
_EXPLORED = """
## Explore

What is known about something, with the related people and things and the sources that mention it.
Returned items gain some salience.
"""
_WALKED = """
## Traverse by PageRank

What is connected with Omer? A random walk starts at his node, follows relationships and mentions,
and returns to the start from time to time. The places it visits most come first, with their path.
"""
_QUERIED = """
## Traverse by Cypher

Who works where Ana works? Two relationships away, in read-only openCypher.
"""
_OVER = """
What has ended? A query also sees past relationships.
"""
_NOW = """
## One node, now

Omer has a new job and lives in another city. The earlier relationships are not overwritten; they
have an end date. He and Tamar had a conflict, which ended six days later.
"""
_AS_OF = f"""
## One node, earlier

Two questions about {THEN}. What was true then, by what is known today? Omer had moved three days
before.
"""
_KNOWN_AT = """
And what was known then? Noa mentioned it only on the 16th, so he still lived in Haifa, without an
end date.
"""
_ERASED = """
## Erase a source

The letter is erased, and in the same transaction everything that only the letter asserted, as if
it had never been ingested. What other sources also assert stays, with one source fewer.
"""
_COMPARED = """
The difference between the graph before and after:
"""
_AFTER = """
The colleagues again: only the letter mentioned Idan.
"""
_VERIFIED = """
Is Yael's name still in a source, a memory, the graph or an index? And the name of the project,
which Omer mentioned himself?
"""
_ENDING = """
`forget` instead of `erase` hides the same items, and `restore` brings them back; see
[forgetting](forgetting.md).
"""


def graph_tour_page() -> str:
    calendar = Calendar()
    with opened(calendar) as book:
        page = "\n".join(_written(book, book.user(NAME.lower()), calendar))
    return _with_short_ids(page)


def _written(book: Commonplace, me: User, calendar: Calendar) -> Iterator[str]:
    yield _BEGINNING
    for arrival in ARRIVALS:
        yield f"- {arrival.at:%-d %B}: [{arrival.file}]({_DATA}/{arrival.file}): {arrival.told_of}"
    yield "\n```"
    yield f"$ commonplace profile set preferred_name {NAME}"
    yield _as_text(me.profile_set("preferred_name", NAME))
    letter = ""
    for arrival, ingested, extracted in live_through_it(me, calendar):
        date = f" --date {arrival.date}" if arrival.date else ""
        yield f'$ commonplace ingest {arrival.file} --title "{arrival.title}"{date}'
        yield _as_text(ingested)
        yield "$ commonplace extract"
        yield _as_text(extracted)
        letter = ingested.id
    yield "```"
    yield _EXTRACTED
    yield from _searched(book, me)
    yield from _looked_at(me)
    yield from _erased(me, letter)


def _searched(book: Commonplace, me: User) -> Iterator[str]:
    yield _EXPLORED
    explored = me.explore(queries=[{"query": EXPLORED}], granularity=1)
    yield from _shown(f'explore "{EXPLORED}" --granularity 1', explored)
    book.flush()  # read marks are written after the answer; the page must not depend on timing
    omer = me.node("Omer").node.id
    yield _WALKED
    walked = me.traverse(seed_nodes=[omer], top_k=_PLACES)
    yield from _shown(f"traverse {omer} --mode ppr --top-k {_PLACES}", walked)
    book.flush()
    yield _QUERIED
    yield from _cypher(me, COLLEAGUES)
    yield _OVER
    yield from _cypher(me, OVER)
    book.flush()


def _looked_at(me: User) -> Iterator[str]:
    yield _NOW
    yield from _shown("node Omer", me.node("Omer"))
    yield _AS_OF
    yield from _shown(f"node Omer --as-of {THEN}", me.node("Omer", as_of=THEN))
    yield _KNOWN_AT
    both = me.node("Omer", as_of=THEN, known_at=THEN)
    yield from _shown(f"node Omer --as-of {THEN} --known-at {THEN}", both)


def _erased(me: User, letter: str) -> Iterator[str]:
    yield _ERASED
    before = json.loads(me.graph(past=True))
    yield from _shown(f"erase {letter} --now", me.erase(letter, now=True))
    yield _COMPARED
    yield from _compared(before, json.loads(me.graph(past=True)))
    yield _AFTER
    yield from _cypher(me, COLLEAGUES)
    yield _VERIFIED
    yield "```"
    for text in (ERASED_TEXT, STANDING_TEXT):
        yield f'$ commonplace verify-forget "{text}"'
        yield _as_text(me.verify_forget(text))
    yield "```"
    yield _ENDING


def _compared(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    nodes = {node["id"]: node for node in after["nodes"]}
    edges = {edge["id"] for edge in after["edges"]}
    gone = [node["name"] for node in before["nodes"] if node["id"] not in nodes]
    fewer = [
        f"{node['name']} ({node['source_count']} → {nodes[node['id']]['source_count']})"
        for node in before["nodes"]
        if node["id"] in nodes and nodes[node["id"]]["source_count"] != node["source_count"]
    ]
    untold = [
        f"{edge['from_name']} {edge['relationship_type']} {edge['to_name']}"
        for edge in before["edges"]
        if edge["id"] not in edges
    ]
    yield "| | |\n|---|---|"
    yield f"| nodes deleted | {', '.join(gone)} |"
    yield f"| relationships deleted | {', '.join(untold)} |"
    yield f"| one source fewer | {', '.join(fewer)} |"


def _cypher(me: User, query: str) -> Iterator[str]:
    answer = me.traverse("cypher", cypher=query)
    yield from _shown(f'traverse --mode cypher --cypher "{query}"', answer)


def _shown(command: str, answer: Any) -> Iterator[str]:
    yield f"```\n$ commonplace {command}\n{_as_text(answer)}\n```"


def _as_text(answer: Any) -> str:
    console = Console(width=_WIDTH, file=io.StringIO(), record=True, highlight=False)
    console.print(drawn(answer))
    return "\n".join(line.rstrip() for line in console.export_text().splitlines())


def _with_short_ids(page: str) -> str:
    """Numbered in order of appearance: node:…1, source:…2."""
    numbers: dict[str, int] = {}
    return _UUID.sub(lambda id: f"…{numbers.setdefault(id[0], len(numbers) + 1)}", page)

"""Whatever is dealt over several scopes is ranked as if it all stood in one: statistics, spelling,
people, windows, floors and titles are those of everything that may be read."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import commonplace
from commonplace.model.access.principal import Principal, ReadableScope, Scope
from commonplace.model.filters import Filters
from commonplace.model.sources.source import ContentType, SourceType
from support.clock import Clock
from support.making import a_memory
from support.scopes import Said, ask, bring, keep

WORDS = ("kettle", "garden", "Paris", "blue", "running", "heron", "שלום", "not", "seven", "boiler")
SPEAKERS = ("Dana Levi", "Ilan", "Noa", None)
TITLES = ("Boiler plan", "Heron atlas", "Garden diary")
QUERIES = (
    "Who saw the heron in the garden?",
    "What did Dana say about the blue kettle?",
    "running in Paris in March 2026",
    "kettel",  # misspelt
    "boiler",
    "שלום",
    "zebra",
)

texts = st.lists(st.sampled_from((*WORDS, *TITLES, "?")), min_size=1, max_size=9).map(" ".join)
turns = st.builds(
    Said,
    text=texts,
    speaker=st.sampled_from(SPEAKERS),
    minute=st.integers(0, 90 * 24 * 60),
    session=st.sampled_from((None, "1", "2")),
    role=st.sampled_from((None, None, "user", "assistant")),
)
talks = st.fixed_dictionaries(
    {
        "said": st.lists(turns, min_size=1, max_size=6),
        "title": st.sampled_from(("", *TITLES)),
        "is_document": st.booleans(),
        "participants": st.sets(st.sampled_from(("Noa", "Ilan Bar")), max_size=2).map(tuple),
        "sensitivity": st.sampled_from(("normal", "normal", "normal", "high")),
        "tags": st.sets(st.sampled_from(("home", "work")), max_size=2).map(tuple),
        "scope": st.integers(0, 3),
    }
).map(lambda talk: {**talk, "scope": 0} if talk["sensitivity"] == "high" else talk)
wishes = st.fixed_dictionaries(
    {},
    optional={
        "threshold": st.sampled_from((0.0, 0.3)),
        "explain": st.just(True),
        "filters": st.sampled_from((Filters(tags=("home",)), Filters(actor_id="Ilan"))),
    },
)
EVERYTHING = 100  # hits: where a list is cut, what is as good as equal may be in or out
_examples = itertools.count(1)


@pytest.fixture(scope="module")
def shared_book(shared_url):
    book = commonplace.open(
        shared_url, embedder="hashing", clock=Clock(), worker="off", tidy_on_open=False
    )
    yield book
    book.close()


def lay_out(book, talk, scope, id):
    kind = SourceType.TEXT_IMPORT if talk["is_document"] else SourceType.CHAT
    content = ContentType.TEXT_NOTE if talk["is_document"] else ContentType.CONVERSATION
    given = {name: talk[name] for name in ("title", "participants", "sensitivity", "tags")}
    bring(book, scope, talk["said"], id=id, source_type=kind, content_type=content, **given)


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(talks, min_size=1, max_size=7), st.lists(texts, max_size=5), wishes)
def test_recall_over_several_scopes_ranks_like_one_scope(shared_book, talks, memories, wishes):
    number, wishes = next(_examples), {**wishes, "k": EVERYTHING}
    whole, own = Principal(f"whole {number}"), Principal(f"dealt {number}")
    reach = [ReadableScope(own.scope)]
    reach += [ReadableScope(Scope(f"team:{number}.{n}"), is_own=False) for n in range(1, 4)]
    for place, talk in enumerate(talks):
        id = f"source:{number:08}-0000-0000-0000-{place:012}"
        lay_out(shared_book, talk, whole.scope, id)
        lay_out(shared_book, talk, reach[talk["scope"]].scope, id)
    notes = [a_memory(text, id=f"{number}.{place}") for place, text in enumerate(memories)]
    for scope in (whole.scope, own.scope):
        keep(shared_book, scope, notes)
    for query in QUERIES:
        ours = ask(shared_book, query, *reach, principal=own, **wishes)
        theirs = ask(shared_book, query, ReadableScope(whole.scope), principal=whole, **wishes)
        assert_alike(ours.hits, theirs.hits)
        if not any(hit.outdated for hit in (*ours.hits, *theirs.hits)):
            assert ours.tokens >= theirs.tokens  # what is another's says who brought it


def assert_alike(ours, theirs):
    """A later turn comes before what it changes, if both are the caller's own: whoever shares
    something cannot outdate what others said. All else is in the order of scores. Equal scores
    stand in the order of their ids; the last digits depend on how many rows were multiplied at
    once, so that neighbours may change places where they are as good as equal."""
    assert sorted(hit.id for hit in ours) == sorted(hit.id for hit in theirs)
    scores = {hit.id: hit for hit in theirs}
    by_score = [
        sorted(hits, key=lambda hit: -hit.score) if any(hit.outdated for hit in hits) else hits
        for hits in (ours, theirs)
    ]
    for hit, other in zip(*by_score, strict=True):
        assert hit.score == pytest.approx(other.score, abs=1e-4)
        assert hit.score == pytest.approx(scores[hit.id].score, abs=1e-4)
        assert (hit.similarity is None) is (scores[hit.id].similarity is None)
        assert hit.similarity == pytest.approx(scores[hit.id].similarity, abs=1e-4)
        parts = scores[hit.id].parts
        assert hit.parts == (None if parts is None else pytest.approx(parts, abs=1e-4))

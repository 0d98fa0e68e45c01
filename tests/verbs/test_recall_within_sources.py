"""recall(sources=…): memories alone, passages alone, or the passages of some sources. Like every
filter it is applied before anything is scored."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, MissingField, NotFound

KITCHEN = "# Kitchen\n\nThe kettle was descaled in March. The kettle holds two litres."
OFFICE = "# Office\n\nThe kettle in the office is broken. Somebody ordered a new kettle."
ASKED = "what about the kettle?"


@pytest.fixture
def sources(me):
    """Two documents and a memory that all speak of kettles, by name → id."""
    me.remember("The kettle was a present from Noa", kind="fact")
    return {
        "kitchen": me.ingest(KITCHEN, external_id="kitchen", origin="notes").id,
        "office": me.ingest(OFFICE, external_id="office", origin="notes").id,
    }


def found_in(answer):
    return {hit.id.partition("#")[0] if hit.kind == "passage" else "memory" for hit in answer.hits}


def test_recall_searches_memories_and_all_sources_by_default(me, sources):
    assert found_in(me.recall(ASKED)) == {"memory", *sources.values()}


def test_recall_sources_none_and_only(me, sources):
    assert found_in(me.recall(ASKED, sources="none")) == {"memory"}
    assert found_in(me.recall(ASKED, sources="only")) == set(sources.values())
    assert found_in(me.recall(ASKED, sources=["only"])) == set(sources.values())


def test_recall_sources_accepts_ids_and_aliases(me, sources):
    office = {sources["office"]}
    assert found_in(me.recall(ASKED, sources=sources["office"])) == office
    assert found_in(me.recall(ASKED, sources="notes:office")) == office
    both = [sources["kitchen"], "notes:office"]
    assert found_in(me.recall(ASKED, sources=both)) == set(sources.values())


def test_recall_sources_filter_applies_before_ranking(me, sources):
    """The best of all is elsewhere, and k is 1: what was asked for is found all the same."""
    (hit,) = me.recall("kettle present from Noa", k=1, sources="notes:office", threshold=0).hits
    assert hit.citation.source == sources["office"]


def test_recall_many_applies_the_sources_filter_to_each_query(me, sources):
    answers = me.recall_many([ASKED, "kettle"], sources="notes:kitchen")
    assert [found_in(answer) for answer in answers] == [{sources["kitchen"]}] * 2


def test_recall_sources_filter_combines_with_kinds(me, sources):
    assert me.recall(ASKED, sources="only", kinds="fact").is_empty
    assert found_in(me.recall(ASKED, sources="none", kinds="fact")) == {"memory"}


def test_recall_refuses_unknown_or_invalid_sources(me, sources, book):
    with pytest.raises(NotFound, match="cellar"):
        me.recall(ASKED, sources="notes:cellar")
    with pytest.raises(NotFound):
        me.recall(ASKED, sources=["none", sources["office"]])
    with pytest.raises(InvalidInput, match="is a passage"):
        me.recall(ASKED, sources=f"{sources['office']}#1")
    with pytest.raises(MissingField):
        me.recall(ASKED, sources=[])
    with pytest.raises(NotFound):
        book.user("dan").recall(ASKED, sources=sources["office"])


def test_recall_refuses_a_forgotten_source(me, sources):
    me.forget("notes:office")
    with pytest.raises(NotFound):
        me.recall(ASKED, sources=sources["office"])
    assert found_in(me.recall(ASKED, sources="only")) == {sources["kitchen"]}


def test_recall_named_sensitive_source_is_visible_to_the_owner_only(me, sources):
    secret = me.ingest(KITCHEN, sensitivity="high", external_id="secret", origin="notes").id
    with pytest.raises(NotFound):
        me.agent("helper").recall(ASKED, sources=secret)
    for named in (secret, "notes:secret", [secret, sources["office"]]):
        assert secret in found_in(me.recall(ASKED, sources=named))
    for looked_at in (None, "only"):  # without its name it stays hidden from an owner not cleared
        assert secret not in found_in(me.recall(ASKED, sources=looked_at))


def test_recall_and_list_refuse_kind_passage_and_suggest_sources_only(me, sources):
    for asking in (me.recall, lambda _, kinds: me.list(kinds=kinds)):
        with pytest.raises(InvalidInput) as refused:
            asking(ASKED, kinds=["passage"])
        assert refused.value.field == "kinds"
        assert 'sources="only"' in refused.value.remedy


def test_show_and_history_accept_a_source_alias(me, sources):
    assert me.show("notes:office").source.id == sources["office"]
    assert me.history("notes:office") == me.history(sources["office"]) != []


def test_remember_refuses_a_too_long_text_and_suggests_ingest(me):
    with pytest.raises(InvalidInput) as refused:
        me.remember("long " * 7000)
    assert "ingest" in refused.value.remedy

"""A node of which one more source speaks is what it would be if all were folded anew."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commonplace.engine.graph.graph_diff import apply_fold
from commonplace.model.graph.node_fold import add_mention, fold_node
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import SourceType
from support.clock import START
from support.graph_making import a_node, a_node_telling, cited

NAMES = ("Sarah Chen", "Sarah", "SARAH", "S. Chen", "my friend Sarah", "Sally")
KINDS = ((NodeType.PERSON, ""), (NodeType.ENTITY, "group"))
NODE = a_node("somebody")


def assertions(number):
    return st.builds(
        lambda name, aliases, kind, day, **more: a_node_telling(
            NODE,
            name=name,
            key="" if more.pop("is_mention") else name.casefold().replace(".", ""),
            aliases=aliases,
            type=kind[0],
            subtype=kind[1],
            recorded_at=START + timedelta(days=40, minutes=number),
            source=cited(
                f"source:{number}",
                said_at=START + timedelta(days=day),
                source_type=more.pop("source_type"),
                sensitivity=more.pop("cited_sensitivity"),
            ),
            **more,
        ),
        name=st.sampled_from(NAMES),
        aliases=st.sampled_from(((), (), (), ("Sarah",), ("Sally", "Sarah"))),
        kind=st.sampled_from((KINDS[0], KINDS[0], KINDS[0], KINDS[1])),
        day=st.integers(0, 5),
        source_type=st.sampled_from((SourceType.EMAIL, SourceType.CHAT)),
        cited_sensitivity=st.sampled_from((Sensitivity.NORMAL,) * 4 + (Sensitivity.HIGH,)),
        addresses=st.sampled_from(((), (), ("s@a.com",), ("s@b.com",))),
        description=st.sampled_from(("", "", "", "plays the cello")),
        confidence=st.sampled_from((0.7, 0.8, 0.95)),
        stands=st.sampled_from((True, True, True, False)),
        is_mention=st.sampled_from((False, False, False, True)),
    )


def own_word(name):
    return a_node_telling(
        NODE, name=name, key=name.casefold(), source=None, recorded_at=START + timedelta(days=3)
    )


OWN = st.one_of(st.just([]), st.sampled_from(NAMES).map(lambda name: [own_word(name)]))


@st.composite
def heard(draw):
    count = draw(st.integers(1, 5))
    return [*(draw(assertions(number)) for number in range(count)), *draw(OWN)]


@given(
    told=heard(),
    more=assertions(9),
    is_owner=st.booleans(),
    taken=st.sampled_from(("", "sarah chen", "sarah")),
)
def test_add_mention_equals_a_full_fold_or_declines(told, more, is_owner, taken):
    """Though another one, who is gone now, had a name of theirs when they were last folded. A name
    that a user gave them is not left at that: they are folded again when the other one goes."""
    assume(all(each.source is not None or each.key != taken for each in told))
    folded = fold_node(told, lambda type, subtype, key: key == taken)
    before = apply_fold(NODE.evolve(is_owner=is_owner), folded)
    after = add_mention(before, more)
    assert after in (None, apply_fold(before, fold_node([*told, more])))


@pytest.mark.parametrize("is_owner", [False, True])
@pytest.mark.parametrize("name", ["Sarah Chen", "Sarah"])
def test_add_mention_updates_a_known_node_without_a_full_fold(is_owner, name):
    told = [
        a_node_telling(NODE, name=each, key=each.casefold(), source=cited(f"source:{number}"))
        for number, each in enumerate(("Sarah Chen", "Sarah", "Sarah Chen"))
    ]
    node = NODE.evolve(name="Sarah Chen", key="sarah chen") if is_owner else NODE
    before = apply_fold(node.evolve(is_owner=is_owner), fold_node(told))
    later = cited("source:9", said_at=START + timedelta(days=9))
    after = add_mention(before, a_node_telling(NODE, name=name, key=name.casefold(), source=later))
    assert after is not None
    assert (after.mentioned.source_count, after.mentioned.last_at) == (4, later.said_at)


def test_mentions_are_counted_and_say_nothing_else():
    told = a_node_telling(NODE, name="Sarah", key="sarah", source=cited("source:1"))
    mention = a_node_telling(
        NODE, name="Sarah Chen", key="", confidence=0.99, source=cited("source:2")
    )
    folded = fold_node([told, mention])
    assert folded is not None
    assert folded.mentioned.source_count == 2
    assert replace(folded, mentioned=None) == replace(fold_node([told]), mentioned=None)
    assert add_mention(apply_fold(NODE, fold_node([told])), mention) == apply_fold(NODE, folded)
    assert fold_node([mention]) is None


def test_add_mention_declines_for_a_numbered_name():
    """The other one may be gone by now."""
    told = [a_node_telling(NODE, name="Sarah", key="sarah")]
    numbered = apply_fold(NODE, fold_node(told, lambda type, subtype, key: key == "sarah"))
    assert numbered.name == "Sarah (2)"
    more = a_node_telling(NODE, name="Sarah", key="sarah", source=cited("source:9"))
    assert add_mention(numbered, more) is None


@pytest.mark.parametrize("kind", KINDS)
def test_add_mention_declines_when_the_first_choice_name_was_taken(kind):
    """Who has the first may be gone by now."""
    told = [
        a_node_telling(
            NODE,
            name=name,
            key=name.casefold(),
            type=kind[0],
            subtype=kind[1],
            source=cited(f"source:{number}"),
        )
        for number, name in enumerate(("Sarah Chen", "Sally", "Sarah Chen"))
    ]
    before = apply_fold(NODE, fold_node(told, lambda type, subtype, key: key == "sarah chen"))
    assert before.name == "Sally"
    more = replace(told[1], id="telling:9", source=cited("source:9"))
    assert add_mention(before, more) is None

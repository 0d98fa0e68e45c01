"""Several decisions of one changeset about one storyline: what any of them took is gone."""

from __future__ import annotations

from dataclasses import replace

from commonplace.model.graph.steps import PutNode, PutStory, RemoveStories
from commonplace.model.graph.story_steps import join_story_steps
from support.graph_making import (
    a_macro,
    a_node,
    a_storyline,
    changing_node,
    changing_story,
    putting_story,
    removing_node,
    removing_stories,
    story_sources,
)

LINE = a_storyline("node:mira", 0, 1, 2, 3, 5)


def losing(*days):
    left = tuple(s for s in LINE.sources if s not in story_sources(*days))
    return changing_story(LINE, sources=left, description="It tells of the rest")


def flagging(node, **flags):
    step = changing_node(node, **flags)
    return replace(step, text=None, assertions=())


def test_joined_story_steps_are_unchanged_where_each_story_changes_once():
    steps = (losing(1), putting_story(a_storyline("node:ruth")), changing_node(a_node("Ruth")))
    assert join_story_steps(steps) == steps


def test_joined_storyline_has_lost_all_sources_and_its_text():
    [joined] = join_story_steps([losing(1), losing(2, 3)])
    assert isinstance(joined, PutStory)
    assert joined.after.sources == story_sources(0, 5)
    assert (joined.after.description, joined.after.is_dirty, joined.vector) == ("", True, None)
    assert (joined.before, joined.after.version) == (LINE, LINE.version + 1)


def test_joined_storyline_without_sources_is_removed():
    [gone] = join_story_steps([losing(0, 1, 2), losing(3, 5)])
    assert isinstance(gone, RemoveStories)
    assert gone.ids == (LINE.id,)


def test_joined_story_steps_remove_a_story_once_and_change_it_no_more():
    removal = removing_stories(LINE)
    assert join_story_steps([losing(1), removal, removal]) == (removal,)


def test_joined_macro_has_the_storylines_that_all_leave_it():
    other = a_storyline("node:ruth")
    macro = a_macro("node:mira", LINE, other)
    one = changing_story(macro, storylines=(LINE.id,), total_source_count=5)
    two = changing_story(macro, total_source_count=8)
    [joined] = join_story_steps([one, two])
    assert (joined.after.storylines, joined.after.total_source_count) == ((LINE.id,), 5)
    assert (joined.after.description, joined.after.is_dirty) == ("", True)
    [gone] = join_story_steps([one, changing_story(macro, storylines=(other.id,))])
    assert gone.ids == (macro.id,)


def test_joined_flags_of_a_node_go_into_its_other_step():
    mira = a_node("Mira", has_meso=True)
    told = changing_node(mira, description="The cellist")
    [joined] = join_story_steps([told, flagging(mira, has_meso=False)])
    assert isinstance(joined, PutNode)
    assert (joined.after.description, joined.after.has_meso) == ("The cellist", False)
    flags = flagging(mira, has_meso=False)
    assert join_story_steps([flags, flags]) == (flags,)
    assert join_story_steps([flags, removing_node(mira)]) == (removing_node(mira),)

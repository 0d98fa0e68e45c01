"""The texts of dirty storylines and macros: by a language model, or by rules.

Both are written from the same summaries. A model is given only the user's own, normal ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.engine.follow_up_jobs import can_be_summarised
from commonplace.engine.graph.stories.story_summaries import macro_text_of
from commonplace.engine.graph.stories.story_texts import storyline_text
from commonplace.engine.graph.storylines import fold_anchor
from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.engine.llm.texts import DatedSummary, write_macro, write_storyline
from commonplace.engine.maintenance.sleep.model_texts import (
    RULES,
    TEXTS_AT_ONCE,
    ModelWork,
    erasures,
)
from commonplace.engine.maintenance.sleep.task import Night, NightAction
from commonplace.engine.prompt_injection import is_prompt_injection, is_suspicious_again
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import ChangesetStep
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.steps import PutNode, PutStory, RemoveStories
from commonplace.model.graph.storylines import (
    FIRST_SUMMARIES,
    REFRESH_SUMMARIES,
    STORY_CATEGORY,
    Macro,
    Story,
    Storyline,
    StorySource,
)
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import Source

BY_MODEL, BY_RULES = "written by a model", "written by rules"


@dataclass(frozen=True, slots=True)
class WrittenTexts:
    """Made before the decision. A text is used if its story is as it was then."""

    by_model: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # by ref: text, model
    vectors: Mapping[str, bytes] = field(default_factory=dict)  # by search text
    erasures: int = 0
    at_once: int | None = None  # stories of this slice; None: as many as a batch has


StoriesOf = Callable[[GraphSnapshot], Sequence[Story]]


def load_stories(night: Night) -> GraphSnapshot:
    """With the sources that the owner may read."""
    return visible_graph(night.engine, night.principal, whole=True, sources=True).snapshot


def dirty_stories(
    graph: GraphSnapshot, stories: Mapping[str, Storyline] | Mapping[str, Macro]
) -> list[Story]:
    """The longest dirty first; none of a node that is not shown."""
    dirty = [each for each in stories.values() if each.is_dirty and each.anchor in graph.nodes]
    return sorted(dirty, key=lambda each: (each.updated_at, each.id))


def write_stories(night: Night, asked: ModelWork, stories_of: StoriesOf) -> WrittenTexts:
    """The slow work: models and embedder, outside any transaction."""
    if night.dry_run:
        return WrittenTexts()
    engine = night.engine
    with engine.store.read_session():
        graph, known = load_stories(night), erasures(night)
        by_model: dict[str, tuple[str, str]] = {}
        texts: list[str] = []
        left_after = asked.left - TEXTS_AT_ONCE
        for story in stories_of(graph)[: night.actions_at_once]:
            if asked.left <= left_after:
                break
            written = _ask(night, asked, graph, story)
            if written:
                by_model[story.ref] = (written, asked.model)
            texts.append(_with_text(graph, story, by_model).search_text)
        vectors = engine.embed_passages(texts) if texts else None
    if vectors is None:
        return WrittenTexts(by_model, {}, known, len(texts) or None)
    made = {text: row.astype("<f4").tobytes() for text, row in zip(texts, vectors, strict=True)}
    return WrittenTexts(by_model, made, known, len(texts))


def renew_stories(
    night: Night, graph: GraphSnapshot, stories: Sequence[Story], written: WrittenTexts
) -> list[NightAction]:
    """The decision: one action for each."""
    by_model = written.by_model if written.erasures == erasures(night) else {}
    actions: list[NightAction] = []
    for story in stories[: written.at_once or night.actions_at_once]:
        told = _with_text(graph, story, by_model)
        after = told.evolve(is_dirty=False, updated_at=night.now, version=story.version + 1)
        why = BY_RULES if after.written_by == RULES else BY_MODEL
        vector = written.vectors.get(after.search_text)
        actions.append(NightAction(why, (PutStory(story, after, _entry(after), vector),)))
    return actions


def fold_each(
    night: Night, anchors: Iterable[tuple[str, str]], *, makes_macros: bool
) -> list[NightAction]:
    """One action for each anchor where something changes. ``anchors``: with the reasons. Two of
    them may change one macro or node: the second waits for the next batch."""
    actions: list[NightAction] = []
    changed: set[str] = set()
    for anchor, why in anchors:
        steps = fold_anchor(
            night.engine, night.scope, [anchor], night.now, promotes=True, macros=makes_macros
        )
        ids = {id for step in steps for id in _changed_by(step)}
        if not ids or not changed.isdisjoint(ids):
            continue
        changed |= ids
        stories = sum(isinstance(each, PutStory | RemoveStories) for each in steps)
        actions.append(NightAction(why, steps, items=max(1, stories)))
        if len(actions) == night.actions_at_once:
            break
    return actions


def _changed_by(step: ChangesetStep) -> Sequence[str]:
    match step:
        case RemoveStories(ids=ids):
            return ids
        case PutStory(after=after) | PutNode(after=after):
            return (after.id,)
        case _:
            return ()


def _entry(story: Story) -> Entry:
    return Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=JournalNode.WORKER,
        subject=story.id,
        category=STORY_CATEGORY,
        new_ref=story.ref,
    )


def _ask(night: Night, asked: ModelWork, graph: GraphSnapshot, story: Story) -> str | None:
    given = [each.summary for each in _given(graph, story) if each.is_own]
    if not given or not asked.may_ask or story.sensitivity is Sensitivity.HIGH:
        return None
    write = write_storyline if isinstance(story, Storyline) else write_macro
    name = graph.nodes[story.anchor].name
    safe = [each for each in given if not is_suspicious_again(night.engine, each.text)]
    if not safe or is_suspicious_again(night.engine, name):
        return None
    found = asked.count(write(night.engine, night.scope, name, safe))
    return found.text if found else None


def _with_text(
    graph: GraphSnapshot, story: Story, by_model: Mapping[str, tuple[str, str]]
) -> Story:
    text, writer = by_model.get(story.ref, ("", RULES))
    text = text or _by_rules(graph, story)
    return story.evolve(description=text, written_by=writer)


def _by_rules(graph: GraphSnapshot, story: Story) -> str:
    anchor = graph.nodes[story.anchor]
    if isinstance(story, Macro):
        return macro_text_of(anchor.id, anchor.name, _storylines_of(graph, story))
    summaries = [each.summary for each in _summaries(graph, story)]
    return storyline_text(anchor.name, anchor.aliases, summaries)


# ——— what a text is written from ———


@dataclass(frozen=True, slots=True)
class _Given:
    summary: DatedSummary
    is_own: bool  # and normal: a model may be given it


def _given(graph: GraphSnapshot, story: Story) -> list[_Given]:
    """The oldest first."""
    if isinstance(story, Storyline):
        return _summaries(graph, story)
    return [_as_summary(each) for each in _storylines_of(graph, story) if each.description]


def _storylines_of(graph: GraphSnapshot, macro: Macro) -> list[Storyline]:
    return [graph.storylines[id] for id in macro.storylines if id in graph.storylines]


def _summaries(graph: GraphSnapshot, storyline: Storyline) -> list[_Given]:
    most = FIRST_SUMMARIES if storyline.version == 1 else REFRESH_SUMMARIES
    readable = [
        (each, source)
        for each in storyline.sources
        if (source := graph.sources.get(each.id)) and source.summary
    ]
    shown, own = _first_and_newest(readable, most), Scope.of_user(storyline.user_id)
    return [
        _Given(
            DatedSummary(source.summary, source.local_time(each.said_at).date()),
            each.scope == own.key and can_be_summarised(source, own),
        )
        for each, source in shown
        if not is_prompt_injection(source)
    ]


def _first_and_newest(
    sources: Sequence[tuple[StorySource, Source]], most: int
) -> Sequence[tuple[StorySource, Source]]:
    """How it began, and what was said last."""
    return sources if len(sources) <= most else (sources[0], *sources[1 - most :])


def _as_summary(storyline: Storyline) -> _Given:
    start, end = storyline.started_at.date(), storyline.last_source_at.date()
    own = Scope.of_user(storyline.user_id).key
    is_own = all(each.scope == own for each in storyline.sources)
    is_normal = storyline.sensitivity is not Sensitivity.HIGH
    return _Given(DatedSummary(storyline.description, start, end), is_own and is_normal)

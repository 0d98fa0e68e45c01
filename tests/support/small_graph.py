"""A small graph with everything in it that a query can ask for, made without a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from commonplace.model.access.team import Team
from commonplace.model.graph.assertion import CitedSource, Note
from commonplace.model.graph.elements import Artifact, Edge, Mentioned, Node
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import GraphSnapshot, SourceMention
from commonplace.model.graph.storylines import Macro, Storyline, StorySource
from commonplace.model.graph.types import NodeType, edge_kind_between
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.sources.source import (
    ContentType,
    ContextType,
    ProcessingStatus,
    Source,
    SourceType,
)
from support.clock import START

ALICE = "alice-123"
BY_ALICE = f"user:{ALICE}"  # as the engine writes it
TEAM = "team-001"
NOW = START  # 2026-03-01 09:00 UTC
PERSON, CONCEPT, ENTITY = NodeType.PERSON, NodeType.CONCEPT, NodeType.ENTITY


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def node(id: str, type: NodeType, name: str, **more) -> Node:
    return Node(
        **{
            "id": f"node:{id}",
            "user_id": ALICE,
            "type": type,
            "name": name,
            "key": name.lower(),
            "created_by": BY_ALICE,
            "created_at": days_ago(60),
            "updated_at": days_ago(10),
            **more,
        }
    )


def edge(id: str, a: Node, b: Node, type: str, **more) -> Edge:
    since = more.pop("valid_from", days_ago(50))
    return Edge(
        **{
            "id": f"edge:{id}",
            "user_id": ALICE,
            "a": a.id,
            "b": b.id,
            "kind": edge_kind_between(a.type, b.type),
            "type": type,
            "valid_from": since,
            "recorded_at": since,
            "recorded_by": BY_ALICE,
            "created_at": since,
            "updated_at": since,
            **more,
        }
    )


def note(about: str, content: str, by: str = BY_ALICE, days: float = 5, **more) -> Note:
    return Note(
        id=f"{about}/{content}",
        about=about,
        content=content,
        added_by=by,
        date_added=days_ago(days),
        **more,
    )


def source(id: str, summary: str, days: float, **more) -> Source:
    at = days_ago(days)
    return Source(
        **{
            "id": f"source:{id}",
            "user_id": ALICE,
            "origin": "test",
            "external_id": id,
            "source_type": SourceType.MEETING,
            "content_type": ContentType.MEETING,
            "context_type": ContextType.WORK_SESSION,
            "title": f"Source {id}",
            "summary": summary,
            "participants": (ALICE,),
            "started_at": at,
            "created_at": at,
            "updated_at": at,
            "status": ProcessingStatus.EXTRACTED,
            **more,
        }
    )


ME = node("me", PERSON, "Alice", is_owner=True, confidence=1.0, ttl_policy=TtlPolicy.KEEP_FOREVER)
SARAH = node("sarah", PERSON, "Sarah", aliases=("Sar", "S. Miller"), description="A designer")
BOB = node("bob", PERSON, "Bob", confidence=0.6)
GIRL = node("girl", PERSON, "the girl from the gym")
ASYNC = node("async", CONCEPT, "async communication", created_at=days_ago(3))
REMOTE = node("remote", CONCEPT, "remote work")
GOOGLE = node(
    "google",
    ENTITY,
    "Google",
    subtype="organization",
    mentioned=Mentioned(
        source_count=2,
        promotion_score=2.0,
        first_at=days_ago(40),
        last_at=days_ago(2),
        days=(days_ago(40).date(), days_ago(2).date()),
    ),
)
CHICAGO = node("chicago", ENTITY, "Chicago office", subtype="location")
NODES = (ME, SARAH, BOB, GIRL, ASYNC, REMOTE, GOOGLE, CHICAGO)

FRIEND = edge("friend", ME, SARAH, "friend", attitude=5, proximity=5, description="Close friends")
ACCEPTED = edge(
    "accepted",
    ME,
    GOOGLE,
    "works-at",
    description="User accepted job offer",
    valid_from=datetime(2026, 1, 1, tzinfo=UTC),
    valid_to=datetime(2026, 1, 15, tzinfo=UTC),
    invalidated_at=datetime(2026, 1, 15, tzinfo=UTC),
)
DECLINED = edge(
    "declined",
    ME,
    GOOGLE,
    "declined",
    description="User declined job offer",
    valid_from=datetime(2026, 1, 15, tzinfo=UTC),
)
EDGES = (
    FRIEND,
    ACCEPTED,
    DECLINED,
    edge("colleague", SARAH, BOB, "colleague", attitude=2),
    edge("met", ME, GIRL, "acquaintance", attitude=4, proximity=2),
    edge("prefers", ME, ASYNC, "prefers", attitude=5),
    edge("part", ASYNC, REMOTE, "part-of"),
    edge("located", GOOGLE, CHICAGO, "located-at"),
    edge("bob-works", BOB, GOOGLE, "works-at"),
)

MEETING = source(
    "meeting",
    "Planning with the team",
    2,
    team_id=TEAM,
    participants=(ALICE, "bob-456"),
    keywords=("launch", "google"),
    tags=("work",),
)
MEMO = source("memo", "Thoughts on the offer", 40, source_type=SourceType.VOICE_MEMO)
THEIRS = source(
    "theirs", "Bob's memo", 1, user_id="bob-456", participants=("bob-456",), team_id="team-002"
)
CITED = CitedSource(
    scope="user:alice-123", id=MEETING.id, source_type=MEETING.source_type, said_at=days_ago(2)
)
NOTES = (
    note(SARAH.id, "Worked at Google from 2019 to 2021", "worker:extract", source=CITED),
    note(SARAH.id, "Likes 'tea', \"coffee\" and\nwalks", days=9),
    note(SARAH.id, "Is away this week", days=20, expires_at=days_ago(13)),
    note(BOB.id, "Told me about the launch", by="agent:bob"),
    note(FRIEND.id, "She helped me through a difficult time"),
)
DRAFT = Artifact(
    id="artifact:draft",
    user_id=ALICE,
    name="Answer to the offer",
    description="A draft",
    content_type="md_file",
    output="# No, thank you" + " indeed" * 200,
    source=CITED,
    created_by=BY_ALICE,
    created_at=days_ago(1),
    updated_at=days_ago(1),
)

OFFER = Storyline(
    id="storyline:offer",
    user_id=ALICE,
    anchor=GOOGLE.id,
    name="Google – storyline",
    description="Google made an offer. The team planned without it.",
    sources=(
        StorySource(days_ago(40), MEMO.id, f"user:{ALICE}"),
        StorySource(days_ago(2), MEETING.id, f"team:{TEAM}"),
    ),
    created_at=days_ago(1),
    updated_at=days_ago(1),
)
WORK = Macro(
    id="macro:work",
    user_id=ALICE,
    anchor=REMOTE.id,
    name="remote work – macro",
    storylines=(OFFER.id,),
    total_source_count=2,
    started_at=days_ago(40),
    last_event_at=days_ago(2),
    created_at=days_ago(1),
    updated_at=days_ago(1),
)


def graph_with_stories() -> GraphSnapshot:
    return small_graph(storylines={OFFER.id: OFFER}, macros={WORK.id: WORK})


def small_graph(**changes) -> GraphSnapshot:
    notes: dict[str, tuple[Note, ...]] = {}
    for each in NOTES:
        notes[each.about] = (*notes.get(each.about, ()), each)
    made = {
        "revision": 1,
        "nodes": {each.id: each for each in NODES},
        "edges": {each.id: each for each in EDGES},
        "notes": notes,
        "mentions": (
            SourceMention(MEETING.id, GOOGLE.id, days_ago(2)),
            SourceMention(MEETING.id, BOB.id, days_ago(2)),
            SourceMention(MEMO.id, GOOGLE.id, days_ago(40)),
            SourceMention(MEMO.id, ASYNC.id, days_ago(40)),
        ),
        "sources": {each.id: each for each in (MEETING, MEMO, THEIRS)},
        "artifacts": {DRAFT.id: DRAFT},
        "teams": {TEAM: Team(id=TEAM, name="Crew", created_by=ALICE, created_at=days_ago(90))},
        "marks": {
            SARAH.id: AccessStats(
                salience=0.8, touched_at=days_ago(1), access_count=12, recall_frequency=12
            )
        },
    }
    return GraphSnapshot(**{**made, **changes})

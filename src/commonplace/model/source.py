"""A source: one experience kept whole. Its passages are what recall finds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Self

from commonplace.errors import TooLong
from commonplace.model.memory import Sensitivity, State
from commonplace.model.scope import Scope
from commonplace.model.ttl_policy import TtlPolicy, episodic_end
from commonplace.model.unrated import Unrated

PREFIX = "source:"
PASSAGE = "passage"  # what a passage is called where a memory has a kind
CATEGORY = "history"  # of every passage
THREAD = "thread"  # the origin of a conversation that `observe` keeps

MAX_PARTS = 100_000  # of an original
MAX_ORIGINAL_BYTES = 40_000_000  # of one part
MAX_ALIAS_BYTES = 1800  # PostgreSQL's index takes a third of a page, the owner's name included


class SourceType(StrEnum):
    """Where it came from. Only whoever brings it again may say otherwise."""

    VOICE_MEMO = "voice-memo"
    MEETING = "meeting"
    EMAIL = "email"
    SLACK_THREAD = "slack-thread"
    TEXT_IMPORT = "text-import"
    FILE = "file"
    CHAT = "chat"


class ContentType(StrEnum):
    """What it was made into."""

    CONVERSATION = "conversation"
    EMAIL = "email"
    SLACK_THREAD = "slack-thread"
    MEETING = "meeting"
    TEXT_NOTE = "text-note"


SPOKEN = (ContentType.CONVERSATION, ContentType.MEETING, ContentType.SLACK_THREAD)  # has turns


class ContextType(StrEnum):
    """What it was for."""

    WORK_SESSION = "work-session"
    TEAM_MEETING = "team-meeting"
    PHONE_CALL = "phone-call"
    PERSONAL_REFLECTION = "personal-reflection"
    PLANNING = "planning"
    BRAINSTORMING = "brainstorming"
    EMAIL_THREAD = "email-thread"
    SLACK_DISCUSSION = "slack-discussion"


class Status(StrEnum):
    """How far it has come."""

    RAW = "raw"
    PROCESSED = "processed"
    EXTRACTED = "extracted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that was said or written, as a format gives it: cleaned, but not cut."""

    text: str
    speaker: str | None = None  # a name, as people would say it
    role: str | None = None  # in logs of assistants: user, assistant, system, tool
    at: datetime | None = None
    session: str | None = None  # which sitting of the source; None: there is only one
    label: str | None = None  # the original's own id of it, such as a message id


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a format makes of an original. Pure values: nothing here is stored yet."""

    source_type: SourceType
    content_type: ContentType
    context_type: ContextType | None = None
    turns: tuple[Turn, ...] = ()
    title: str | None = None
    participants: tuple[str, ...] = ()  # names: who spoke, who was written to
    started_at: datetime | None = None
    ended_at: datetime | None = None
    external_id: str | None = None  # the original's own name, such as a Message-ID
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A searchable piece of a source."""

    source_id: str
    number: int  # its place in the source, from 1
    turn: int  # which turn it is from; a long one has several passages
    text: str
    speaker: str | None = None
    role: str | None = None
    at: datetime  # when it was said, or else when its source began
    session: str | None = None
    label: str | None = None  # of the turn it is from
    suspicious: bool = False  # reads like instructions to an agent
    # When this store got it. It is no part of what is said: passages are equal without it.
    arrived_at: datetime | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        return f"{self.source_id}#{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Unrated):
    id: str  # source:<uuid>
    user_id: str  # who contributed it; always one of the participants
    origin: str  # with external_id: what makes importing twice add nothing
    external_id: str
    source_type: SourceType
    content_type: ContentType
    created_at: datetime
    updated_at: datetime
    context_type: ContextType | None = None
    team_id: str | None = None  # None: personal
    title: str = ""
    summary: str = ""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    thread_id: str | None = None
    sensitivity: Sensitivity = Sensitivity.NORMAL
    ttl_policy: TtlPolicy = TtlPolicy.DECAY
    status: Status = Status.RAW
    started_at: datetime | None = None
    ended_at: datetime | None = None
    processing_started_at: datetime | None = None
    processing_completed_at: datetime | None = None
    extraction_started_at: datetime | None = None
    extraction_completed_at: datetime | None = None
    state: State = State.ACTIVE
    purge_at: datetime | None = None
    passages: int = 0  # how many it has
    parts: int = 1  # of its original: each piece that was appended is one
    digest: str = ""  # of the original, to see whether it changed
    version: int = 1

    @property
    def ref(self) -> str:
        return f"{self.id}@{self.version}"

    @property
    def scope(self) -> Scope:
        """Who owns it: a team, or the user who brought it in."""
        return Scope.of_team(self.team_id) if self.team_id else Scope.of_user(self.user_id)

    @property
    def alias(self) -> str:
        """Its name in the place it came from."""
        return f"{self.origin}:{self.external_id}"

    @property
    def ends_at(self) -> datetime | None:
        """Of one that is ephemeral: so long after it came in."""
        return episodic_end(self.ttl_policy, self.created_at)

    def has_ended(self, now: datetime) -> bool:
        return self.ends_at is not None and self.ends_at <= now

    def as_it_stands(self, now: datetime) -> Self:
        """From its end on like one that was forgotten so long ago that nothing brings it back: the
        night has only not come yet."""
        if self.state is not State.ACTIVE or not self.has_ended(now):
            return self
        return self.evolve(state=State.SOFT_DELETED, purge_at=self.ends_at)

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    # ——— what the delta header asks of every item ———

    @property
    def told(self) -> str:
        name = self.title or self.alias
        return f"{name}: {self.summary}" if self.summary else name

    def is_live(self, now: datetime) -> bool:
        return self.state is State.ACTIVE and not self.has_ended(now)


def embedded_text(speaker: str | None, content_type: str, title: str, text: str) -> str:
    """Who speaks is part of what is said, and so is what a document or a letter is about."""
    about = title if content_type in _TITLED else ""
    return ": ".join(part for part in (speaker, about, text) if part)


def searched_text(content_type: str, title: str, text: str) -> str:
    """The words it is found by. A speaker is not among them: ranking knows who spoke."""
    return f"{title}\n{text}" if title and content_type in _TITLED else text


_TITLED = (ContentType.TEXT_NOTE, ContentType.EMAIL)


def checked_alias(origin: str, external_id: str) -> tuple[str, str]:
    size = len(origin.encode()) + len(external_id.encode())
    if size > MAX_ALIAS_BYTES:
        raise TooLong(
            f"origin and external_id have {size:,} bytes; the limit is {MAX_ALIAS_BYTES:,}.",
            remedy="Give the source a shorter external_id.",
            field="external_id",
        )
    return origin, external_id


def split_alias(id: str) -> tuple[str, str] | None:
    """Origin and external id, where an id has the form of a name from elsewhere: file:/path."""
    origin, colon, external_id = id.partition(":")
    if not colon or origin in _OURS:
        return None
    return _SAME_ORIGIN.get(origin, origin), external_id


_OURS = frozenset(
    {"source", "profile", "abbreviation", "node", "edge", "note", "storyline", "macro", "artifact"}
)
_SAME_ORIGIN = {"bespoke": "file"}


def digest_of(raw: bytes, before: str = "") -> str:
    """Of an original; of a further part, with the digest ``before`` it: then it is of all."""
    return sha256(before.encode() + raw).hexdigest()


def is_source_id(id: str) -> bool:
    return id.startswith(PREFIX)


def split_passage_id(id: str) -> tuple[str, int | None]:
    """The source's id, and the passage's number if it names one. What is no number of a passage
    is 0, which no passage has: a slip of the pen must never mean the whole source."""
    source, sign, number = id.partition("#")
    if not sign:
        return source, None
    return source, int(number) if _PASSAGE_NUMBER.fullmatch(number) else 0


_PASSAGE_NUMBER = re.compile(r"[1-9][0-9]{0,8}")

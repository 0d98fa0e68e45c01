"""Sources, passages and titles; conversation turns as agents submit them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Self

from commonplace.errors import TooLong
from commonplace.model.access.principal import Scope
from commonplace.model.delta import UnratedItem
from commonplace.model.memory.kinds import TtlPolicy, ephemeral_expiry
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.unicode_text import normal_form

SOURCE_PREFIX = "source:"
BLOT = "█"  # stands for each character of an erased passage
PASSAGE_KIND = "passage"  # the kind of a passage among memories
SOURCE_CATEGORY = "history"  # of every passage
THREAD_ORIGIN = "thread"  # the origin of a conversation that `observe` stores

MAX_PARTS = 100_000  # of an original
MAX_ORIGINAL_BYTES = 40_000_000  # of one part
MAX_ALIAS_BYTES = 1800  # a PostgreSQL index entry is limited to a third of a page, with the owner


class SourceType(StrEnum):
    """Where it came from. Only importing it again can change this."""

    VOICE_MEMO = "voice-memo"
    MEETING = "meeting"
    EMAIL = "email"
    SLACK_THREAD = "slack-thread"
    TEXT_IMPORT = "text-import"
    FILE = "file"
    CHAT = "chat"


class ContentType(StrEnum):
    """What it was processed into."""

    CONVERSATION = "conversation"
    EMAIL = "email"
    SLACK_THREAD = "slack-thread"
    MEETING = "meeting"
    TEXT_NOTE = "text-note"


SPOKEN_CONTENT = (
    ContentType.CONVERSATION,
    ContentType.MEETING,
    ContentType.SLACK_THREAD,
)  # has turns


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


class ProcessingStatus(StrEnum):
    """How far it is processed."""

    RAW = "raw"
    PROCESSED = "processed"
    EXTRACTED = "extracted"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTurn:
    """One utterance or piece of writing as parsed from a format: cleaned, but not split."""

    text: str
    speaker: str | None = None  # a display name
    role: str | None = None  # in assistant logs: user, assistant, system, tool
    at: datetime | None = None
    session: str | None = None  # the session within the source; None: there is only one
    label: str | None = None  # its id in the original, such as a message id

    def is_by_other(self, speaker: str | None, role: str | None) -> bool:
        return (self.speaker, self.role) != (speaker, role)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSource:
    """The parse result of an original. Nothing here is stored yet."""

    source_type: SourceType
    content_type: ContentType
    context_type: ContextType | None = None
    turns: tuple[SourceTurn, ...] = ()
    title: str | None = None
    participants: tuple[str, ...] = ()  # names of speakers and recipients
    started_at: datetime | None = None
    ended_at: datetime | None = None
    external_id: str | None = None  # its id at the origin, such as a Message-ID
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A searchable piece of a source."""

    source_id: str
    number: int  # its position in the source, from 1
    turn: int  # the turn that it is from; a long turn has several passages
    text: str
    speaker: str | None = None
    role: str | None = None
    at: datetime  # when it was said, or else the start of its source
    session: str | None = None
    label: str | None = None  # of its turn
    suspicious: bool = False  # reads like instructions to an agent
    # When this store received it. Not part of the content, so it does not affect equality.
    arrived_at: datetime | None = field(default=None, compare=False)
    # Given: it is forgotten, and restorable until then; for an erased one, when it was erased.
    purge_at: datetime | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        return f"{self.source_id}#{self.number}"

    @property
    def is_hidden(self) -> bool:
        return self.purge_at is not None

    @property
    def is_erased(self) -> bool:
        return is_blotted(self.text)


TITLE_BY = "title_by"  # in the provenance, if a language model wrote the title
UTC_OFFSET = "utc_offset"  # in the provenance: minutes, of the first turn
_MINUTES_OF_DAY = 24 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(UnratedItem):
    id: str  # source:<uuid>
    user_id: str  # who contributed it; always one of the participants
    origin: str  # with external_id: identifies it, so that a second import adds nothing
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
    status: ProcessingStatus = ProcessingStatus.RAW
    started_at: datetime | None = None
    ended_at: datetime | None = None
    processing_started_at: datetime | None = None
    processing_completed_at: datetime | None = None
    extraction_started_at: datetime | None = None
    extraction_completed_at: datetime | None = None
    state: State = State.ACTIVE
    purge_at: datetime | None = None
    passages: int = 0  # how many it has
    parts: int = 1  # of its original: each append adds one
    digest: str = ""  # of the original, to detect changes
    version: int = 1

    @property
    def ref(self) -> str:
        return f"{self.id}@{self.version}"

    def local_time(self, at: datetime) -> datetime:
        """A moment in the time zone of the conversation: there "tomorrow" begins at midnight."""
        minutes = self.provenance.get(UTC_OFFSET)
        if not isinstance(minutes, int) or abs(minutes) >= _MINUTES_OF_DAY:
            return at
        return at.astimezone(timezone(timedelta(minutes=minutes)))

    @property
    def scope(self) -> Scope:
        """The owner: a team, or the user who contributed it."""
        return Scope.of_team(self.team_id) if self.team_id else Scope.of_user(self.user_id)

    @property
    def alias(self) -> str:
        """Its id at the origin, with the origin."""
        return f"{self.origin}:{self.external_id}"

    @property
    def ends_at(self) -> datetime | None:
        """The expiry of an ephemeral source."""
        return ephemeral_expiry(self.ttl_policy, self.created_at)

    def has_ended(self, now: datetime) -> bool:
        return self.ends_at is not None and self.ends_at <= now

    def as_it_stands(self, now: datetime) -> Self:
        """An expired source as forgotten and no longer restorable, which it is once maintenance
        has run."""
        if self.state is not State.ACTIVE or not self.has_ended(now):
            return self
        return self.evolve(state=State.SOFT_DELETED, purge_at=self.ends_at)

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    # ——— DeltaItem ———

    @property
    def headline(self) -> str:
        name = self.title or self.alias
        return f"{name}: {self.summary}" if self.summary else name

    def is_live(self, now: datetime) -> bool:
        return self.state is State.ACTIVE and not self.has_ended(now)


def text_to_embed(speaker: str | None, content_type: str, title: str, text: str) -> str:
    """The text with its speaker, and with the title of a document or e-mail, for context."""
    about = title if content_type in _TITLED else ""
    return ": ".join(part for part in (speaker, about, text) if part)


def text_to_index(content_type: str, title: str, text: str) -> str:
    """The text for the lexical index. Without the speaker, which ranking handles separately."""
    return f"{title}\n{text}" if title and content_type in _TITLED else text


_TITLED = (ContentType.TEXT_NOTE, ContentType.EMAIL)


def check_alias(origin: str, external_id: str) -> tuple[str, str]:
    size = len(origin.encode()) + len(external_id.encode())
    if size > MAX_ALIAS_BYTES:
        raise TooLong(
            f"origin and external_id have {size:,} bytes; the limit is {MAX_ALIAS_BYTES:,}.",
            remedy="Give the source a shorter external_id.",
            field="external_id",
        )
    return origin, external_id


def split_alias(id: str) -> tuple[str, str] | None:
    """Origin and external id, where an id has the form of an alias: file:/path."""
    origin, colon, external_id = id.partition(":")
    if not colon or origin in _OWN_PREFIXES:
        return None
    return _SAME_ORIGIN.get(origin, origin), external_id


_OWN_PREFIXES = frozenset(
    {"source", "profile", "abbreviation", "node", "edge", "note", "storyline", "macro", "artifact"}
)
_SAME_ORIGIN = {"bespoke": "file"}


def original_digest(raw: bytes, before: str = "") -> str:
    """Of an original, or of all its parts up to ``raw``, with ``before`` the digest so far."""
    return sha256(before.encode() + raw).hexdigest()


def is_blotted(text: str) -> bool:
    """Whether these are the erased words of a passage."""
    return text.startswith(BLOT) and not text.strip(BLOT)


def is_source_id(id: str) -> bool:
    return id.startswith(SOURCE_PREFIX)


def split_passage_id(id: str) -> tuple[str, int | None]:
    """The source's id, and the passage's number if there is one. An invalid number becomes 0, which
    no passage has: a typo must never refer to the whole source."""
    source, sign, number = id.partition("#")
    if not sign:
        return source, None
    return source, int(number) if _PASSAGE_NUMBER.fullmatch(number) else 0


_PASSAGE_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


_IN_BRACKETS = re.compile(r"\s*\([^()]*\)$")
_TITLE_WORD = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*")
_JOINTS = re.compile(r"_+|(?<!\d)-+|-+(?!\d)")  # separators in file names, except within dates
MIN_TITLE_LETTERS = 4  # shorter titles are ordinary words of any text
MAX_TITLE_WORDS = 10


def file_title(name: str) -> str:
    """A title from the name of a file: meeting-notes_2026.txt → meeting notes 2026."""
    return " ".join(_JOINTS.sub(" ", PurePath(name).stem).split())


def title_key(title: str) -> str:
    """The comparison key of a title: without a suffix in brackets that distinguishes namesakes."""
    return " ".join(_title_words(_IN_BRACKETS.sub("", title)))


def find_mentioned_titles(text: str, titles: Collection[str]) -> Iterator[str]:
    """Those of the title keys that occur in the text."""
    words = _title_words(text)
    seen = set()
    for start in range(len(words)):
        for end in range(start + 1, min(start + MAX_TITLE_WORDS, len(words)) + 1):
            key = " ".join(words[start:end])
            if len(key) >= MIN_TITLE_LETTERS and key in titles and key not in seen:
                seen.add(key)
                yield key


def _title_words(text: str) -> list[str]:
    return _TITLE_WORD.findall(normal_form(text, "NFKC").casefold())


_FIRST_DAY = datetime(1970, 1, 1, tzinfo=UTC)


class SpeakerRole(StrEnum):
    """The speaker's role. Only the user's turns are evidence about the user."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTurn:
    text: str
    thread: str
    at: datetime  # when it was said, in the speaker's time zone if that is known
    is_dated: bool = False  # the caller gave ``at``: sent again, it is the same turn
    role: SpeakerRole = SpeakerRole.USER
    speaker: str | None = None  # a display name
    session: str | None = None  # the session within the thread
    run_id: str | None = None
    job_id: str | None = None


def utc_day(at: datetime) -> int:
    """The UTC day of a moment, counted from 1970."""
    return (at - _FIRST_DAY).days

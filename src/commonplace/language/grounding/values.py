"""Values of grounding: the passages that a model was given, and what is left of its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from commonplace.language.extract.values import SourceExtraction
from commonplace.model.memory.candidate import ForgetRequest, MemoryCandidate


class SpokenBy(StrEnum):
    OWNER = "owner"
    MACHINE = "machine"  # an assistant or a tool: its words are no evidence
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPassage:
    """A passage, as a model was given it."""

    number: int  # in its source, as in source:<uuid>#N
    text: str
    at: datetime  # local time of the speaker: relative dates count from it
    by: SpokenBy
    speaker: str | None = None  # if not the owner, or if named
    is_context: bool = False  # read before: nothing new is taken from it


class DropReason(StrEnum):
    MALFORMED = "malformed"  # a field is missing or has a wrong form
    NO_QUOTE = "no_quote"  # the quoted words are in no passage
    NOT_NEW = "not_new"  # it rests on context alone
    UNGROUNDED_NAME = "ungrounded_name"
    UNGROUNDED_NUMBER = "ungrounded_number"
    UNGROUNDED_VALUE = "ungrounded_value"
    UNGROUNDED_WORDS = "ungrounded_words"  # too few of its words are in the passages
    SWAPPED_NAMES = "swapped_names"  # who did it and to whom, in each other's place
    NUMBER_OF_ANOTHER = "number_of_another"  # the passages say it of something else
    NOT_STATED = "not_stated"  # its words are a question, a supposition or somebody else's order
    NEGATED = "negated"  # the same words with the opposite sense
    NOT_THE_OWNER = "not_the_owner"  # rules and claims about the owner need the owner's words
    SUSPICIOUS = "suspicious"
    SECRET = "secret"


@dataclass(frozen=True, slots=True)
class GroundedMemory:
    passage: int
    candidate: MemoryCandidate
    corrects: str = ""  # what is not true any more, in words; empty: nothing
    known: tuple[str, ...] = ()  # the keys of the known statements that it corrects
    ended: bool = False  # it says that something is over

    def as_candidate(self, ids: Mapping[str, str] = MappingProxyType({})) -> MemoryCandidate:
        """With what it corrects. ``ids``: of the known statements, by key."""
        replaces = tuple(ids[key] for key in self.known if key in ids)
        return replace(self.candidate, corrects=self.corrects, replaces=replaces)


@dataclass(frozen=True, slots=True)
class GroundedFindings:
    memories: tuple[GroundedMemory, ...] = ()
    graph: SourceExtraction = field(default_factory=SourceExtraction)  # nodes, edges, notes
    forget: tuple[ForgetRequest, ...] = ()
    dropped: Mapping[DropReason, int] = field(default_factory=Counter)

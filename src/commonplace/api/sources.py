"""Source verbs: ingest, list, share, extract, artifacts; reads originals from disk."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from commonplace.api.handle import (
    MAX_K,
    Moment,
    Texts,
    UserHandle,
    as_list,
    named_arguments,
    optional_word,
    read_choices,
    read_cursor,
    read_thread,
    refuse_forgotten_in_past,
)
from commonplace.errors import InvalidInput, TooLong
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.access.principal import Principal, ReadableScope
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.sources.source import (
    MAX_ORIGINAL_BYTES,
    ContextType,
    ProcessingStatus,
    SourceType,
)
from commonplace.store.queries import SourceListing

with lazy_imports(__name__):
    from commonplace.engine.graph.artifacts import (
        ArtifactPage,
        Produced,
        ShownArtifact,
        create_artifact,
        list_artifacts,
        show_artifact,
    )
    from commonplace.engine.graph.extraction.extract import (
        Extracted,
        extract_sources,
    )
    from commonplace.engine.maintenance.jobs import bind_job_kinds
    from commonplace.engine.maintenance.worker import Worker
    from commonplace.engine.reading.on_request import (
        extract_and_read,
        show_pending_prompts,
        show_prompts_of,
    )
    from commonplace.engine.sources.formats import input as original_input
    from commonplace.engine.sources.listing import SourcePage, list_sources, resolve_source_id
    from commonplace.engine.sources.originals import IngestRequest
    from commonplace.engine.sources.receive import Ingested, ingest
    from commonplace.engine.teams.members import require_member
    from commonplace.engine.teams.shares import (
        Invitation,
        Shared,
        answer_invitation,
        invite_participants,
        list_invitations,
        share_source,
        unshare_source,
    )

MAX_EXTERNAL_ID = 1000
_MAX_PATH = 4096
_FILE_SUFFIXES = frozenset(
    [".txt", ".md", ".markdown", ".eml", ".jsonl", ".ndjson", ".json", ".vtt", ".srt", ".html"]
)


def read_original(given: Mapping[str, Any]) -> IngestRequest:
    raw, name = load_original(given["original"])
    words = {name: given[name] for name in ("format", "title", "origin") if given[name] is not None}
    external_id = given["external_id"]
    return IngestRequest(
        raw=raw,
        name=name,
        append=validation.flag(given["append"], "append"),
        date=None if given["date"] is None else validation.when(given["date"], "date"),
        external_id=None
        if external_id is None
        else validation.text(external_id, "external_id", MAX_EXTERNAL_ID),
        source_type=_read_choice(given, "source_type", SourceType),
        context_type=_read_choice(given, "context_type", ContextType),
        sensitivity=_read_choice(given, "sensitivity", Sensitivity, {"sensitive": "high"}),
        ttl_policy=_read_choice(given, "ttl_policy", TtlPolicy),
        participants=_read_words(given, "participants"),
        tags=_read_words(given, "tags"),
        metadata={} if given["metadata"] is None else validation.metadata(given["metadata"]),
        thread_id=None if given["thread"] is None else validation.word(given["thread"], "thread"),
        **{
            name: validation.text(value, name, validation.MAX_SENTENCE)
            for name, value in words.items()
        },
    )


def _read_choice(given: Mapping[str, Any], name: str, of: Any, aliases: Any = None) -> Any:
    value = given[name]
    return None if value is None else validation.choice(value, name, of, aliases or {})


def _read_words(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return () if given[name] is None else validation.words(given[name], name)


def load_original(original: object) -> tuple[bytes, str | None]:
    """The bytes, and the file name if they are from a file."""
    match original:
        case bytes():
            return _check_length(original), None
        case Path():
            return _read_file(original), str(original.absolute())
        case str() if _is_file_path(original):
            return _read_file(Path(original)), str(Path(original).absolute())
        case str():
            validation.text(original, "original", original_input.MAX_CHARACTERS)
            return original.encode("utf-8"), None
        case _:
            raise InvalidInput(
                f"original must be a path, text or bytes, not {type(original).__name__}.",
                field="original",
            )


def _is_file_path(text: str) -> bool:
    """True for the path of an existing file; a text that looks like a missing one is an error."""
    if "\n" in text or "\0" in text or not 0 < len(text) <= _MAX_PATH:
        return False
    try:
        if os.path.exists(text):
            return True
    except (OSError, ValueError):
        return False
    looks_like_path = " " not in text.strip() and Path(text).suffix.lower() in _FILE_SUFFIXES
    if looks_like_path:
        raise InvalidInput(
            f"There is no file {text!r}.",
            remedy="Check the path; to store this text itself, use remember.",
            field="original",
        )
    return False


def _read_file(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise InvalidInput(
                f"{path} is a folder.", remedy="Give its files one by one.", field="original"
            )
        if path.stat().st_size > MAX_ORIGINAL_BYTES:
            raise _too_long_error()
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", field="original") from error


def _check_length(raw: bytes) -> bytes:
    if len(raw) > MAX_ORIGINAL_BYTES:
        raise _too_long_error()
    return raw


def _too_long_error() -> TooLong:
    return TooLong(
        f"The source is too long: the limit is {original_input.MAX_CHARACTERS:,} characters.",
        remedy="Split it into several sources.",
        field="original",
    )


class SourceVerbs(UserHandle):
    def ingest(
        self,
        original: str | bytes | Path,
        *,
        format: str | None = None,
        title: str | None = None,
        date: Moment | None = None,
        external_id: str | None = None,
        origin: str | None = None,
        append: bool = False,
        source_type: str | None = None,
        context_type: str | None = None,
        participants: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        sensitivity: str | None = None,
        ttl_policy: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        thread: str | None = None,
        team: str | None = None,
        wait: bool = True,
    ) -> Ingested:
        """Ingest a source: chat, email, meeting, file or text.

        The original is stored whole and its passages become searchable. Give a file path or the
        content. The same content again changes nothing; with append, a part is added to the source
        with that external_id. With team: all members of the team can read it. Participants who are
        users are invited to read it."""
        taken = read_original(named_arguments(locals(), without=("wait", "team")))
        see_through = Worker(self._engine, bind_job_kinds(self._engine)).see_through
        waits = validation.flag(wait, "wait")
        acting = self._in_team(team)
        done = ingest(
            self._engine, self._request.acting_as(acting), taken, see_through if waits else None
        )
        return invite_participants(
            self._engine, self._request.acting_as(acting), done, taken.participants
        )

    def _in_team(self, team: str | None) -> Principal:
        team_name = optional_word(team, "team")
        if team_name is None:
            return self.principal
        one = require_member(self._engine, self.principal, team_name)
        return self.principal.in_team(one.team_id, one.manages)

    def sources(
        self,
        *,
        source_types: Texts | None = None,
        status: Texts | None = None,
        tags: Texts | None = None,
        thread: str | None = None,
        origin: str | None = None,
        said_after: Moment | None = None,
        said_before: Moment | None = None,
        limit: int = 50,
        after: str | None = None,
        forgotten: bool = False,
        team: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> SourcePage:
        """List sources, newest first.

        Your own, your teams' and those shared with you. team: only that team's; `none`: only your
        own. forgotten: those that can be restored. as_of: what was said by then. known_at: what was
        known then."""
        refuse_forgotten_in_past(forgotten, as_of, known_at)
        only_forgotten = validation.flag(forgotten, "forgotten")
        listing = SourceListing(
            states=(State.SOFT_DELETED,) if only_forgotten else (State.ACTIVE,),
            restorable_at=self._engine.clock() if only_forgotten else None,
            types=tuple(
                str(each) for each in read_choices(source_types, "source_types", SourceType)
            ),
            statuses=tuple(str(each) for each in read_choices(status, "status", ProcessingStatus)),
            tags=() if tags is None else validation.words(as_list(tags), "tags"),
            thread_id=read_thread(thread),
            origin=None if origin is None else validation.word(origin, "origin"),
            said_after=None if said_after is None else validation.when(said_after, "said_after"),
            said_before=None
            if said_before is None
            else validation.when(said_before, "said_before"),
            limit=validation.integer(limit, "limit", 1, MAX_K) + 1,
        )
        engine, last = self._engine_at(as_of, known_at), read_cursor(after)
        readings = self._readings(team or ("none" if only_forgotten else None))
        if only_forgotten and team is not None and not self._in_team(team).manages:
            listing = replace(listing, brought_by=self.principal.user_id)
        return list_sources(engine, self.principal, listing, last, readings)

    def sources_share(self, id: str, with_user: str) -> Shared:
        """Invite another user of this store to read one source.

        Once they have accepted, they can read all of this source and nothing else. The answer does
        not reveal whether a user has this name."""
        self._require_owner("share a source")
        return share_source(
            self._engine,
            self._request,
            self._source_id(id),
            validation.word(with_user, "with_user"),
        )

    def sources_unshare(self, id: str, *, with_user: str | None = None) -> Shared:
        """Stop sharing a source with a user.

        Without a user: give up a source that was shared with you; you get no further invitations
        from its owner."""
        self._require_owner("unshare a source")
        guest = optional_word(with_user, "with_user")
        return unshare_source(self._engine, self._request, self._source_id(id), guest)

    def sources_invitations(
        self, *, limit: int = 50, after: str | None = None
    ) -> Sequence[Invitation]:
        """List sources that others offer to you, oldest first.

        They are not part of your memory until you accept them."""
        most = validation.integer(limit, "limit", 1, MAX_K)
        return list_invitations(self._engine, self.principal, most, read_cursor(after))

    def sources_accept(self, id: str) -> Invitation:
        """Accept a source that another user offers to you.

        From then on you can read it and find it by recall, marked with its author. Owner only."""
        return self._answer_invitation(id, accepts=True)

    def sources_decline(self, id: str) -> Invitation:
        """Decline a source that another user offers to you.

        It is not offered again, and its owner is not informed. Also gives up an accepted one. Owner
        only."""
        return self._answer_invitation(id, accepts=False)

    def _answer_invitation(self, id: str, *, accepts: bool) -> Invitation:
        self._require_owner("answer an invitation")
        self._refuse_team_keys("answer invitations")
        return answer_invitation(self._engine, self._request, self._source_id(id), accepts=accepts)

    def _source_id(self, id: str) -> str:
        source_id = validation.id(id)
        return resolve_source_id(self._engine, self.principal, source_id) or source_id

    def _readings(self, team: str | None) -> tuple[ReadableScope, ...] | None:
        """One team's scope, only the caller's own, or None for all readable scopes."""
        match optional_word(team, "team"):
            case None:
                return None
            case "none":
                return (ReadableScope(self.principal.own_scope),)
            case team_name:
                scope = require_member(self._engine, self.principal, team_name).team_scope
                return (ReadableScope(scope, is_own=False),)


MAX_OUTPUT = 1_000_000  # characters
MAX_EXTRACTED = 10_000  # sources a run


class ExtractionVerbs(UserHandle):
    def extract(
        self, ids: Texts | None = None, *, at_most: int = 500, show_prompt: bool = False
    ) -> Extracted:
        """Extract nodes, relationships and memories from sources.

        Without ids: sources that are not extracted yet, your own and your teams'; at most 500 email
        threads and 200 file passages per run. With ids: re-extract these sources; items you erased
        manually are created again. A configured language model reads them afterwards; without ids
        also what it has not read yet. show_prompt: a dry run that shows what it would be sent, and
        sends and changes nothing."""
        self._require_owner("extract sources")
        most = validation.integer(at_most, "at_most", 1, MAX_EXTRACTED)
        source_ids = None if ids is None else validation.ids(ids)
        if validation.flag(show_prompt, "show_prompt"):
            return self._show_prompts(source_ids, most)
        if source_ids is not None:
            return extract_sources(self._engine, self._request, source_ids)
        return extract_and_read(self._engine, self._request, most)

    def _show_prompts(self, ids: Sequence[str] | None, most: int) -> Extracted:
        if ids is None:
            return show_pending_prompts(self._engine, self.principal, most)
        return show_prompts_of(self._engine, self.principal, ids, most)

    def artifacts(self, *, limit: int = 50, after: str | None = None) -> ArtifactPage:
        """List artifacts that agents made, newest first.

        Drafts, files and actions."""
        return list_artifacts(
            self._engine,
            self.principal,
            validation.integer(limit, "limit", 1, MAX_K),
            None if after is None else validation.id(after, "after"),
        )

    def artifact(self, id: str) -> ShownArtifact:
        """Show one artifact and its related nodes."""
        return show_artifact(self._engine, self.principal, validation.id(id))

    def artifacts_create(
        self,
        name: str,
        output: Any,
        *,
        content_type: str = "md_file",
        description: str | None = None,
        source: str | None = None,
        sensitivity: str = "normal",
        ttl_policy: str = "decay",
    ) -> Produced:
        """Store an artifact: a draft, a file or an action.

        source: the conversation that produced it."""
        return create_artifact(
            self._engine,
            self._request,
            validation.word(name, "name"),
            validation.word(content_type, "content_type"),
            validation.json_value(output, "output", MAX_OUTPUT),
            description="" if description is None else validation.text(description, "description"),
            source=None if source is None else validation.id(source, "source"),
            sensitivity=validation.choice(
                sensitivity, "sensitivity", Sensitivity, {"sensitive": "high"}
            ),
            ttl_policy=validation.choice(ttl_policy, "ttl_policy", TtlPolicy, {}),
        )

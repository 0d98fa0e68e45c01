"""Sources into knowledge, by hand; and what agents made for the user."""

from __future__ import annotations

from typing import Any

from commonplace.book.extracting import Extracted, extract_all_of, extract_these
from commonplace.book.verbs.handle import MAX_K, Handle, Texts
from commonplace.graph.artifacts import (
    ArtifactPage,
    Produced,
    ShownArtifact,
    create_artifact,
    list_artifacts,
    show_artifact,
)
from commonplace.model import check
from commonplace.model.memory import Sensitivity
from commonplace.model.ttl_policy import TtlPolicy

LONGEST_OUTPUT = 1_000_000  # characters
MAX_EXTRACTED = 10_000  # sources a run


class Extracting(Handle):
    def extract(self, ids: Texts | None = None, *, at_most: int = 500) -> Extracted:
        """Extract nodes, relationships and memories from sources.

        Without ids: sources that are not extracted yet, your own and your teams'; at most 500 email
        threads and 200 file passages per run. With ids: re-extract these sources; items you erased
        manually are created again."""
        self._owner_only("extract sources")
        if ids is not None:
            return extract_these(self._desk, self.principal, check.ids(ids))
        most = check.integer(at_most, "at_most", 1, MAX_EXTRACTED)
        return extract_all_of(self._desk, self.principal, most)

    def artifacts(self, *, limit: int = 50, after: str | None = None) -> ArtifactPage:
        """List artifacts that agents made, newest first.

        Drafts, files and actions."""
        return list_artifacts(
            self._desk,
            self.principal,
            check.integer(limit, "limit", 1, MAX_K),
            None if after is None else check.id(after, "after"),
        )

    def artifact(self, id: str) -> ShownArtifact:
        """Show one artifact and its related nodes."""
        return show_artifact(self._desk, self.principal, check.id(id))

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
            self._desk,
            self.principal,
            check.word(name, "name"),
            check.word(content_type, "content_type"),
            check.json_value(output, "output", LONGEST_OUTPUT),
            description="" if description is None else check.text(description, "description"),
            source=None if source is None else check.id(source, "source"),
            sensitivity=check.choice(
                sensitivity, "sensitivity", Sensitivity, {"sensitive": "high"}
            ),
            ttl_policy=check.choice(ttl_policy, "ttl_policy", TtlPolicy, {}),
        )

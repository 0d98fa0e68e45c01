"""What clients depend on is what was recorded; a wanted change is recorded with `make snapshots`,
so that it shows in the change itself."""

from __future__ import annotations

import json
import uuid
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from support import public_surface as surface
from support.clock import Clock
from support.rest_server import running
from support.schema import schema_of
from support.stores import is_postgres

SNAPSHOTS = Path(__file__).parent / "snapshots"

MAIL = b"""From: Tal <tal@example.com>\r
To: Ana <ana@example.com>\r
Subject: The kiln\r
Date: Mon, 02 Jun 2025 09:00:00 +0000\r
Message-ID: <one@example.com>\r
\r
Noa works at Intel. The kiln is fired on Sunday at nine.\r
"""


@pytest.fixture
def same(request):
    """Compares with what was recorded under this name, or records it."""
    record = request.config.getoption("--record", default=False)

    def compare(name: str, found: Any) -> None:
        path = SNAPSHOTS / f"{name}.json"
        text = surface.in_lines(found)
        if record:
            path.write_text(text, encoding="utf-8")
        assert json.loads(text) == json.loads(path.read_text(encoding="utf-8")), (
            f"{name} differs from what clients know; wanted changes: `make snapshots`"
        )

    return compare


def test_openapi_matches_the_snapshot(same, tmp_path):
    with commonplace_open(tmp_path) as store, running(store) as server:
        same("openapi", surface.openapi(server.ask("GET", "/openapi.json").data))


def test_mcp_tools_match_the_snapshot(same):
    same("mcp_tools", surface.mcp_tools())


def test_cli_commands_match_the_snapshot(same):
    same("commands", surface.commands())


def test_operations_match_the_snapshot(same):
    same("operations", surface.operations())


def test_error_codes_match_the_snapshot(same):
    same("error_codes", surface.error_codes())


def test_settings_match_the_snapshot(same):
    same("settings", surface.settings())


def test_python_names_match_the_snapshot(same):
    same("python_names", surface.python_names())


def test_database_schema_matches_the_snapshot(same, open_book, store_url):
    open_book().close()
    name = "schema_postgres" if is_postgres(store_url) else "schema_sqlite"
    same(name, surface.schema(schema_of(store_url)))


def test_export_matches_the_snapshot(same, tmp_path, monkeypatch):
    counted = count(1)
    monkeypatch.setattr(
        uuid, "uuid4", lambda: uuid.UUID(int=next(counted))
    )  # lines are in their order
    with commonplace_open(tmp_path) as store:
        me = store.user("ana")
        fill(me, store)
        lines = list(me.export())
    same("export", [without_random_id(json.loads(line)) for line in lines])


def without_random_id(line: dict[str, Any]) -> dict[str, Any]:
    """An entry of the recall log has an id of its own making."""
    return {**line, "id": "…"} if line["type"] == "search" else line


def commonplace_open(folder: Path) -> Any:
    return surface.commonplace.open(
        str(folder / "memory.db"), embedder="hashing", clock=Clock(), worker="off", recall_log=True
    )


def fill(me: Any, store: Any) -> None:
    """A little of everything that an export can hold."""
    me.remember("The wifi password is tulip42")
    me.remember("The wifi password is daffodil43")  # a conflict that waits
    me.remember("Dan Levi, plumber, +972 52 123 4567", kind="contact")
    me.remember("Noa lives in Haifa")
    me.remember("Noa lives in Jaffa")  # supersedes
    me.remember("Never book flights before nine", kind="rule", evidence=["owner"], confidence=0.9)
    me.remember("Descale the kettle", kind="procedure", steps=["Fill", "Boil", "Rinse"])
    me.profile_set("tone", "brief")
    me.agent("planner").propose("city", "Haifa")
    me.abbreviate("YC", "Y Combinator")
    me.observe("I am allergic to peanuts", thread="t-1")
    store.flush()  # so that the journal is in one order
    me.ingest(MAIL, external_id="kiln")
    me.extract()
    me.nodes_add("Noa Adler", node_type="Person")
    me.relate("Noa Adler", "Intel", "works-at")
    me.note(["Noa Adler"], "Prefers the morning")
    me.artifacts_create("Letter", "Dear Noa", content_type="md_file")
    me.recall("wifi password")
    store.flush()

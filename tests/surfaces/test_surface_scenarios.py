"""The same table of scenarios through every surface: equal answers, equal errors."""

from concurrent.futures import ThreadPoolExecutor
from itertools import compress
from pathlib import Path

import pytest
from answer_types import types_in
from faces import AsyncFace, ClientFace, CommandLineFace, PythonFace, RestFace, play
from mcp_face import McpFace, is_offered, place_for, tool_for
from scenarios import SCENARIOS

from commonplace.operations.table import OPERATIONS
from commonplace.surfaces.mcp.presentation import fence_words
from commonplace.surfaces.mcp.resources import RESOURCES
from commonplace.surfaces.mcp.tools import TOOLS


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_scenario_gives_equal_answers_on_every_surface(
    scenario, tmp_path: Path, monkeypatch, capsys
):
    faces = {
        "python": PythonFace(str(tmp_path / "python.db")),
        "async": AsyncFace(str(tmp_path / "async.db")),
        "command line": CommandLineFace(str(tmp_path / "cli.db"), monkeypatch, capsys),
        "client": ClientFace(str(tmp_path / "client.db")),
        "rest": RestFace(str(tmp_path / "rest.db")),
        "mcp": McpFace(str(tmp_path / "mcp.db")),
    }
    try:
        transcripts = {name: play(face, scenario) for name, face in faces.items()}
    finally:
        close_together(faces.values())
    offered = [is_offered(step) for step in scenario.steps]
    of_mcp = list(compress(transcripts.pop("mcp"), offered))
    expected = map(as_mcp_gives, scenario.steps, transcripts["python"])
    assert of_mcp == list(compress(expected, offered)), "mcp"
    for name, transcript in transcripts.items():
        assert transcript == transcripts["python"], name
    # Code that was written against the embedded handle reads answers from afar alike.
    here, afar = (list(map(types_in, faces[name].given)) for name in ("python", "client"))
    assert afar == here, "types"


def as_mcp_gives(step, answer):
    """A tool's structured answer is complete; in a resource, words of others are fenced."""
    return answer if tool_for(step.operation, step.arguments) else fence_words(answer)


def close_together(faces):
    """A server that ends gives its connections a moment: one moment for all."""
    with ThreadPoolExecutor() as threads:
        for closed in [threads.submit(face.close) for face in faces]:
            closed.result()


def test_scenarios_cover_every_operation():
    played = {step.operation for scenario in SCENARIOS for step in scenario.steps}
    offered = {operation.name for operation in OPERATIONS}
    # Those in test_cli.py.
    alone = {"doctor", "reembed", "calibrate", "worker", "extract-all"}
    # And in test_cli_keys.py.
    alone |= {"keys admin", "keys admins", "keys revoke-admin"}
    # And in test_rest_service_keys.py and tests/verbs/test_service_keys.py.
    alone |= {"keys service", "keys services", "keys rotate-service", "keys revoke-service"}
    # And in test_cli_model.py and test_rest_model_usage.py.
    alone |= {"model users"}
    assert offered - alone <= played


def test_scenarios_cover_every_mcp_tool_and_most_resources():
    played = [(step.operation, step.arguments) for each in SCENARIOS for step in each.steps]
    called = {found[1].name for step in played if (found := tool_for(*step))}
    assert called == {way.name for tool in TOOLS for way in tool.ways}
    read = {place.path for step in played if (place := place_for(*step))}
    assert len(read) > len(RESOURCES) / 2


# What an agent is not offered: the owner's and the operator's, many at once, and what a client of
# Python or REST is better served with. Steps of these say nothing of MCP.
NOT_OVER_MCP = """
    abbreviate, abbreviations, artifacts, artifacts create, artifacts show, calibrate,
    categories check, categories explain, changes, concepts, context-pack, contributions,
    doctor, edges, entities, erase, erase-user, events, export, extract, extract-all, graph,
    import, jobs, jobs cancel, jobs retry, keys, keys admin, keys admins, keys create,
    keys revoke, keys revoke-admin, keys revoke-service, keys rotate, keys rotate-service,
    keys service, keys services, merge, model check, model usage, model users,
    node, nodes update, observe-many,
    people, profile accept, profile decline, profile note, profile set, recall-many, reembed,
    remember-many, sources accept, sources decline, sources share, sources unshare,
    sleep, sleep undo, split,
    stats, teams, teams change, teams create, teams delete, teams invite, teams join,
    teams leave, teams primary, teams remove, teams role, teams show, teams use, tidy,
    understand, verify-forget, whole-context, why, worker
"""


def test_scenarios_operations_without_mcp_are_the_declared_ones():
    offered = {way.name for tool in TOOLS for way in tool.ways} | {p.name for p in RESOURCES}
    known = {name.strip() for name in NOT_OVER_MCP.split(",")}
    assert {operation.name for operation in OPERATIONS} - offered == known
    steps = [step for scenario in SCENARIOS for step in scenario.steps]
    played = [step for step in steps if is_offered(step)]
    assert {step.operation for step in played}.isdisjoint(known)
    assert len(played) > len(steps) / 2


def test_scenarios_give_equal_answers_on_postgresql_and_sqlite(postgres, tmp_path: Path):
    for number, scenario in enumerate(SCENARIOS):
        sqlite = PythonFace(str(tmp_path / f"{number}.db"))
        url = postgres.database()
        server = PythonFace(url)
        assert play(server, scenario) == play(sqlite, scenario)
        sqlite.close()
        server.close()
        postgres.give_back(url)

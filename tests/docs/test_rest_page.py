"""The page about REST: its commands are sent to a server, its Python runs, its numbers are ours."""

import re
import shlex
from http.client import HTTPConnection
from pathlib import Path

import pytest

import commonplace
from commonplace.model.jobs import ANSWER_RETENTION, CLAIM_TIMEOUT
from commonplace.model.json_structure import MAX_DEPTH, MAX_TOKENS
from commonplace.settings import BY_NAME
from commonplace.surfaces.rest.connections import BODY_BYTES_PER_SECOND
from commonplace.surfaces.rest.endpoints import MAX_LINES
from commonplace.surfaces.rest.server_context import MAX_STREAMS
from support.rest_server import PATIENCE, running

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/rest.md").read_text()
FIRST, _, REST = PAGE.partition("### A tour")
TOUR = REST.partition("### From Python")[0]
COMMANDS = [line for line in FIRST.splitlines() if line.startswith("curl ")]
(AUTH,) = re.findall(r'^AUTH="(.*)"$', FIRST, re.M)  # of the shell that the page has in mind
READ_TOKEN = "$(cat ~/.local/share/commonplace/tokens/8765)"
STEPS = re.findall(r"^(curl .*)\n# (.*)$", TOUR, re.M)


@pytest.fixture
def server(tmp_path):
    with (
        commonplace.open(str(tmp_path / "page.db"), embedder="hashing") as book,
        running(book) as server,
    ):
        yield server


def as_curl_would(server, command):
    words = shlex.split(command)
    assert words[:2] == ["curl", "-s"]
    method, target, headers, body = None, "", {}, None
    rest = iter(words[2:])
    for word in rest:
        if word == "-X":
            method = next(rest)
        elif word == "-H":
            name, _, value = next(rest).replace("$AUTH", AUTH).partition(": ")
            headers[name] = value.replace(READ_TOKEN, str(server.token))
        elif word in ("-d", "--data-binary"):
            body = next(rest).encode()
        else:
            target = word.removeprefix("localhost:8765")
    return server.ask(method or ("POST" if body else "GET"), target, None, headers, raw=body)


def test_rest_page_commands_run(server):
    assert len(COMMANDS) > 5
    for command in COMMANDS:
        answer = as_curl_would(server, command)
        assert answer.status == 200, f"{command}: {answer.body}"
    found = as_curl_would(server, COMMANDS[1]).data["hits"]
    assert "tulip42" in found[0]["text"]


def test_rest_page_tour_gets_the_shown_answers(server):
    """Names in braces are taken from answers: the next page, an id, its ETag."""
    known = {}
    assert len(STEPS) > 10
    for command, shown in STEPS:
        for name, value in known.items():
            command = command.replace(f"{{{name}}}", value)
        answer = as_curl_would(server, command)
        status, _, problem = shown.partition(" ")
        if status.isdigit():
            assert (answer.status, problem in answer.body.decode()) == (int(status), True), command
            continue
        assert answer.status == 200, f"{command}: {answer.body}"
        known |= taken_from(answer)
        if "{" not in shown:
            assert shown in answer.body.decode(), f"{command}: {answer.body}"


def test_rest_page_stream_sends_the_shown_lines(server):
    """Line after line, as `curl -N` prints them; empty ones stand between events."""
    (target, shown) = re.search(
        r"""`curl -sN 'localhost:8765(\S+)' -H "\$AUTH"`.*?```\n(.*?)\n```""", TOUR, re.S
    ).groups()
    server.ask("POST", "/v1/memories", {"content": "The gate is green"})
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("GET", target, headers=server.authorization)
    answer = connection.getresponse()
    for line in shown.splitlines():
        heard = next(said for said in iter(answer.readline, b"") if said.strip())
        assert heard.decode().startswith(line)
    connection.close()


def taken_from(answer):
    if "etag" in answer.headers:
        return {"etag": answer.headers["etag"]}
    if isinstance(answer.data, dict) and answer.data.get("next"):
        return {"next": answer.data["next"], "id": answer.data["memories"][0]["id"]}
    return {}


def test_readme_curl_requests_run(server):
    lines = [each for each in (ROOT / "README.md").read_text().splitlines() if each[:5] == "curl "]
    assert READ_TOKEN in (ROOT / "README.md").read_text()
    answers = [as_curl_would(server, each) for each in lines]
    assert [each.status for each in answers] == [200, 200]
    assert "blue drawer" in answers[1].data["hits"][0]["text"]


def test_rest_page_python_example_runs(server):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    here = example.replace("http://localhost:8765", server.url)
    names = {}
    exec(compile(here, "docs/rest.md", "exec"), names)
    assert names["me"].list().memories[0].content == "Dana lives in Haifa"
    names["me"].close()


def test_rest_page_numbers_match_the_code():
    assert f"127.0.0.1:{BY_NAME['serve_port'].default}" in PAGE
    assert f"requests of {BY_NAME['serve_max_mb'].default:g} MB" in PAGE
    assert f"requests of {BY_NAME['serve_max_small_mb'].default:g} MB" in PAGE
    assert f"{BY_NAME['serve_rate'].default:g} requests a second" in PAGE
    assert f"at most {MAX_TOKENS:,} strings, brackets and commas and {MAX_DEPTH} levels" in PAGE
    assert f"{MAX_STREAMS} streams of one user" in PAGE
    assert f"at most {MAX_LINES:,} lines" in PAGE
    assert f"{BODY_BYTES_PER_SECOND:,} bytes a second" in PAGE
    assert f"{BY_NAME['serve_connections'].default} at once" in PAGE
    assert f"{BY_NAME['serve_connections_per_address'].default} from one address" in PAGE
    for name in ("header", "transfer", "idle"):
        seconds = BY_NAME[f"serve_{name}_seconds"].default
        assert re.search(rf"{seconds:g} seconds \(`serve_{name}_seconds`", PAGE)
    assert f"{ANSWER_RETENTION.total_seconds() / 3600:g} hours" in PAGE
    assert f"for {CLAIM_TIMEOUT.total_seconds():g} seconds" in PAGE
    for name in re.findall(r"`(serve_\w+)`", PAGE):
        assert name in BY_NAME

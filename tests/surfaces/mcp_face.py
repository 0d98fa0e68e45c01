"""One more way to call an operation: the tool of an MCP server, or the resource that reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

from faces import PythonFace, TypedError
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError
from scenarios import Step

from commonplace.operations import BY_NAME
from commonplace.surfaces.mcp.describing import RESULT, described
from commonplace.surfaces.mcp.resources import PLACES, Place
from commonplace.surfaces.mcp.tools import TOOLS, Tool, Way
from support.mcp_client import MODES, Connected, over_http
from support.rest_server import Running

# Made once: checking a schema takes longer than a scenario.
FITS = {tool.name: Draft202012Validator(described(tool).output_schema) for tool in TOOLS}


class McpFace(PythonFace):
    """The official client, over a real connection. What no tool offers is done where the store is:
    MCP shows agents less than the owner has."""

    def __init__(self, url: str):
        super().__init__(url)
        self.server = Running(self.book)
        self.open = ExitStack()
        self.clients: dict[str, Connected] = {}

    def client_of(self, user: str) -> Connected:
        """Without a key, whoever comes from the same machine is the one whose service it is."""
        if user not in self.clients:
            key = None if user == "ana" else self.book.user(user).keys_create("theirs").token
            connection = over_http(self.server.url, key=key, mode=MODES[0])
            self.clients[user] = self.open.enter_context(connection)
        return self.clients[user]

    def call(self, step: Step, arguments: Mapping[str, Any]) -> Any:
        client = self.client_of(step.user)
        client.headers.pop("commonplace-agent", None)
        if step.agent:
            client.headers["commonplace-agent"] = step.agent
        if found := tool_for(step.operation, arguments):
            answer = self._tool(client, *found, arguments)
        elif place := place_for(step.operation, arguments):
            answer = self._resource(client, place, arguments)
        else:
            return super().call(step, arguments)
        self.book.flush()
        return answer

    def _tool(self, client: Connected, tool: Tool, way: Way, arguments: Mapping[str, Any]) -> Any:
        if any(isinstance(value, Path) for value in arguments.values()):
            raise TypedError("invalid_input", None)  # a file that is not there cannot be sent
        spelled = {parameter.name: parameter.alias for parameter in way.parameters}
        given = {spelled[name] or name: value for name, value in arguments.items()}
        flag = {way.when: True} if way.when and way.when not in way.shows else {}
        result = client.unchecked(tool.name, {**given, **flag})
        if result.is_error:
            raise TypedError(result.meta["commonplace/error"]["code"], None)
        data = result.structured_content
        FITS[tool.name].validate(data)
        return data[RESULT] if set(data) == {RESULT} else data

    def _resource(self, client: Connected, place: Place, arguments: Mapping[str, Any]) -> Any:
        uri = place.uri
        for name, value in arguments.items():
            uri = uri.replace(f"{{{name}}}", quote(value, safe=""))
        try:
            read = client.run(client.client.read_resource, uri)
        except MCPError as error:
            raise TypedError(error.data["code"], None) from error
        return json.loads(read.contents[0].text)

    def close(self) -> None:
        self.open.close()
        self.server.stop()
        super().close()


def tool_for(operation: str, arguments: Mapping[str, Any]) -> tuple[Tool, Way] | None:
    """The tool that can carry these arguments."""
    for tool in TOOLS:
        for way in tool.ways:
            if way.name == operation and set(arguments) <= set(way.shows):
                return tool, way
    return None


def place_for(operation: str, arguments: Mapping[str, Any]) -> Place | None:
    taken = {p.name for p in BY_NAME[operation].parameters}
    for place in PLACES:
        named = {name for name in taken if f"{{{name}}}" in place.path}
        if place.name == operation and named == set(arguments):
            return place
    return None

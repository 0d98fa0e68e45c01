"""One more way to call an operation: the tool of an MCP server, or the resource that reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

from faces import PythonFace, TypedError
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError
from scenarios import Step

from commonplace.operations.table import BY_NAME
from commonplace.surfaces.mcp.presentation import RESULT, describe_tool
from commonplace.surfaces.mcp.resources import RESOURCES, McpResource
from commonplace.surfaces.mcp.tools import TOOLS, Tool, ToolOperation
from support.mcp_client import MODES, Connected, connected, over_http, server_for
from support.rest_server import Running

# Made once: checking a schema takes longer than a scenario.
FITS = {tool.name: Draft202012Validator(describe_tool(tool).output_schema) for tool in TOOLS}


class McpFace(PythonFace):
    """The official client: of an agent over HTTP, with the owner's key and the agent's name; of an
    owner as with `commonplace mcp --as-owner`. What no tool offers is done where the store is, so
    that the next step finds it done; whoever compares leaves it out (`is_offered`)."""

    def __init__(self, url: str):
        super().__init__(url)
        self.server = Running(self.book)
        self.open = ExitStack()
        self.clients: dict[tuple[str, str | None], Connected] = {}

    def client_of(self, user: str, agent: str | None) -> Connected:
        if (user, agent) not in self.clients:
            connection = self._as_agent(user, agent) if agent else self._as_owner(user)
            self.clients[user, agent] = self.open.enter_context(connection)
        return self.clients[user, agent]

    def _as_agent(self, user: str, agent: str) -> AbstractContextManager[Connected]:
        """Without a key, whoever comes from the same machine is the one whose service it is."""
        key = None if user == "ana" else self.book.user(user).keys_create("theirs").token
        named = {"commonplace-agent": agent}
        return over_http(self.server.url, key=key, headers=named, mode=MODES[0])

    def _as_owner(self, user: str) -> AbstractContextManager[Connected]:
        return connected(server_for(self.book.user(user), as_owner=True), mode=MODES[0])

    def call(self, step: Step, arguments: Mapping[str, Any]) -> Any:
        if not is_offered(step):
            return super().call(step, arguments)
        client = self.client_of(step.user, step.agent)
        if found := tool_for(step.operation, arguments):
            answer = self._tool(client, *found, arguments)
        else:
            answer = self._resource(client, place_for(step.operation, arguments), arguments)
        self.book.flush()
        return answer

    def _tool(
        self, client: Connected, tool: Tool, way: ToolOperation, arguments: Mapping[str, Any]
    ) -> Any:
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

    def _resource(self, client: Connected, place: McpResource, arguments: Mapping[str, Any]) -> Any:
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


def is_offered(step: Step) -> bool:
    """Whether a tool or a resource can carry it: only then does its answer say anything of MCP."""
    found = tool_for(step.operation, step.arguments) or place_for(step.operation, step.arguments)
    return found is not None


def tool_for(operation: str, arguments: Mapping[str, Any]) -> tuple[Tool, ToolOperation] | None:
    """The tool that can carry these arguments."""
    for tool in TOOLS:
        for way in tool.ways:
            if way.name == operation and set(arguments) <= set(way.shows):
                return tool, way
    return None


def place_for(operation: str, arguments: Mapping[str, Any]) -> McpResource | None:
    taken = {p.name for p in BY_NAME[operation].parameters}
    for place in RESOURCES:
        named = {name for name in taken if f"{{{name}}}" in place.path}
        if place.name == operation and named == set(arguments):
            return place
    return None

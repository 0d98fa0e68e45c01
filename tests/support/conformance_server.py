"""A server for npm's @modelcontextprotocol/conformance, which calls tools by names of its own.

It is ours, from the gate to the session, and only what it offers is what the suite asks for: so it
shows that every kind of message comes through. Run by hand; see docs/mcp.md.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

import commonplace
from commonplace import settings as settings_table
from commonplace.surfaces.mcp import server
from commonplace.surfaces.mcp.calls import McpRequest
from commonplace.surfaces.rest.server import ServerOutput, serve
from commonplace.surfaces.rest.server_context import ServerContext
from support.conformance_rounds import ROUNDS, asked, insists_on_sampling

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
NAMED = {
    "type": "object",
    "properties": {"message": {"type": "string"}, "prompt": {"type": "string"}},
}
TEXT = types.TextContent
IMAGE = types.ImageContent(data=PIXEL, mime_type="image/png")

Content = list[Any]
Call = Callable[[McpRequest, dict[str, Any]], Awaitable[Content]]


def resource(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    held = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.EmbeddedResource(resource=held)


def always(*content: Any) -> Call:
    async def call(asking: McpRequest, arguments: dict[str, Any]) -> Content:
        return list(content)

    return call


async def with_logging(asking: McpRequest, arguments: dict[str, Any]) -> Content:
    for told in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await asking.session.send_log_message("info", told, related_request_id=asking.request_id)
    return [TEXT(text="Logged.")]


async def with_progress(asking: McpRequest, arguments: dict[str, Any]) -> Content:
    for done in (0, 50, 100):
        await asking.session.report_progress(done, 100)
    return [TEXT(text="Done.")]


async def sampling(asking: McpRequest, arguments: dict[str, Any]) -> Content:
    said = TEXT(text=arguments.get("prompt", ""))
    answer = await asking.session.create_message(
        [types.SamplingMessage(role="user", content=said)],
        max_tokens=100,
        related_request_id=asking.request_id,
    )
    return [TEXT(text=f"LLM response: {answer.content.text}")]


def asks(properties: dict[str, Any], *required: str) -> Call:
    async def call(asking: McpRequest, arguments: dict[str, Any]) -> Content:
        schema = {"type": "object", "properties": properties, "required": list(required)}
        message = arguments.get("message", "Please answer.")
        answer = await asking.session.elicit_form(message, schema, asking.request_id)
        told = f"action={answer.action}, content={json.dumps(answer.content)}"
        return [TEXT(text=f"Elicitation completed: {told}")]

    return call


CHOICES = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
ENUMS = {
    "untitledSingle": {"type": "string", "enum": CHOICES},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": CHOICES, "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": CHOICES}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
PERSON = {name: {"type": "string"} for name in ("username", "email")}
MIXED = resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
EMBEDDED = resource(
    "test://embedded-resource", "text/plain", "This is an embedded resource content."
)

TOOLS: dict[str, Call] = {
    "test_simple_text": always(TEXT(text="This is a simple text response for testing.")),
    "test_image_content": always(IMAGE),
    "test_audio_content": always(types.AudioContent(data=SILENCE, mime_type="audio/wav")),
    "test_embedded_resource": always(EMBEDDED),
    "test_multiple_content_types": always(TEXT(text="Multiple content types test:"), IMAGE, MIXED),
    "test_tool_with_logging": with_logging,
    "test_logging_tool": with_logging,
    "test_tool_with_progress": with_progress,
    "test_sampling": sampling,
    "test_elicitation": asks(PERSON, *PERSON),
    "test_elicitation_sep1034_defaults": asks(DEFAULTS),
    "test_elicitation_sep1330_enums": asks(ENUMS),
}
ADDRESS = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("street", "city")},
}
SCHEMA_TOOL = types.Tool(
    name="json_schema_2020_12_tool",
    description="Tool with JSON Schema 2020-12 features",
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": ADDRESS},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    },
)
HEADER_TOOL = types.Tool(
    name="test_with_a_header",
    description="A tool with a parameter that is also sent as a header",
    input_schema={
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    },
)
PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


def prompted(name: str, given: dict[str, str]) -> Content:
    match name:
        case "test_prompt_with_arguments":
            told = ", ".join(f"{each}='{given[each]}'" for each in PROMPTS[name])
            return [TEXT(text=f"Prompt with arguments: {told}")]
        case "test_prompt_with_embedded_resource":
            text = "Embedded resource content for testing."
            held = resource(given["resourceUri"], "text/plain", text)
            return [held, TEXT(text="Please process the embedded resource above.")]
        case "test_prompt_with_image":
            return [IMAGE, TEXT(text="Please analyze the image above.")]
    return [TEXT(text="This is a simple prompt for testing.")]


def held_at(uri: str) -> Any:
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
    if uri == "test://static-text":
        text = "This is the content of the static text resource."
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
    if uri == "test://template/123/data":
        text = json.dumps({"id": "123", "templateTest": True, "data": "Data for ID: 123"})
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
    raise MCPError(types.INVALID_PARAMS, "not found", {"uri": uri})


async def list_tools(asking: McpRequest, params: Any) -> types.ListToolsResult:
    names = [*TOOLS, *ROUNDS, "test_error_handling", "test_missing_capability"]
    tools = [types.Tool(name=name, description=name, input_schema=NAMED) for name in names]
    return types.ListToolsResult(tools=[*tools, SCHEMA_TOOL, HEADER_TOOL])


async def call_tool(
    asking: McpRequest, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    if params.name == "test_error_handling":
        told = TEXT(text="This tool intentionally returns an error for testing")
        return types.CallToolResult(content=[told], is_error=True)
    if params.name == "test_missing_capability":
        insists_on_sampling(asking)
    if params.name in ROUNDS:
        answer = asked(asking, params)
        if not isinstance(answer, str):
            return answer
        return types.CallToolResult(content=[TEXT(text=answer)])
    call = TOOLS.get(params.name, TOOLS["test_simple_text"])
    return types.CallToolResult(content=await call(asking, params.arguments or {}))


async def list_resources(asking: McpRequest, params: Any) -> types.ListResourcesResult:
    uris = ("test://static-text", "test://static-binary", "test://watched-resource")
    return types.ListResourcesResult(
        resources=[types.Resource(uri=uri, name=uri, description=uri) for uri in uris]
    )


async def list_templates(asking: McpRequest, params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(asking: McpRequest, params: Any) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[held_at(str(params.uri))])


async def list_prompts(asking: McpRequest, params: Any) -> types.ListPromptsResult:
    prompts = [
        types.Prompt(
            name=name,
            description=name,
            arguments=[types.PromptArgument(name=each, required=True) for each in arguments],
        )
        for name, arguments in PROMPTS.items()
    ]
    return types.ListPromptsResult(prompts=prompts)


async def get_prompt(asking: McpRequest, params: Any) -> Any:
    answer = asked(asking, params) if params.name in ROUNDS else ""
    if not isinstance(answer, str):
        return answer
    content = [TEXT(text=answer)] if answer else prompted(params.name, params.arguments or {})
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=each) for each in content]
    )


async def complete(asking: McpRequest, params: Any) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=[]))


async def nothing(asking: McpRequest, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


def everything(who: Any, wrote: Any) -> Server[Any]:
    server: Server[Any] = Server(
        "commonplace-conformance",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=nothing,
    )
    sealed = RequestStateSecurity.ephemeral()
    server.middleware.append(RequestStateBoundary(sealed, default_audience=server.name))
    return server


def main(port: str) -> None:
    warnings.simplefilter("ignore")  # the suite still asks for what 2026-07-28 gives up
    server.build_server = everything
    ServerContext.check_token = lambda self, given: None  # the suite sends no token
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "memory.db")
        with commonplace.open(store, embedder="hashing") as book:
            chosen = settings_table.load({"serve_port": int(port), "store": store})
            serve(book, chosen, ServerOutput(print, print))


if __name__ == "__main__":
    main(sys.argv[1])

"""What the conformance suite asks for of 2026-07-28: calls that end with questions, and are made
again with the answers."""

from __future__ import annotations

from typing import Any

from mcp import types
from mcp.shared.exceptions import MCPError

from commonplace.surfaces.mcp.calls import McpRequest

Requests = dict[str, Any]


def form(message: str, *names: str, kind: str = "string") -> types.ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name in names},
        "required": list(names),
    }
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def sample(text: str) -> types.CreateMessageRequest:
    said = types.SamplingMessage(role="user", content=types.TextContent(text=text))
    params = types.CreateMessageRequestParams(messages=[said], max_tokens=100)
    return types.CreateMessageRequest(params=params)


WHO = {"user_name": form("What is your name?", "name")}
ROOTS = {"client_roots": types.ListRootsRequest()}
CONFIRM = {"confirm": form("Please confirm", "ok", kind="boolean")}
ALL_KINDS: Requests = {**WHO, "greeting": sample("Generate a greeting"), **ROOTS}

# For each name, what is asked in each round.
ROUNDS: dict[str, list[Requests]] = {
    "test_input_required_result_elicitation": [WHO],
    "test_input_required_result_sampling": [
        {"capital_question": sample("What is the capital of France?")}
    ],
    "test_input_required_result_list_roots": [ROOTS],
    "test_input_required_result_request_state": [CONFIRM],
    "test_input_required_result_tampered_state": [CONFIRM],
    "test_input_required_result_multiple_inputs": [ALL_KINDS],
    "test_input_required_result_capabilities": [ALL_KINDS],
    "test_input_required_result_multi_round": [
        {"step1": form("Step 1: What is your name?", "name")},
        {"step2": form("Step 2: What is your favorite color?", "color")},
    ],
    "test_input_required_result_prompt": [
        {"user_context": form("What context should the prompt use?", "context")}
    ],
    "test_streaming_elicitation": [WHO],
}


def asked(asking: McpRequest, params: Any) -> types.InputRequiredResult | str:
    """The next questions; or a text, when all of them are answered."""
    rounds = ROUNDS[params.name]
    number = int(params.request_state or 0)
    if _able(asking, rounds[number]).keys() <= (params.input_responses or {}).keys():
        number += 1
    if number < len(rounds):
        requests = _able(asking, rounds[number])
        return types.InputRequiredResult(input_requests=requests, request_state=str(number))
    told = {key: each.model_dump(mode="json") for key, each in params.input_responses.items()}
    return f"state-ok: {told}"


def _able(asking: McpRequest, requests: Requests) -> Requests:
    """Only what the client says that it can do."""
    able = asking.session.client_capabilities
    has = {
        "elicitation/create": able and able.elicitation,
        "sampling/createMessage": able and able.sampling,
        "roots/list": able and able.roots,
    }
    return {key: each for key, each in requests.items() if has[each.method] is not None}


def insists_on_sampling(asking: McpRequest) -> None:
    able = asking.session.client_capabilities
    if able is None or able.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "The client cannot sample.",
            {"requiredCapabilities": {"sampling": {}}},
        )

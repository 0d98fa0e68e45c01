"""Language models over HTTP, against a real server on loopback: what is sent, what goes wrong."""

from __future__ import annotations

import itertools
import json

import pytest

from commonplace.language.llm.anthropic import AnthropicModel
from commonplace.language.llm.language_model import (
    BadModelAnswer,
    Message,
    MessageRole,
    ModelDown,
    ModelFailure,
    ModelInputTooLong,
    ModelRefused,
    ModelRequest,
    TokenCount,
)
from commonplace.language.llm.openai import OpenAiModel
from commonplace.language.llm.server import ModelServer
from support.model_server import (
    TOO_LONG,
    cut_off,
    hang_up,
    model_server,
    raw,
    refuse,
    refuse_too_long,
    repeat_prompt,
    slow,
    text,
    truncated,
)

KEY = "sk-very-secret"
TEXT = "My sister Dana lives in Haifa."
SCHEMA = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "city": {"type": ["string", "null"]},
                    "kind": {"type": "string", "enum": ["friend", "family"]},
                },
                "required": ["name", "city", "kind"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["people"],
    "additionalProperties": False,
}
DANA = {"name": "Dana", "city": "Haifa", "kind": "family"}
VALUE = {"people": [DANA]}
REQUEST = ModelRequest(
    [Message(MessageRole.SYSTEM, "Who is named?"), Message(MessageRole.USER, TEXT)],
    "people",
    SCHEMA,
    max_tokens=300,
)
ADAPTERS = {"openai": OpenAiModel, "anthropic": AnthropicModel}


@pytest.fixture
def server():
    with model_server(VALUE) as running:
        yield running


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture(params=ADAPTERS)
def model(request, server, slept):
    """Time passes only while it sleeps."""
    return make(request.param, server, slept)


def make(provider, server, slept):
    there = ModelServer(server.url, "stub", KEY, timeout=20)
    return ADAPTERS[provider](there, slept.append, lambda: sum(slept))


@pytest.fixture
def openai(server, slept):
    return make("openai", server, slept)


@pytest.fixture
def anthropic(server, slept):
    return make("anthropic", server, slept)


# ——— what is sent ———


def test_openai_model_request_follows_the_protocol(server, openai):
    answer = openai.complete(REQUEST)
    assert answer.value == VALUE
    (asked,) = server.requests
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "stub",
        "messages": [
            {"role": "system", "content": "Who is named?"},
            {"role": "user", "content": TEXT},
        ],
        "max_tokens": 300,
        "temperature": 0.0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "people", "strict": True, "schema": SCHEMA},
        },
    }


def test_anthropic_model_request_follows_the_protocol(server, anthropic):
    answer = anthropic.complete(REQUEST)
    assert answer.value == VALUE
    (asked,) = server.requests
    assert asked.path == "/v1/messages"
    assert asked.headers["x-api-key"] == KEY
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in asked.headers
    assert asked.body["system"] == "Who is named?"
    assert asked.body["messages"] == [{"role": "user", "content": TEXT}]
    assert asked.body["max_tokens"] == 300
    assert asked.body["tools"][0]["input_schema"] == SCHEMA
    assert asked.body["tool_choice"] == {"type": "tool", "name": "people"}


def test_model_without_a_key_sends_none(server):
    for adapter in ADAPTERS.values():
        adapter(ModelServer(server.url, "stub")).complete(REQUEST)
    for asked in server.requests:
        assert asked.headers.keys() & {"authorization", "x-api-key"} == set()


def test_model_counts_the_tokens_that_its_server_reports(server, model):
    counted = model.complete(REQUEST).tokens
    assert counted == TokenCount(len(server.requests[0].prompt) // 4, len(json.dumps(VALUE)) // 4)


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": -5}, {"prompt_tokens": "many"}])
def test_model_estimates_tokens_that_its_server_does_not_count(server, openai, usage):
    message = {"content": json.dumps(VALUE)}
    server.answer = raw({"choices": [{"message": message}], "usage": usage})
    tokens = openai.complete(REQUEST).tokens
    assert 8 <= tokens.read <= 20
    assert tokens.written >= 10


def test_model_limits_what_a_server_counts(server, openai):
    message = {"content": json.dumps(VALUE)}
    server.answer = raw({"choices": [{"message": message}], "usage": {"prompt_tokens": 10**30}})
    assert openai.complete(REQUEST).tokens.read <= 10**7


# ——— forms ———


@pytest.mark.parametrize(
    ("forms", "tried"),
    [
        ({"json_object", "text"}, ["json_schema", "json_object"]),
        ({"text"}, ["json_schema", "json_object", "text"]),
    ],
)
def test_openai_model_falls_back_to_what_the_server_knows(server, openai, forms, tried):
    server.forms = forms
    for _ in range(2):
        assert openai.complete(REQUEST).value == VALUE
    assert [asked.form for asked in server.requests] == [*tried, tried[-1]]
    assert openai.mode == tried[-1]
    assert '"additionalProperties":false' in server.requests[-1].system


def test_anthropic_model_falls_back_to_words(server, anthropic):
    server.forms = {"text"}
    for _ in range(2):
        assert anthropic.complete(REQUEST).value == VALUE
    assert [asked.form for asked in server.requests] == ["tool", "text", "text"]
    assert anthropic.mode == "text"
    assert '"additionalProperties":false' in server.requests[-1].system


def test_openai_model_uses_the_option_names_of_newer_models(server, openai):
    server.then = [
        refuse(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        refuse(400, "Unsupported value: 'temperature' does not support 0 with this model."),
    ]
    for _ in range(2):
        assert openai.complete(REQUEST).value == VALUE
    assert len(server.requests) == 4
    body = server.requests[-1].body
    assert body["max_completion_tokens"] == 300
    assert body.keys() & {"max_tokens", "temperature"} == set()
    assert openai.mode == "json_schema"


def test_model_that_refuses_every_form_is_refused_and_nothing_is_remembered(server, model):
    server.then = [refuse(400, "this is not supported")] * 3
    with pytest.raises(ModelRefused, match="400"):
        model.complete(REQUEST)
    server.then = []
    assert model.complete(REQUEST).value == VALUE
    assert model.mode in ("json_schema", "tool")


def test_openai_model_states_the_schema_for_a_server_that_ignores_it(server, openai):
    server.then = [text("Dana is family and lives in Haifa.")]
    assert openai.complete(REQUEST).is_repaired
    openai.complete(REQUEST)
    assert [asked.form for asked in server.requests] == ["json_schema"] * 3
    assert '"additionalProperties":false' in server.requests[-1].system


# ——— answers ———


def fenced(value):
    return f"Here you are:\n```json\n{json.dumps(value, indent=1)}\n```\nAnything else?"


@pytest.mark.parametrize(
    "written",
    [
        fenced(VALUE),
        f"<think>Is {{it}} Dana?</think>\n{json.dumps(VALUE)}",
        f"The answer is {json.dumps(VALUE)}. I hope that helps.",
        json.dumps({"people": [{**DANA, "sure": True}], "comment": "easy"}),
        json.dumps(VALUE["people"]),
        json.dumps({"people": [{**DANA, "kind": "Family"}]}),
        json.dumps(VALUE)[:-2] + ",]}",
    ],
)
def test_model_answer_is_read_leniently(server, model, written):
    server.answer = text(written)
    answer = model.complete(REQUEST)
    assert (answer.value, answer.is_repaired) == (VALUE, False)
    assert len(server.requests) == 1


def test_model_answer_without_empty_fields_is_filled(server, model):
    server.answer = {"people": [{"name": "Dana", "kind": "family"}]}
    assert model.complete(REQUEST).value == {"people": [{**DANA, "city": None}]}


@pytest.mark.parametrize(
    "wrong",
    [
        text(""),
        text("I cannot see any JSON here."),
        {"people": [{**DANA, "kind": "sister"}]},
        {"friends": [DANA]},
        {},
        repeat_prompt(),
        text('{"people": [' + "[" * 5000),
    ],
)
def test_model_wrong_answer_is_repaired_once(server, model, wrong):
    server.then = [wrong]
    answer = model.complete(REQUEST)
    assert (answer.value, answer.is_repaired) == (VALUE, True)
    assert len(server.requests) == 2
    assert "cannot be used" in server.requests[-1].user
    assert TEXT in server.requests[-1].prompt
    roles = [each["role"] for each in server.requests[-1].body["messages"]]
    assert all(one != other for one, other in itertools.pairwise(roles))
    assert answer.tokens.total > len(server.requests[0].prompt) // 4


@pytest.mark.parametrize("wrong", [text("no"), {"friends": []}, repeat_prompt(), text("")])
def test_model_that_stays_wrong_raises_bad_model_answer(server, model, wrong):
    server.answer = wrong
    with pytest.raises(BadModelAnswer) as failed:
        model.complete(REQUEST)
    assert len(server.requests) == 2
    assert failed.value.tokens.read > 0
    assert TEXT not in str(failed.value)
    assert KEY not in str(failed.value)


def test_model_wrong_items_are_left_out_after_the_repair(server, model):
    server.answer = {"people": [DANA, {**DANA, "kind": "sister"}, "Dana", {"name": 7}]}
    assert model.complete(REQUEST).value == VALUE
    assert len(server.requests) == 2


def test_model_truncated_answer_is_asked_for_again_and_shorter(server, model):
    server.then = [truncated({"people": [DANA] * 5})]
    assert model.complete(REQUEST).value == VALUE
    first, again = server.requests
    assert again.body["max_tokens"] == 2 * first.body["max_tokens"]
    assert "cut off" in again.user


def test_model_answer_that_is_truncated_twice_says_so(server, model):
    server.answer = truncated({"people": [DANA] * 5})
    with pytest.raises(BadModelAnswer, match="cut off") as failed:
        model.complete(REQUEST)
    assert failed.value.is_truncated


def test_model_truncated_answer_of_a_model_that_cannot_write_more(server, model):
    server.then = [truncated({"people": [DANA] * 5}), *[refuse(400, "at most 300 tokens")] * 3]
    with pytest.raises(BadModelAnswer) as failed:
        model.complete(REQUEST)
    assert failed.value.is_truncated


def test_openai_model_that_declines_is_not_asked_again(server, openai):
    message = {"content": None, "refusal": f"I cannot help with {TEXT}"}
    server.answer = raw({"choices": [{"message": message, "finish_reason": "stop"}]})
    with pytest.raises(BadModelAnswer, match="declined") as failed:
        openai.complete(REQUEST)
    assert TEXT not in str(failed.value)
    assert len(server.requests) == 1


def test_model_text_is_cleaned_of_what_no_store_accepts(server, model):
    server.answer = text(
        '{"people": [{"name": "Da\\u0000na\\ud800", "city": null, "kind": "family"}]}'
    )
    assert model.complete(REQUEST).value["people"][0]["name"] == "Dana?"


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
def test_model_number_that_is_none_is_left_out(server, openai, number):
    dana = json.dumps(DANA).replace('"Haifa"', number)
    server.answer = text(f'{{"people": [{dana}]}}')
    assert openai.complete(REQUEST).value["people"][0]["city"] is None


# ——— failures ———


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_model_retries_transient_errors_with_growing_waits(server, model, slept, status):
    server.then = [refuse(status), refuse(status)]
    assert model.complete(REQUEST).value == VALUE
    first, second = slept
    assert 0.5 <= first <= 0.75
    assert 1.0 <= second <= 1.5


def test_model_obeys_retry_after(server, model, slept):
    server.then = [refuse(429, Retry_After="7")]
    assert model.complete(REQUEST).value == VALUE
    assert slept == [7.0]


def test_model_retry_after_beyond_the_time_limit_is_down_and_rests(server, model, slept):
    server.then = [refuse(429, Retry_After="120")]
    for _ in range(2):
        with pytest.raises(ModelDown, match="429"):
            model.complete(REQUEST)
    assert len(server.requests) == 1
    slept.append(119)
    with pytest.raises(ModelDown, match="moment ago"):
        model.complete(REQUEST)
    slept.append(1)
    assert model.complete(REQUEST).value == VALUE


@pytest.mark.parametrize("trouble", [hang_up(), cut_off(VALUE)])
def test_model_retries_a_broken_connection(server, model, slept, trouble):
    server.then = [trouble]
    assert model.complete(REQUEST).value == VALUE
    assert len(slept) == 1


def test_model_server_that_stays_broken_is_down(server, model, slept):
    server.answer = refuse(500, TEXT)
    with pytest.raises(ModelDown, match="500") as failed:
        model.complete(REQUEST)
    assert TEXT not in str(failed.value)
    assert len(server.requests) == 3


@pytest.mark.parametrize("adapter", ADAPTERS.values())
def test_slow_model_is_down_after_its_time_limit(server, adapter):
    server.answer = slow()
    model = adapter(ModelServer(server.url, "stub", timeout=0.2))
    with pytest.raises(ModelDown, match=r"longer than 0\.2 s"):
        model.complete(REQUEST)
    assert len(server.requests) == 1


def test_model_time_limit_covers_the_repair(server, model, slept):
    server.then = [refuse(503, Retry_After="15"), text("no"), refuse(503, Retry_After="15")]
    with pytest.raises(ModelDown) as failed:
        model.complete(REQUEST)
    assert slept == [15.0]
    assert failed.value.tokens.read > 0  # of the answer that was not JSON


@pytest.mark.parametrize("adapter", ADAPTERS.values())
def test_unreachable_model_is_down_at_once(adapter, slept):
    with model_server() as gone:
        url = gone.url
    with pytest.raises(ModelDown, match="cannot be reached"):
        adapter(ModelServer(url, "stub"), slept.append).complete(REQUEST)
    assert slept == []


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "COMMONPLACE_MODEL_KEY"),
        (402, "credit"),
        (403, "COMMONPLACE_MODEL_KEY"),
        (404, "model_url"),
        (302, "model_url"),
    ],
)
def test_model_refusal_names_the_setting_and_repeats_nothing(server, model, slept, status, told):
    server.answer = refuse(status, f"Incorrect key {KEY} for {TEXT}", Location=f"{server.url}/x")
    with pytest.raises(ModelRefused, match=told) as failed:
        model.complete(REQUEST)
    assert KEY not in str(failed.value)
    assert TEXT not in str(failed.value)
    assert failed.value.__cause__ is None
    assert (len(server.requests), slept) == (1, [])


@pytest.mark.parametrize("told", TOO_LONG)
def test_prompt_that_is_too_long_is_told_apart_at_once(server, model, slept, told):
    server.then = [refuse_too_long(told)]
    with pytest.raises(ModelInputTooLong, match="too long") as failed:
        model.complete(REQUEST)
    assert failed.value.__cause__ is None
    assert (len(server.requests), slept) == (1, [])
    assert model.complete(REQUEST).value == VALUE


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "max_tokens: 9000 > 8192, which is the maximum allowed number"}},
        {"error": {"message": "max_tokens is too large: this model writes at most 4096 tokens"}},
        # It repeats the request, whose texts are about such a refusal.
        {
            "detail": [
                {"msg": "extra inputs", "input": "the prompt is too long for its context length"}
            ]
        },
    ],
)
def test_refusal_of_an_option_is_not_one_of_the_prompt(server, model, body):
    server.then = [raw(body, 400)]
    assert model.complete(REQUEST).value == VALUE


def test_repair_that_is_too_long_leaves_the_answer_malformed(server, model):
    server.then = [text("{not JSON"), refuse_too_long()]
    with pytest.raises(BadModelAnswer):
        model.complete(REQUEST)


@pytest.mark.parametrize(
    "body",
    [b"<html>busy</html>", b"", [1], {}, {"choices": []}, {"choices": [{}]}, {"content": 7}, "x"],
)
def test_model_server_that_speaks_something_else(server, model, body):
    server.answer = raw(body)
    with pytest.raises(ModelFailure) as failed:
        model.complete(REQUEST)
    assert isinstance(failed.value, BadModelAnswer)


def test_model_bypasses_proxies_for_loopback(server, monkeypatch):
    with model_server() as proxy:
        for variable in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(variable, proxy.url)
        for variable in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(variable, raising=False)
        assert OpenAiModel(ModelServer(server.url, "stub", KEY)).complete(REQUEST).value == VALUE
        assert proxy.requests == []


def test_model_server_repr_hides_the_key():
    assert KEY not in repr(ModelServer("https://host/v1", "stub", KEY))


def test_model_names_are_those_of_the_settings(openai, anthropic):
    assert (openai.name, anthropic.name) == ("openai:stub", "anthropic:stub")

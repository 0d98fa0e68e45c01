"""Which model answers, from settings and from objects; what is wrong with them is told at once,
before anything is sent."""

from __future__ import annotations

import logging

import pytest

from commonplace.errors import BadSettings
from commonplace.language.llm.language_model import ModelAnswer, TokenCount
from commonplace.language.llm.prompts import load_prompt
from support.model_server import model_server, refuse

KEY = "sk-very-secret"
REQUEST = load_prompt("check").request({"one": "17", "other": "25"})


@pytest.fixture
def store_url(tmp_path):
    """One database: nothing of this is stored."""
    return str(tmp_path / "memory.db")


@pytest.fixture
def server():
    with model_server({"sum": 42}) as running:
        yield running


@pytest.fixture
def keyed(monkeypatch):
    monkeypatch.setenv("COMMONPLACE_MODEL_KEY", KEY)


class OwnModel:
    name = "own"

    def __init__(self, value=None):
        self.value = value

    def complete(self, request):
        if self.value is None:
            raise ValueError(request.messages[-1].content)
        return ModelAnswer(self.value, "", TokenCount(5, 1))


def models_of(book):
    provider = book._engine.model.provider
    return provider.model_for("ana"), provider.model_for("ana", small=True)


def test_no_model_is_used_unless_configured(open_book, server):
    book = open_book(model_url=server.url)
    assert book._engine.model is None
    assert open_book(model="")._engine.model is None
    me = book.user("ana")
    me.observe("My sister Dana lives in Haifa.")
    assert server.requests == []


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_model_from_settings(open_book, server, keyed, provider):
    book = open_book(
        model=f"{provider}:big:latest",
        model_small=f"{provider}:small",
        model_url=server.url,
        model_prices="0.25/2",
        model_daily_tokens=1000,
        model_concurrency=3,
        model_cache_days=7,
    )
    large, small = models_of(book)
    assert server.requests == []
    assert [large.name, small.name] == [f"{provider}:big:latest", f"{provider}:small"]
    assert [each.complete(REQUEST).value for each in (large, small)] == [{"sum": 42}] * 2
    assert [asked.body["model"] for asked in server.requests] == ["big:latest", "small"]
    assert KEY in str(server.requests[0].headers)
    limits = book._engine.model.limits
    assert (limits.read_price, limits.written_price) == (0.25, 2.0)
    assert (limits.daily_tokens, limits.concurrency, limits.cache_days) == (1000, 3, 7)


def test_model_small_is_the_same_model_if_not_set(open_book, server):
    large, small = models_of(open_book(model="openai:stub", model_url=server.url))
    assert large is small


def test_model_given_as_an_object(open_book):
    own = OwnModel({"sum": 42})
    assert models_of(open_book(model=own)) == (own, own)
    (check,) = open_book(model=own).user("ana").model_check()
    assert (check.model, check.ok, check.read, check.written) == ("own", True, 5, 1)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"model": "gpt-5"}, "model"),
        ({"model": "gemini:flash"}, "model"),
        ({"model": "openai:"}, "model"),
        ({"model": "openai: "}, "model"),
        ({"model": "openai:a\nb"}, "model"),
        ({"model": "mcp:claude"}, "model"),
        ({"model": object()}, "model"),
        ({"model": "openai:a", "model_small": "small"}, "model_small"),
        ({"model": "openai:a", "model_small": "anthropic:b"}, "model_small"),
        ({"model": "mcp", "model_small": "openai:b"}, "model_small"),
        ({"model_small": "openai:b"}, "model_small"),
        ({"model": "openai:a", "model_url": "localhost:11434"}, "model_url"),
        ({"model": "openai:a", "model_url": "https://me:pw@host/v1"}, "model_url"),
        ({"model_prices": "cheap"}, "model_prices"),
        ({"model_prices": "1"}, "model_prices"),
        ({"model_prices": "-1/2"}, "model_prices"),
        ({"model_prices": "nan/2"}, "model_prices"),
        ({"model_timeout": 0}, "model_timeout"),
        ({"model_concurrency": 0}, "model_concurrency"),
    ],
)
def test_model_settings_that_are_wrong_are_told_at_once(open_book, settings, field):
    with pytest.raises(BadSettings) as refused:
        open_book(**settings)
    assert refused.value.field == field
    assert refused.value.remedy


def test_model_key_over_plain_http_is_refused_except_on_loopback(open_book, server, keyed):
    with pytest.raises(BadSettings, match="unencrypted") as refused:
        open_book(model="openai:a", model_url="http://models.example/v1")
    assert refused.value.field == "model_url"
    assert KEY not in str(refused.value.as_dict())
    open_book(model="openai:a", model_url=server.url)


@pytest.mark.parametrize("key", [f"{KEY} b", "sk-מפתח", f"{KEY}\r\nHost: x"])
def test_model_key_that_cannot_be_sent_is_refused_and_not_repeated(open_book, monkeypatch, key):
    monkeypatch.setenv("COMMONPLACE_MODEL_KEY", key)
    with pytest.raises(BadSettings) as refused:
        open_book(model="openai:a")
    assert refused.value.field == "model_key"
    assert key not in str(refused.value.as_dict())


def test_model_key_is_read_from_the_environment_only(open_book, tmp_path, monkeypatch):
    with pytest.raises(BadSettings, match="environment only") as refused:
        open_book(model_key=KEY)
    assert "COMMONPLACE_MODEL_KEY" in refused.value.remedy
    file = tmp_path / "config.toml"
    file.write_text(f'model_key = "{KEY}"\n')
    monkeypatch.setenv("COMMONPLACE_CONFIG", str(file))
    with pytest.raises(BadSettings, match="settings file") as from_file:
        open_book()
    for each in (refused, from_file):
        assert each.value.field == "model_key"
        assert KEY not in str(each.value.as_dict())


def test_model_key_appears_in_no_log_doctor_stats_or_export(open_book, server, keyed, caplog):
    caplog.set_level(logging.DEBUG)
    me = open_book(model="openai:stub", model_url=server.url).user("ana")
    server.answer = refuse(401, f"Incorrect API key provided: {KEY}")
    (check,) = me.model_check()
    assert "COMMONPLACE_MODEL_KEY" in check.problem
    told = [str(me.doctor()), *me.export(), caplog.text, str(me.stats(events=True)), str(check)]
    assert [text for text in told if KEY in text] == []
    assert "model_key=(set)" in told[0]
    assert "model=openai:stub" in told[0]


# ——— model check ———


def test_model_check_reports_name_mode_seconds_and_tokens(open_book, server):
    book = open_book(model="openai:big", model_small="openai:small", model_url=server.url)
    large, small = book.user("ana").model_check()
    assert (large.model, large.ok, large.small) == ("openai:big", True, False)
    assert (small.model, small.ok, small.small) == ("openai:small", True, True)
    assert large.mode == "json_schema"
    assert large.seconds > 0
    assert large.read > 0
    assert (large.problem, large.remedy) == ("", "")
    used = book.user("ana").model_usage()
    assert used.tokens_today == large.read + large.written + small.read + small.written


def test_model_check_asks_nothing_when_the_tokens_are_spent(open_book, server):
    me = open_book(model="openai:a", model_url=server.url, model_daily_tokens=1).user("ana")
    assert [me.model_check()[0].ok for _ in range(2)] == [True, False]
    assert "model_daily_tokens" in me.model_check()[0].remedy
    assert len(server.requests) == 1


def test_model_check_without_a_model_says_how_to_set_one(open_book):
    (check,) = open_book().user("ana").model_check()
    assert not check.ok
    assert "COMMONPLACE_MODEL" in check.remedy


@pytest.mark.parametrize(
    ("answer", "problem", "remedy"),
    [
        (refuse(401), "key was refused", "setting"),
        (refuse(404), "no such model", "setting"),
        (refuse(429, Retry_After="500"), "429", "server runs"),
        ({"total": 42}, "cannot be used", "follows a JSON schema"),
        ({"sum": 41}, "wrongly", "larger"),
    ],
)
def test_model_check_says_what_is_wrong_and_what_to_do(open_book, server, answer, problem, remedy):
    server.answer = answer
    (check,) = open_book(model="openai:stub", model_url=server.url).user("ana").model_check()
    assert not check.ok
    assert problem in check.problem
    assert remedy in check.remedy


def test_model_check_of_an_object_that_raises_repeats_no_text(open_book):
    (check,) = open_book(model=OwnModel()).user("ana").model_check()
    assert (check.ok, check.problem) == (False, "It raised ValueError.")

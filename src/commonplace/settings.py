"""One table of settings: flags outrank the environment, which outranks the file, then defaults."""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from commonplace.errors import BadSettings

PREFIX = "COMMONPLACE_"
CONFIG_VARIABLE = "COMMONPLACE_CONFIG"
REMOVED = ("names",)  # settings of earlier versions: ignored with a warning

log = logging.getLogger("commonplace")


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    type: type
    default: Any
    help: str
    least: float | None = None  # for numbers
    most: float | None = None
    choices: tuple[str, ...] = ()
    secret: bool = False  # never shown, logged or repeated in an error
    only_environment: bool = False  # not by a flag or in the file, which others may read

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()


def data_folder() -> Path:
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "commonplace"


def _config_file() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "commonplace" / "config.toml"


TABLE: tuple[Setting, ...] = (
    Setting(
        "store",
        str,
        "",
        "Where the memory is stored: a path, sqlite:///path, :memory: or postgresql://… "
        "(empty: memory.db in the user's data folder).",
    ),
    Setting("user", str, "me", "User that owns the memory."),
    Setting("agent", str, None, "The agent that acts; not given: the owner."),
    Setting(
        "key",
        str,
        None,
        "An API key: the command line acts with its rights; not given: as the owner. Set the "
        "variable rather than the flag: other users of the machine can see command lines.",
        secret=True,
    ),
    Setting(
        "embedder",
        str,
        "",
        "Embedder: wordllama, minilm, openai, hashing, onnx:FOLDER or fastembed:MODEL (empty: the "
        "store's own; wordllama for a new store).",
    ),
    Setting(
        "embedder_url",
        str,
        "https://api.openai.com/v1",
        "For openai: URL of the server; any server with a compatible API, such as "
        "http://localhost:11434/v1.",
    ),
    Setting("embedder_model", str, "text-embedding-3-small", "For openai: the model's name."),
    Setting(
        "embedder_key",
        str,
        "",
        "For openai: the API key; never printed. Set the variable rather than the file.",
        secret=True,
    ),
    Setting(
        "embedder_timeout",
        float,
        10.0,
        "For openai: timeout in seconds, for all attempts together.",
        0.1,
        600,
    ),
    Setting("embedder_batch", int, 64, "For openai: texts in one request.", 1, 2048),
    Setting(
        "embedder_max_chars",
        int,
        8000,
        "For openai: maximum number of characters sent per text; longer texts are cut.",
        1,
        32_000,
    ),
    Setting(
        "categories",
        str,
        "",
        "A YAML file of categories and of the agents that may read them; reloaded when it changes "
        "(empty: the built-in categories).",
    ),
    Setting("cache_mb", int, 1024, "Memory for in-process indexes, in megabytes.", 0),
    Setting(
        "worker",
        str,
        "inline",
        "Where background jobs run: inline (a thread of each process that opens the store) or off "
        "(only `commonplace worker`).",
        choices=("inline", "off"),
    ),
    Setting("tidy_on_open", bool, True, "Tidy once a day when a store is opened."),
    Setting(
        "recall_floor",
        float,
        0.65,
        "Evidence below which a hit of recall is weak: similarity plus the share of the query's "
        "words that are known. 0: none is.",
        0,
        2,
    ),
    Setting(
        "recall_log",
        bool,
        False,
        "Log the queries of each conversation turn, what was returned and why, for "
        "`commonplace why`.",
    ),
    Setting("recall_log_days", float, 30.0, "How long the recall log is kept, in days.", 0, 36_500),
    Setting(
        "restorable_days",
        float,
        30.0,
        "How long a forgotten memory can be restored, in days.",
        0,
        36_500,
    ),
    Setting(
        "idle_days",
        float,
        60.0,
        "Unimportant memories that were not read for this many days are forgotten.",
        0,
        36_500,
    ),
    Setting(
        "proposal_days",
        float,
        7.0,
        "How long a profile proposal waits for the owner, in days.",
        0,
        36_500,
    ),
    Setting(
        "observe_daily",
        int,
        50,
        "Maximum number of memories that observe creates per user and day (UTC).",
        0,
    ),
    Setting(
        "extraction",
        str,
        "auto",
        "When knowledge is extracted from sources: auto (as soon as they are processed) or "
        "on-demand (only when `extract` is called).",
        choices=("auto", "on-demand"),
    ),
    Setting(
        "model",
        str,
        "",
        "Language model: openai:NAME (any server with a compatible API), anthropic:NAME, or mcp "
        "(the connected client's own); empty: none.",
    ),
    Setting(
        "model_small",
        str,
        "",
        "A cheaper model for the cheap steps, written as `model` is (empty: the same model).",
    ),
    Setting(
        "model_url",
        str,
        "",
        "URL of the model's server, such as http://localhost:11434/v1 (empty: the provider's own).",
    ),
    Setting(
        "model_key",
        str,
        "",
        "The API key of the model's server; never printed. Read from the environment only.",
        secret=True,
        only_environment=True,
    ),
    Setting(
        "model_timeout", float, 60.0, "Timeout of a call, all its attempts together.", 0.1, 3600
    ),
    Setting("model_concurrency", int, 2, "Calls to the model at once, of this process.", 1, 64),
    Setting(
        "model_daily_tokens",
        int,
        500_000,
        "Tokens that the model may read and write per user and day (UTC); then rules alone read.",
        0,
    ),
    Setting(
        "model_prices",
        str,
        "",
        "Prices per million tokens, read and written, such as 0.25/2, for `model usage`.",
    ),
    Setting("model_cache_days", float, 30.0, "How long answers are kept, in days.", 0, 36_500),
    Setting("lock_timeout", float, 60.0, "Seconds to wait for another writer.", 0),
    Setting("pool_size", int, 10, "Connections kept to PostgreSQL.", 1),
    Setting(
        "serve_host", str, "127.0.0.1", "Host name or address that `commonplace serve` listens on."
    ),
    Setting("serve_port", int, 8765, "Port that it listens on; 0: any free port.", 0, 65_535),
    Setting(
        "serve_keyless",
        bool,
        True,
        "On a loopback address, requests with the server's token in place of an API key act as "
        "the user of the setting `user`.",
    ),
    Setting(
        "serve_names",
        str,
        "",
        "Allowed host names in addition to localhost and IP addresses, separated by commas.",
    ),
    Setting(
        "serve_origins",
        str,
        "",
        "Origins of web pages that may call it from a browser (CORS), such as "
        "https://app.example, separated by commas.",
    ),
    Setting(
        "serve_max_mb",
        float,
        64.0,
        "How large a request may be that stores an original, an export or many items, in "
        "megabytes.",
        0.001,
        4096,
    ),
    Setting(
        "serve_max_small_mb",
        float,
        2.0,
        "How large any other request may be, and any with a read-only key, in megabytes.",
        0.001,
        4096,
    ),
    Setting(
        "serve_connections",
        int,
        500,
        "How many connections it holds at once, at most half of the descriptors that the process "
        "may open. One more closes the one that has waited longest for its request.",
        1,
    ),
    Setting(
        "serve_connections_per_address",
        int,
        200,
        "How many of them come from one address. Behind a proxy, all do.",
        1,
    ),
    Setting(
        "serve_header_seconds",
        float,
        10.0,
        "Seconds until the headers of a request have arrived.",
        0.01,
        3600,
    ),
    Setting(
        "serve_transfer_seconds",
        float,
        30.0,
        "Seconds for which a request body may stay below 1,000 bytes a second, or an answer may "
        "not be read.",
        0.01,
        3600,
    ),
    Setting(
        "serve_idle_seconds",
        float,
        75.0,
        "Seconds for which an unused connection stays open.",
        0.01,
        3600,
    ),
    Setting(
        "serve_rate",
        float,
        200.0,
        "Maximum number of requests per second and API key, on average; 0: no limit.",
        0,
    ),
    Setting(
        "serve_tracing",
        bool,
        False,
        "Send a span for each request, without content, to the endpoint in "
        "OTEL_EXPORTER_OTLP_ENDPOINT; needs the extra `tracing`.",
    ),
)
BY_NAME = {setting.name: setting for setting in TABLE}


@dataclass(frozen=True, slots=True)
class Settings:
    store: str
    user: str
    agent: str | None
    key: str | None = field(repr=False)
    embedder: str
    embedder_url: str
    embedder_model: str
    embedder_key: str = field(repr=False)
    embedder_timeout: float
    embedder_batch: int
    embedder_max_chars: int
    categories: str
    cache_mb: int
    worker: str
    tidy_on_open: bool
    recall_floor: float
    recall_log: bool
    recall_log_days: float
    restorable_days: float
    idle_days: float
    proposal_days: float
    observe_daily: int
    extraction: str
    model: str
    model_small: str
    model_url: str
    model_key: str = field(repr=False)
    model_timeout: float
    model_concurrency: int
    model_daily_tokens: int
    model_prices: str
    model_cache_days: float
    lock_timeout: float
    pool_size: int
    serve_host: str
    serve_port: int
    serve_keyless: bool
    serve_names: str
    serve_origins: str
    serve_max_mb: float
    serve_max_small_mb: float
    serve_connections: int
    serve_connections_per_address: int
    serve_header_seconds: float
    serve_transfer_seconds: float
    serve_idle_seconds: float
    serve_rate: float
    serve_tracing: bool


def shown(settings: Settings) -> dict[str, str]:
    """As text, for people to read; of a secret only whether there is one."""
    return {
        name: ("(set)" if value else "") if BY_NAME[name].secret else written(value)
        for name, value in asdict(settings).items()
    }


def written(value: object) -> str:
    return "" if value is None else str(value)


def load(
    flags: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    environment = os.environ if environment is None else environment
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    unknown = set(given) - set(BY_NAME)
    if unknown:
        raise BadSettings(f"Unknown setting {sorted(unknown)[0]!r}.")
    for name in REMOVED:
        if (variable := PREFIX + name.upper()) in environment:
            _warn_of_removed(name, variable, "Unset the variable.")
    file = _read_file(environment)
    _refuse_outside_environment(given, file)
    values = {}
    for setting in TABLE:
        if setting.name in given:
            values[setting.name] = _typed(setting, given[setting.name], "given")
        elif setting.variable in environment:
            values[setting.name] = _typed(setting, environment[setting.variable], setting.variable)
        elif setting.name in file:
            values[setting.name] = _typed(setting, file[setting.name], "the settings file")
        else:
            values[setting.name] = setting.default
    return Settings(**values)


def _refuse_outside_environment(given: Mapping[str, Any], file: Mapping[str, Any]) -> None:
    for setting in TABLE:
        if setting.only_environment and (setting.name in given or setting.name in file):
            where = "given" if setting.name in given else "the settings file"
            raise BadSettings(
                f"{setting.name} ({where}) is read from the environment only.",
                remedy=f"Remove it there, and set {setting.variable}.",
                field=setting.name,
            )


def default_store() -> str:
    """The default file; its folder is created if it is missing."""
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadSettings(
            f"Cannot create {folder}: {error.strerror}.",
            remedy="Give a store: --store, or COMMONPLACE_STORE.",
            field="store",
        ) from error
    return str(folder / "memory.db")


def _read_file(environment: Mapping[str, str]) -> dict[str, Any]:
    named = environment.get(CONFIG_VARIABLE)
    path = Path(named) if named else _config_file()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if named:
            raise BadSettings(f"{CONFIG_VARIABLE} names {path}, which does not exist.") from None
        return {}
    except OSError as error:
        raise BadSettings(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} is not valid TOML: {error}.") from error
    for name in REMOVED:
        if values.pop(name, None) is not None:
            _warn_of_removed(name, str(path), "Delete the line.")
    unknown = set(values) - set(BY_NAME)
    if unknown:
        raise BadSettings(f"{path} has an unknown setting {sorted(unknown)[0]!r}.")
    return values


@cache  # settings are loaded several times in a process
def _warn_of_removed(name: str, where: str, remedy: str) -> None:
    log.warning("%s: the setting %r was removed and is ignored. %s", where, name, remedy)


_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _typed(setting: Setting, value: object, where: str) -> Any:
    try:
        if setting.type is bool:
            return value if isinstance(value, bool) else _WORDS[str(value).lower()]
        typed = setting.type(value)
    except (ValueError, KeyError, TypeError):
        raise BadSettings(
            f"{setting.name} ({where}) must be {setting.type.__name__}, not {value!r}.",
            field=setting.name,
        ) from None
    if setting.choices and typed not in setting.choices:
        raise BadSettings(
            f"{setting.name} ({where}) must be {' or '.join(setting.choices)}, not {value!r}.",
            field=setting.name,
        )
    if setting.least is not None and not typed >= setting.least:
        raise BadSettings(
            f"{setting.name} ({where}) must be at least {setting.least:g}, not {value!r}.",
            field=setting.name,
        )
    if setting.most is not None and not typed <= setting.most:
        raise BadSettings(
            f"{setting.name} ({where}) must be at most {setting.most:g}, not {value!r}.",
            field=setting.name,
        )
    return typed

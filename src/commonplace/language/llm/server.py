"""A model's server: its address and options, checked before anything is sent."""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass, field

from commonplace.errors import BadSettings
from commonplace.language.http.address import check_address

KEY_VARIABLE = "COMMONPLACE_MODEL_KEY"
DEFAULT_URLS = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ModelServer:
    """Fields are named like the settings without `model_`."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0

    def __post_init__(self) -> None:
        check_address(self.url, self.key, url_setting="model_url", key_setting="model_key")
        if not self.model.strip() or not self.model.isprintable():
            raise BadSettings(
                "The name of the model is empty or not valid.",
                remedy="Write it as its server lists it, such as openai:gpt-5-mini.",
                field="model",
            )

    @property
    def address(self) -> str:
        """The URL in one spelling: scheme, host, port and path."""
        parts = urllib.parse.urlsplit(self.url)
        port = parts.port or _DEFAULT_PORTS[parts.scheme]
        return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"

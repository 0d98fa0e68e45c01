"""A model's server: its address and options, checked before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass, field

from commonplace.errors import BadSettings
from commonplace.language.http.address import check_address

KEY_VARIABLE = "COMMONPLACE_MODEL_KEY"
DEFAULT_URLS = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}


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

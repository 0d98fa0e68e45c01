"""Where embeddings are asked for over HTTP, checked before anything is sent."""

from __future__ import annotations

import ipaddress
import urllib.parse
from dataclasses import dataclass, field

from commonplace.errors import BadSettings

_HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Server:
    """Where to ask and how; the names are those of the settings without `embedder_`."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 10.0
    batch: int = 64
    max_chars: int = 8000

    def __post_init__(self) -> None:
        if not _is_plain_address(self.url):
            raise BadSettings(
                "embedder_url is not a valid URL.",
                remedy="Write https://host/v1 or https://host:port/v1, without a name, password "
                "or ? in it.",
                field="embedder_url",
            )
        if not _is_one_ascii_word(self.key):  # anything else cannot be sent in a header
            raise BadSettings(
                "embedder_key holds a space, a line break or a character that is not ASCII.",
                remedy="Copy the key again, on one line and without quotes.",
                field="embedder_key",
            )
        if self.key and self.url.lower().startswith("http:") and not self.is_loopback:
            raise BadSettings(
                "embedder_url would send the key unencrypted.",
                remedy="Use https, or leave embedder_key empty.",
                field="embedder_url",
            )
        if not self.model.strip() or not self.model.isprintable():
            raise BadSettings(
                "embedder_model is empty or not a valid name.",
                remedy="Write the model's name as its server lists it.",
                field="embedder_model",
            )

    @property
    def is_loopback(self) -> bool:
        """What is sent there does not leave the machine."""
        host = urllib.parse.urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


def _is_plain_address(url: str) -> bool:
    if not _is_one_ascii_word(url):
        return False
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError:  # half an IPv6 address, or a port that is none
        return False
    plain = "@" not in parts.netloc and "?" not in url and "#" not in url
    known = port is None or 0 < port <= _HIGHEST_PORT
    return parts.scheme in ("http", "https") and bool(parts.hostname) and plain and known


def _is_one_ascii_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text

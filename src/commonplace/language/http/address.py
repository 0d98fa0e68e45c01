"""Addresses and keys of servers, checked before anything is sent."""

from __future__ import annotations

import ipaddress
import urllib.parse

from commonplace.errors import BadSettings

_HIGHEST_PORT = 65_535


def check_address(url: str, key: str, *, url_setting: str, key_setting: str) -> None:
    """A key goes over plain HTTP to this machine only."""
    if not _is_plain_address(url):
        raise BadSettings(
            f"{url_setting} is not a valid URL.",
            remedy="Write https://host/v1 or https://host:port/v1, without a name, password "
            "or ? in it.",
            field=url_setting,
        )
    if not _is_one_ascii_word(key):  # other values cannot be sent in a header
        raise BadSettings(
            f"{key_setting} holds a space, a line break or a character that is not ASCII.",
            remedy="Copy the key again, on one line and without quotes.",
            field=key_setting,
        )
    if key and url.lower().startswith("http:") and not is_loopback(url):
        raise BadSettings(
            f"{url_setting} would send the key unencrypted.",
            remedy=f"Use https, or leave {key_setting} empty.",
            field=url_setting,
        )


def is_loopback(url: str) -> bool:
    """Whether the data stays on this machine."""
    host = urllib.parse.urlsplit(url).hostname or ""
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
    except ValueError:  # half an IPv6 address, or an invalid port
        return False
    plain = "@" not in parts.netloc and "?" not in url and "#" not in url
    known = port is None or 0 < port <= _HIGHEST_PORT
    return parts.scheme in ("http", "https") and bool(parts.hostname) and plain and known


def _is_one_ascii_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text

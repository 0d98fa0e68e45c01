"""What parent and child say to each other over pipes: a head of JSON, and bytes that follow it."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

_SIZES = struct.Struct(">IQ")  # of the head, of the body
PREFIX = _SIZES.size
MOST_GRAPHS = 2  # that a child holds; both sides know which make room for others


@dataclass(frozen=True, slots=True)
class Message:
    head: dict[str, Any]
    body: bytes = b""

    def packed(self) -> bytes:
        head = json.dumps(self.head, ensure_ascii=True, separators=(",", ":")).encode()
        return _SIZES.pack(len(head), len(self.body)) + head + self.body


def sizes(prefix: bytes) -> tuple[int, int]:
    head, body = _SIZES.unpack(prefix)
    return head, body


def unpacked(head: bytes, body: bytes) -> Message:
    return Message(json.loads(head), body)

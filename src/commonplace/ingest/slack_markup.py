"""Slack's own way of writing mentions, channels and links, as people read it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

_MARK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


def plain_text(text: str, names: Mapping[str, str]) -> str:
    return html.unescape(_MARK.sub(lambda mark: _shown(mark, names), text))


def _shown(mark: re.Match[str], names: Mapping[str, str]) -> str:
    sign, target, label = mark.groups()
    if sign == "@":
        return "@" + (names.get(target) or label or target)
    if sign == "#":
        return "#" + (label or target)
    if sign == "!":  # <!here>, <!subteam^S1|@designers>, <!date^123^{date}|1 March>
        return label or "@" + target.partition("^")[0]
    return label or target.removeprefix("mailto:")

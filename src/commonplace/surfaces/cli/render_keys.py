"""Keys on a terminal. A token is shown by itself on a line, to be copied."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from commonplace.model.key import Key, KeyState, NewKey, ShownKey
from commonplace.surfaces.cli.draw import drawn, id_line

_COLOURS = {KeyState.VALID: "green", KeyState.EXPIRED: "yellow", KeyState.REVOKED: "red"}


@drawn.register
def _shown(answer: ShownKey) -> Text:
    told = Text.assemble((f"{answer.state} ", _COLOURS[answer.state]), answer.label)
    told.append(f"  {_opens(answer)}", "cyan")
    told.append(f"  {_time(answer)}", "dim")
    return told.append_text(Text("\n")).append_text(id_line(answer.id))


@drawn.register
def _new(answer: NewKey) -> Group:
    return Group(
        _shown(answer),
        Text(answer.token, "bold", no_wrap=True, overflow="ignore"),
        Text("  This is shown once: keep it where secrets are kept.", "yellow"),
    )


def _opens(key: Key) -> str:
    who = "admin" if key.is_admin else f"agent {key.agent}" if key.agent else "owner"
    return ", ".join([who, *(right.replace("_", " ") for right in key.rights)])


def _time(key: Key) -> str:
    until = f"until {key.expires_at:%Y-%m-%d %H:%M}" if key.expires_at else "without end"
    used = f"used {key.last_used_at:%Y-%m-%d}" if key.last_used_at else "never used"
    return f"{until}, {used}"

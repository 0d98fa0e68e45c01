"""The token of a server on loopback: with it, a local program or browser needs no API key.

Addresses and headers do not show where a request comes from: a proxy on this machine sends both as
a local program would. The token is in a file that only the account that started the server can
read, one for each port, so a program that listens on another port learns nothing of use.
"""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path

from commonplace.settings import data_folder

_FOLDER = "tokens"
_PREFIX = "cpl_"  # for secret scanners
_PRIVATE = 0o600
MAX_TOKEN = 200  # characters


@dataclass(frozen=True, slots=True)
class LocalToken:
    value: str = field(repr=False)
    port: int
    is_stored: bool = True  # False: the file could not be written

    @property
    def cookie_name(self) -> str:
        """With the port: browsers send a host's cookies to all of its ports."""
        return f"commonplace_{self.port}"

    @property
    def place(self) -> str:
        """Where the token is, without the name of the account: callers without it see this."""
        if not self.is_stored:
            return "the address that `commonplace serve` printed"
        folder = "$XDG_DATA_HOME" if os.environ.get("XDG_DATA_HOME") else "~/.local/share"
        return f"the file {folder}/commonplace/{_FOLDER}/{self.port}"

    def equals(self, given: str) -> bool:
        return secrets.compare_digest(self.value.encode(), given.encode("utf-8", "replace"))

    def set_cookie(self) -> str:
        """Value of a Set-Cookie header: no script can read it, no other site's page can send it."""
        cookie: SimpleCookie = SimpleCookie()
        cookie[self.cookie_name] = self.value
        held = cookie[self.cookie_name]
        held["path"], held["httponly"], held["samesite"] = "/", True, "Strict"
        return held.OutputString()

    def remove(self) -> None:
        """For a port that was chosen at random: the next server has another one."""
        if self.is_stored:
            token_file(self.port).unlink(missing_ok=True)


def token_file(port: int) -> Path:
    return data_folder() / _FOLDER / str(port)


def load_token(port: int) -> str | None:
    """The token of the server on a port of this machine, if this account started one."""
    try:
        with token_file(port).open(encoding="ascii") as file:
            if not _is_private(os.fstat(file.fileno())):
                return None
            token = file.read(MAX_TOKEN).strip()
    except (OSError, ValueError):
        return None
    return token if token.startswith(_PREFIX) else None


def obtain_token(port: int) -> LocalToken:
    """The token of earlier servers on this port, so that clients stay connected; else a new one."""
    if known := load_token(port):
        return LocalToken(known, port)
    token = new_token()
    try:
        _write(token_file(port), token)
    except OSError:
        return LocalToken(token, port, is_stored=False)
    return LocalToken(token, port)


def new_token() -> str:
    return _PREFIX + secrets.token_urlsafe(32)


def _write(path: Path, token: str) -> None:
    """Replaces a file that others can read, or that another account made."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as file:
        file.write(f"{token}\n")
    draft.replace(path)


def _is_private(status: os.stat_result) -> bool:
    if os.name != "posix":
        return True
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077

"""What child processes do in the tests of keys."""

from __future__ import annotations

from commonplace.errors import InvalidInput, Unauthenticated
from support.processes import Line
from support.whole import open_plainly


def come_in_when_told(line: Line, url: str) -> None:
    """A server: for each token it hears, whether it lets its holder in."""
    with open_plainly(url) as book:
        line.say("ready")
        while (token := line.hear()) is not None:
            try:
                line.say(book.authenticate(token).principal.agent)
            except Unauthenticated as error:
                line.say(error.code)


def start_first(line: Line, url: str) -> None:
    """One of several servers that start at once: has it made the admin's key?"""
    with open_plainly(url) as book:
        line.say("ready")
        line.hear()
        line.say(book.first_admin_key() is not None)


def rotate_when_told(line: Line, url: str, user: str, id: str) -> None:
    with open_plainly(url) as book:
        line.say("ready")
        line.hear()
        try:
            line.say(book.user(user).keys_rotate(id).token)
        except InvalidInput as error:
            line.say(str(error))

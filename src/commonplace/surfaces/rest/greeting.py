"""What a server says when it starts: where it is, who comes in, and, once, its admin's key."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from commonplace.book import Commonplace
from commonplace.model.key import NewKey
from commonplace.surfaces.rest.reception import Reception


def address_of(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def who_comes_in(reception: Reception) -> str:
    if reception.is_keyless:
        user = reception.settings.user
        return f"Whoever asks from this machine without a key is the user {user!r}."
    command = f"commonplace keys create LABEL --user NAME {naming_the_store(reception.book)}"
    return f"Everybody needs a key: `{command}` makes one."


def naming_the_store(book: Commonplace) -> str:
    """As it can be pasted into another shell; a password is not part of it."""
    return f"--store {shlex.quote(book.url)}"


def of_the_first_key(key: NewKey, url: str) -> Iterator[str]:
    yield "The first admin's key of this store, shown this once; keep it where secrets are kept:"
    yield f"  {key.token}"
    yield "It makes and ends the keys of users, and opens nobody's memory. With it in $ADMIN:"
    yield f"  curl {url}/v1/keys -H \"Authorization: Bearer $ADMIN\" -H 'Commonplace-User: ana' \\"
    yield "    -H 'Content-Type: application/json' -d '{\"label\": \"laptop\"}'"

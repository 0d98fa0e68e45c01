"""Who calls a tool, and in whose name the person at the client decides.

A client is a program that acts for a person, and what it asks for may be a model's idea. So over
this protocol it is one of the owner's agents, also where the store or the key is the owner's: what
only the owner decides waits, or the person is asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

from commonplace.book import User

Asking = ServerRequestContext[Any, Any]

NAMELESS = "mcp"  # an agent whose client does not say what it is
_LONGEST = 64
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Caller:
    user: User  # who acts
    # Who is meant when the person at the client answers; None: an agent's key, behind which the
    # owner need not sit.
    owner: User | None = None

    @property
    def decider(self) -> User:
        return self.owner or self.user


Who = Callable[[Asking], Caller]  # reads the store, so it is called in a thread


def for_its_owner(holder: User, asking: Asking, agent: str | None = None) -> Caller:
    """Whoever holds the store or a key, with the name that the agent was given or gives itself. A
    key that was made for an agent is that agent's."""
    if not holder.principal.is_owner:
        return Caller(holder if agent is None else holder.agent(agent))
    return Caller(holder.agent(agent or name_of_the_client(asking)), holder)


def as_the_owner(owner: User) -> Caller:
    """The program's word is taken for the owner's."""
    return Caller(owner, owner)


def name_of_the_client(asking: Asking) -> str:
    """As it introduces itself, made a word that a file of categories can name: "Visual Studio Code"
    is visual-studio-code."""
    introduced = asking.session.client_params
    said = introduced.client_info.name if introduced else ""
    words = _NO_WORD.sub("-", said.encode("utf-8", "ignore").decode().casefold()).strip("-")
    return words[:_LONGEST].rstrip("-") or NAMELESS

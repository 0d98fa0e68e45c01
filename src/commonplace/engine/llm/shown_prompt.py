"""A prompt as it is shown in a dry run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """One request to a language model, as it would be sent."""

    source: str
    prompt: str  # name and version
    passages: tuple[str, ...]  # that are new in it
    tokens: int  # approximately
    system: str
    user: str

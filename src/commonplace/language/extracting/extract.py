"""A source → what it tells: nodes, edges, notes, and what may become memories. Pure."""

from __future__ import annotations

from commonplace.language.extracting.found import Account, Extracted
from commonplace.language.extracting.spot import spot
from commonplace.language.extracting.told import told_of


def extract(account: Account) -> Extracted:
    return told_of(account, spot(account))

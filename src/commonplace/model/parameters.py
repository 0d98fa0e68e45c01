"""Defaults, limits and choices of parameters that several modules share.

They are here, so that signatures and schemas load none of these modules.
"""

from enum import StrEnum

ALL_WORDS = 0.999  # the share of a query's terms that counts as all of them
NEVER = "never"  # no expiry
MAX_SHORT_FORM = 40  # characters of an abbreviation

QUERY_TOP_K = 3
QUERY_BUDGET = 512

MICRO, MESO, MACRO = 1, 2, 3  # granularities of explore: sources, storylines, macros
EXPLORE_GRANULARITY = MICRO
WALK_DAMPING = 0.85
WALK_MAX_DEPTH = 3
WALK_TOP_K = 20
DAMPING_LIMIT = 0.99
DEPTH_LIMIT = 20
TOP_K_LIMIT = 1000


class QueryReturns(StrEnum):
    BULLETS = "bullets"
    FULL = "full"


class SearchMode(StrEnum):
    FAST = "fast"  # the query as given
    DEEP = "deep"  # and other wordings of it


class GraphFormat(StrEnum):
    DOT = "dot"
    JSON = "json"
    GRAPHML = "graphml"


class SourceFormat(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    CONVERSATION = "conversation"
    EMAIL = "email"
    SLACK = "slack"
    TRANSCRIPT = "transcript"
    WHATSAPP = "whatsapp"

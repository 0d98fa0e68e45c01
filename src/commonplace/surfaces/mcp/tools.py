"""The table of MCP tools: what an agent is offered, and the operations behind each.

Few and told apart: an agent reads all of these before it acts, so each says what it is for and when
another one is better. Types, defaults and meanings of the parameters come from `operations.py`; a
tool only chooses which of them it shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from commonplace.operations.table import BY_NAME, Effect, Operation, Parameter, ParameterShape

MOST_TOOLS = 14


@dataclass(frozen=True)
class ToolOperation:
    """One operation behind a tool, and which of its parameters the tool shows."""

    name: str  # of the operation
    shows: tuple[str, ...] = ()
    # The argument whose presence chooses this way; the first way of a tool needs none. Where the
    # operation has no such parameter it is a word of the tool's own: a flag.
    when: str | None = None

    @cached_property
    def operation(self) -> Operation:
        return BY_NAME[self.name]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        known = {parameter.name: parameter for parameter in self.operation.parameters}
        return tuple(known[name] for name in self.shows)

    @property
    def needs(self) -> set[str]:
        return {parameter.name for parameter in self.parameters if parameter.required}


@dataclass(frozen=True)
class Tool:
    name: str
    title: str
    help: str
    ways: tuple[ToolOperation, ...]
    destructive: bool = False  # takes something out of sight, or replaces it
    idempotent: bool = False
    told: Mapping[str, str] = field(default_factory=dict)  # where a parameter means less here

    @property
    def reads_only(self) -> bool:
        return all(way.operation.effect is Effect.READ for way in self.ways)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Each once, the first way's first. What only one of several ways needs is not required of
        a call."""
        shown: dict[str, Parameter] = {}
        for way in self.ways:
            for parameter in (*way.parameters, *self._flag(way)):
                shown.setdefault(parameter.name, parameter)
        needed = set.intersection(
            *({p.name for p in w.parameters if p.required} for w in self.ways)
        )
        return tuple(
            replace(p, required=p.name in needed, help=self.told.get(p.name, p.help))
            for p in shown.values()
        )

    def _flag(self, way: ToolOperation) -> tuple[Parameter, ...]:
        if way.when is None or way.when in way.shows:
            return ()
        return (Parameter(way.when, ParameterShape.FLAG, False, False, self.told[way.when]),)

    def way(self, arguments: Mapping[str, Any]) -> ToolOperation:
        """The way that a call takes."""
        for way in self.ways:
            if way.when is not None and arguments.get(way.when) not in (None, False):
                return way
        return self.ways[0]


def _tool(name: str, title: str, help: str, *ways: ToolOperation, **more: Any) -> Tool:
    return Tool(name, title, " ".join(help.split()), ways, **more)


_TIME_PARAMETERS = ("as_of", "known_at")

TOOLS: tuple[Tool, ...] = (
    _tool(
        "memory_query",
        "Look up a fact",
        """Look up a fact about the user or their world, in the middle of a turn, whenever you are
        not sure: what changed since you last looked in this thread, then the best few items as
        bullets, each with its id. Cheap; an empty answer means that nothing is known, so say so
        and do not guess. At the start of a turn use context; to search widely, in sources or in
        the past, use recall.""",
        ToolOperation(
            "query",
            (
                "query",
                "agent",
                "categories",
                "filters",
                "top_k",
                "returns",
                "budget_tokens",
                "threshold",
                "thread",
            ),
        ),
        told={"agent": "Your own name, if any: no other is taken."},
    ),
    _tool(
        "context",
        "What to know at the start of a turn",
        """Call it once at the start of each turn, with the user's message as query, and put its
        text before your answer: who you are to be, the rules to follow, who the user is, what
        changed since you last looked, and what the message brings to mind. For one more fact
        later in the turn use memory_query.""",
        ToolOperation("context", ("query", "thread", "budget_tokens", "categories")),
    ),
    _tool(
        "recall",
        "Search the whole memory",
        """Search everything: memories and passages of conversations, mails and documents, best
        first, with citations. Use it when memory_query found too little, for more hits, for only
        some kinds or sources, or for the past: as_of asks what was true at a moment, known_at what
        was known then. To see one thing whole, call show with its id.""",
        ToolOperation(
            "recall",
            (
                "query",
                "k",
                "budget_tokens",
                "kinds",
                "categories",
                "filters",
                "threshold",
                "sources",
                *_TIME_PARAMETERS,
                "explain",
                "thread",
            ),
        ),
    ),
    _tool(
        "explore",
        "What is known about someone or something",
        """Look around in the user's own knowledge: people, concepts, things, how they relate, and
        the sources that speak of them. Use it for "what do I know about …" and to get ids of nodes;
        for one fact use memory_query, for words in texts recall, to follow connections from here
        traverse. Without queries: what is most present now.""",
        ToolOperation(
            "explore",
            (
                "queries",
                "granularity",
                "text_matches",
                "relationship_filters",
                "multi_query",
                "mode",
                "time_weight",
                "salience_weight",
                "semantic_weight",
                "return_explanations",
                "include_archived",
                *_TIME_PARAMETERS,
            ),
        ),
        told={
            "granularity": "1: sources in full (usual), 2: storylines, 3: macros.",
            "mode": "deep: also other wordings of the queries.",
            "multi_query": "Whether other wordings count; else as mode says.",
            "time_weight": "How much it counts that it is recent.",
            "salience_weight": "That it is present.",
            "semantic_weight": "That it fits.",
            "return_explanations": "Say why each was found.",
            "include_archived": "Also what has faded.",
        },
    ),
    _tool(
        "traverse",
        "Follow connections",
        """Follow connections from node to node. mode ppr: what hangs on some seed_nodes (by name,
        or ids from explore), most connected first, with the way to each. mode cypher: an openCypher
        query that only reads, for who knows whom, counts and paths; ask with schema for what it can
        name.""",
        ToolOperation(
            "traverse",
            (
                "mode",
                "seed_nodes",
                "max_depth",
                "damping",
                "top_k",
                "cypher",
                "params",
                "verbose",
                "schema",
                *_TIME_PARAMETERS,
            ),
        ),
        told={
            "damping": "How far to go from the seeds.",
            "verbose": "Rows with all properties of nodes and relationships.",
        },
    ),
    _tool(
        "relate",
        "Say something of the graph",
        """Say how two people, concepts or things relate (from_node, relationship_type, to_node);
        or note something on one of them, or on a relationship (about, content); or put a new one
        in (name, node_type). Nodes by id or name; me is the user. What contradicts it is over from
        then on; nothing is lost. What is no relation between named things goes to remember.""",
        ToolOperation(
            "relate",
            (
                "from_node",
                "relationship_type",
                "to_node",
                "description",
                "attitude",
                "proximity",
                "confidence",
                "valid_from",
                "valid_to",
                "ended",
            ),
        ),
        ToolOperation("note", ("about", "content", "lifetime"), when="about"),
        ToolOperation(
            "nodes add", ("name", "node_type", "type", "description", "aliases"), when="name"
        ),
        told={
            "from_node": "Whom the word speaks of first.",
            "to_node": "The other one.",
            "name": "Of a new node.",
            "node_type": "What it is.",
            "content": "The note.",
            "lifetime": "How long it counts.",
        },
    ),
    _tool(
        "observe",
        "Hand in a turn of the conversation",
        """Hand in every turn as it is said, the user's and your own (role): what is worth keeping
        becomes at most three memories, the rest stays findable as conversation. You need not
        judge what matters. When the user says outright that you should keep something, use
        remember.""",
        ToolOperation("observe", ("text", "role", "speaker", "thread", "at")),
        told={"role": "Whose words these are."},
    ),
    _tool(
        "remember",
        "Keep something",
        """Keep one thing that the user wants kept, or that you concluded: a fact, a value, a
        contact, a rule, an idea. Write it so that it can be understood alone. The answer says
        whether it is new, repeats or replaces something; another value of a contact or a kv is
        held until a person decides, and then the answer names the conflict. Whole turns go to
        observe, long texts to ingest, and what the profile should say to profile.""",
        ToolOperation(
            "remember",
            (
                "content",
                "kind",
                "metadata",
                "steps",
                "category",
                "tags",
                "importance",
                "confidence",
                "evidence",
                "sensitivity",
                "pinned",
                "ttl_days",
                "expires_at",
                "valid_from",
                "valid_to",
                "thread",
                "on_conflict",
            ),
        ),
        told={"on_conflict": "What to do with another value of a contact or a kv."},
    ),
    _tool(
        "update",
        "Change a memory",
        """Change a memory that is wrong or out of date, by its id: look it up first. New content
        takes the old one's place; tags, importance and the like change where they stand. By query
        it only shows candidates. Undo with forget and undo.""",
        ToolOperation(
            "update",
            (
                "id",
                "query",
                "content",
                "metadata",
                "category",
                "tags",
                "importance",
                "confidence",
                "sensitivity",
                "pinned",
                "ttl_days",
                "expires_at",
                "thread",
            ),
        ),
        destructive=True,
        idempotent=True,
    ),
    _tool(
        "forget",
        "Forget, or bring back",
        """Forget memories or sources: look them up (memory_query or recall), then forget by id. By
        query it only shows candidates; forget those that the user means. Never say that you
        cannot delete. What is forgotten comes back for 30 days with undo. To remove something for
        good is the owner's: `commonplace erase`.""",
        ToolOperation("forget", ("ids", "query", "thread")),
        ToolOperation("restore", ("ids", "thread"), when="undo"),
        destructive=True,
        idempotent=True,
        told={"undo": "Bring these ids back: forgotten, overridden or superseded ones."},
    ),
    _tool(
        "show",
        "Look at one thing, or browse",
        """With an id: that memory whole, with its versions and links; of a source its passages, of
        a passage those around it, of a node how it relates. Without one: browse memories, newest
        first, by kind or category (all contacts, all rules). To answer a question, memory_query is
        better.""",
        ToolOperation(
            "list",
            ("kinds", "categories", "filters", "limit", "after", "forgotten", *_TIME_PARAMETERS),
        ),
        ToolOperation("show", ("id", *_TIME_PARAMETERS), when="id"),
        told={"id": "Which one; not given: browse."},
    ),
    _tool(
        "ingest",
        "Keep a whole text",
        """Keep a conversation, e-mail, meeting, transcript or document whole, so that its passages
        can be found and cited. Give the text itself. The same text again adds nothing. A single
        thing to keep goes to remember, a turn of this conversation to observe.""",
        ToolOperation(
            "ingest",
            (
                "original",
                "format",
                "title",
                "date",
                "external_id",
                "origin",
                "append",
                "source_type",
                "context_type",
                "participants",
                "tags",
                "sensitivity",
                "ttl_policy",
                "team",
                "thread",
            ),
        ),
        idempotent=True,
        told={
            "original": "The text itself, whole; never a path.",
            "format": "Found out when not given.",
            "source_type": "What it came from.",
            "context_type": "What it was for.",
        },
    ),
    _tool(
        "conflicts",
        "What a person must decide",
        """Without arguments: the open questions, where two values of one thing contradict each
        other. Put them to the user; never choose for them. With the conflict and the user's choice
        (override: the new value replaces the old; insert: keep both; dismiss: keep the old) it is
        decided, once they have agreed in their client; where they cannot be asked it is refused,
        and they decide with `commonplace resolve`.""",
        ToolOperation("conflicts", ("limit", "alternatives")),
        ToolOperation(
            "resolve", ("conflict", "choice", "target", "held", "thread"), when="conflict"
        ),
        destructive=True,
        told={"conflict": "The open question that the user has decided; not given: show all."},
    ),
    _tool(
        "profile",
        "Who the user is",
        """Without arguments: the fields and notes of the user's profile. With name and value:
        propose what a field should say (preferred_name, pronouns, city, language, tone, goals_add
        …) when the user tells you. Most fields wait until the owner agrees; do not ask twice.""",
        ToolOperation("profile"),
        ToolOperation(
            "profile propose",
            ("name", "value", "confidence", "reason", "evidence", "thread"),
            when="name",
        ),
        idempotent=True,
        told={"name": "The field; not given: show the profile."},
    ),
)
BY_TOOL = {tool.name: tool for tool in TOOLS}

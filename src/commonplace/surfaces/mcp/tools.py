"""The table of MCP tools and the operations behind each.

An agent reads all descriptions before it acts, so there are few tools, and each description says
when to use it or another one. Types, defaults and help of the parameters come from
`operations/table.py`; a tool only selects parameters.
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
    # The argument that selects this operation; the tool's first operation needs none. If the
    # operation has no such parameter, it is a flag of the tool.
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
    destructive: bool = False  # removes or replaces items
    idempotent: bool = False
    parameter_help: Mapping[str, str] = field(default_factory=dict)  # overrides

    @property
    def reads_only(self) -> bool:
        return all(way.operation.effect is Effect.READ for way in self.ways)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The distinct parameters, those of the first operation first. Parameters that only some
        operations need are optional."""
        shown: dict[str, Parameter] = {}
        for way in self.ways:
            for parameter in (*way.parameters, *self._flag(way)):
                shown.setdefault(parameter.name, parameter)
        needed = set.intersection(
            *({p.name for p in w.parameters if p.required} for w in self.ways)
        )
        return tuple(
            replace(p, required=p.name in needed, help=self.parameter_help.get(p.name, p.help))
            for p in shown.values()
        )

    def _flag(self, way: ToolOperation) -> tuple[Parameter, ...]:
        if way.when is None or way.when in way.shows:
            return ()
        return (
            Parameter(way.when, ParameterShape.FLAG, False, False, self.parameter_help[way.when]),
        )

    def way(self, arguments: Mapping[str, Any]) -> ToolOperation:
        """The operation that a call selects."""
        for way in self.ways:
            if way.when is not None and arguments.get(way.when) not in (None, False):
                return way
        return self.ways[0]


def _tool(name: str, title: str, help: str, *ways: ToolOperation, **more: Any) -> Tool:
    return Tool(name, title, " ".join(help.split()), ways, **more)


_TIME_PARAMETERS = ("as_of", "known_at")
_TIME_HELP = {"as_of": "As it was true then.", "known_at": "As it was known then."}
_SENSITIVITY_HELP = {"sensitivity": "high is hidden from searches."}
_DEEP_HELP = {"mode": "deep: more wordings."}
_VALID_HELP = {"valid_from": "True since then.", "valid_to": "True until then."}

TOOLS: tuple[Tool, ...] = (
    _tool(
        "memory_query",
        "Look up a fact",
        """Look up a fact about the user or their world in the middle of a turn, whenever you are
        not sure. Returns what changed since your last call in this thread, then the best few items
        as bullets with ids. Cheap. An empty answer means that nothing is known: say so, do not
        guess. At the start of a turn use context; for sources, the past or many hits use
        recall.""",
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
                "mode",
                "thread",
            ),
        ),
        parameter_help={
            "agent": "Your own name; no other is accepted.",
            "returns": "full: text and fields.",
            **_DEEP_HELP,
        },
    ),
    _tool(
        "context",
        "What to know at the start of a turn",
        """Call this once at the start of each turn, with the user's message as query, and read
        its text before you answer: your identity, the rules to follow, the user's profile, what
        changed since your last call, and what is relevant to the message. For another fact later
        in the turn use memory_query.""",
        ToolOperation("context", ("query", "thread", "budget_tokens", "categories")),
    ),
    _tool(
        "recall",
        "Search the whole memory",
        """Search memories, profile, graph and passages of conversations, mails and documents, best
        first, cited. Use it if memory_query found too little, for more hits, for certain kinds or
        sources, or for the past.
        To see one item in full, call show with its id.""",
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
                "strict",
                "mode",
                "sources",
                *_TIME_PARAMETERS,
                "explain",
                "thread",
            ),
        ),
        parameter_help={
            "strict": "Leave out weak hits.",
            **_DEEP_HELP,
            "explain": "Explain each hit.",
            **_TIME_HELP,
        },
    ),
    _tool(
        "explore",
        "What is known about someone or something",
        """Explore the user's knowledge graph: people, concepts, things, their relationships, and
        the sources that mention them. Use it for "what do I know about …" and to get node ids. For
        one fact use memory_query, for text recall, to follow connections traverse. Without
        queries: the most salient items.""",
        ToolOperation(
            "explore",
            (
                "query",
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
        parameter_help={
            "query": "One topic, if there are no others.",
            "granularity": "1: sources in full (usual), 2: storylines, 3: macros.",
            "mode": "deep: also other wordings of the queries.",
            "multi_query": "Use other wordings; default: as mode says.",
            "time_weight": "Weight of recency.",
            "salience_weight": "Weight of salience.",
            "semantic_weight": "Weight of similarity.",
            "return_explanations": "Explain why each was found.",
            "include_archived": "Include faded items.",
            **_TIME_HELP,
        },
    ),
    _tool(
        "traverse",
        "Follow connections",
        """Follow connections between nodes. mode ppr: what is connected with seed_nodes (names, or
        ids from explore), most connected first, with the path to each. mode cypher: a read-only
        openCypher query, for who knows whom, counts and paths; call with schema for its labels and
        properties.""",
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
        parameter_help={
            "seed_nodes": "Start nodes by id or name (`me`: the owner).",
            "max_depth": "Most steps from a seed.",
            "damping": "Higher goes further from the seeds.",
            "verbose": "Rows with all properties of nodes and relationships.",
            **_TIME_HELP,
        },
    ),
    _tool(
        "relate",
        "Add to the graph",
        """State how two people, concepts or things relate (from_node, relationship_type, to_node);
        or add a note to a node or relationship (about, content); or create a node (name,
        node_type). Nodes by id or name; me is the user. A contradicting relationship ends; nothing
        is deleted. For anything but relations between named things use remember.""",
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
        parameter_help={
            "from_node": "The subject of the relationship.",
            "to_node": "The object of the relationship.",
            "name": "Name of a new node.",
            "node_type": "Type of the node.",
            "content": "The note.",
            "lifetime": "How long the note is valid.",
            **_VALID_HELP,
        },
    ),
    _tool(
        "observe",
        "Observe a turn of the conversation",
        """Pass every turn as it is said, the user's and your own (role). At most three memories are
        extracted; the rest can be found as conversation. If the user explicitly asks you to
        remember something, use remember. Hand over what a turn of the user says that is worth
        knowing for months: facts ("The user …", each understood alone) and relations. Each is
        checked against the words of the turn.""",
        ToolOperation("observe", ("text", "role", "speaker", "thread", "at", "facts", "relations")),
        parameter_help={
            "role": "Who said it.",
            "facts": "Texts, or maps: text, quote, kind, corrects (what is not true any more).",
            "relations": "Maps: from, to (me: the owner), type, quote.",
        },
    ),
    _tool(
        "remember",
        "Store a memory",
        """Store one thing that the user asks you to remember, or that you concluded: a fact, a
        value, a contact, a rule, an idea. Write it so that it is clear without context. The answer
        says whether it is new, or repeats or replaces a memory. Another value of a contact or a kv
        is held until a person decides; the answer then names the conflict. For whole turns use
        observe, for long texts ingest, for profile fields profile.""",
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
                "questions",
                "sensitivity",
                "pinned",
                "ttl_days",
                "expires_at",
                "valid_from",
                "valid_to",
                "thread",
                "agent_id",
                "on_conflict",
            ),
        ),
        parameter_help={
            "on_conflict": "What to do with another value of a contact or a kv.",
            "agent_id": "Your own name: a rule or soul for you alone. Without it, it is "
            "for all agents and waits for the owner's decision.",
            "expires_at": "When it expires.",
            **_SENSITIVITY_HELP,
            **_VALID_HELP,
        },
    ),
    _tool(
        "update",
        "Change a memory",
        """Change a memory that is wrong or out of date, by its id: look it up first. New content
        replaces the old; tags, importance and other fields change in place. With query it only
        returns candidates. Undo with forget and undo.""",
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
        parameter_help={
            "metadata": "Fields to change.",
            "category": "The new category.",
            "tags": "The new tags.",
            "expires_at": "When it expires.",
            **_SENSITIVITY_HELP,
        },
    ),
    _tool(
        "forget",
        "Forget or restore",
        """Forget memories, single turns or passages (source:…#N), sources or graph items: look them
        up (memory_query or recall), then forget by id. A memory takes along the turn that states
        it. With query it only returns candidates; forget those that the user means, one or several.
        Never say that you cannot delete. Forgotten items can be restored for 30 days with undo.
        Only the owner can delete permanently: `commonplace erase`.""",
        ToolOperation("forget", ("ids", "query", "thread", "keep_evidence")),
        ToolOperation("restore", ("ids", "thread"), when="undo"),
        destructive=True,
        idempotent=True,
        parameter_help={"undo": "Restore these ids: forgotten, overridden or superseded items."},
    ),
    _tool(
        "show",
        "Show one item, or browse",
        """With an id: a memory with its versions and links, a source with its passages, a passage
        with the adjacent ones, or a node with its relationships. Words in place of an id ("garage
        code") give the item they mean, or candidates. Without an id: list memories, newest first,
        by kind or category (all contacts, all rules). To answer a question use memory_query.""",
        ToolOperation(
            "list",
            ("kinds", "categories", "filters", "limit", "after", "forgotten", *_TIME_PARAMETERS),
        ),
        ToolOperation("show", ("id", *_TIME_PARAMETERS), when="id"),
        parameter_help={"id": "The item; without it: browse.", **_TIME_HELP},
    ),
    _tool(
        "ingest",
        "Store a whole text",
        """Store a whole conversation, e-mail, meeting, transcript or document, so that its passages
        can be found and cited. Pass the text itself. The same text again adds nothing. For a single
        fact use remember, for a turn of this conversation observe.""",
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
        parameter_help={
            "original": "The whole text; never a path.",
            "format": "Detected if not given.",
            "source_type": "Where it came from.",
            "context_type": "What it was for.",
            "participants": "Beyond those named in it.",
            "ttl_policy": "How long it is kept.",
            **_SENSITIVITY_HELP,
        },
    ),
    _tool(
        "conflicts",
        "Conflicts for a person to decide",
        """Without arguments: the open conflicts, where two values contradict each other. With
        requests: what the user asked to forget in passing; forget what they mean, by id. Ask the
        user; never choose for them. With the conflict and the user's choice (override: the new
        value replaces the old; insert: keep both; dismiss: keep the old, or drop the request) it is
        resolved, once the user has agreed in their client. If the client cannot ask, it is refused,
        and the user decides with `commonplace resolve`.""",
        ToolOperation("conflicts", ("limit", "alternatives")),
        ToolOperation("forget-requests", ("limit",), when="requests"),
        ToolOperation(
            "resolve", ("conflict", "choice", "target", "held", "thread"), when="conflict"
        ),
        destructive=True,
        parameter_help={
            "conflict": "The conflict or request that the user decided; without it: list all.",
            "requests": "List requests to forget.",
            "choice": "The user's choice.",
        },
    ),
    _tool(
        "profile",
        "The user's profile",
        """Without arguments: the fields and notes of the user's profile. With name and value:
        propose a value for a field (preferred_name, pronouns, city, language, tone, goals_add …)
        when the user states it. Most fields wait for the owner's consent; do not ask twice.""",
        ToolOperation("profile"),
        ToolOperation(
            "profile propose",
            ("name", "value", "confidence", "reason", "evidence", "thread"),
            when="name",
        ),
        idempotent=True,
        parameter_help={
            "name": "The field; without it: show the profile.",
            "value": "The value; goals as a list.",
            "evidence": "Quotes that support it.",
        },
    ),
)
BY_TOOL = {tool.name: tool for tool in TOOLS}

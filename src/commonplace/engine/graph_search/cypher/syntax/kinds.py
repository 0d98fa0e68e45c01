"""The kind of an expression's value, as far as the query alone determines it."""

from __future__ import annotations

from commonplace.engine.graph_search.cypher.syntax.tree import (
    BinaryOperation,
    ComparisonChain,
    CypherLiteral,
    Expression,
    FunctionCall,
    LabelTest,
    ListComprehension,
    ListLiteral,
    MapLiteral,
    NullTest,
    PatternComprehension,
    QuantifierExpression,
    SubqueryExpression,
    UnaryOperation,
    VariableRef,
)
from commonplace.errors import BadCypher

UNKNOWN = "a value"
NODE = "a node"
RELATIONSHIP = "a relationship"
RELATIONSHIPS = "a list of relationships"
PATH = "a path"
LIST = "a list"
MAP = "a map"
STRING = "a string"
INTEGER = "an integer"
FLOAT = "a float"
BOOLEAN = "a boolean"
NULL = "null"
SCALARS = (STRING, INTEGER, FLOAT, BOOLEAN)

Kinds = dict[str, str]  # variable → kind

_LITERALS = {bool: BOOLEAN, int: INTEGER, float: FLOAT, str: STRING, type(None): NULL}
_FUNCTIONS = {
    "count": INTEGER,
    "collect": LIST,
    "nodes": LIST,
    "relationships": LIST,
    "labels": LIST,
    "keys": LIST,
    "range": LIST,
    "split": LIST,
    "type": STRING,
    "tostring": STRING,
    "length": INTEGER,
    "size": INTEGER,
    "properties": MAP,
    "startnode": NODE,
    "endnode": NODE,
}
_TRUTHS = (LabelTest, NullTest, ComparisonChain, QuantifierExpression)
_LISTS = (ListLiteral, ListComprehension, PatternComprehension)
_LOGICAL = ("AND", "OR", "XOR", "IN", "CONTAINS", "STARTS WITH", "ENDS WITH", "=~")


def kind_of(node: Expression, scope: Kinds) -> str:
    if isinstance(node, CypherLiteral):
        return _LITERALS.get(type(node.value), UNKNOWN)
    if isinstance(node, VariableRef):
        return scope.get(node.name, UNKNOWN)
    if isinstance(node, _LISTS):
        return LIST
    if isinstance(node, MapLiteral):
        return MAP
    if isinstance(node, _TRUTHS):
        return BOOLEAN
    if isinstance(node, SubqueryExpression):
        return INTEGER if node.counted else BOOLEAN
    if isinstance(node, BinaryOperation):
        return BOOLEAN if node.sign in _LOGICAL else UNKNOWN
    if isinstance(node, UnaryOperation):
        return BOOLEAN if node.sign == "NOT" else kind_of(node.of, scope)
    if isinstance(node, FunctionCall):
        return _FUNCTIONS.get(node.name, UNKNOWN)
    return UNKNOWN


def check_truth(node: Expression, scope: Kinds) -> None:
    kind = kind_of(node, scope)
    if kind not in (BOOLEAN, UNKNOWN, NULL):
        raise BadCypher(f"True or false is expected, not {kind}.")


# Argument kinds of functions, for errors that are certain from the query alone.
_ARGUMENTS = {
    "type": (RELATIONSHIP,),
    "labels": (NODE,),
    "length": (PATH,),
    "nodes": (PATH,),
    "relationships": (PATH,),
    "size": (STRING, LIST, RELATIONSHIPS),
    "properties": (NODE, RELATIONSHIP, MAP),
    "keys": (NODE, RELATIONSHIP, MAP),
    "startnode": (RELATIONSHIP,),
    "endnode": (RELATIONSHIP,),
    "id": (NODE, RELATIONSHIP),
    "tointeger": (STRING, INTEGER, FLOAT, BOOLEAN),
    "tofloat": (STRING, INTEGER, FLOAT),
    "toboolean": (STRING, INTEGER, BOOLEAN),
    "tostring": (STRING, INTEGER, FLOAT, BOOLEAN),
    "range": (INTEGER,),
}


def check_argument(name: str, node: Expression, scope: Kinds) -> None:
    kind, takes = kind_of(node, scope), _ARGUMENTS.get(name)
    if takes is not None and kind not in (UNKNOWN, NULL, *takes):
        raise BadCypher(f"{name}() takes {' or '.join(takes)}, not {kind}.")

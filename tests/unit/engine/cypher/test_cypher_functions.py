"""What each function answers: what openCypher says, also of null, of empty values, of numbers below
zero and of texts in other scripts than Latin."""

import pytest

from commonplace.engine.graph_search.cypher.query import FUNCTION_NAMES
from commonplace.engine.graph_search.cypher.schema import LABELS, RELATIONSHIPS, describe
from commonplace.errors import BadCypher

# Of every function: calls, and what they answer.
ANSWERS = {
    "toLower": {"toLower('ÀB')": "àb", "toLower('')": "", "toLower(null)": None},
    "toUpper": {"toUpper('àb')": "ÀB", "toUpper('שלום')": "שלום", "toUpper(null)": None},
    "lower": {"lower('AB')": "ab", "lower(null)": None},
    "upper": {"upper('ab')": "AB", "upper(null)": None},
    "trim": {"trim('\\t x \\n')": "x", "trim('  ')": "", "trim(null)": None},
    "lTrim": {"lTrim('  x ')": "x ", "lTrim(null)": None},
    "rTrim": {"rTrim(' x  ')": " x", "rTrim(null)": None},
    "replace": {
        "replace('aXbX', 'X', 'yy')": "ayybyy",
        "replace('שלום', 'ל', '')": "שום",
        "replace('a', 'b', 'c')": "a",
        "replace(null, 'a', 'b')": None,
        "replace('a', null, 'b')": None,
    },
    "reverse": {
        "reverse([1, 2, 3])": [3, 2, 1],
        "reverse([])": [],
        "reverse('abc')": "cba",
        "reverse('שלום')": "םולש",
        "reverse('')": "",
        "reverse(null)": None,
        "reverse([x IN ['a', 'b'] | toUpper(x)])": ["B", "A"],
        "[x IN ['ab', 'c'] | reverse(x)]": ["ba", "c"],
        "[x IN [[1, 2], [3]] | reverse(x)]": [[2, 1], [3]],
        "reverse(split('a b', ' '))": ["b", "a"],
        "reverse({a: [1, 2]}.a)": [2, 1],
        "reverse(head(['ab']))": "ba",
    },
    "left": {
        "left('hello', 3)": "hel",
        "left('שלום', 2)": "של",
        "left('hello', 0)": "",
        "left('hello', 9)": "hello",
        "left(null, 3)": None,
    },
    "right": {
        "right('hello', 3)": "llo",
        "right('שלום', 2)": "ום",
        "right('hello', 0)": "",
        "right('hello', 9)": "hello",
        "right(null, 3)": None,
    },
    "substring": {
        "substring('hello', 1)": "ello",
        "substring('hello', 1, 2)": "el",
        "substring('hello', 2, 9)": "llo",
        "substring('hello', 0, 0)": "",
        "substring('hello', 9)": "",
        "substring('שלום', 1, 2)": "לו",
        "substring('ש', 1)": "",
        "substring('', 0)": "",
        "substring(null, 1)": None,
    },
    "split": {
        "split('a,b', ',')": ["a", "b"],
        "split('a,,b,', ',')": ["a", "", "b", ""],
        "split('', ',')": [""],
        "split('ab', ',')": ["ab"],
        "split('שלום, עולם', ', ')": ["שלום", "עולם"],
        "split(null, ',')": None,
        "split('a', null)": None,
    },
    "toString": {
        "toString(true)": "true",
        "toString(1 > 2)": "false",
        "toString(0.5)": "0.5",
        "toString(1.0)": "1.0",
        "toString(-1.25)": "-1.25",
        "toString(1 / 3.0)": "0.3333333333333333",
        "toString(1e-7)": "1.0E-7",
        "toString(-7)": "-7",
        "toString('x')": "x",
        "toString(null)": None,
        "toString(date('2026-01-02'))": "2026-01-02",
        "toString(datetime('2026-01-02T03:04+01:00'))": "2026-01-02T03:04+01:00",
        "[x IN [0.5, 2.0] | toString(x)]": ["0.5", "2.0"],
    },
    "levenshtein": {
        "levenshtein('kitten', 'sitting')": 3,
        "levenshtein('שלום', 'שלוק')": 1,
        "levenshtein('', 'ab')": 2,
        "levenshtein(null, 'a')": None,
    },
    "abs": {"abs(-3)": 3, "abs(-3.5)": 3.5, "abs(null)": None},
    "ceil": {"ceil(1.2)": 2.0, "ceil(-1.2)": -1.0, "ceil(null)": None},
    "floor": {"floor(1.7)": 1.0, "floor(-1.2)": -2.0, "floor(null)": None},
    "round": {
        "round(1.5)": 2.0,
        "round(-1.5)": -1.0,
        "round(-1.6)": -2.0,
        "round(3)": 3.0,
        "round(3.14159, 2)": 3.14,
        "round(null)": None,
    },
    "sign": {"sign(-3)": -1, "sign(0)": 0, "sign(2.5)": 1, "sign(null)": None},
    "sqrt": {"sqrt(4)": 2.0, "sqrt(-1)": None, "sqrt(null)": None},
    "log": {"log(1)": 0.0, "log(null)": None},
    "log10": {"log10(100)": 2.0, "log10(null)": None},
    "toInteger": {
        "toInteger(3.7)": 3,
        "toInteger(-3.7)": -3,
        "toInteger(3.9999999)": 3,
        "toInteger(7)": 7,
        "toInteger('3.7')": 3,
        "toInteger(' -3 ')": -3,
        "toInteger('1234567890123456789')": 1234567890123456789,
        "toInteger('99999999999999999999')": None,
        "toInteger(1e30)": None,
        "toInteger('x')": None,
        "toInteger('')": None,
        "toInteger(true)": 1,
        "toInteger(null)": None,
        "[x IN ['1', 'x'] | toInteger(x)]": [1, None],
    },
    "toFloat": {
        "toFloat('3.5')": 3.5,
        "toFloat('-1e3')": -1000.0,
        "toFloat(3)": 3.0,
        "toFloat('x')": None,
        "toFloat('')": None,
        "toFloat('1.2.3')": None,
        "toFloat(null)": None,
    },
    "toBoolean": {
        "toBoolean('TRUE')": True,
        "toBoolean('false')": False,
        "toBoolean('t')": None,
        "toBoolean('x')": None,
        "toBoolean(0)": False,
        "toBoolean(true)": True,
        "toBoolean(null)": None,
    },
    "size": {
        "size([1, 2])": 2,
        "size([])": 0,
        "size('שלום')": 4,
        "size('')": 0,
        "size(null)": None,
    },
    "head": {"head([1, 2])": 1, "head([])": None, "head(null)": None},
    "last": {"last([1, 2])": 2, "last([])": None, "last(null)": None},
    "tail": {"tail([1, 2, 3])": [2, 3], "tail([1])": [], "tail([])": [], "tail(null)": None},
    "range": {
        "range(1, 3)": [1, 2, 3],
        "range(3, 1, -1)": [3, 2, 1],
        "range(0, 10, 4)": [0, 4, 8],
        "range(3, 1)": [],
        "range(0, -1)": [],
    },
    "list_sort": {
        "list_sort([3, 1, 2])": [1, 2, 3],
        "list_sort(['b', null, 'a'])": ["a", "b", None],
        "list_sort([])": [],
        "list_sort(null)": None,
    },
    "list_distinct": {"list_distinct([1, 1, 2])": [1, 2], "list_distinct(null)": None},
    "list_contains": {
        "list_contains([1, 2], 2)": True,
        "list_contains([], 1)": False,
        "list_contains(null, 1)": None,
    },
    "coalesce": {"coalesce(null, 1, 2)": 1, "coalesce(null)": None, "coalesce([], [1])": []},
    "nullIf": {"nullIf(1, 1)": None, "nullIf(1, 2)": 1, "nullIf(null, 1)": None},
    "datetime": {
        "datetime('2026-01-02T03:04:05+01:00')": "2026-01-02T03:04:05+01:00",
        "[x IN ['2026-01-02T03:04:05+01:00'] | datetime(x).offset]": ["+01:00"],
        "datetime({year: 2026}).dayOfWeek": 4,
        "datetime('2026-03-01').dayOfWeek": 7,
        "datetime('2026-01-01').week": 1,
        "datetime(null)": None,
    },
    "localdatetime": {"localdatetime('2026-01-02T03:04:05')": "2026-01-02T03:04:05"},
    "date": {"date('2026-01-02')": "2026-01-02", "date(null)": None},
    "timestamp": {"timestamp()": 1772355600000},
    "duration": {
        "duration('P1DT12H')": "P1DT12H",
        "duration({minutes: 90})": "PT1H30M",
        "date('2026-01-31') + duration('P1M')": "2026-02-28",
        "duration(null)": None,
    },
    "duration.between": {
        "duration.between(date('2026-01-01'), date('2026-02-01'))": "P1M",
        "duration.between(datetime('2026-01-02T12:00:00Z'), datetime('2026-01-01'))": "P-1DT-12H",
        "duration.between(null, date('2026-01-01'))": None,
    },
    "duration.inDays": {
        "duration.inDays(datetime('2026-01-01'), datetime('2026-01-02T12:00:00Z'))": "P1D",
        "duration.inDays(datetime('2026-01-02T12:00:00Z'), datetime('2026-01-01'))": "P-1D",
        "duration.inDays(date('2026-01-01'), date('2026-03-05')).days": 63,
    },
    "datetime.truncate": {
        "datetime.truncate('month', datetime('2026-01-31T05:00:00Z'))": "2026-01-01T00:00:00Z",
        "datetime.truncate('week', datetime('2026-01-31'))": "2026-01-26T00:00:00Z",
        "datetime.truncate('month', null)": None,
    },
    "date.truncate": {"date.truncate('week', date('2026-01-31'))": "2026-01-26"},
    "localdatetime.truncate": {
        "localdatetime.truncate('hour', localdatetime('2026-01-31T05:30'))": "2026-01-31T05:00:00"
    },
    "time": {"time('10:30+01:00')": "10:30+01:00", "time({hour: 9})": "09:00Z"},
    "time.truncate": {"time.truncate('hour', time('10:30+01:00'))": "10:00+01:00"},
    "localtime": {"localtime('103015.5')": "10:30:15.5", "localtime(null)": None},
    "localtime.truncate": {"localtime.truncate('minute', localtime('10:30:15'))": "10:30"},
    "datetime.fromEpoch": {"datetime.fromEpoch(60, 1).nanosecond": 1},
    "datetime.fromEpochMillis": {"datetime.fromEpochMillis(1500)": "1970-01-01T00:00:01.5Z"},
    "duration.inMonths": {
        "duration.inMonths(date('2026-01-31'), date('2026-03-01'))": "P1M",
        "duration.inMonths(date('2026-01-31'), localtime('10:00'))": "PT0S",
    },
    "duration.inSeconds": {
        "duration.inSeconds(datetime('2026-01-01'), datetime('2026-01-02T12:00Z'))": "PT36H",
        "duration.inSeconds(localtime('10:00'), localtime('09:59:59.5'))": "PT-0.5S",
    },
    "char_length": {"char_length('שלום')": 4, "char_length(null)": None},
    "exp": {"exp(0)": 1.0, "exp(1e9)": None},
    "e": {"e() > 2.7": True},
    "pi": {"toInteger(pi() * 100)": 314},
    "sin": {"sin(0)": 0.0},
    "cos": {"cos(0)": 1.0},
    "tan": {"tan(0)": 0.0},
    "cot": {"round(cot(0.7853981633974483), 6)": 1.0, "cot(0)": None},
    "asin": {"asin(0)": 0.0, "asin(2)": None},
    "acos": {"acos(1)": 0.0},
    "atan": {"atan(0)": 0.0},
    "atan2": {"atan2(0, 1)": 0.0},
    "degrees": {"degrees(0)": 0.0},
    "radians": {"radians(0)": 0.0},
    "haversin": {"haversin(0)": 0.0},
    "isNaN": {"isNaN(0.0 / 0)": True, "isNaN(1)": False, "isNaN(null)": None},
    "rand": {"0 <= rand() < 1": True},
    "toIntegerOrNull": {"toIntegerOrNull([1])": None, "toIntegerOrNull('7')": 7},
    "toFloatOrNull": {"toFloatOrNull(true)": None, "toFloatOrNull('7')": 7.0},
    "toBooleanOrNull": {"toBooleanOrNull(1.5)": None, "toBooleanOrNull('true')": True},
    "toStringOrNull": {"toStringOrNull([1])": None, "toStringOrNull(1)": "1"},
    **{
        f"{kind}.{clock}": {f"{kind}.{clock}() = {kind}()": True}
        for kind in ("date", "time", "localtime", "datetime", "localdatetime")
        for clock in ("transaction", "statement", "realtime")
    },
    "date_part": {"date_part('month', date('2026-05-31'))": 5},
}
SARAH = "MATCH (n:Person {name: 'Sarah'}) "
NOBODY = SARAH + "OPTIONAL MATCH (n)-[r:engages_with]->(c:Concept) "
OVER_NOTHING = "MATCH (n:Person {name: 'nobody'}) "
# And of those that ask of the graph, or of many rows: queries, and their only row.
ROWS = {
    "type": {"MATCH ()-[r]->(:Concept {name: 'remote work'}) RETURN type(r)": ("relates_to",)},
    "label": {SARAH + "RETURN label(n)": ("Person",), NOBODY + "RETURN label(c)": (None,)},
    "labels": {SARAH + "RETURN labels(n)": (["Person"],), NOBODY + "RETURN labels(c)": (None,)},
    "id": {SARAH + "RETURN id(n)": ("node:sarah",), NOBODY + "RETURN id(c)": (None,)},
    "elementId": {SARAH + "RETURN elementId(n)": ("node:sarah",)},
    "keys": {
        SARAH + "RETURN 'name' IN keys(n), 'valid_to' IN keys(n)": (True, False),
        NOBODY + "RETURN keys(c), type(r)": (None, None),
        "RETURN keys({a: 1, b: null})": (["a", "b"],),
        SARAH + "RETURN [k IN keys(n) WHERE n[k] IS NULL]": ([],),
    },
    "properties": {
        SARAH + "RETURN properties(n).name": ("Sarah",),
        NOBODY + "RETURN properties(c)": (None,),
    },
    "exists": {
        SARAH + "RETURN exists(n.name), exists(n.embedding)": (True, False),
        NOBODY + "RETURN exists(c.name)": (False,),
    },
    "nodes": {
        "MATCH p = (:Person {name: 'Sarah'})-->() RETURN [n IN nodes(p) | n.name]": (
            ["Sarah", "Bob"],
        )
    },
    "relationships": {
        "MATCH p = (:Person {name: 'Sarah'})-->() RETURN [r IN relationships(p) | type(r)]": (
            ["has_relationship_with"],
        )
    },
    "rels": {"MATCH p = (:Person {name: 'Sarah'})-->() RETURN size(rels(p))": (1,)},
    "length": {
        "MATCH p = (:Person {name: 'Sarah'})-->() RETURN length(p)": (1,),
        "MATCH p = (:Person {name: 'Sarah'}) RETURN length(p)": (0,),
    },
    "startNode": {
        "MATCH (:Person {name: 'Bob'})<-[r]-(:Person) RETURN startNode(r).name": ("Sarah",),
    },
    "endNode": {
        "MATCH (:Person {name: 'Bob'})<-[r]-(:Person) RETURN endNode(r).name": ("Bob",),
    },
    "stDev": {
        "UNWIND [1, 2, 3, 4] AS x RETURN round(stDev(x), 3)": (1.291,),
        OVER_NOTHING + "RETURN stDev(n.salience)": (0.0,),
    },
    "stDevP": {"UNWIND [1, 2, 3, 4] AS x RETURN round(stDevP(x), 3)": (1.118,)},
    "percentileCont": {"UNWIND [1, 2, 4] AS x RETURN percentileCont(x, 0.75)": (3.0,)},
    "percentileDisc": {"UNWIND [1, 2, 4] AS x RETURN percentileDisc(x, 0.5)": (2,)},
    "count": {
        OVER_NOTHING + "RETURN count(n), count(*)": (0, 0),
        "UNWIND [1, null, 1] AS x RETURN count(x), count(*), count(DISTINCT x)": (2, 3, 1),
    },
    "collect": {
        OVER_NOTHING + "RETURN collect(n.name)": ([],),
        "UNWIND [1, null, 1] AS x RETURN collect(x), collect(DISTINCT x)": ([1, 1], [1]),
    },
    "sum": {
        OVER_NOTHING + "RETURN sum(n.source_count), sum(n.salience)": (0, 0),
        OVER_NOTHING + "WITH sum(n.source_count) AS all RETURN all + 1": (1,),
        "UNWIND [1, null, 1] AS x RETURN sum(x), sum(DISTINCT x)": (2, 1),
        "UNWIND [-1.5, 1] AS x RETURN sum(x)": (-0.5,),
        "UNWIND [null, null] AS x RETURN sum(x)": (0,),
    },
    "avg": {
        OVER_NOTHING + "RETURN avg(n.salience)": (None,),
        "UNWIND [1, null, 2] AS x RETURN avg(x)": (1.5,),
    },
    "min": {
        OVER_NOTHING + "RETURN min(n.name)": (None,),
        "UNWIND ['ב', null, 'א'] AS x RETURN min(x)": ("א",),
    },
    "max": {
        OVER_NOTHING + "RETURN max(n.name)": (None,),
        "UNWIND [-2, null, -1] AS x RETURN max(x)": (-1,),
    },
}
# Operators and lists.
AROUND = {
    "'abc' CONTAINS ''": True,
    "'' CONTAINS ''": True,
    "toLower('A') CONTAINS toLower('')": True,
    "null CONTAINS ''": None,
    "'abc' STARTS WITH ''": True,
    "'abc' ENDS WITH ''": True,
    "null STARTS WITH ''": None,
    "null =~ 'a'": None,
    "'a' + null": None,
    "1e20 > 1": True,
    "null[0]": None,
    "[x IN null | x]": None,
    "any(x IN null WHERE x)": None,
    "reduce(all = 0.0, x IN [1, 2] | all + x)": 3.0,
    "reduce(all = 1, x IN [0.5] | all * x)": 0.5,
    "reduce(all = '', x IN [] | all + x)": "",
    "CASE null WHEN null THEN 1 ELSE 2 END": 2,
}
CALLS = {call: answer for calls in (*ANSWERS.values(), AROUND) for call, answer in calls.items()}
QUERIES = {query: row for queries in ROWS.values() for query, row in queries.items()}


def test_cypher_function_table_covers_every_function():
    assert {*ANSWERS, *ROWS} == set(FUNCTION_NAMES)


@pytest.mark.parametrize("call", CALLS)
def test_cypher_function_call_returns_the_opencypher_value(ask, call):
    [(answer,)] = ask(f"RETURN {call}")
    assert answer == CALLS[call]
    assert type(answer) is type(CALLS[call]) or isinstance(answer, int | float)


@pytest.mark.parametrize("query", QUERIES)
def test_cypher_graph_function_returns_the_opencypher_row(ask, query):
    assert ask(query) == [QUERIES[query]]


def test_cypher_functions_are_evaluated_per_row_with_nulls(ask):
    values = "UNWIND ['3.7', 'x', null, ''] AS x "
    assert ask(values + "RETURN toInteger(x), toFloat(x), reverse(x), split(x, '.'), x + '!'") == [
        (3, 3.7, "7.3", ["3", "7"], "3.7!"),
        (None, None, "x", ["x"], "x!"),
        (None, None, None, None, None),
        (None, None, "", [""], "!"),
    ]
    numbers = "UNWIND [2.5, -2.5, null] AS x RETURN toInteger(x), toString(x), round(x)"
    assert ask(numbers) == [(2, "2.5", 3.0), (-2, "-2.5", -2.0), (None, None, None)]


def test_cypher_tostring_renders_graph_properties_without_loss(ask):
    found = "MATCH (n:Person {name: 'Bob'}) WITH n.salience AS much, n "
    [(told, much, short)] = ask(found + "RETURN toString(much), much, toString(n.is_owner)")
    assert (float(told), short) == (much, "false")
    found += "RETURN toString(n.created_at), toString(n.last_accessed_at)"
    assert ask(found) == [("2025-12-31T09:00Z", None)]


def test_cypher_label_predicate_on_a_missing_node_is_null(ask):
    """Neither as a condition: it is not one that has it, nor one that has it not."""
    found = "MATCH (p:Person) OPTIONAL MATCH (p)-[:engages_with]->(c:Concept) WITH p, c AS d "
    assert ask(found + "WHERE d:Concept RETURN p.name") == [("Alice",)]
    assert ask(found + "WHERE NOT d:Concept RETURN p.name") == []


def test_cypher_order_by_accepts_aggregates_and_their_aliases(ask):
    """However they are called, and whatever else is done to them."""
    sums = "MATCH (n:Person) RETURN n.is_owner AS who, sum(n.access_count){} ORDER BY {}"
    for name, key in (
        ("", "sum(n.access_count) DESC"),
        (" AS all", "sum(n.access_count) + 1 DESC"),
        (" AS all", "all DESC"),
    ):
        assert ask(sums.format(name, key)) == [(False, 12), (True, 0)]


REFUSED = {
    "reverse(1)": "a string or a list",
    "left('abc', -1)": "not negative",
    "right('abc', 1 - 2)": "not negative",
    "substring('abc', -1)": "not negative",
    "substring('abc', 1, -1)": "not negative",
    "toString([1, 2])": "tostring() takes a string",
    "toInteger([1])": "tointeger() takes a string",
    "toFloat(true)": "tofloat() takes a string",
    "toBoolean(1.5)": "toboolean() takes a string",
    "size(1)": "a string or a list",
    "range(1, 2, 0)": "not 0",
    "abs('a')": "a number",
    "labels(1)": "a node",
    "keys('a')": "a map",
    "datetime('yesterday')": "is no date",
    "date('31.1.2026')": "is no date",
    "date({month: 1})": "a year at least",
    "date({year: 2026, month: 13})": "There is no day",
    "time('25:00')": "hour is between",
    "duration('7 days')": "is no duration",
    "duration('P')": "is no duration",
    "duration({parsecs: 1})": "is no part of a duration",
    "datetime.truncate('fortnight', datetime())": "is no unit of time",
    "datetime({year: 2026, timezone: 'Mars/Base'})": "no time zone",
    "1 / 0": "Division by zero",
    "round(1234.5, -2)": "precision that is not negative",
    "1 % 0": "Division by zero",
    "9223372036854775807 + 1": "too large",
    "-9223372036854775807 - 2": "too large",
    "3037000500 * 3037000500": "too large",
    "1 + true": "not defined",
    "{a: 1} + 1": "not defined",
    "-'a'": "not defined",
    "1 IN 2": "IN takes a list",
    "[1, 2]['a']": "indexed by an integer",
    "{a: 1}[0]": "named by a string",
    "'abc' =~ '(?=a)'": "no regular expression",
    "'abc' =~ '('": "no regular expression",
    "1 AND true": "True or false",
    "NOT 'a'": "True or false",
    "CASE WHEN 1 THEN 2 END": "True or false",
    "[x IN 1 | x]": "A list is expected",
}


@pytest.mark.parametrize("call", REFUSED)
def test_cypher_wrong_argument_raises_bad_cypher_with_a_remedy(ask, call):
    with pytest.raises(BadCypher) as caught:
        ask(f"RETURN {call}")
    assert REFUSED[call] in caught.value.message
    assert caught.value.remedy


RUN_TIME_ERRORS = {
    "UNWIND [2, 1, 0] AS x RETURN 1 / x": "Division by zero",
    "UNWIND [1, 'a'] AS x RETURN abs(x)": "takes a number",
    "UNWIND [9223372036854775807] AS x RETURN x + 1": "too large",
    "UNWIND [4000000000000000000] AS x RETURN duration({years: x})": "too long",
    "UNWIND [-1] AS x RETURN round(1234.5, x)": "precision that is not negative",
}


@pytest.mark.parametrize("query", RUN_TIME_ERRORS)
def test_cypher_run_time_error_has_a_remedy_about_values(ask, query):
    """The remedy does not list clauses, which are not what is wrong."""
    with pytest.raises(BadCypher, match=RUN_TIME_ERRORS[query]) as caught:
        ask(query)
    assert "WHERE or CASE" in caught.value.remedy
    assert "It reads only" not in caught.value.remedy


def test_cypher_schema_gives_each_property_one_type():
    things = [each.properties for each in (*LABELS.values(), *RELATIONSHIPS.values())]
    for name in {name for each in things for name in each}:
        assert len({each[name] for each in things if name in each}) == 1


def test_cypher_schema_description_lists_all_labels_relationships_properties():
    told = describe()
    for each in (*LABELS.values(), *RELATIONSHIPS.values()):
        assert f"  {each.name}" in told
        assert all(f"    {name}: " in told for name in each.properties)

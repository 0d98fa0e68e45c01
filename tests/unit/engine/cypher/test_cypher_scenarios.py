"""What openCypher says, scenario by scenario: a graph, a query, its rows."""

# ruff: noqa: E501

import pytest

from commonplace.engine.graph_search.cypher.execution.budget import QueryBudget
from commonplace.engine.graph_search.cypher.query import AnswerValues, run_query
from commonplace.errors import BadCypher
from support.cypher_setup import NOW, graph_of

GRAPHS = {
    "none": "",
    "chain": "CREATE (:A {n: 1})-[:T {w: 1}]->(:B {n: 2})-[:T {w: 2}]->(:C {n: 3})-[:U {w: 3}]->(:D {n: 4})",
    "loop": "CREATE (a:A {n: 1}), (a)-[:T]->(a), (a)-[:U]->(:B {n: 2})",
    "triangle": "CREATE (a:A {n: 1}), (b:A {n: 2}), (c:A {n: 3}), (a)-[:T]->(b), (b)-[:T]->(c), (c)-[:T]->(a)",
    "pairs": "CREATE (a:A {n: 1}), (b:B {n: 2}), (a)-[:T {w: 1}]->(b), (a)-[:T {w: 2}]->(b), (b)-[:T {w: 3}]->(a)",
    "people": (
        "CREATE (a:P {name: 'Ada', age: 36}), (b:P {name: 'Ben', age: 20}), (c:P {name: 'Cy'}), "
        "(d:P:Q {name: 'Di', age: 20}), (a)-[:K {since: 1}]->(b), (a)-[:K {since: 2}]->(c), "
        "(b)-[:K {since: 3}]->(d), (d)-[:L]->(a)"
    ),
}
N = None
# Graph, query, rows; in their order where the query orders.
SCENARIOS = [
    # ——— null and three-valued logic ———
    ("none", "RETURN null = null, null <> null, null IS NULL, 1 IS NOT NULL", [(N, N, True, True)]),
    ("none", "RETURN true AND null, false AND null, true OR null, false OR null", [(N, False, True, N)]),
    ("none", "RETURN true XOR null, true XOR false, NOT null", [(N, True, N)]),
    ("none", "RETURN 2 IN [1, null], 1 IN [1, null], null IN [], null IN [1], 1 IN null", [(N, True, False, N, N)]),
    ("none", "RETURN [1, null] = [1, null], [1, null] = [2, null], [1] = [1, null]", [(N, False, False)]),
    ("none", "RETURN {a: null} = {a: null}, {a: 1} = {b: 1}, {a: 1} = {a: 1.0}", [(N, False, True)]),
    ("none", "RETURN 1 = 1.0, 1 = '1', true = 1, 'a' = 'a', [] = {}", [(True, False, False, True, False)]),
    ("none", "RETURN 1 < 'a', 1 < 2.5, 'a' < 'b', false < true, [1] < [1, 2]", [(N, True, True, True, True)]),
    ("none", "RETURN 0.0 / 0 = 0.0 / 0, 0.0 / 0 > 1, 0.0 / 0 <> 1", [(False, False, True)]),
    ("none", "RETURN 1 < 2 < 3, 1 < 3 < 2, 1 < null < 0, 1 = 1 <> 2", [(True, False, N, True)]),
    ("none", "RETURN [1, 2] < [1, null], [1, 'a'] < [1, null], [2] > [1, null]", [(N, N, True)]),
    ("none", "RETURN coalesce(null, null, 3), coalesce(null)", [(3, N)]),
    ("none", "RETURN CASE WHEN null THEN 1 WHEN false THEN 2 ELSE 3 END", [(3,)]),
    ("none", "RETURN CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END, CASE 3 WHEN 1 THEN 'a' END", [("b", N)]),
    ("none", "RETURN null + 1, 'a' + null, [1] + null, null STARTS WITH 'a', 1 CONTAINS 'a'", [(N, N, N, N, N)]),
    ("people", "MATCH (p:P) WHERE p.age > 30 RETURN p.name", [("Ada",)]),
    ("people", "MATCH (p:P) WHERE NOT p.age > 30 RETURN p.name", [("Ben",), ("Di",)]),
    ("people", "MATCH (p:P) WHERE p.age IS NULL RETURN p.name", [("Cy",)]),
    ("people", "MATCH (p:P) WHERE p.name = 5 RETURN p", []),
    # ——— numbers ———
    ("none", "RETURN 7 / 2, -7 / 2, 7 % 3, -7 % 3, 7 / 2.0, 2 ^ 3", [(3, -3, 1, -1, 3.5, 8.0)]),
    ("none", "RETURN 1 + 2 * 3, (1 + 2) * 3, 2 ^ 3 ^ 2, -2 ^ 2, 5 - 3 - 1", [(7, 9, 64.0, 4.0, 1)]),
    ("none", "RETURN 0x1F, 0o17, .5, 1e3, -9223372036854775808", [(31, 15, 0.5, 1000.0, -(2**63))]),
    ("none", "RETURN 1 + 1.0, 3 * 2, 1.5 - 1", [(2.0, 6, 0.5)]),
    ("none", "RETURN toInteger('3.9'), toInteger('x'), toFloat('1e2'), toBoolean('True')", [(3, N, 100.0, True)]),
    # ——— strings ———
    ("none", "RETURN 'a' + 1, 1 + 'a', 'a' + 1.5", [("a1", "1a", "a1.5")]),
    ("none", "RETURN 'abc' STARTS WITH 'ab', 'abc' ENDS WITH 'bc', 'abc' CONTAINS 'b'", [(True, True, True)]),
    ("none", "RETURN 'abc' =~ 'a.c', 'abc' =~ 'b', 'ABC' =~ '(?i)abc'", [(True, False, True)]),
    ("none", "RETURN 'it\\'s', \"a\\\"b\", '\\u05d0', 'a\\\\b', 'a\\nb'", [("it's", 'a"b', "א", "a\\b", "a\nb")]),
    ("none", "RETURN split('a,b', ','), substring('hello', 1, 3), reverse('abc')", [(["a", "b"], "ell", "cba")]),
    ("none", "RETURN toString(1), toString(1.5), toString(true), toUpper('a'), trim(' a ')", [("1", "1.5", "true", "A", "a")]),
    # ——— lists and maps ———
    ("none", "RETURN [1, 2, 3][0], [1, 2, 3][-1], [1][5], [1, 2, 3][1..], [1, 2, 3][-2..]", [(1, 3, N, [2, 3], [2, 3])]),
    ("none", "RETURN [1, 2, 3][..2], [1, 2, 3][1..null], [1, 2, 3][5..]", [([1, 2], N, [])]),
    ("none", "RETURN [1] + [2], [1] + 2, 0 + [1], [[1]] + [[2]]", [([1, 2], [1, 2], [0, 1], [[1], [2]])]),
    ("none", "RETURN range(1, 5, 2), range(3, 1), range(3, 1, -1)", [([1, 3, 5], [], [3, 2, 1])]),
    ("none", "RETURN [x IN range(1, 5) WHERE x % 2 = 0 | x * 10], [x IN [1, 2]], [x IN null | x]", [([20, 40], [1, 2], N)]),
    ("none", "RETURN [i IN [1, 2] | [j IN [1, 2] | i + j]]", [([[2, 3], [3, 4]],)]),
    ("none", "RETURN [x IN [1, null] WHERE x > 0 | x]", [([1],)]),
    ("none", "RETURN {a: 1, b: {c: 2}}.b.c, {a: 1}['a'], {a: 1}.z, keys({a: 1, b: null})", [(2, 1, N, ["a", "b"])]),
    ("none", "WITH {a: 1, b: 2} AS m RETURN m {.a, c: 3}, m {.*, b: 0}", [({"a": 1, "c": 3}, {"a": 1, "b": 0})]),
    ("none", "RETURN head([1, 2]), last([1, 2]), tail([1, 2]), size([1, 2]), head([])", [(1, 2, [2], 2, N)]),
    ("none", "RETURN reduce(s = 0, x IN [1, 2, 3] | s + x), reduce(s = '', x IN [] | s + x)", [(6, "")]),
    ("none", "RETURN all(x IN [] WHERE x), any(x IN [] WHERE x), none(x IN [] WHERE x), single(x IN [] WHERE x)", [(True, False, True, False)]),
    ("none", "RETURN all(x IN [1, null] WHERE x > 0), all(x IN [0, null] WHERE x > 0)", [(N, False)]),
    ("none", "RETURN any(x IN [0, null] WHERE x > 0), any(x IN [1, null] WHERE x > 0)", [(N, True)]),
    ("none", "RETURN none(x IN [0, null] WHERE x > 0), none(x IN [1, null] WHERE x > 0)", [(N, False)]),
    ("none", "RETURN single(x IN [1, 0] WHERE x > 0), single(x IN [1, 2] WHERE x > 0), single(x IN [1, null] WHERE x > 0)", [(True, False, N)]),
    # ——— UNWIND ———
    ("none", "UNWIND [1, 'a', null, [2], {b: 3}] AS x RETURN x", [(1,), ("a",), (N,), ([2],), ({"b": 3},)]),
    ("none", "UNWIND [] AS x RETURN x", []),
    ("none", "UNWIND null AS x RETURN x", []),
    ("none", "UNWIND [[1, 2], [3]] AS x UNWIND x AS y RETURN y", [(1,), (2,), (3,)]),
    ("none", "UNWIND [1, 2] AS x UNWIND [3, 4] AS y RETURN x * y", [(3,), (4,), (6,), (8,)]),
    ("people", "MATCH (p:P) WITH collect(p) AS ps UNWIND ps AS m WITH m MATCH (m)-[:K]->(x) RETURN m.name, x.name", [("Ada", "Ben"), ("Ada", "Cy"), ("Ben", "Di")]),
    # ——— MATCH ———
    ("chain", "MATCH (n) RETURN count(*)", [(4,)]),
    ("chain", "MATCH (n:A) RETURN n.n", [(1,)]),
    ("chain", "MATCH (n:A:B) RETURN n", []),
    ("people", "MATCH (n:P:Q) RETURN n.name", [("Di",)]),
    ("chain", "MATCH (n:A|B) RETURN n.n", [(1,), (2,)]),
    ("chain", "MATCH (n:Nothing) RETURN n", []),
    ("chain", "MATCH (a)-->(b) RETURN a.n, b.n", [(1, 2), (2, 3), (3, 4)]),
    ("chain", "MATCH (a)<--(b) RETURN a.n, b.n", [(2, 1), (3, 2), (4, 3)]),
    ("chain", "MATCH (a:B)--(b) RETURN b.n", [(1,), (3,)]),
    ("chain", "MATCH (a)-[r:U]->(b) RETURN type(r), r.w", [("U", 3)]),
    ("chain", "MATCH (a)-[r:T|U {w: 2}]->(b) RETURN a.n", [(2,)]),
    ("chain", "MATCH (a)-->(b)-->(c) RETURN a.n, c.n", [(1, 3), (2, 4)]),
    ("chain", "MATCH (a {n: 1}), (b {n: 3}) RETURN a.n + b.n", [(4,)]),
    ("chain", "MATCH (a {n: 1})-->(b), (b)-->(c) RETURN c.n", [(3,)]),
    ("chain", "MATCH (a)-->(b) WHERE a.n + b.n = 5 RETURN a.n", [(2,)]),
    ("chain", "MATCH (a {n: 1}) MATCH (b {n: a.n + 1}) RETURN b.n", [(2,)]),
    ("chain", "MATCH (a {n: b.n - 1}), (b {n: 2}) RETURN a.n", [(1,)]),
    ("chain", "MATCH (a)<-[r]->(b {n: 1}) RETURN a.n", [(2,)]),
    ("loop", "MATCH (a)-[r:T]-(b) RETURN a.n, b.n", [(1, 1)]),
    ("loop", "MATCH (a)-[r]->(a) RETURN a.n, type(r)", [(1, "T")]),
    ("loop", "MATCH (a:A)--(b) RETURN b.n", [(1,), (2,)]),
    ("triangle", "MATCH (a)-->(b)-->(c)-->(a) RETURN count(*)", [(3,)]),
    ("triangle", "MATCH (a)--(b)--(c)--(a) RETURN count(*)", [(6,)]),
    ("triangle", "MATCH (a {n: 1})-->(b)-->(c) RETURN b.n, c.n", [(2, 3)]),
    ("pairs", "MATCH (a:A)-[r]->(b)-[s]->(c) RETURN r.w, s.w", [(1, 3), (2, 3)]),
    ("pairs", "MATCH (a:A)-[r]-(b)-[s]-(c) RETURN count(*)", [(6,)]),
    ("pairs", "MATCH (a:A)-[r]-(b) MATCH (b)-[s]-(c) RETURN count(*)", [(9,)]),
    ("pairs", "MATCH (a:A)-[r]->(b) MATCH (c)-[r]->(d) RETURN r.w, c.n, d.n", [(1, 1, 2), (2, 1, 2)]),
    ("pairs", "MATCH (a)-[r {w: 3}]->(b) MATCH (b)<-[r]-(x) RETURN x.n", [(2,)]),
    ("people", "MATCH (a {name: 'Ada'})-[:K]->(b), (a)-[:K]->(c) RETURN b.name, c.name", [("Ben", "Cy"), ("Cy", "Ben")]),
    # ——— paths of several hops ———
    ("chain", "MATCH (a:A)-[*]->(b) RETURN b.n", [(2,), (3,), (4,)]),
    ("chain", "MATCH (a:A)-[*2]->(b) RETURN b.n", [(3,)]),
    ("chain", "MATCH (a:A)-[*0..1]->(b) RETURN b.n", [(1,), (2,)]),
    ("chain", "MATCH (a:A)-[*..2]->(b) RETURN b.n", [(2,), (3,)]),
    ("chain", "MATCH (a:A)-[*2..]->(b) RETURN b.n", [(3,), (4,)]),
    ("chain", "MATCH (a:A)-[:T*]->(b) RETURN b.n", [(2,), (3,)]),
    ("chain", "MATCH (a:A)-[r*2]->(b) RETURN [x IN r | x.w]", [([1, 2],)]),
    ("chain", "MATCH (b:C)<-[r*2]-(a) RETURN [x IN r | x.w], a.n", [([2, 1], 1)]),
    ("chain", "MATCH (a)-[r*2]->(b:C) RETURN [x IN r | x.w]", [([1, 2],)]),
    ("chain", "MATCH (a:A)-[* {w: 1}]->(b) RETURN b.n", [(2,)]),
    ("chain", "MATCH (a:A), (c:C) MATCH (a)-[rs*]->(c) RETURN size(rs)", [(2,)]),
    ("chain", "MATCH (a:A)-[*3..2]->(b) RETURN b", []),
    ("chain", "MATCH ()-[r:T]->() WITH collect(r) AS rs MATCH (a)-[rs*]->(b) RETURN a.n, b.n", [(1, 3)]),
    ("triangle", "MATCH (a {n: 1})-[*]->(b) RETURN b.n", [(2,), (3,), (1,)]),
    ("triangle", "MATCH (a {n: 1})-[*]-(b) RETURN count(*)", [(6,)]),
    ("loop", "MATCH (a:A)-[*]->(b) RETURN b.n", [(1,), (2,), (2,)]),
    # ——— named paths ———
    ("chain", "MATCH p = (a:A)-->(b) RETURN length(p), [n IN nodes(p) | n.n]", [(1, [1, 2])]),
    ("chain", "MATCH p = (a:A) RETURN length(p), size(nodes(p))", [(0, 1)]),
    ("chain", "MATCH p = (a:A)-[*2..3]->(b) RETURN [r IN relationships(p) | type(r)]", [(["T", "T"],), (["T", "T", "U"],)]),
    ("chain", "MATCH p = (c:C)<-[*]-(a:A) RETURN [n IN nodes(p) | n.n]", [([3, 2, 1],)]),
    ("chain", "MATCH p = (a:A)-->(b)-[*1..2]->(c) WHERE length(p) = 2 RETURN c.n", [(3,)]),
    ("chain", "MATCH p = (a:A)-->() RETURN p = p", [(True,)]),
    ("triangle", "MATCH p = shortestPath((a {n: 1})-[*]->(b {n: 3})) RETURN length(p)", [(2,)]),
    ("triangle", "MATCH p = shortestPath((a {n: 1})-[*]-(b {n: 3})) RETURN length(p)", [(1,)]),
    ("pairs", "MATCH p = allShortestPaths((a:A)-[*]->(b:B)) RETURN count(*)", [(2,)]),
    ("chain", "MATCH p = shortestPath((a:A)-[*..2]->(b:D)) RETURN p", []),
    ("chain", "MATCH p = shortestPath((a:A)-[:T*]->(b)) WHERE a <> b RETURN b.n, length(p)", [(2, 1), (3, 2)]),
    # ——— OPTIONAL MATCH ———
    ("chain", "MATCH (a) OPTIONAL MATCH (a)-[:U]->(b) RETURN a.n, b.n", [(1, N), (2, N), (3, 4), (4, N)]),
    ("none", "OPTIONAL MATCH (a) RETURN a", [(N,)]),
    ("none", "OPTIONAL MATCH p = (a)-[r]->(b) RETURN p, r, a, nodes(p)", [(N, N, N, N)]),
    ("chain", "MATCH (a:A) OPTIONAL MATCH (a)-->(b) WHERE b.n > 2 RETURN a.n, b", [(1, N)]),
    ("chain", "MATCH (a:D) OPTIONAL MATCH (a)-->(b) OPTIONAL MATCH (b)-->(c) RETURN b, c", [(N, N)]),
    ("chain", "MATCH (a:D) OPTIONAL MATCH (a)-->(b) MATCH (b)-->(c) RETURN c", []),
    ("chain", "OPTIONAL MATCH (a:Nothing) RETURN a.n, labels(a), a:A, count(a)", [(N, N, N, 0)]),
    # ——— patterns in expressions ———
    ("chain", "MATCH (a) WHERE (a)-[:U]->() RETURN a.n", [(3,)]),
    ("chain", "MATCH (a) WHERE NOT (a)-->() RETURN a.n", [(4,)]),
    ("chain", "MATCH (a), (b) WHERE (a)-[*2]->(b) RETURN a.n, b.n", [(1, 3), (2, 4)]),
    ("chain", "MATCH (a) WHERE EXISTS { (a)-->(b) WHERE b.n = 3 } RETURN a.n", [(2,)]),
    ("people", "MATCH (a) WHERE EXISTS { MATCH (a)-[:K]->(b) WITH count(*) AS c WHERE c = 2 RETURN c } RETURN a.name", [("Ada",)]),
    ("people", "MATCH (a) WHERE EXISTS { MATCH (a)-[:K]->(b) WHERE EXISTS { (b)-[:K]->() } } RETURN a.name", [("Ada",)]),
    ("people", "MATCH (a) RETURN a.name, COUNT { (a)-[:K]->() } AS c", [("Ada", 2), ("Ben", 1), ("Cy", 0), ("Di", 0)]),
    ("people", "MATCH (a {name: 'Ada'}) RETURN [(a)-[:K]->(b) | b.name] AS l", [(["Ben", "Cy"],)]),
    ("people", "MATCH (a {name: 'Ada'}) RETURN [(a)-[r:K]->(b) WHERE r.since > 1 | b.name] AS l", [(["Cy"],)]),
    ("people", "MATCH (a {name: 'Cy'}) RETURN [p = (a)-[:K]->() | length(p)] AS l", [([],)]),
    ("people", "MATCH (a) WHERE size([(a)--(b) | b]) = 3 RETURN a.name", [("Ada",)]),
    ("people", "MATCH (a) RETURN CASE WHEN (a)-[:L]->() THEN a.name END AS x", [(N,), (N,), (N,), ("Di",)]),
    # ——— labels and graph functions ———
    ("people", "MATCH (n:Q) RETURN labels(n), n:P, n:Q, n:P:Q, n:Z", [(["P", "Q"], True, True, True, False)]),
    ("people", "MATCH (n {name: 'Cy'}) RETURN keys(n), properties(n)", [(["name"], {"name": "Cy"})]),
    ("people", "MATCH ()-[r:L]->() RETURN startNode(r).name, endNode(r).name, r:L", [("Di", "Ada", True)]),
    ("people", "MATCH (n {name: 'Cy'}) RETURN n.age, n['name'], exists(n.age)", [(N, "Cy", False)]),
    # ——— WITH, ORDER BY, SKIP, LIMIT, DISTINCT ———
    ("people", "MATCH (p) RETURN p.name ORDER BY p.age DESC, p.name DESC", [("Cy",), ("Ada",), ("Di",), ("Ben",)]),
    ("people", "MATCH (p) RETURN p.name AS x ORDER BY x SKIP 1 LIMIT 2", [("Ben",), ("Cy",)]),
    ("people", "MATCH (p) WITH p ORDER BY p.name LIMIT 2 RETURN collect(p.name)", [(["Ada", "Ben"],)]),
    ("people", "MATCH (p) WITH p.name AS n ORDER BY p.age, n RETURN n", [("Ben",), ("Di",), ("Ada",), ("Cy",)]),
    ("people", "MATCH (p) RETURN DISTINCT p.age ORDER BY p.age", [(20,), (36,), (N,)]),
    ("none", "UNWIND [1, 1.0, '1', null, null, [1], [1.0]] AS x RETURN DISTINCT x", [(1,), ("1",), (N,), ([1],)]),
    ("none", "UNWIND ['a', 1, null, true, [1], {a: 1}, 1.5] AS x RETURN x ORDER BY x", [({"a": 1},), ([1],), ("a",), (True,), (1,), (1.5,), (N,)]),
    ("none", "UNWIND [[1, 2], [1], [], [1, null], ['a']] AS x RETURN x ORDER BY x", [([],), (["a"],), ([1],), ([1, 2],), ([1, N],)]),
    ("none", "UNWIND [3, 1, 2] AS x WITH x ORDER BY x DESC LIMIT 2 RETURN x", [(3,), (2,)]),
    ("none", "UNWIND [1, 2, 3] AS x RETURN x LIMIT 0", []),
    ("none", "UNWIND [1, 2, 3] AS x RETURN x SKIP 5", []),
    ("none", "UNWIND [1, 2, 3] AS x WITH x WHERE x > 1 RETURN x", [(2,), (3,)]),
    ("people", "MATCH (a)-[:K]->(b) MATCH (b)-[:K]->(c) WITH b ORDER BY b.name DESC LIMIT 1 RETURN b.name", [("Ben",)]),
    ("none", "WITH 1 AS a, 2 AS b WITH b AS a, a AS b RETURN a, b", [(2, 1)]),
    ("none", "WITH 1 AS a WITH *, 2 AS b RETURN *", [(1, 2)]),
    # ——— aggregation ———
    ("people", "MATCH (p) RETURN p.age AS age, count(*) AS c ORDER BY age", [(20, 2), (36, 1), (N, 1)]),
    ("people", "MATCH (p) RETURN count(p.age), count(DISTINCT p.age), sum(p.age), avg(p.age)", [(3, 2, 76, 76 / 3)]),
    ("people", "MATCH (p) RETURN min(p.name), max(p.age), collect(p.age)", [("Ada", 36, [36, 20, 20])]),
    ("people", "MATCH (p:Z) RETURN count(*), sum(p.x), avg(p.x), collect(p.x), min(p.x)", [(0, 0, N, [], N)]),
    ("people", "MATCH (p:Z) RETURN p.x, count(*)", []),
    ("people", "MATCH (p) WITH p.age AS age, count(*) AS c WHERE c > 1 RETURN age", [(20,)]),
    ("people", "MATCH (p) RETURN p.age AS a, count(*) + 1 AS c ORDER BY count(*) DESC LIMIT 1", [(20, 3)]),
    ("people", "MATCH (p) RETURN {all: count(*), names: collect(p.name)[0]} AS m", [({"all": 4, "names": "Ada"},)]),
    ("none", "UNWIND [1, 'a', [2], null] AS x RETURN min(x), max(x)", [([2], 1)]),
    ("none", "UNWIND [[1], [1.0], [2]] AS x RETURN x, count(*) AS c ORDER BY x", [([1], 2), ([2], 1)]),
    ("people", "MATCH (a)-[:K]->(b) RETURN a, count(b) AS c ORDER BY c DESC LIMIT 1", [({"_label": "P", "name": "Ada", "age": 36}, 2)]),
    ("none", "UNWIND range(1, 4) AS x RETURN x % 2 AS k, sum(x) AS s, collect(x) AS l ORDER BY k", [(0, 6, [2, 4]), (1, 4, [1, 3])]),
    # ——— UNION and parameters ———
    ("none", "RETURN 1 AS x UNION RETURN 1 AS x UNION RETURN 2 AS x", [(1,), (2,)]),
    ("none", "RETURN 1 AS x UNION ALL RETURN 1 AS x", [(1,), (1,)]),
    ("chain", "MATCH (a:A) RETURN a.n AS n UNION MATCH (b:B) RETURN b.n AS n", [(1,), (2,)]),
    ("none", "RETURN $x + 1, $l[0], $m.k, $none", [(2, "a", True, N)]),
    ("chain", "MATCH (a {n: $x}) RETURN a.n", [(1,)]),
    # ——— time ———
    ("none", "RETURN date('2026-02-28') + duration('P1M1D'), date('2026-03-31') - duration('P1M')", [("2026-03-29", "2026-02-28")]),
    ("none", "RETURN date('2026-W09-7'), date('2026-060'), date('2026-Q1-60'), date('202603')", [("2026-03-01", "2026-03-01", "2026-03-01", "2026-03-01")]),
    ("none", "RETURN date('2026-01-01') < date('2026-01-02'), date('2026-01-01') = date('20260101')", [(True, True)]),
    ("none", "RETURN datetime('2026-03-29T01:30[Europe/Berlin]') + duration('PT1H')", [("2026-03-29T03:30:00+02:00",)]),
    ("none", "RETURN duration('P1Y2M3DT4H5M6.7S'), duration({days: 1.5}), duration('PT-1.5S')", [("P1Y2M3DT4H5M6.7S", "P1DT12H", "PT-1.5S")]),
    ("none", "RETURN duration('P1D') * 2, duration('PT1H') / 2, duration('P1D') - duration('PT1H')", [("P2D", "PT30M", "P1DT-1H")]),
    ("none", "RETURN duration.between(date('2024-02-29'), date('2026-03-01'))", [("P2Y1D",)]),
    ("none", "RETURN duration.inDays(date('2026-01-01'), date('2025-12-01')).days", [(-31,)]),
    ("none", "RETURN date({year: 2026, week: 1, dayOfWeek: 1}).ordinalDay, date('2026-12-31').quarter", [(363, 4)]),
    ("none", "RETURN localtime('10:15:30.123').millisecond, time('10:15+02:00').offsetMinutes", [(123, 120)]),
    ("none", "RETURN date.truncate('month', date('2026-05-17')), datetime.truncate('day', datetime('2026-05-17T10:11Z'))", [("2026-05-01", "2026-05-17T00:00:00Z")]),
    ("none", "RETURN datetime({epochSeconds: 0}), datetime('2026-01-01T00:00+01:00').epochSeconds", [("1970-01-01T00:00:00Z", 1767222000)]),
    ("none", "RETURN date('+12345-01-01').year, date('-0001-12-31').year", [(12345, -1)]),
    ("none", "UNWIND [date('2026-01-02'), date('2026-01-01')] AS d RETURN d ORDER BY d", [("2026-01-01",), ("2026-01-02",)]),
    ("none", "RETURN date() < date('2026-03-02'), datetime().year", [(True, 2026)]),
]  # fmt: skip
PARAMETERS = {"x": 1, "l": ["a"], "m": {"k": True}, "none": None}


@pytest.fixture(scope="module")
def graphs():
    return {name: graph_of(statement) for name, statement in GRAPHS.items()}


@pytest.mark.parametrize(("graph", "query", "rows"), SCENARIOS, ids=[s[1] for s in SCENARIOS])
def test_opencypher_scenario_returns_the_specified_rows(graphs, graph, query, rows):
    made = AnswerValues(QueryBudget(), 1_000_000, verbose=True)
    answered = run_query(graphs[graph], query, PARAMETERS, NOW).rows
    found = [tuple(map(made.plain, row)) for row in answered]
    if "ORDER BY" not in query and not query.startswith(("UNWIND", "RETURN", "WITH")):
        found, rows = sorted(found, key=repr), sorted(rows, key=repr)
    assert found == rows
    assert repr(found) == repr(rows)  # 1 is not 1.0


def test_opencypher_scenario_table_has_at_least_150_entries():
    assert len(SCENARIOS) >= 150


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n) RETURN n.x + count(*)",
        "MATCH (a)-[r]->()-[r]->(b) RETURN a",
        "MATCH (n) WHERE m.x RETURN n",
        "MATCH ()-[r]->() MATCH (r) RETURN r",
        "RETURN 9223372036854775808",
        "RETURN 1.0e999",
        "RETURN foo(1)",
        "RETURN all(x IN [1] WHERE count(*) > 1)",
        "MATCH (n) WITH DISTINCT n.x AS x ORDER BY n.y RETURN x",
        "MATCH (n) RETURN DISTINCT n.x ORDER BY n.y",
        "WITH [1] AS n MATCH ()-[n]->() RETURN n",
        "RETURN 'a' UNION RETURN 'b'",
        "UNWIND [1] AS x RETURN [y IN [1] | z]",
    ],
)
def test_cypher_invalid_query_is_refused_on_an_empty_graph(graphs, query):
    with pytest.raises(BadCypher):
        list(run_query(graphs["none"], query, {}, NOW).rows)

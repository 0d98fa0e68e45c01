"""Requests made up from the OpenAPI description, as many as wanted, against a real server.

Schemathesis makes them up: valid ones as the description tells, and invalid ones. Where they name
something, ids of things that are there are offered most of the time, since no chance finds one."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import commonplace
from commonplace.surfaces.rest.client import local_token
from commonplace.surfaces.rest.routes import ROUTES, Route

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
STREAM = "/v1/changes/stream"  # which never ends
INVALID_EACH = 4  # one request of so many is meant to be refused
MADE_UP_EACH = 5  # one name of so many is nobody's
MANY_TEAMS = 30


class Things:
    """One of everything in the memory that is asked, made anew when it is used up."""

    def __init__(self, url: str, admin: str):
        self._url = url
        self.as_admin = {"authorization": f"Bearer {admin}"}
        self._me = commonplace.connect(url)
        self._dan = commonplace.connect(url, self._key_of("dan"))
        self._made = 0

    def close(self) -> None:
        self._me.close()
        self._dan.close()

    def _key_of(self, user: str) -> str:
        headers = {**self.as_admin, "commonplace-user": user}
        made = requests.post(
            f"{self._url}/v1/keys", json={"label": "x"}, headers=headers, timeout=60
        )
        return str(made.json()["token"])

    def asked_about(self) -> str:
        """A thread in which something was asked, so that there is a reason to be told."""
        self.named("memory")  # an empty memory records no reading
        self._me.recall("Where is the note?", thread="t", turn=1)
        return "t"

    def named(self, sort: str) -> str:
        self._made += 1
        return str(getattr(self, f"_{sort}")(self._made))

    def _memory(self, n: int) -> str:
        found = self._me.list(limit=1).memories
        return found[0].id if found and n % 4 else self._me.remember(f"Note {n}", kind="note").id

    def _forgotten(self, n: int) -> str:
        id = self._me.remember(f"Note {n} that goes", kind="note").id
        self._me.forget(id)
        return id

    def _source(self, n: int) -> str:
        found = self._me.sources(limit=1).sources
        return found[0].id if found and n % 4 else self._me.ingest(f"Tal: It is {n}.").id

    def _invitation(self, n: int) -> str:
        offered = self._dan.ingest(f"Dan: I moved to flat {n}.").id
        self._dan.sources_share(offered, "ana")
        return offered

    def _node(self, n: int) -> str:
        """Not the owner, who cannot be taken away."""
        people = self._me.people(limit=2, include_archived=True).nodes
        found = [person for person in people if not person.is_owner]
        return found[0].id if found and n % 4 else self._new_node(n)

    def _new_node(self, n: int) -> str:
        return self._me.nodes_add(f"Person {n}").id

    def _edge(self, n: int) -> str:
        return self._me.relate("me", self._me.nodes_add(f"Friend {n}").id, "friend").id

    def _note(self, n: int) -> str:
        return self._me.note(["me"], f"Noted {n}").id

    def _merged(self, n: int) -> str:
        one, other = (self._me.nodes_add(f"Person {n} {which}").id for which in "ab")
        self._me.merge([one, other])
        return other

    def _artifact(self, n: int) -> str:
        return self._me.artifacts_create(f"Draft {n}", "Dear Dana").id

    def _conflict(self, n: int) -> str:
        for value in (n, n + 1):
            said = {"subject": f"meter {n}", "value": str(value)}
            held = self._me.remember(kind="kv", metadata=said)
        return str(held.conflict)

    def _proposal(self, n: int) -> str:
        for each in self._me.proposals(limit=1000)[50:]:
            self._me.decline(each.id)
        return self._me.agent(f"coach {n}").propose("city", f"Haifa {n}").id

    def _job(self, n: int) -> str:
        self._me.ingest(f"Tal: Later, {n}.", wait=False)
        return self._me.jobs()[0].id

    def _run(self, n: int) -> str:
        """A short one: of a task that finds nothing here."""
        return str(self._me.sleep(tasks=["notes"]).id)

    def _key(self, n: int) -> str:
        mine = self._me.keys()
        valid = [each.id for each in mine if each.state == "valid"]
        return valid[0] if valid else self._me.keys_create(f"key {n}").id

    def _admin(self, n: int) -> str:
        made = requests.post(
            f"{self._url}/v1/admin/keys", json={}, headers=self.as_admin, timeout=60
        )
        return str(made.json()["id"])

    def _service(self, n: int) -> str:
        made = requests.post(
            f"{self._url}/v1/admin/service-keys",
            json={"label": f"backend {n}", "users": ["ana"]},
            headers=self.as_admin,
            timeout=60,
        )
        return str(made.json()["id"])

    def _team(self, n: int) -> str:
        self._end_teams()
        return self._me.teams_create(f"Team {n}").id

    def _end_teams(self) -> None:
        """One user has a limit of them."""
        for owner in (self._me, self._dan):
            mine = [team for team in owner.teams() if team.role == "owner"]
            for team in mine if len(mine) > MANY_TEAMS else ():
                owner.teams_delete(team.id)

    def _shared(self, n: int) -> str:
        """With dan, who is in the examples."""
        self._end_teams()
        team = self._me.teams_create(f"Shared {n}").id
        self._me.teams_invite(team, "dan")
        self._dan.teams_join(team)
        return team

    def _joined(self, n: int) -> str:
        """One that goes on without whoever leaves it."""
        self._end_teams()
        team = self._dan.teams_create(f"Dan's {n}").id
        self._dan.teams_invite(team, "ana")
        self._me.teams_join(team)
        return team


ANSWERS = ("sources accept", "sources decline")  # to an invitation

# What the names in paths and bodies stand for; the rest is made up as the description tells.
SORTS: Mapping[str, Callable[[Route], str]] = {
    "id": lambda route: {
        "sources": "invitation" if route.name in ANSWERS else "source",
        "nodes": "merged" if route.name == "split" else "node",
        "edges": "edge",
        "notes": "note",
        "artifacts": "artifact",
        "jobs": "job",
        "keys": "key",
        "profile": "proposal",
        "consent": "proposal",
        "admin": "service" if "service" in route.name else "admin",
    }.get(route.path.split("/")[1], "forgotten" if route.name == "restore" else "memory"),
    "ids": lambda route: {
        "restore": "forgotten",
        "extract": "source",
        "merge": "node" if route.path.startswith("/nodes") else "memory",
    }.get(route.name, "memory"),
    "conflict": lambda route: "conflict",
    "run": lambda route: "run",
    "team": lambda route: {
        "teams leave": "joined",
        "teams role": "shared",
        "teams remove": "shared",
    }.get(route.name, "team"),
}


@dataclass
class Tally:
    """What came back."""

    statuses: Counter[int] = field(default_factory=Counter)
    by_operation: defaultdict[str, Counter[int]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    failures: list[str] = field(default_factory=list)

    def count(self, operation: str, status: int) -> None:
        self.statuses[status] += 1
        self.by_operation[operation][status] += 1

    @property
    def cases(self) -> int:
        return sum(self.statuses.values())

    @property
    def share_of_success(self) -> float:
        done = sum(count for status, count in self.statuses.items() if status < 300)
        return done / self.cases

    @property
    def never_done(self) -> list[str]:
        return [
            name
            for name, statuses in self.by_operation.items()
            if not any(status < 300 for status in statuses)
        ]

    def told(self) -> str:
        lines = [f"{self.cases} cases, {self.share_of_success:.0%} of them 2xx"]
        lines += [f"  {status}: {count}" for status, count in sorted(self.statuses.items())]
        return "\n".join(lines)


class Fuzzing:
    """With the server's token, as the one user of the machine; with an admin key where needed."""

    def __init__(self, url: str, admin: str):
        self.url = url
        self.things = Things(url, admin)
        self.as_user = {"authorization": f"Bearer {local_token(url)}"}
        self.session = requests.Session()
        self.schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
        self.tally = Tally()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.things.close()
        self.session.close()

    def operations(self) -> Iterator[Any]:
        for found in self.schema.get_all_operations():
            operation = found.ok()
            if operation.path != STREAM:
                yield operation

    def run(self, operation: Any, cases: int, number: int) -> None:
        """The example of the description, then as many as wanted that are made up."""
        route = ROUTE_OF.get((operation.method.upper(), operation.path))
        self._ask(self._example(operation, route), route, random.Random(number), always=True)

        @seed(number)
        @settings(
            max_examples=max(1, cases - 1),
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(data=st.data())
        def ask(data: Any) -> None:
            is_valid = data.draw(st.integers(0, INVALID_EACH - 1)) > 0
            mode = GenerationMode.POSITIVE if is_valid else GenerationMode.NEGATIVE
            case = data.draw(operation.as_strategy(generation_mode=mode))
            chance = random.Random(data.draw(st.integers(0, 2**32)))
            self._ask(case, route if is_valid else None, chance)

        ask()

    def _example(self, operation: Any, route: Route | None) -> Case:
        example = dict(route.example) if route else {}
        if route and route.name == "why":
            example = {"thread": self.things.asked_about()}
        body = example if route and not route.takes_query else None
        query = example if route and route.takes_query else None
        names = re.findall(r"{(\w+)}", operation.path)
        given = {name: EXAMPLES.get(name, "x") for name in names}
        more = {"body": body, "media_type": "application/json"} if body is not None else {}
        return operation.Case(path_parameters=given, query=query, **more)

    def _ask(
        self, case: Case, route: Route | None, chance: random.Random, always: bool = False
    ) -> None:
        if route is not None:
            self._offer(case, route, chance, always)
        asked = ROUTE_OF.get((case.method.upper(), case.path))
        of_the_store = asked and asked.operation.of_the_store
        key = self.things.as_admin if of_the_store else self.as_user
        response = case.call(base_url=self.url, session=self.session, headers=key, timeout=60)
        self.tally.count(f"{case.method} {case.path}", response.status_code)
        try:
            case.validate_response(response, checks=CHECKS)
        except Exception as failure:
            self.tally.failures.append(f"{case.as_curl_command()}\n{failure}"[:2000])

    def _offer(self, case: Case, route: Route, chance: random.Random, always: bool) -> None:
        def offered(sort: str) -> bool:
            return always or chance.randrange(MADE_UP_EACH) > 0

        for name in case.path_parameters or {}:
            if name in SORTS and offered(name):
                case.path_parameters[name] = self.things.named(SORTS[name](route))
        body = case.body
        if not isinstance(body, dict):
            return
        for name in ("id", "ids"):
            if name in body and offered(name):
                sort = SORTS[name](route)
                beside = sort if sort in ("node", "source") else "memory"
                several = list(dict.fromkeys(map(self.things.named, (sort, beside))))
                while len(several) < 2:  # the newest was given twice
                    several = list(dict.fromkeys([*several, self.things.named(beside)]))
                body[name] = several if name == "ids" else several[0]
        for name in OF_NODES:
            if body.get(name) is not None and offered(name):
                # A node has no relationship with itself.
                node = self.things.named("new_node" if name == "to_node" else "node")
                body[name] = node if isinstance(body[name], str) else [node]


OF_NODES = ("from_node", "to_node", "about", "seed_nodes")
EXAMPLES = {"name": "city", "category": "tasks", "member": "dan"}
ROUTE_OF = {(route.method, route.in_full()): route for route in ROUTES}

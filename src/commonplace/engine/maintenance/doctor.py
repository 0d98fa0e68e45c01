"""Doctor: check store, index, vectors, jobs, sources, embedder and model, with remedies."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.metadata import version

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import PROCESS_JOB, needs_processing
from commonplace.engine.indexing import build_indexing, build_passage_indexing
from commonplace.engine.maintenance.finding import Finding
from commonplace.engine.maintenance.model_state import check_model
from commonplace.errors import CommonplaceError, StoreCorrupt, embedder_option
from commonplace.language.embedders.embedder import CalibrationProof
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.filters import OWNER_VISIBILITY, Visibility
from commonplace.model.jobs import JobState
from commonplace.model.memory.memory import State
from commonplace.model.profile.consent import MAX_OPEN
from commonplace.model.sources.source import ProcessingStatus
from commonplace.store.cache.scope_index import ScopeIndex
from commonplace.store.queries import (
    NO_LIMIT,
    IndexPage,
    JobQuery,
    MemoryListing,
    PassagesOf,
    SourceListing,
    StoreHealth,
    UnembeddedQuery,
)
from commonplace.store.sql.rows import pack_terms


def examine(engine: EngineContext, scope: Scope | None, principal: Principal) -> list[Finding]:
    """The holder of a key gets findings about its own memory only: the store may be shared."""
    if principal.key is not None:
        findings = _memory_findings(engine, [principal.scope], principal)
        return [_scrubs(_own_scrubs(engine, principal)), *findings]
    health = engine.store.health()
    scopes = [scope] if scope else engine.store.scopes()
    return [
        _integrity(health),
        _commits(health),
        _scrubs(health.pending_scrubs),
        *_memory_findings(engine, scopes, principal),
        # Settings contain paths, which agents must not see.
        *([_settings(engine)] if principal.is_owner else []),
        _embedder(engine),
        _generations(engine),
        _versions(),
    ]


def _memory_findings(
    engine: EngineContext, scopes: list[Scope], principal: Principal
) -> list[Finding]:
    """Limited to what an agent may see; jobs and proposals are the owner's."""
    visibility = OWNER_VISIBILITY if principal.is_owner else visibility_of(principal)
    checks: dict[str, Callable[[], Finding]] = {
        "index": lambda: _index(engine, scopes),
        "consistency": lambda: _consistency(engine, scopes),
        "checksums": lambda: _checksums(engine, scopes),
        "vectors": lambda: _vectors(engine, scopes, visibility),
    }
    if principal.is_owner:
        checks["jobs"] = lambda: _jobs(engine, scopes)
        checks["proposals"] = lambda: _proposals(engine, scopes)
        checks["model"] = lambda: check_model(engine, scopes)
    checks["sources"] = lambda: _sources(engine, scopes, visibility)
    return [_checked(what, check) for what, check in checks.items()]


RESTORE = "Keep a copy of the files; import the last export into a new store."


def _checked(what: str, check: Callable[[], Finding]) -> Finding:
    """A check that meets damage says so; the others go on."""
    try:
        return check()
    except StoreCorrupt as error:
        return Finding(what, False, str(error), RESTORE)


def _checksums(engine: EngineContext, scopes: list[Scope]) -> Finding:
    """Sees damage that can still be decoded, such as a flipped bit of a vector."""
    tables: dict[str, Counter[str]] = {}
    for scope in scopes:
        for each in engine.store.statistics(scope, checked=True).checked:
            counts = {"rows": each.rows, "damaged": each.damaged, "unknown": each.unknown}
            tables.setdefault(each.table, Counter()).update(counts)
    damaged = {table: counts["damaged"] for table, counts in tables.items() if counts["damaged"]}
    rows = sum(counts["rows"] for counts in tables.values())
    unknown = sum(counts["unknown"] for counts in tables.values())
    if not damaged:
        without = f", {unknown:,} without a checksum (`commonplace tidy --reindex`)"
        return Finding("checksums", True, f"{rows:,} rows checked" + without * bool(unknown))
    remedies = ["Damaged vectors: run `commonplace tidy --reindex`."] * any(
        "vectors" in table for table in damaged
    )
    remedies += [f"Damaged versions: {RESTORE}"] * ("versions" in damaged)
    detail = ", ".join(f"{count:,} of {table} damaged" for table, count in damaged.items())
    return Finding("checksums", False, detail, " ".join(remedies))


def _commits(health: StoreHealth) -> Finding:
    lost = health.lost_commits
    return Finding(
        "commits",
        not lost,
        f"at least {lost:,} of the last commits are missing: the -wal file was lost, or an older "
        "file was put in its place"
        if lost
        else "none is known to be missing",
        "If the -wal file still exists, stop all processes, put it back and open the store; else "
        "import the last export, or accept the file as it is: `commonplace tidy --reindex`."
        if lost
        else "",
    )


def _index(engine: EngineContext, scopes: list[Scope]) -> Finding:
    wrong = [each.name for each in scopes if not index_matches(engine, each)]
    return Finding(
        "index",
        not wrong,
        f"{len(scopes)} checked" if not wrong else f"differs for {', '.join(wrong[:5])}",
        "" if not wrong else "Run `commonplace tidy --reindex`.",
    )


def _integrity(health: StoreHealth) -> Finding:
    sound = not health.integrity
    return Finding(
        "integrity",
        sound,
        f"{health.backend} {health.version}, schema {health.schema}, "
        f"{health.bytes_on_disk:,} bytes, {health.looked_at}"
        if sound
        else "; ".join(health.integrity[:3]),
        "" if sound else RESTORE,
    )


def _consistency(engine: EngineContext, scopes: list[Scope]) -> Finding:
    """Every row has its counterparts in other tables."""
    loose: Counter[str] = Counter()
    for scope in scopes:
        loose.update(engine.store.statistics(scope).loose_ends)
    problems = [f"{count} {what}" for what, count in loose.items() if count]
    return Finding(
        "consistency",
        not problems,
        "no missing or orphaned rows" if not problems else "; ".join(problems),
        "" if not problems else RESTORE,
    )


def _own_scrubs(engine: EngineContext, principal: Principal) -> int:
    receipts = engine.store.statistics(principal.scope).receipts
    return sum(each.scrubbed_at is None for each in receipts)


def _scrubs(waiting: int) -> Finding:
    return Finding(
        "erasure",
        waiting == 0,
        "none pending" if not waiting else f"{waiting} erasures wait for compaction",
        "" if not waiting else "Run `commonplace tidy` while no other process reads the store.",
    )


def _vectors(engine: EngineContext, scopes: list[Scope], visibility: Visibility) -> Finding:
    listing = MemoryListing(visibility=visibility, without_vector=True, limit=NO_LIMIT)
    missing = sum(len(engine.store.page(scope, listing)) for scope in scopes)
    if visibility.cleared:  # unembedded passages and nodes have no visibility filter
        others = [engine.store.unembedded(scope, UnembeddedQuery()) for scope in scopes]
        missing += sum(len(each.passages) + len(each.graph) for each in others)
    return Finding(
        "vectors",
        missing == 0,
        "complete" if not missing else f"{missing} wait for the embedder",
        ""
        if not missing
        else "They are added when the embedder works again, or by `commonplace tidy`.",
    )


def _jobs(engine: EngineContext, scopes: list[Scope]) -> Finding:
    """Dead jobs, and jobs whose worker is gone."""
    now = engine.clock()
    known = [job for scope in scopes for job in engine.store.jobs(scope, JobQuery())]
    dead = sum(job.state is JobState.DEAD for job in known)
    abandoned = sum(job.lease_has_ended(now) for job in known)
    problems = [f"{dead} dead"] * bool(dead) + [f"{abandoned} abandoned by their worker"] * bool(
        abandoned
    )
    remedies = ["See `commonplace jobs`, then `commonplace jobs retry ID`."] * bool(dead)
    remedies += ["Run `commonplace worker --once`."] * bool(abandoned)
    waiting = f"{len(known)} pending" if known else "none pending"
    return Finding("jobs", not problems, ", ".join(problems) or waiting, " ".join(remedies))


def _proposals(engine: EngineContext, scopes: list[Scope]) -> Finding:
    """Fails if the limit of open proposals is reached."""
    now = engine.clock()
    open_ = [sum(p.is_open(now) for p in engine.store.proposals(scope)) for scope in scopes]
    full = any(count >= MAX_OPEN for count in open_)
    detail = f"{sum(open_)} wait for the owner" if any(open_) else "none pending"
    remedy = "Decide on them: `commonplace profile proposals`." if full else ""
    return Finding("proposals", not full, detail, remedy)


def _sources(engine: EngineContext, scopes: list[Scope], visibility: Visibility) -> Finding:
    """Fails for raw sources without a job: they would never be processed."""
    stuck = [id for scope in scopes for id in _raw_without_job(engine, scope, visibility)]
    counts = [
        row for scope in scopes for row in engine.store.statistics(scope, seen=visibility).sources
    ]
    live = [row for row in counts if row.state == State.ACTIVE]
    held = f"{sum(r.count for r in live):,} with {sum(r.passages for r in live):,} passages"
    problem = f"{len(stuck)} raw without a job: {', '.join(stuck[:3])}"
    remedy = "Ingest them again, or `commonplace forget ID` and then `commonplace restore ID`."
    return Finding("sources", not stuck, problem if stuck else held, remedy if stuck else "")


def _raw_without_job(engine: EngineContext, scope: Scope, visibility: Visibility) -> list[str]:
    raw = SourceListing(visibility=visibility, statuses=(ProcessingStatus.RAW,), limit=NO_LIMIT)
    # Read sources first: a job that ends in between has processed its source.
    waiting = [source.id for source in engine.live_source_page(scope, raw)]
    queued = {job.key for job in engine.store.jobs(scope, JobQuery(kinds=[PROCESS_JOB]))}
    without_job = [id for id in waiting if id not in queued]
    return [s.id for s in engine.live_sources(scope, without_job) if needs_processing(s)]


def _embedder(engine: EngineContext) -> Finding:
    model = engine.embedder
    detail = f"{model.name}, {model.dimension} dimensions; {_calibration(engine)}"
    try:
        works = engine.embed_passages(["a short text"]) is not None
    except CommonplaceError as error:  # its settings or its files are wrong
        return Finding("embedder", False, f"{detail}; {error.message}", error.remedy)
    remedy = "" if works else "Install what the embedder needs; until then, search uses words only."
    return Finding("embedder", works, detail, remedy)


def _calibration(engine: EngineContext) -> str:
    """The scripts for which similarity is calibrated, with the measured proof."""
    known = engine.calibration
    supported = [f"{each}{_proof(known.proofs.get(each))}" for each in sorted(known.knots)]
    unsupported = [
        f"{each}{_proof(proof)}"
        for each, proof in sorted(known.proofs.items())
        if each not in known.knots
    ]
    summary = (
        f"similarity calibrated for {', '.join(supported)}"
        if supported
        else "similarity not calibrated, so that words decide (`commonplace calibrate`)"
    )
    return summary + (
        f", not supported by the model for {', '.join(unsupported)}" if unsupported else ""
    )


def _proof(proof: CalibrationProof | None) -> str:
    return f" ({proof})" if proof else ""


def _generations(engine: EngineContext) -> Finding:
    """An unfinished change of embedder leaves unused vectors."""
    known = engine.store.generations()
    building = [each.embedder.name for each in known if each.state == "building"]
    retired = [each.embedder.name for each in known if each.state == "retired"]
    current = embedder_option(engine.embedder.name)
    if building:
        return Finding(
            "reembedding",
            False,
            f"unfinished, to {building[0]}",
            f"Run `commonplace reembed` with {embedder_option(building[0])} to continue, "
            f"or with {current} to cancel it.",
        )
    return Finding(
        "reembedding",
        not retired,
        "none pending" if not retired else f"old vectors remain from {', '.join(retired)}",
        "" if not retired else f"Run `commonplace reembed` with {current} to remove them.",
    )


def _settings(engine: EngineContext) -> Finding:
    values = ", ".join(f"{name}={value}" for name, value in engine.settings.items() if value)
    return Finding("settings", True, values or "defaults")


def _versions() -> Finding:
    packages = [f"{name} {version(name)}" for name in ("commonplace", "numpy", "wordllama")]
    return Finding("versions", True, f"Python {platform.python_version()}, {', '.join(packages)}")


def index_matches(engine: EngineContext, scope: Scope) -> bool:
    """True if stored terms equal a new analysis and the cached index equals a rebuilt one."""
    page = engine.store.index_page(scope, 0, -1)
    return _terms_match(engine, scope, page) and _cache_matches(engine, scope)


def _terms_match(engine: EngineContext, scope: Scope, page: IndexPage) -> bool:
    stored = {unit: packed for unit, packed, _ in page.terms}
    unit_of = {row.id: row.unit for row in page.rows}
    listing = MemoryListing(
        states=(State.ACTIVE,), visibility=Visibility(cleared=True), limit=NO_LIMIT
    )
    memories = all(
        stored.get(unit_of[memory.id]) == pack_terms(indexing.terms, indexing.keys)
        for memory in engine.store.page(scope, listing)
        if memory.id in unit_of and (indexing := build_indexing(memory, None))
    )
    return memories and _passage_terms_match(engine, scope, stored)


def _passage_terms_match(engine: EngineContext, scope: Scope, stored: Mapping[int, str]) -> bool:
    every = SourceListing(visibility=Visibility(cleared=True), limit=NO_LIMIT)
    for source in engine.live_source_page(scope, every):
        for unit, passage in engine.store.passages(scope, PassagesOf(source.id)).items():
            fresh = pack_terms(build_passage_indexing(source, passage, None).terms)
            if stored.get(unit, fresh) != fresh:
                return False
    return True


def _cache_matches(engine: EngineContext, scope: Scope) -> bool:
    with engine.store.read_session(scope), engine.index.reading(scope) as cached:
        page = engine.store.index_page(scope, 0, -1)
        if page.counters.seq != cached.counters.seq:
            return True  # a concurrent write: not comparable
        rebuilt = ScopeIndex(cached.dimension)
        rebuilt.absorb(page)
        return cached.fingerprint() == rebuilt.fingerprint()

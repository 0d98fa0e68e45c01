"""Errors: the exception tree with codes and remedies, and embedder names in remedies.

    CommonplaceError
    ├── InvalidInput              the request is invalid
    │   ├── MissingField
    │   ├── UnknownField
    │   ├── TooLong
    │   ├── BadText               NUL bytes, lone surrogates, nothing but space
    │   ├── BadCypher             a query that is invalid or not read-only
    │   └── BadSettings
    │       └── BadCategories     the file of categories and allowlists
    ├── Unauthenticated           no key, or it is unknown, expired or revoked: all look alike
    ├── NotFound                  unknown, forgotten, erased or another user's: all look alike
    ├── NotAllowed                the caller may not do this
    │   └── CategoryNotAllowed    the agent's allowlist does not name the category
    ├── LimitReached              a limit of the contract, such as five live souls
    ├── RateLimited               too many requests with one key (retryable)
    ├── IdempotencyConflict       the Idempotency-Key was used for another request
    ├── ChangedMeanwhile          the item's ETag no longer matches If-Match
    ├── EmbedderMismatch          the store was written with another embedder
    ├── EmbedderUnavailable       the operation needs it and it is down (retryable)
    ├── ModelUnavailable          a background job needs it and it does not answer (retryable)
    ├── QueryTooCostly            the query exceeded its time or memory limit
    └── StoreError                the database cannot do it
        ├── StaleDecision         other writers were faster on every try (retryable)
        ├── LeaseLost             another worker took the job over
        ├── StoreClosed           the store was closed
        ├── OutcomeUnknown        the connection was lost while committing
        ├── StoreBusy             locked for too long (retryable)
        ├── StoreUnavailable      cannot be opened or reached (retryable)
        ├── StoreFull             no space left
        ├── StoreReadOnly
        ├── StoreCorrupt
        ├── StoreTooNew           written by a newer version
        └── StoreTooOld           its migrations need an owner to run them

Each has a stable ``code``, a message that says what was wrong, and a ``remedy`` that says what to
do. Whatever raises one has changed nothing, but for OutcomeUnknown, which says so.
"""

from __future__ import annotations

from typing import Any, ClassVar


class CommonplaceError(Exception):
    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    default_remedy: ClassVar[str] = "See the message."

    def __init__(self, message: str, *, remedy: str | None = None, field: str | None = None):
        super().__init__(message)
        self.message = message
        self.remedy = remedy or self.default_remedy
        self.field = field

    def as_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "remedy": self.remedy,
            "retryable": self.retryable,
        }
        if self.field is not None:
            told["field"] = self.field
        return told


class InvalidInput(CommonplaceError):
    code = "invalid_input"
    default_remedy = "Correct the value and call again."


class MissingField(InvalidInput):
    code = "missing_field"
    default_remedy = "Give the missing field."


class UnknownField(InvalidInput):
    code = "unknown_field"
    default_remedy = "Leave it out, or check its spelling."


class TooLong(InvalidInput):
    code = "too_long"
    default_remedy = "Shorten it."


class BadText(InvalidInput):
    code = "bad_text"
    default_remedy = "Send valid, non-empty Unicode text without NUL bytes."


class BadCypher(InvalidInput):
    code = "bad_cypher"
    default_remedy = (
        "Correct the query. It reads only: MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, RETURN, "
        "ORDER BY, SKIP, LIMIT and UNION. `traverse --schema` lists labels and properties."
    )


class BadSettings(InvalidInput):
    code = "bad_settings"
    default_remedy = "Correct the settings file, environment variable or flag that is named."


class BadCategories(BadSettings):
    code = "bad_categories"
    default_remedy = "Correct the file that the setting `categories` names, at the line given."


class Unauthenticated(CommonplaceError):
    code = "unauthenticated"
    default_remedy = (
        "Use a valid key. Its owner can list them with `commonplace keys`, and create a new one "
        "with `commonplace keys create`."
    )


class NotFound(CommonplaceError):
    code = "not_found"
    default_remedy = "Look up the id first (recall or list)."


class NotAllowed(CommonplaceError):
    code = "not_allowed"
    default_remedy = "Ask the owner of this memory."


class CategoryNotAllowed(NotAllowed):
    code = "category_not_allowed"
    default_remedy = "Ask only for categories that the agent may read (`commonplace categories`)."


class LimitReached(CommonplaceError):
    code = "limit_reached"
    default_remedy = "Forget or update an existing one first."


class RateLimited(CommonplaceError):
    code = "rate_limited"
    retryable = True
    default_remedy = "Nothing was changed. Call again in a moment, and more slowly."

    def __init__(self, message: str, *, seconds: float = 1.0, **told: Any):
        super().__init__(message, **told)
        self.seconds = seconds  # after which the next request is taken


class IdempotencyConflict(CommonplaceError):
    code = "idempotency_conflict"
    default_remedy = "Use a new Idempotency-Key for each request."


class ChangedMeanwhile(CommonplaceError):
    code = "changed_meanwhile"
    default_remedy = "Nothing was changed. Read the item again, then retry with its new ETag."


class EmbedderMismatch(CommonplaceError):
    code = "embedder_mismatch"
    default_remedy = (
        "Open the store with the embedder it was written with, or recompute its vectors: "
        "`commonplace reembed --embedder NAME`."
    )


class EmbedderUnavailable(CommonplaceError):
    code = "embedder_unavailable"
    retryable = True
    default_remedy = "Call again when the embedder is available; progress is kept."


class ModelUnavailable(CommonplaceError):
    code = "model_unavailable"
    retryable = True
    default_remedy = "Check the model: `commonplace model check`. Rules do its work until then."


class QueryTooCostly(CommonplaceError):
    code = "query_too_costly"
    default_remedy = "Simplify the query: more conditions, shorter paths, a LIMIT."


class StoreError(CommonplaceError):
    code = "store_error"
    default_remedy = "Run `commonplace doctor`."


class StaleDecision(StoreError):
    code = "stale_decision"
    retryable = True
    default_remedy = "Nothing was changed. Call again."


class LeaseLost(StoreError):
    code = "lease_lost"
    default_remedy = "Nothing was changed. Another worker runs the job."


class StoreClosed(StoreError):
    code = "store_closed"
    default_remedy = "Open the store again."


class OutcomeUnknown(StoreError):
    code = "outcome_unknown"
    default_remedy = "The change may or may not be stored: check before you call again."


class StoreBusy(StoreError):
    code = "store_busy"
    retryable = True
    default_remedy = "Nothing was changed. Call again in a moment."


class StoreUnavailable(StoreError):
    code = "store_unavailable"
    retryable = True
    default_remedy = "Check the address and that the database runs, then call again."


class StoreFull(StoreError):
    code = "store_full"
    default_remedy = "Nothing was changed. Free disk space, then call again."


class StoreReadOnly(StoreError):
    code = "store_read_only"
    default_remedy = "Make the file and its folder writable."


class StoreCorrupt(StoreError):
    code = "store_corrupt"
    default_remedy = (
        "Keep a copy of the file and of those that end in -wal and -shm. Restore a backup, or "
        "import the last export into a new store. SQLite's `sqlite3 FILE .recover` may save more."
    )


class StoreTooNew(StoreError):
    code = "store_too_new"
    default_remedy = "Upgrade Commonplace to the version that wrote this store."


class StoreTooOld(StoreError):
    code = "store_too_old"
    default_remedy = "Open the store once as the owner of its tables, to migrate it."


def all_errors() -> list[type[CommonplaceError]]:
    """The whole tree, parents first."""
    found: list[type[CommonplaceError]] = [CommonplaceError]
    for error in found:
        found.extend(error.__subclasses__())
    return found


# The kept name, which tells models and sizes apart → what the setting `embedder` takes.
SHIPPED_EMBEDDERS = {
    "wordllama-l2-supercat-256": "wordllama",
    "all-minilm-l6-v2-int8": "minilm",
    "hashing-256": "hashing",
}
HTTP_EMBEDDER_PREFIX = "openai:"  # and the model
FASTEMBED_PREFIX = "fastembed:"  # and the model
ONNX_EMBEDDER_PREFIX = "onnx:"  # as it is kept: and name@fingerprint; as a setting: and the folder


def embedder_option(kept: str) -> str:
    """As a remedy tells it: in words that can be typed, where there are any."""
    if kept in SHIPPED_EMBEDDERS:
        return f"`--embedder {SHIPPED_EMBEDDERS[kept]}`"
    if kept.startswith(FASTEMBED_PREFIX):
        return f"`--embedder {kept}`"
    if kept.startswith(ONNX_EMBEDDER_PREFIX):
        name = kept.removeprefix(ONNX_EMBEDDER_PREFIX)
        return f"`--embedder onnx:FOLDER` and the folder of {name}"
    if kept.startswith(HTTP_EMBEDDER_PREFIX):
        model = kept.removeprefix(HTTP_EMBEDDER_PREFIX)
        return f"`--embedder openai` and the setting embedder_model = {model}"
    return f"the embedder {kept}, given in Python"

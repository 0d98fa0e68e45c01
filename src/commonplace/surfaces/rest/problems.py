"""Errors as RFC 9457 problems, with an HTTP status."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from commonplace import errors
from commonplace.errors import CommonplaceError
from commonplace.operations.serialization import PROBLEM

RETRY_AFTER = 1  # seconds

# The nearest base class decides.
_STATUS: Mapping[type[CommonplaceError], int] = {
    CommonplaceError: 500,
    errors.InvalidInput: 400,
    errors.Unauthenticated: 401,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.LimitReached: 409,
    errors.IdempotencyConflict: 409,
    errors.ChangedMeanwhile: 412,
    errors.RateLimited: 429,
    errors.QueryTooCostly: 422,
    errors.EmbedderMismatch: 503,
    errors.EmbedderUnavailable: 503,
    errors.ModelUnavailable: 503,
    errors.StaleDecision: 409,
    errors.StoreBusy: 503,
    errors.StoreUnavailable: 503,
    errors.StoreClosed: 503,
    errors.StoreFull: 507,
}


# HTTP statuses for invalid requests.
_STATUS_OF_REQUEST_FIELD: Mapping[tuple[type[CommonplaceError], str], int] = {
    (errors.TooLong, "body"): 413,
    (errors.NotAllowed, "host"): 421,
}


def status_of(error: CommonplaceError) -> int:
    own = _STATUS_OF_REQUEST_FIELD.get((type(error), error.field or ""))
    return own or next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def problem_response(error: CommonplaceError, status: int | None = None) -> Response:
    """``status``: a more specific HTTP status than the error's own."""
    shown = status or status_of(error)
    return Response(
        json.dumps(problem_data(error, shown), ensure_ascii=False).encode("utf-8", "replace"),
        status_code=shown,
        media_type=PROBLEM,
        headers=problem_headers(error, shown),
    )


def problem_data(error: CommonplaceError, status: int) -> dict[str, Any]:
    fields = error.as_dict()
    return {
        "type": f"urn:commonplace:error:{error.code}",
        "title": error.code.replace("_", " "),
        "status": status,
        "detail": fields.pop("message"),
        **fields,
    }


def problem_headers(error: CommonplaceError, status: int) -> dict[str, str]:
    headers = {"cache-control": "no-store"}
    if status == 401:
        headers["www-authenticate"] = 'Bearer realm="commonplace"'
    if error.retryable:
        wait = error.seconds if isinstance(error, errors.RateLimited) else RETRY_AFTER
        headers["retry-after"] = str(math.ceil(wait))
    return headers

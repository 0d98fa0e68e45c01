"""The names of headers that mean something here, for server and client alike."""

AGENT = "commonplace-agent"  # narrows who asks to one of the owner's agents
USER = "commonplace-user"  # whose keys an admin looks after
MAY_RESOLVE = "commonplace-may-resolve"
IDEMPOTENCY_KEY = "idempotency-key"
IF_MATCH = "if-match"
IF_NONE_MATCH = "if-none-match"
LAST_EVENT_ID = "last-event-id"
REQUEST_ID = "request-id"

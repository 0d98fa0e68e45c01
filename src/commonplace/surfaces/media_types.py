"""What bodies are made of, as headers name it."""

JSON = "application/json"
LINES = "application/x-ndjson"  # JSON, one object a line
BYTES = "application/octet-stream"
EVENTS = "text/event-stream"
TEXT = "text/plain"
DOT = "text/vnd.graphviz"
XML = "application/xml"
PROBLEM = "application/problem+json"

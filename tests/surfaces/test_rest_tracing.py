"""Spans: only where they are wanted, without content, in the caller's trace, and really sent."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import commonplace
from commonplace.errors import BadSettings
from commonplace.surfaces.rest.middleware import load_span_exporter
from support.rest_server import running
from support.served import Served

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{PARENT}-01"}


@pytest.fixture(scope="module")
def kept():
    """A process has one provider, for good."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def book(tmp_path):
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as opened:
        yield opened


def test_tracing_sends_spans_without_content_only_when_enabled(book, kept):
    with running(book) as silent:
        silent.ask("GET", "/v1/memories")
    assert kept.get_finished_spans() == ()
    with running(book, serve_tracing=True) as server:
        server.ask("GET", "/v1/memories/xylophone?as_of=2020-01-01", headers=TRACEPARENT)
    (span,) = kept.get_finished_spans()
    assert span.name == "GET /v1/memories/{id}"
    assert dict(span.attributes) == {
        "http.request.method": "GET",
        "http.route": "/v1/memories/{id}",
        "http.response.status_code": 404,
    }
    assert f"{span.context.trace_id:032x}" == TRACE
    assert f"{span.parent.span_id:016x}" == PARENT


def test_tracing_without_packages_names_the_extra_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, load_span_exporter().__name__)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(BadSettings) as refused:
        load_span_exporter()
    assert "opentelemetry.sdk.trace" in refused.value.message
    assert "commonplace[tracing]" in refused.value.remedy


class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *given):
        """Nothing: the test looks for itself."""


@pytest.fixture
def collector():
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as listening:
        listening.received = []
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield listening
        listening.shutdown()
        thread.join(10)


def test_tracing_exports_spans_to_the_otlp_endpoint(tmp_path, collector, monkeypatch):
    url = f"http://127.0.0.1:{collector.server_port}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    with Served(str(tmp_path / "traced.db"), serve_tracing=True) as server:
        assert server.ask("GET", "/v1/me", headers=TRACEPARENT).status == 200
        server.tell_to_stop()
        assert server.exit_code() == 0, server.complaints
    ((path, body),) = collector.received
    assert path == "/v1/traces"
    (sent,) = ExportTraceServiceRequest.FromString(body).resource_spans
    about = {each.key: each.value.string_value for each in sent.resource.attributes}
    assert about["service.name"] == "commonplace"
    (span,) = sent.scope_spans[0].spans
    assert (span.name, span.trace_id.hex()) == ("GET /v1/me", TRACE)

"""The OTLP span exporter. Imported when needed: `tracing` is an extra."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

SERVICE = "commonplace"  # default of OTEL_SERVICE_NAME
_UNNAMED = "unknown_service"


def make_provider() -> TracerProvider:
    """Configured by OpenTelemetry's environment variables."""
    about = Resource.create()
    if str(about.attributes.get(SERVICE_NAME, _UNNAMED)).startswith(_UNNAMED):
        about = about.merge(Resource({SERVICE_NAME: SERVICE}))
    provider = TracerProvider(resource=about)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider

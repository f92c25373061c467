"""A receiver of traces on a real socket: OTLP over HTTP in, spans out."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass
class Collector:
    """Deliveries that came in. `spans`: by name, protobuf messages."""

    url: str = ""
    raw: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    resource: dict[str, str] = field(default_factory=dict)
    spans: list[Any] = field(default_factory=list)

    def take(self, path: str, body: bytes) -> None:
        self.paths.append(path)
        self.raw.append(body)
        for one in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resource = {a.key: a.value.string_value for a in one.resource.attributes}
            for scope in one.scope_spans:
                self.spans.extend(scope.spans)

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> Any:
        (span,) = self.named(name)
        return span

    def below(self, span: Any) -> set[str]:
        return {one.name for one in self.spans if one.parent_span_id == span.span_id}


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that answers as real ones do."""
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            found.take(self.path, body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}/v1/traces"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()

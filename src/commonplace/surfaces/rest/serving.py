"""A server on an address: refused where it would be open to strangers, and ended calmly."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from commonplace.book import Commonplace
from commonplace.errors import BadSettings
from commonplace.settings import Settings
from commonplace.surfaces.rest.app import build_app
from commonplace.surfaces.rest.logs import log_to_stderr
from commonplace.surfaces.rest.reception import Reception

KEEP_ALIVE = 75  # seconds that a connection may be idle: longer than clients trust one
PATIENCE = 30  # seconds that requests under way are given when the server ends


class RestServer(uvicorn.Server):
    """The first signal lets requests come to their end, the second ends it all."""

    def __init__(self, config: uvicorn.Config, reception: Reception):
        super().__init__(config)
        self.reception = reception

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.reception.listeners.drain()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Without raising it again: whoever runs the server goes on, and closes the book."""
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(book: Commonplace, settings: Settings, say: Callable[[str], None]) -> None:
    """Until it is told to stop; then requests under way are answered first."""
    log_to_stderr()
    server = make_server(book, settings)
    with listening_socket(settings.serve_host, settings.serve_port) as listening:
        host, port = settings.serve_host, listening.getsockname()[1]
        say(f"Commonplace listens on http://{f'[{host}]' if ':' in host else host}:{port}")
        server.run([listening])


def make_server(book: Commonplace, settings: Settings) -> RestServer:
    app, reception = build_app(book, settings)
    refuse_strangers(reception)
    config = uvicorn.Config(
        app,
        host=settings.serve_host,
        port=settings.serve_port,
        log_config=None,
        access_log=False,  # its lines hold queries
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=PATIENCE,
    )
    return RestServer(config, reception)


def refuse_strangers(reception: Reception) -> None:
    """Whoever can reach the address could read the memory: so there must be keys."""
    if reception.is_keyless or reception.book.has_keys():
        return
    raise BadSettings(
        f"On {reception.settings.serve_host} everybody who has no key is refused, and there is "
        "no key yet.",
        remedy="Make one: `commonplace keys create LABEL`; or serve on 127.0.0.1 for yourself.",
        field="serve_host",
    )


def listening_socket(host: str, port: int) -> socket.socket:
    """Bound before anything is said of it, so that a taken port is an error in words."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host.strip("[]"), port))
    except OSError as error:
        found.close()
        raise BadSettings(
            f"{host}:{port} cannot be listened on: {error.strerror}.",
            remedy="Choose another: --port, --host.",
            field="serve_port",
        ) from error
    found.listen()
    return found

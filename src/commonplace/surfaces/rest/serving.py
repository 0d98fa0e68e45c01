"""A server on an address: refused where it would be open to strangers, and ended calmly."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from types import FrameType

import uvicorn

from commonplace.book import Commonplace
from commonplace.errors import BadSettings, CommonplaceError
from commonplace.settings import Settings
from commonplace.surfaces.rest.app import build_app
from commonplace.surfaces.rest.greeting import (
    address_of,
    naming_the_store,
    of_the_first_key,
    who_comes_in,
)
from commonplace.surfaces.rest.logs import log_to_stderr
from commonplace.surfaces.rest.reception import Reception
from commonplace.surfaces.rest.tracing import provided

log = logging.getLogger("commonplace")

KEEP_ALIVE = 75  # seconds that a connection may be idle: longer than clients trust one
LOOKS_EVERY = 600  # ticks, of which there are ten a second
PATIENCE = 30  # seconds that requests under way are given when the server ends


class RestServer(uvicorn.Server):
    """The first signal lets requests come to their end, the second ends it all."""

    def __init__(self, config: uvicorn.Config, reception: Reception):
        super().__init__(config)
        self.reception = reception
        self.seconds: float | None = None  # after which it ends by itself

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.seconds is not None:
            asyncio.get_running_loop().call_later(self.seconds, self._end)

    async def on_tick(self, counter: int) -> bool:
        if counter % LOOKS_EVERY == 0:
            self._night = asyncio.create_task(self._look())
        return await super().on_tick(counter)

    async def _look(self) -> None:
        try:
            await asyncio.to_thread(self.reception.book.night.look)
        except CommonplaceError as error:
            log.warning("maintenance postponed: %s", error.code)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.reception.listeners.drain()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Without raising it again: whoever runs the server goes on, and closes the book."""
        self.force_exit = self.should_exit
        self._end()

    def _end(self) -> None:
        self.should_exit = True


@dataclass(frozen=True)
class Voices:
    """Where a server speaks: to everybody, and to whoever started it alone."""

    say: Callable[[str], None]
    whisper: Callable[[str], None]


def serve(
    book: Commonplace,
    settings: Settings,
    voices: Voices,
    seconds: float | None = None,
    demo: Callable[[str], Iterable[str]] | None = None,
) -> None:
    """Until it is told to stop, or for so long; then requests under way are answered first. A
    demonstration has its own words, and nobody who looks after it."""
    log_to_stderr()
    with ExitStack() as until_the_end:
        until_the_end.enter_context(provided(settings.serve_tracing))
        server = make_server(book, settings)
        server.seconds = seconds
        listening = until_the_end.enter_context(
            listening_socket(settings.serve_host, settings.serve_port)
        )
        url = address_of(settings.serve_host, listening.getsockname()[1])
        voices.say(f"Commonplace listens on {url}")
        voices.say(who_comes_in(server.reception))
        for line in demo(url) if demo else ():
            voices.say(line)
        if demo is None and (first := book.first_admin_key()) is not None:
            for line in of_the_first_key(first, url):
                voices.whisper(line)
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
    store = naming_the_store(reception.book)
    raise BadSettings(
        f"On {reception.settings.serve_host} every request needs an API key, and there is "
        "no key yet.",
        remedy=f"Create one: `commonplace keys create LABEL --user NAME {store}`, or `commonplace "
        f"keys admin {store}` to create them over HTTP; or serve on 127.0.0.1.",
        field="serve_host",
    )


def free_port(host: str, usual: int) -> int:
    """The usual one where nobody has it; else any."""
    try:
        listening_socket(host, usual).close()
    except BadSettings:
        return 0
    return usual


def listening_socket(host: str, port: int) -> socket.socket:
    """Bound before anything is said of it, so that a taken port is an error in words. It is said
    to be of TCP: only then does asyncio send small pieces at once, and not 40 ms later."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host.strip("[]"), port))
    except OSError as error:
        found.close()
        raise BadSettings(
            f"Cannot listen on {host}:{port}: {error.strerror}.",
            remedy="Choose another --port or --host.",
            field="serve_port",
        ) from error
    found.listen()
    return found

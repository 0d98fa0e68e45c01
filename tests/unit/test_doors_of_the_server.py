"""Who may knock: hosts, origins, and how often."""

import pytest

from commonplace.errors import InvalidInput, NotAllowed, RateLimited
from commonplace.surfaces.rest.request_checks import (
    RateLimiter,
    check_host,
    check_origin,
    is_local_request,
    is_loopback,
)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "[::1]", "localhost"])
def test_addresses_of_this_machine_alone(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", "localhost.evil"])
def test_addresses_that_others_reach(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8765", "127.0.0.1:1", "[::1]:8765", "10.0.0.7", "memory.lan"]
)
def test_known_names_and_plain_addresses_are_answered(host):
    check_host(host, {"memory.lan"})


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example:8765", "127.0.0.1.nip.io"]
)
def test_a_name_that_somebody_else_points_here_is_not(host):
    with pytest.raises(NotAllowed):
        check_host(host, {"memory.lan"})


@pytest.mark.parametrize("host", [None, "", "a@localhost", "localhost/x", "[::1", "localhost:abc"])
def test_what_is_no_host_is_refused(host):
    with pytest.raises(InvalidInput):
        check_host(host, ())


def test_pages_of_the_server_itself_may_ask_and_others_not():
    check_origin(None, "localhost:8765", ())
    check_origin("http://localhost:8765", "localhost:8765", ())
    check_origin("https://app.example", "localhost:8765", {"https://app.example"})
    for stranger in ("https://evil.example", "null", "http://localhost:9999"):
        with pytest.raises(NotAllowed):
            check_origin(stranger, "localhost:8765", {"https://app.example"})


def test_only_a_program_of_this_machine_that_asks_for_this_machine_is_from_here():
    for host in ("localhost:8765", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST"):
        for peer in ("127.0.0.1", "::1"):
            assert is_local_request(peer, {"host": host})
    for peer, host in (
        ("192.168.1.5", "localhost"),
        ("", "localhost"),
        ("127.0.0.1", "memory.example"),
        ("127.0.0.1", "10.0.0.7"),
        ("127.0.0.1", ""),
    ):
        assert not is_local_request(peer, {"host": host})


@pytest.mark.parametrize(
    "header", ["Forwarded", "X-Forwarded-For", "x-forwarded-proto", "X-Real-IP", "Via"]
)
def test_who_comes_through_a_proxy_is_not_from_here(header):
    assert not is_local_request("127.0.0.1", {"host": "localhost", header: "x"})


class Seconds:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_caller_may_save_up_two_seconds_and_then_has_to_wait():
    clock = Seconds()
    rates = RateLimiter(2, "Too many.", clock)
    for _ in range(4):
        rates.take("ana")
    with pytest.raises(RateLimited):
        rates.take("ana")
    rates.take("bob")  # whose rate is his own
    clock.now += 0.5
    rates.take("ana")
    with pytest.raises(RateLimited):
        rates.take("ana")


def test_without_a_rate_nobody_waits():
    rates = RateLimiter(0, "Too many.", Seconds())
    for _ in range(1000):
        rates.take("ana")

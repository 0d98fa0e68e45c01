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
def test_is_loopback_accepts_local_addresses(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", "localhost.evil"])
def test_is_loopback_rejects_other_addresses(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8765", "127.0.0.1:1", "[::1]:8765", "10.0.0.7", "memory.lan"]
)
def test_check_host_accepts_known_names_and_ip_addresses(host):
    check_host(host, {"memory.lan"})


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example:8765", "127.0.0.1.nip.io"]
)
def test_check_host_refuses_unknown_names(host):
    with pytest.raises(NotAllowed):
        check_host(host, {"memory.lan"})


@pytest.mark.parametrize("host", [None, "", "a@localhost", "localhost/x", "[::1", "localhost:abc"])
def test_check_host_refuses_malformed_hosts(host):
    with pytest.raises(InvalidInput):
        check_host(host, ())


def test_check_origin_accepts_own_and_allowed_origins_only():
    check_origin(None, "localhost:8765", ())
    check_origin("http://localhost:8765", "localhost:8765", ())
    check_origin("https://app.example", "localhost:8765", {"https://app.example"})
    for stranger in ("https://evil.example", "null", "http://localhost:9999"):
        with pytest.raises(NotAllowed):
            check_origin(stranger, "localhost:8765", {"https://app.example"})


def test_is_local_request_requires_loopback_peer_and_host():
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
def test_is_local_request_rejects_proxy_headers(header):
    assert not is_local_request("127.0.0.1", {"host": "localhost", header: "x"})


class Seconds:
    now = 0.0

    def __call__(self):
        return self.now


def test_rate_limiter_allows_a_burst_of_two_seconds_per_caller():
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


def test_rate_limiter_with_rate_zero_is_off():
    rates = RateLimiter(0, "Too many.", Seconds())
    for _ in range(1000):
        rates.take("ana")

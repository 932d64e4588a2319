"""A class joins a server on somebody's laptop: where its invitations lead."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from django.test import Client, RequestFactory

from playground.serving.lan import lan_address, origin_for_others
from tests.playground.rooms import open_room

LOCAL = ["localhost", "127.0.0.1", "[::1]"]


@pytest.mark.parametrize(
    ("hosts", "asked", "origin"),
    [
        ([*LOCAL, "192.168.1.20"], "127.0.0.1:8000", "http://192.168.1.20:8000"),
        ([*LOCAL, "192.168.1.20"], "localhost", "http://192.168.1.20"),
        ([*LOCAL, "[fd00::7]"], "[::1]:9000", "http://[fd00::7]:9000"),
        ([*LOCAL, "192.168.1.20"], "192.168.1.20:8000", "http://192.168.1.20:8000"),
        (["podstep.example", "localhost"], "podstep.example", "http://podstep.example"),
        (["podstep.example", ".example", "*", "localhost"], "localhost:8000", ""),
        (LOCAL, "127.0.0.1:8000", ""),
    ],
)
def test_where_others_are_invited_to(settings: Any, hosts: list[str], asked: str, origin: str) -> None:
    """From this machine's own page to its network address; never to the loopback address."""
    settings.ALLOWED_HOSTS = hosts
    assert origin_for_others(RequestFactory().get("/r/x/", headers={"host": asked})) == origin


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "no-such-name.invalid"])
def test_nobody_else_reaches_the_loopback_address(host: str) -> None:
    """Nor a name that leads nowhere."""
    assert lan_address(host) == ""


def test_an_address_of_the_network_is_kept() -> None:
    """Every interface: the one that leads out of the machine, where there is a network."""
    assert lan_address("192.168.1.20") == "192.168.1.20"
    found = lan_address("0.0.0.0")
    assert not found or not ipaddress.ip_address(found).is_loopback


@pytest.mark.django_db
def test_a_room_invites_into_the_network(web: str, settings: Any) -> None:
    """Its page, its links and its QR code, though the teacher's page is at 127.0.0.1."""
    settings.ALLOWED_HOSTS = [*LOCAL, "testserver", "192.168.1.20"]
    room = open_room(web)
    local = {"host": "127.0.0.1:8000"}
    page = Client().get(f"/r/{room['id']}/", headers=local).content.decode()
    assert 'data-invite="http://192.168.1.20:8000"' in page
    code, at_home = (
        Client().get("/qr.svg", {"path": f"/r/{room['id']}/"}, headers={"host": host}).content
        for host in ("127.0.0.1:8000", "192.168.1.20:8000")
    )
    assert code == at_home
    settings.ALLOWED_HOSTS = LOCAL
    assert 'data-invite=""' in Client().get(f"/r/{room['id']}/", headers=local).content.decode()

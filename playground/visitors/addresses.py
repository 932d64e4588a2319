"""The address by which a caller's limits are counted.

Imports no models: uvicorn loads the connection protocols, which count by address, before Django is set up.
"""

from __future__ import annotations

import ipaddress

from django.conf import settings

MOST_ADDRESS = 48  # characters: an IPv6 address and its prefix length, with some room


def client_address(peer: str, forwarded: str) -> str:
    """Return the client address by which limits are counted.

    ``forwarded`` is the X-Forwarded-For header, of which only the last ``TRUSTED_PROXIES`` entries are
    trusted, one per proxy in front of the server. For IPv6 it is the /64 network, the smallest that a
    subscriber is assigned.
    """
    trusted = settings.PLAYGROUND["TRUSTED_PROXIES"]
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    return _network(hops[-trusted] if 0 < trusted <= len(hops) else peer)


def _network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:MOST_ADDRESS]
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(found), 64), strict=False))

"""The bodies of calls about contracts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from playground.api.payloads.payload import Payload


class Contracts(Payload):
    """Contracts to check."""

    contracts: Annotated[str, Meta(description="Contract documents, as YAML")]

"""The threads that do a command's short database work."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.db import connection

from playground.playback import executor


def opened() -> Any:
    """Ask the database something; return the driver's connection that was used."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return connection.connection


@pytest.mark.django_db(transaction=True)
def test_a_thread_asks_again_on_the_same_connection() -> None:
    """Opening one takes longer than what is asked: few are opened for many calls."""

    async def ask() -> list[Any]:
        return [await executor.in_storage(opened) for _ in range(3 * executor.STORAGE_THREADS)]

    used = asyncio.run(ask())
    assert len({id(one) for one in used}) <= executor.STORAGE_THREADS

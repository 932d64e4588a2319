"""Imported once by the server that the pool's processes are forked from."""

from __future__ import annotations

from playground.pool.child import preload

preload()

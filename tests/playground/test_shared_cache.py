"""The cache that web processes share, while Redis is unavailable."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.test.utils import override_settings
from redis.exceptions import ConnectionError as RedisConnectionError

from playground.serving import shared_cache
from playground.visitors.throttle import wait_seconds
from tests.services.processes import free_port


@pytest.fixture(autouse=True)
def asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis has not failed in another test a moment ago."""
    monkeypatch.setattr(shared_cache.SharedCache, "_again", 0.0)


def test_rates_are_counted_while_redis_is_away(limits: Any) -> None:
    """Nobody is refused for want of Redis, and everybody still bounded."""
    limits(API_READS_PER_MINUTE=2)
    shared = {
        "BACKEND": "playground.serving.shared_cache.SharedCache",
        "LOCATION": f"redis://127.0.0.1:{free_port()}/0",
    }
    with override_settings(CACHES={"default": shared}):
        assert [bool(wait_seconds("API_READS_PER_MINUTE", "1.2.3.4")) for _ in range(4)] == [
            False,
            False,
            True,
            True,
        ]
        cache.set("far", {"done": 1}, 10)
        assert cache.get("far") == {"done": 1}
        assert Client().get("/api/openapi.json").status_code == 200


def test_redis_is_not_asked_for_a_while_after_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One request in seconds waits for it, not every one; then it is asked again."""
    asked: list[str] = []

    def away(_self: Any, key: str, *_: Any, **__: Any) -> None:
        asked.append(key)
        raise RedisConnectionError("refused")

    monkeypatch.setattr("django.core.cache.backends.redis.RedisCache.get", away)
    shared = shared_cache.SharedCache(f"redis://127.0.0.1:{free_port()}/0", {})
    assert [shared.get(key) for key in ("a", "b", "c")] == [None] * 3
    assert asked == ["a"]
    monkeypatch.setattr(shared_cache.SharedCache, "_again", 0.0)
    shared.get("d")
    assert asked == ["a", "d"]


@pytest.mark.parametrize(
    "value", [0, -7, 2**62, True, None, "7", b"7", 1.5, {"done": 1, "of": None}, [b"\x00", ["x"]]]
)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    """Numbers, texts, bytes, lists and objects, with their types."""
    kept = shared_cache.MessagePack().dumps(value)
    found = shared_cache.MessagePack().loads(str(kept).encode() if isinstance(kept, int) else kept)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("data", [pickle.dumps({"done": 1}), b"", b"\xc1", b"\x91" * 10_000, b"9" * 10_000])
def test_what_the_cache_did_not_write_is_nothing(data: bytes) -> None:
    """Pickles above all, which would run what somebody wrote into Redis."""
    assert shared_cache.MessagePack().loads(data) is None


def test_the_cache_writes_message_pack() -> None:
    """The serializer is the one that Redis is asked through."""
    shared = shared_cache.SharedCache("redis://127.0.0.1:1/0", {"OPTIONS": {"socket_timeout": 1}})
    assert isinstance(shared._cache._serializer, shared_cache.MessagePack)  # type: ignore[attr-defined]

"""Progress in an account: two devices lose nothing by merging, nobody else has it, and it is bounded."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from playground.accounts import lesson_progress
from playground.lessons import progress, receipts
from playground.lessons.progress import Learned, LessonLearned, StopLearned, merged
from playground.lessons.reviews import ReviewCard
from playground.models import Account, LearnerProgress
from playground.storage import quotas, retention
from playground.visitors import identity
from tests.playground.conftest import OWNER, STRANGER, visitor_client

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
KEYS = ("first-cycle", "node", "why")

times = st.none() | st.integers(0, 3).map(lambda hours: NOW + timedelta(hours=hours))
signed = st.sampled_from(["", "a:1", "b:2"])
stops = st.builds(StopLearned, times, st.integers(0, 3), st.booleans(), signed)
lessons = st.builds(
    LessonLearned,
    st.sampled_from(["", *KEYS]),
    times,
    signed,
    times,
    st.dictionaries(st.sampled_from(KEYS), stops, max_size=2),
)
cards = st.builds(
    ReviewCard,
    st.sampled_from([1, 2, 3]),
    st.none(),
    st.none() | st.sampled_from([1.0, 2.0]),
    st.none(),
    st.integers(0, 3).map(lambda hours: NOW + timedelta(hours=hours)),
    times,
)
learners = st.builds(
    Learned,
    st.just(1),
    st.dictionaries(st.sampled_from(KEYS), lessons, max_size=2),
    st.dictionaries(st.sampled_from(["a/b", "a/c"]), cards, max_size=2),
)


@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(learners, learners, learners)
def test_merging_loses_nothing_in_whatever_order(one: Learned, two: Learned, three: Learned) -> None:
    """Devices may send in any order, and again: all end with the same, and what was passed stays passed."""
    both = merged(one, two)
    assert both == merged(two, one) == merged(both, one) == merged(both, both)
    assert merged(both, three) == merged(one, merged(two, three))
    assert progress.unpacked(progress.packed(both, 10**6)) == both
    for side in (one, two):
        assert side.lessons.keys() <= both.lessons.keys()
        assert side.cards.keys() <= both.cards.keys()
        for slug, lesson in side.lessons.items():
            found = both.lessons[slug]
            assert (found.when or progress.NEVER) >= (lesson.when or progress.NEVER)
            for key, stop in lesson.stops.items():
                kept = found.stops[key]
                assert (kept.tries, kept.right, bool(kept.receipt)) >= (stop.tries, stop.right, False)
                assert bool(kept.receipt) or not stop.receipt


# --- an account's


@pytest.fixture
def ada(db: Any) -> Account:
    return Account.objects.create(username="ada", password="!", owner=OWNER, last_login=timezone.now())


@pytest.fixture
def first(ada: Account) -> Client:
    return visitor_client(OWNER)


def passed(slug: str, key: str) -> dict[str, Any]:
    stop = {"seen": "2026-11-01T11:00:00Z", "right": True, "receipt": receipts.receipt(slug, key)}
    return {"at": key, "when": "2026-11-01T12:00:00Z", "stops": {key: stop}}


def exchange(client: Client, account: Account | str, sent: Any, revision: int = 0) -> Any:
    tag = account if isinstance(account, str) else lesson_progress.tag(account)
    body = {"account": tag, "revision": revision, "progress": sent}
    return client.post("/learn/progress", json.dumps(body), content_type="application/json")


def one(slug: str = "first-cycle", key: str = "node") -> dict[str, Any]:
    return {"version": 1, "lessons": {slug: passed(slug, key)}, "cards": {}}


NONE = {"version": 1, "lessons": {}, "cards": {}}


def test_a_second_device_has_what_the_first_one_passed(first: Client, ada: Account) -> None:
    """Each sends what it has, and gets the rest; who is up to date gets nothing."""
    second = visitor_client(OWNER)
    assert exchange(first, ada, one()).json() == {"revision": 1, "progress": None}
    answer = exchange(second, ada, one("reading-the-message", "sum")).json()
    assert answer["revision"] == 2
    assert {slug: list(each["stops"]) for slug, each in answer["progress"]["lessons"].items()} == {
        "first-cycle": ["node"],
        "reading-the-message": ["sum"],
    }
    kept = answer["progress"]["lessons"]["first-cycle"]["stops"]["node"]
    assert receipts.read(kept["receipt"]) == ("first-cycle", "node")
    assert exchange(second, ada, one(), 2).json() == {"revision": 2, "progress": None}
    assert f'"revision": {2}' in first.get("/learn/").content.decode()
    page = first.get("/account/").content.decode()
    assert "progress in 2 lessons" in page


def test_nobody_else_reads_or_writes_it(first: Client, ada: Account) -> None:
    """Not a stranger, nor another account in the same browser, whose page is still that of the first."""
    exchange(first, ada, one())
    stranger = visitor_client(STRANGER)
    assert exchange(stranger, ada, NONE).status_code == 409
    assert (
        '<script id="learner" type="application/json">null</script>'
        in stranger.get("/learn/").content.decode()
    )
    other = Account.objects.create(username="eve", password="!", owner=STRANGER, last_login=timezone.now())
    assert exchange(stranger, ada, one("second-thoughts", "evicted")).status_code == 409
    assert exchange(stranger, other, NONE, 7).json() == {"revision": 0, "progress": {**NONE}}
    assert list(LearnerProgress.objects.values_list("account__username", "lessons")) == [("ada", 1)]
    forged = Client(enforce_csrf_checks=True)
    forged.cookies[settings.VISITOR_COOKIE] = identity.sign(OWNER)
    assert exchange(forged, ada, NONE).status_code == 403


def test_what_was_not_issued_here_proves_nothing(first: Client, ada: Account) -> None:
    """A foreign receipt or code, one of another stop, and a time to come."""
    sent = one()
    lesson = sent["lessons"]["first-cycle"]
    lesson |= {"when": "2999-01-01T00:00:00Z", "code": "made:up", "coded": "2999-01-01T00:00:00Z"}
    lesson["stops"]["why"] = {"right": True, "receipt": receipts.receipt("first-cycle", "node")}
    exchange(first, ada, sent)
    found = exchange(first, ada, NONE, 9).json()["progress"]["lessons"]["first-cycle"]
    assert found["stops"]["why"] == {"right": True}
    assert "code" not in found
    assert datetime.fromisoformat(found["when"]) <= timezone.now()


CARD = {"state": 2, "step": None, "stability": 1, "difficulty": 5, "due": "2026-11-01T00:00:00Z"}
HOSTILE: tuple[Any, ...] = (
    None,
    [],
    {"version": 2},
    {"version": 1, "lessons": {"../x": {}}},
    {"version": 1, "lessons": {"x" * 61: {}}},
    {"version": 1, "lessons": {f"l{n}": {} for n in range(progress.LESSONS + 1)}},
    {"version": 1, "lessons": {"a": {"stops": {f"s{n}": {} for n in range(progress.STOPS + 1)}}}},
    {"version": 1, "lessons": {"a": {"stops": {"<b>": {}}}}},
    {"version": 1, "lessons": {"a": {"stops": {"b": {"tries": -1}}}}},
    {"version": 1, "lessons": {"a": {"stops": {"b": {"receipt": "x" * 601}}}}},
    {"version": 1, "lessons": {"a": {"when": "2026-11-01T00:00:00"}}},
    {"version": 1, "cards": {"a": CARD}},
    {"version": 1, "cards": {"a/b": {**CARD, "due": "2026-11-01T00:00:00"}}},
    {"version": 1, "cards": {"a/b": {**CARD, "stability": 1e300}}},
)


def test_what_is_no_progress_is_refused(first: Client, ada: Account) -> None:
    """Each with a sentence, and nothing is stored."""
    for sent in HOSTILE:
        answer = exchange(first, ada, sent)
        assert (answer.status_code, bool(answer.json()["message"])) == (400, True), sent
    for body in (b"", b"[" * 50_000, b'{"account": 1}', b"\xff"):
        assert first.post("/learn/progress", body, content_type="application/json").status_code == 400
    assert first.get("/learn/progress").status_code == 405
    assert not LearnerProgress.objects.exists()


def test_it_is_bounded(first: Client, ada: Account, limits: Any) -> None:
    """In bytes, of one request and of both together, in requests, and in the total; what is there stays."""
    exchange(first, ada, one())
    limits(PROGRESS_BYTES=500)
    assert exchange(first, ada, {**NONE, "lessons": {f"l{n}": {} for n in range(100)}}).status_code == 413
    refused = exchange(first, ada, {**NONE, "lessons": {f"l{n}": {} for n in range(30)}})
    assert (refused.status_code, "export" in refused.json()["message"]) == (413, True)
    assert LearnerProgress.objects.get().lessons == 1
    cache.clear()  # of the total
    limits(PROGRESS_BYTES=10**6, STORAGE_TOTAL=quotas.used_in_total())
    assert exchange(first, ada, one("second-thoughts", "evicted")).status_code == 507
    limits(PROGRESS_PER_ACCOUNT=1)
    later = [exchange(first, ada, NONE) for _ in range(9)][-1]
    assert (later.status_code, int(later.headers["Retry-After"]) > 0) == (429, True)


def test_it_goes_with_the_account_or_by_its_date(first: Client, ada: Account) -> None:
    """An account with progress holds something; unread for long, the progress goes, and then the account."""
    exchange(first, ada, one())
    assert quotas.used_by_owner(OWNER) > quotas.used_by_owner(STRANGER)
    Account.objects.update(last_login=timezone.now() - timedelta(days=400))
    assert retention.remove_expired()["accounts"] == 0
    LearnerProgress.objects.update(expires=timezone.now() - timedelta(days=1))
    removed = retention.remove_expired()
    assert (removed["progress"], removed["accounts"]) == (1, 1)
    again = Account.objects.create(username="bea", password="!", owner=OWNER, last_login=timezone.now())
    assert exchange(first, again, one()).status_code == 200
    again.delete()
    assert not LearnerProgress.objects.exists()
    assert exchange(first, again.username, NONE).status_code == 409


def test_what_is_stored_is_read_again() -> None:
    """In the form of the browser's file, whose empty values are left out."""
    found = progress.read(one())
    assert msgspec.json.decode(progress.packed(found, 10**4))["lessons"]["first-cycle"]["at"] == "node"

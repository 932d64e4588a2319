"""Quotas and retention: who may store how much, what expires when, and what is mentioned it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from playground.models import Draft, Run, RunChunk, Scenario, Share
from playground.runs import service
from playground.runs.compute import compute
from playground.storage import bundles, quotas, retention, store
from scheduler_core.authoring import examples
from tests.playground.conftest import OWNER, STRANGER, connected

pytestmark = pytest.mark.django_db

LARGE = "".join(f"# {number * 7919 % 1_000_003:x}\n" for number in range(4_000))


def days(number: float) -> timedelta:
    return timedelta(days=number)


def post(client: Client, text: str, **headers: Any) -> Any:
    return client.post("/api/scenarios", {"bundle": text}, content_type="application/json", **headers)


# --- quotas ------------------------------------------------------------------------------------


def test_an_address_cannot_store_without_end(web: str, limits: Callable[..., None]) -> None:
    """Callers of the API without a cookie are one owner per address; another address still has room."""
    limits(STORAGE_PER_OWNER=40_000)
    client = Client()
    statuses = [post(client, f"{web}\n# {number}\n{LARGE}").status_code for number in range(4)]
    assert statuses[0] == 201 and statuses[-1] == 413
    refused = post(client, f"{web}\n{LARGE}").json()
    assert "Delete" in refused["errors"][0]["message"]
    assert refused["storage"]["allowed"] == 40_000
    assert refused["storage"]["used"] + refused["storage"]["needed"] > 40_000
    assert refused["storage"]["largest"] == []  # who shares the address learns nothing of others' links
    assert post(client, f"{web}\n{LARGE}", REMOTE_ADDR="192.0.2.9").status_code == 201


def test_a_new_cookie_gives_no_more_room(owner: Client, web: str, limits: Callable[..., None]) -> None:
    """The address is counted, too, whatever names its visitors have; reading goes on."""
    limits(STORAGE_PER_ADDRESS=40_000)
    made: list[int] = []
    for number in range(6):
        answer = Client().post("/api/drafts", f"{web}\n# {number}\n{LARGE}", content_type="text/plain")
        made.append(answer.status_code)
    assert made[0] == 201 and made[-1] == 413
    assert owner.get("/").status_code == 200


def test_the_server_as_a_whole_is_bounded(web: str, limits: Callable[..., None]) -> None:
    """Beyond the total the answer is 507; small things are refused alike."""
    assert post(Client(), f"{web}\n{LARGE}").status_code == 201
    cache.clear()
    limits(STORAGE_TOTAL=quotas.used_in_total() * 3 // 2)
    refused = post(Client(), f"{web}\n# more\n{LARGE}", REMOTE_ADDR="192.0.2.9")
    assert refused.status_code == 507
    assert "expired" in refused.json()["errors"][0]["message"]


def test_what_is_full_names_the_largest_of_the_owner(limits: Callable[..., None]) -> None:
    """Only the owner's own, by kind, id and title; deleting one makes room."""
    big = store.create_draft(OWNER, [("", LARGE)], "the big one")
    limits(STORAGE_PER_OWNER=quotas.used_by_owner(OWNER) * 7 // 2)
    store.create_draft(STRANGER, [("", LARGE)], "not mine")
    for number in range(2):
        store.create_draft(OWNER, [("", LARGE[number:])], f"copy {number}")
    with pytest.raises(quotas.StorageFullError) as caught:
        store.create_draft(OWNER, [("", LARGE[9:])], "one too many")
    largest = caught.value.wire["largest"]
    assert {row["kind"] for row in largest} == {"draft"}
    assert "not mine" not in {row["title"] for row in largest}
    assert "the big one" in str(caught.value)
    store.delete_draft(big)
    store.create_draft(OWNER, [("", "small")])


def test_a_draft_that_gets_no_larger_is_saved(limits: Callable[..., None]) -> None:
    """An owner without room can still edit, shorten and rename."""
    draft = store.create_draft(OWNER, [("", LARGE)])
    limits(STORAGE_PER_OWNER=1_000)
    assert store.save_draft(draft, text=LARGE[: len(LARGE) // 2]).revision == 2
    assert store.save_draft(draft, title="renamed").revision == 3
    with pytest.raises(quotas.StorageFullError):
        store.save_draft(draft, text=LARGE)
    assert store.draft_text(Draft.objects.get(pk=draft.pk)) == LARGE[: len(LARGE) // 2]


def test_rows_without_contents_count(limits: Callable[..., None], web: str) -> None:
    """Very many links to one scenario are bounded, though its content is stored once."""
    limits(STORAGE_PER_OWNER=10 * quotas.ROW_BYTES)
    scenario = bundles.parse([("", web)])
    for _ in range(8):
        store.share(scenario, OWNER, text=web)
    with pytest.raises(quotas.StorageFullError):
        store.share(scenario, OWNER, text=web)
    assert (Share.objects.count(), Scenario.objects.count()) == (8, 1)


def test_a_run_counts_what_it_stores(web: str) -> None:
    """The bytes of its chunks are with its row, and with the sum of its owner and address."""
    before = quotas.used_by_owner(OWNER)
    run, _ = service.start(bundles.parse([("", web)]), OWNER, "192.0.2.1", text=web)
    compute(run.pk)
    run.refresh_from_db()
    stored = sum(len(chunk.data) + len(chunk.messages or b"") for chunk in RunChunk.objects.filter(run=run))
    assert run.packed == stored > 0
    used = quotas.used_by_owner(OWNER) - before
    assert used == stored + run.scenario.packed + 2 * quotas.ROW_BYTES
    assert quotas.used_from_address("192.0.2.1") >= stored


def test_no_run_starts_without_room(web: str, limits: Callable[..., None]) -> None:
    """The API answers a run as it answers a link."""
    made = post(Client(), web).json()
    limits(STORAGE_PER_OWNER=quotas.ROW_BYTES)
    refused = Client().post("/api/runs", {"scenario": made["id"]}, content_type="application/json")
    assert refused.status_code == 413 and refused.json()["storage"]["allowed"] == quotas.ROW_BYTES
    assert not Run.objects.exists()


def test_the_start_page_keeps_what_found_no_room(
    owner: Client, web: str, limits: Callable[..., None]
) -> None:
    """A paste comes back with the reason."""
    limits(STORAGE_PER_OWNER=10)
    answer = owner.post("/import/", {"text": web})
    assert answer.status_code == 413
    assert "Delete" in answer.context["errors"][0]["message"]
    assert answer.context["text"] == web
    limits(STORAGE_PER_OWNER=10**9, STORAGE_TOTAL=10)
    assert owner.post("/import/", {"text": web}).status_code == 507


@pytest.mark.django_db(transaction=True)
async def test_the_socket_says_that_there_is_no_room(web: str, limits: Callable[..., None]) -> None:
    """`storage.full` has the numbers; what the connection may still do, it can."""
    async with connected() as socket:
        made = await socket.success("bundle.open", {"text": web})
        limits(STORAGE_PER_OWNER=2_000)
        refused = await socket.error("bundle.open", {"text": web})
        assert refused["code"] == "storage.full"
        assert refused["allowed"] == 2_000 and refused["largest"][0]["id"] == made["draft"]
        assert await socket.success("draft.save", {"draft": made["draft"], "text": "short"})


def test_sums_are_answered_by_an_index(web: str) -> None:
    """Quotas read no contents: SQLite's own plan says that an index covers each sum."""
    if connection.vendor != "sqlite":
        pytest.fail("the plan of another database has other words")
    for used in (
        partial(quotas.used_by_owner, OWNER),
        partial(quotas.used_from_address, "a"),
        quotas.used_in_total,
    ):
        with CaptureQueriesContext(connection) as asked:
            used()
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN QUERY PLAN " + asked.captured_queries[0]["sql"])
            plan = [str(row[-1]) for row in cursor.fetchall()]
        tables = ("draft", "run", "link", "comparison", "scenario", "share", "comparisonshare")
        for table in tables:
            read = [line for line in plan if re.match(rf"(SCAN|SEARCH) playground_{table}\b", line)]
            assert read and all("COVERING INDEX" in line for line in read), plan


# --- retention ---------------------------------------------------------------------------------


def expire(row: Any, ago: float = 1) -> None:
    type(row).objects.filter(pk=row.pk).update(expires=timezone.now() - days(ago))


def until(row: Any) -> datetime:
    row.refresh_from_db(fields=["expires"])
    assert isinstance(row.expires, datetime)
    return row.expires


def test_opening_extends(owner: Client, web: str) -> None:
    """Pages and the API move the date of a link, a draft and a run, also where it has passed."""
    scenario = bundles.parse([("", web)])
    link = store.share(scenario, OWNER, text=web).scenario
    draft = store.create_draft(OWNER, [("", web)])
    run, _ = service.start(scenario, OWNER, text=web)
    pages: dict[str, Any] = {f"/s/{link.short}/": link, f"/api/scenarios/{link.short}/bundle": link}
    pages |= {f"/p/{draft.pk}/": draft, f"/runs/{run.pk}/": run, f"/api/runs/{run.pk}": run}
    for page, row in pages.items():
        expire(row)
        assert owner.get(page).status_code == 200
        assert until(row) > timezone.now() + days(89), page


def test_a_stranger_extends_no_draft(stranger: Client) -> None:
    """What somebody cannot open stays as it is."""
    draft = store.create_draft(OWNER, [("", "x")])
    expire(draft)
    assert stranger.get(f"/p/{draft.pk}/").status_code == 404
    assert until(draft) < timezone.now()


def test_opening_writes_once_a_day(web: str) -> None:
    """A link that a class opens a thousand times costs one write."""
    short = store.share(bundles.parse([("", web)]), OWNER, text=web).scenario.short
    Scenario.objects.update(expires=timezone.now() + days(60))
    with CaptureQueriesContext(connection) as asked:
        for _ in range(5):
            assert store.find_scenario(short)
    assert sum(query["sql"].startswith("UPDATE") for query in asked.captured_queries) == 1


def test_what_cannot_be_written_is_shown_all_the_same(
    owner: Client, web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that takes no writes at the moment keeps nobody from reading."""
    link = store.share(bundles.parse([("", web)]), OWNER, text=web).scenario
    expire(link)

    def locked(*_: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(store, "extended", locked)
    assert owner.get(f"/s/{link.short}/").status_code == 200


def test_a_cache_that_is_away_bounds_the_total_as_well(
    web: str, limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum is then asked for each time."""

    def away(*_: Any) -> None:
        raise ConnectionError("connection refused")

    monkeypatch.setattr("playground.storage.quotas.cache.get_or_set", away)
    store.create_draft(OWNER, [("", web)])
    limits(STORAGE_TOTAL=quotas.used_in_total() + 100)
    with pytest.raises(quotas.StorageFullError, match="The server has stored"):
        store.create_draft(OWNER, [("", web)])


def test_a_link_that_nobody_opens_goes(web: str) -> None:
    """It answers until it is removed, then it is gone; one whose content a run needs goes alone."""
    client = Client()
    short = post(client, web).json()["id"]
    row = Scenario.objects.get(short=short)
    kept = store.share(bundles.parse([("", web)], "kept"), OWNER, text=web).scenario
    Run.objects.create(scenario=kept, owner=OWNER)
    expire(kept)
    assert retention.remove_expired()["links"] == 1
    assert Scenario.objects.filter(pk=kept.pk).exists() and store.find_scenario(kept.short) is None
    expire(row)
    removed = retention.remove_expired()
    assert (removed["links"], removed["scenarios"]) == (1, 1)
    assert client.get(f"/api/scenarios/{short}").status_code == 404


def test_shipped_examples_stay(owner: Client) -> None:
    """They have no date, and one that was dated by the upgrade loses it before it would be removed."""
    example = examples.examples()[0]
    location = owner.get(f"/examples/{example.slug}/").headers["Location"]
    row = Scenario.objects.get(short=location.split("/")[2])
    assert row.expires is None
    expire(row, 400)
    assert retention.remove_expired()["links"] == 0
    row.refresh_from_db()
    assert row.expires is None
    assert owner.get(location).status_code == 200
    # Sharing the same content does not give it a date.
    store.share(example.load(), OWNER, text=example.read())
    row.refresh_from_db()
    assert row.expires is None


def test_what_has_expired_is_found_by_an_index() -> None:
    """A removal that finds nothing looks at no row: SQLite's plan searches, and scans no table."""
    now = timezone.now()
    for rule in retention.RULES[:3]:
        rows = rule.expired(now).order_by(rule.order).values_list("pk", flat=True)[: rule.batch]
        plan = rows.explain()
        assert "expires<" in plan and "SCAN" not in plan, plan


def test_removal_is_in_batches_and_bounded_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first removal that has no time removes one batch; the next one continues."""
    Draft.objects.bulk_create(
        [Draft(owner=OWNER, files=b"", expires=timezone.now() - days(1)) for _ in range(450)]
    )
    sizes: list[int] = []
    rule = retention.RULES[0]

    def remove(keys: list[Any]) -> None:
        sizes.append(len(keys))
        rule.remove(keys)

    counted = retention.RetentionRule(rule.kind, rule.expired, rule.order, rule.batch, remove)
    monkeypatch.setattr(retention, "RULES", (counted, *retention.RULES[1:]))
    assert retention.remove_expired(most_seconds=0)["drafts"] == 200
    assert Draft.objects.count() == 250
    assert retention.remove_expired()["drafts"] == 250
    assert sizes == [200, 200, 50]


def test_answers_tell_until_when(owner: Client, web: str) -> None:
    """Each answer of the API about a link, a draft or a run has `expires`, 90 days ahead."""
    client = Client()
    made = post(client, web).json()
    draft = client.post("/api/drafts", web, content_type="text/plain").json()
    run = client.post("/api/runs", {"scenario": made["id"]}, content_type="application/json").json()
    read = client.get(f"/api/scenarios/{made['id']}").json()
    for body in (made, draft, run, read):
        ahead = datetime.fromisoformat(body["expires"]) - timezone.now()
        assert days(89) < ahead <= days(90), body


def test_pages_tell_until_when(owner: Client, web: str) -> None:
    """The start page, the list of runs and the list of what is stored show the dates."""
    date = (timezone.now() + days(90)).strftime("%Y-%m-%d")
    draft = store.create_draft(OWNER, [("", web)], "a draft")
    link = store.share(bundles.parse([("", web)], "a link"), OWNER, text=web).scenario
    service.start(bundles.parse([("", web)], "a run"), OWNER, text=web)
    start = owner.get("/").content.decode()
    assert start.count(date) >= 4 and f"/s/{link.short}/" in start and f"/p/{draft.pk}/" in start
    assert date in owner.get("/runs/").content.decode()
    stored = owner.get("/stored/")
    assert {row["kind"] for row in stored.context["rows"]} == {"draft", "link", "run"}
    assert stored.content.decode().count(date) >= 3


def test_what_is_stored_can_be_deleted_by_its_owner(owner: Client, stranger: Client, web: str) -> None:
    """Drafts, links and ended runs; others' are not there, and a run under way is refused."""
    draft = store.create_draft(OWNER, [("", web)])
    link = store.share(bundles.parse([("", web)]), OWNER, text=web).scenario
    run, _ = service.start(bundles.parse([("", web)], "run"), OWNER, text=web)
    addresses = [f"/stored/draft/{draft.pk}/delete", f"/stored/link/{link.short}/delete"]
    addresses.append(f"/stored/run/{run.pk}/delete")
    assert [stranger.post(address).status_code for address in addresses] == [404, 404, 404]
    assert [owner.post(address).status_code for address in addresses] == [302, 302, 409]
    service.cancel(run)
    assert owner.post(addresses[-1]).status_code == 302
    assert not Draft.objects.exists() and not Run.objects.exists() and not Scenario.objects.exists()
    assert [owner.post(address).status_code for address in addresses] == [404, 404, 404]
    assert owner.post("/stored/other/x/delete").status_code == 404


def test_cleaning_by_hand_is_the_same() -> None:
    """`manage.py cleanup` prints how many of each kind were removed."""
    expire(store.create_draft(OWNER, [("", "x")]))
    said = io.StringIO()
    call_command("cleanup", stdout=said)
    assert said.getvalue().startswith("removed 1 drafts, 0 runs, 0 sweeps, 0 links")


@pytest.mark.django_db(transaction=True)
def test_rows_of_before_are_measured_and_dated(web: str) -> None:
    """The upgrade counts bytes and gives everything a date, as if it had been opened at the upgrade."""
    before, after = [("playground", "0007_draft_text_revision")], [("playground", "0009_storage")]
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes("playground")
    link = store.share(bundles.parse([("", web)]), OWNER, text=web).scenario
    draft = store.create_draft(OWNER, [("", web)])
    run, _ = service.start(bundles.parse([("", web)]), OWNER, text=web)
    compute(run.pk)
    run.refresh_from_db()
    measured = (link.packed, draft.packed, run.packed)
    assert all(measured)
    try:
        MigrationExecutor(connection).migrate(before)
        MigrationExecutor(connection).migrate(after)
    finally:
        MigrationExecutor(connection).migrate(newest)
    rows = (Scenario.objects.get(), Draft.objects.get(), Run.objects.get())
    assert tuple(row.packed for row in rows) == measured
    assert all(row.expires and row.expires > timezone.now() + days(89) for row in rows)


def test_the_migrations_make_what_the_models_say() -> None:
    """A database that was upgraded has each field as it is declared: no model waits for a migration."""
    said = io.StringIO()
    call_command("makemigrations", "playground", dry_run=True, stdout=said)
    assert said.getvalue() == "No changes detected in app 'playground'\n"


def test_the_address_is_known_in_every_thread(owner: Client, web: str) -> None:
    """A draft that a page stores has the address that it was stored from."""
    owner.post("/import/", {"text": web})
    assert Draft.objects.get().address == "127.0.0.1"

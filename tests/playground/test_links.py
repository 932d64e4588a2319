"""Private links: who sees them, when they go, and whether they still show what they showed."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils import timezone

from playground.models import Draft, Link, Scenario
from playground.storage import bundles, links, quotas, retention, store
from tests.playground.conftest import OWNER, STRANGER, connected

pytestmark = pytest.mark.django_db(transaction=True)


def a_draft(text: str) -> Draft:
    return store.create_draft(OWNER, [("", text)], "mine")


async def linked(text: str, **more: Any) -> dict[str, Any]:
    draft = await sync_to_async(a_draft)(text)
    async with connected(OWNER) as socket:
        return dict(await socket.success("link.create", {"source": {"draft": draft.pk}, **more}))


async def test_whoever_has_it_sees_it(web: str) -> None:
    """The scenario has no other address, and the draft may change or go."""
    made = await linked(web, title="For the review", query="?step=2&tab=priorities")
    assert made["url"] == f"/l/{made['link']}/?step=2&tab=priorities"
    await Draft.objects.all().adelete()
    async with connected(STRANGER) as socket:
        opened = await socket.success("scenario.open", {"source": {"link": made["link"]}, "step": "2"})
        assert (opened["cycles"], opened["index"], opened["scenario"]) == (5, 2, None)
        short = (await Scenario.objects.aget()).short
        missing = {"source": {"scenario": short}}
        assert (await socket.error("scenario.open", missing))["code"] == "source.not-found"
    assert (await sync_to_async(Client().get)(f"/s/{short}/")).status_code == 404
    assert (await sync_to_async(Client().get)(f"/api/scenarios/{short}")).status_code == 404


async def test_its_page(web: str) -> None:
    """It opens at the view it was made of, is in no search engine, and has the text as it was."""
    made = await linked(web, query="step=2")
    get = sync_to_async(Client().get)
    first = await get(f"/l/{made['link']}/")
    assert (first.status_code, first.headers["Location"]) == (302, f"/l/{made['link']}/?step=2")
    page = await get(f"/l/{made['link']}/?step=3")
    assert page.status_code == 200 and page.headers["X-Robots-Tag"] == "noindex"
    assert page.headers["X-Frame-Options"] == "DENY"
    assert (await get(f"/l/{made['link']}/bundle")).content.decode() == web
    assert (await get("/l/AAAAAAAAAAAAAAAA/")).status_code == 404


async def test_only_its_creator_lists_names_and_revokes_it(web: str) -> None:
    """For anybody else it is not there; once revoked it is there for nobody, and its scenario goes."""
    name = (await linked(web))["link"]
    async with connected(STRANGER) as stranger:
        assert await stranger.success("link.list", {}) == {"links": []}
        for command, more in (("link.rename", {"title": "x"}), ("link.revoke", {})):
            error = await stranger.error(command, {"link": name, **more})
            assert error["code"] == "source.not-found"
    async with connected("") as nobody:
        for command in ("link.list", "link.create", "link.revoke"):
            payload = {"link": name, "source": {"link": name}}
            assert (await nobody.error(command, payload))["code"] == "permission.denied"
    async with connected(OWNER) as owner:
        await owner.success("link.rename", {"link": name, "title": " new\nname "})
        [row] = (await owner.success("link.list", {}))["links"]
        assert (row["link"], row["title"]) == (name, "new name")
        await owner.success("link.revoke", {"link": name})
        assert (await owner.error("scenario.open", {"source": {"link": name}}))["code"] == "source.not-found"
    assert not await Scenario.objects.aexists()


async def test_it_goes_when_it_said(web: str) -> None:
    """A link with a date of its own is not extended by opening it; one without is."""
    fixed, rolling = await linked(web, days=3), await linked(web)
    soon = timezone.now() + timedelta(days=1)
    await Link.objects.aupdate(expires=soon)
    for made in (fixed, rolling):
        assert await sync_to_async(links.find_link)(made["link"])
    dates = {row.pk: row.expires async for row in Link.objects.all()}
    assert dates[fixed["link"]] == soon and dates[rolling["link"]] > soon + timedelta(days=80)
    await Link.objects.aupdate(expires=timezone.now() - timedelta(seconds=1))
    assert await sync_to_async(links.find_link)(fixed["link"]) is None
    removed = await sync_to_async(retention.remove_expired)()
    assert (removed["private links"], removed["scenarios"]) == (2, 1)


@pytest.mark.parametrize("payload", [{"days": 0}, {"days": 4_000}, {"query": "x" * 1_501}, {"query": "a\nb"}])
async def test_what_is_no_link(web: str, payload: dict[str, Any]) -> None:
    """Its date and its view are bounded."""
    draft = await sync_to_async(a_draft)(web)
    async with connected(OWNER) as socket:
        error = await socket.error("link.create", {"source": {"draft": draft.pk}, **payload})
    assert error["code"] == "payload.invalid"


async def test_links_are_bounded(web: str, limits: Callable[..., None]) -> None:
    """In number, and in bytes as everything that a visitor stores."""
    limits(LINKS_PER_OWNER=1)
    await linked(web)
    used = await sync_to_async(quotas.used_by_owner)(OWNER)
    row = await Link.objects.aget()
    assert used > row.packed + quotas.ROW_BYTES > quotas.ROW_BYTES
    draft = await Draft.objects.aget()
    async with connected(OWNER) as socket:
        error = await socket.error("link.create", {"source": {"draft": draft.pk}})
        assert error["code"] == "rate.limited"


async def test_a_strangers_draft_is_not_linked(web: str) -> None:
    """A draft's id is no right to publish it."""
    draft = await sync_to_async(a_draft)(web)
    async with connected(STRANGER) as socket:
        error = await socket.error("link.create", {"source": {"draft": draft.pk}})
    assert error["code"] == "source.not-found"


async def test_what_was_decided_is_kept(web: str) -> None:
    """Today's engine decides what it decided; the link says which settings it was made with."""
    made = await linked(web)
    async with connected(STRANGER) as socket:
        found = await socket.success("link.check", {"link": made["link"]})
        assert (await socket.error("link.check", {"link": "nothing"}))["code"] == "source.not-found"
    assert (found["same"], found["compared"], found["differing"], found["first"]) == (True, 5, 0, None)
    assert found["changed"] == []
    assert found["pinned"]["scheduler"] == "Policy" and found["pinned"]["cycles"] == 5
    assert found["pinned"]["policy"] == found["current"]["policy"]
    answer = (await sync_to_async(Client().get)(f"/api/links/{made['link']}")).json()
    assert {name: answer[name] for name in found} == found
    assert (await sync_to_async(Client().get)("/api/links/AAAAAAAAAAAAAAAA")).status_code == 404


async def test_another_engine_is_reported(web: str) -> None:
    """Both outcomes of the first cycle that ends otherwise, and what else differs."""
    made = await linked(web)
    row = await Link.objects.aget()
    decisions = json.loads(bundles.unpack(row.decisions))
    before = decisions[1]
    decisions[1] = [before[0], "scheduled", "n1" if before[2] != "n1" else "n2", None, [], []]
    row.decisions = bundles.pack(json.dumps(decisions[:4]).encode())
    row.pinned["policy"]["quirks"] = "fixed"
    row.pinned["engine"] = "0.0.9"
    await row.asave()
    async with connected(STRANGER) as socket:
        found = await socket.success("link.check", {"link": made["link"]})
    assert (found["same"], found["differing"]) == (False, 2)  # the other one goes on after four cycles
    assert found["first"]["index"] == 2
    assert found["first"]["then"]["node"] != found["first"]["now"]["node"] == before[2]
    assert found["changed"] == ["quirks", "engine"]


async def test_of_a_long_run_the_beginning_is_kept(web: str, limits: Callable[..., None]) -> None:
    """A bound on what one link stores; the rest is not compared."""
    limits(LINK_CYCLES=2)
    made = await linked(web)
    async with connected(OWNER) as socket:
        found = await socket.success("link.check", {"link": made["link"]})
    assert (found["same"], found["compared"], found["pinned"]["ended"]) == (True, 2, False)


async def test_a_fork_of_a_link(web: str) -> None:
    """It is a draft like any other; its tree names the link."""
    made = await linked(web, title="shown")
    async with connected(STRANGER) as socket:
        draft = (await socket.success("scenario.fork", {"source": {"link": made["link"]}}))["draft"]
        tree = await socket.success("branch.list", {"source": {"draft": draft}})
    assert tree["root"]["url"] == f"/l/{made['link']}/"
    assert (await Draft.objects.aget(pk=draft)).based_on == f"link:{made['link']}"


async def test_it_is_listed_with_what_is_stored(web: str, owner: Client, stranger: Client) -> None:
    """And revoked there."""
    made = await linked(web)
    page = await sync_to_async(owner.get)("/stored/")
    assert f"/l/{made['link']}/" in page.content.decode()
    address = f"/stored/private-link/{made['link']}/delete"
    assert (await sync_to_async(stranger.post)(address)).status_code == 404
    assert (await sync_to_async(owner.post)(address)).status_code == 302
    assert not await Link.objects.aexists()

"""Edits of a draft say on which revision they were made: nobody's are lost, and other tabs hear of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from playground.live import notifications
from playground.models import Draft
from playground.playback import sources
from playground.playback.library import Library, library
from playground.storage import store
from tests.playground.conftest import OWNER, STRANGER, connected
from tests.playground.test_api_drafts import Caller, made

pytestmark = pytest.mark.django_db(transaction=True)


def drafted(text: str, title: str = "mine") -> Draft:
    return store.create_draft(OWNER, [("", text)], title)


async def test_a_stale_edit_is_refused_and_says_what_is_newest(web: str) -> None:
    """The second of two tabs that edit revision 1 learns of revision 2, and overwrites nothing."""
    row = await asyncio.to_thread(drafted, web)
    async with connected() as first, connected() as second:
        edit = {"draft": row.pk, "base": 1}
        assert await first.success("draft.save", {**edit, "text": "# first\n"}) == {"revision": 2}
        refused = await second.error("draft.save", {**edit, "text": "# second\n"})
        reported = {name: refused[name] for name in ("code", "revision", "text", "titled", "title")}
        assert reported == {"code": "draft.stale", "revision": 2, "text": 2, "titled": 1, "title": "mine"}
        assert await second.success("draft.save", {**edit, "base": 2, "text": "# both\n"}) == {"revision": 3}
    await asyncio.to_thread(row.refresh_from_db)
    assert store.draft_files(row) == [("", "# both\n")]


async def test_text_and_title_are_edited_beside_each_other(web: str) -> None:
    """A tab that renames the draft makes no edit of the text stale, nor the other way round."""
    row = await asyncio.to_thread(drafted, web)
    async with connected() as socket:
        await socket.success("draft.save", {"draft": row.pk, "title": "renamed", "base": 1})
        await socket.success("draft.save", {"draft": row.pk, "text": "# new\n", "base": 1})
        assert (await socket.error("draft.save", {"draft": row.pk, "title": "x", "base": 1}))["titled"] == 2
        both = {"draft": row.pk, "title": "x", "text": "y", "base": 2}
        assert (await socket.error("draft.save", both))["text"] == 3


async def test_an_edit_whose_answer_was_lost_may_be_sent_again(web: str) -> None:
    """What is there already is answered as saved; the revision stays."""
    row = await asyncio.to_thread(drafted, web)
    async with connected() as socket:
        for _ in range(2):
            answer = await socket.success("draft.save", {"draft": row.pk, "text": "# once\n", "base": 1})
            assert answer == {"revision": 2}


async def test_a_client_that_sends_no_base_goes_on_working(web: str) -> None:
    """Its edits count as made on the newest revision."""
    row = await asyncio.to_thread(drafted, web)
    async with connected() as socket:
        for n in (2, 3):
            assert await socket.success("draft.save", {"draft": row.pk, "text": f"# {n}\n"}) == {
                "revision": n
            }


async def test_a_large_edit_carries_its_base(web: str) -> None:
    """Beyond the size of a small frame the base is read too."""
    row = await asyncio.to_thread(drafted, web)
    large = "# " + "x" * 100_000
    async with connected() as socket:
        assert await socket.success("draft.save", {"draft": row.pk, "text": large, "base": 1}) == {
            "revision": 2
        }
        again = {"draft": row.pk, "text": large + "y", "base": 1}
        assert (await socket.error("draft.save", again))["code"] == "draft.stale"


@pytest.mark.parametrize("command", ["draft.delete", "draft.share"])
async def test_what_another_tab_changed_is_neither_deleted_nor_shared_unseen(command: str, web: str) -> None:
    """Deleting and sharing say which revision they are about."""
    row = await asyncio.to_thread(drafted, web)
    async with connected() as socket:
        await socket.success("draft.save", {"draft": row.pk, "text": web + "# more\n", "base": 1})
        assert (await socket.error(command, {"draft": row.pk, "base": 1}))["code"] == "draft.stale"
        await socket.success(command, {"draft": row.pk, "base": 2})


async def test_other_tabs_are_reported_of_a_change(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches hears of each later revision, whichever process wrote it, and of the end."""
    monkeypatch.setattr(notifications, "POLL_SECONDS", 0.01)
    row = await asyncio.to_thread(drafted, web)
    async with connected() as first, connected() as second:
        reported = {"revision": 1, "text": 1, "titled": 1, "title": "mine"}
        assert await second.success("draft.watch", {"draft": row.pk}) == reported
        await first.success("draft.save", {"draft": row.pk, "text": "# new\n", "base": 1})
        assert await second.push("draft.changed") == {"draft": row.pk, **reported, "revision": 2, "text": 2}
        await asyncio.to_thread(store.save_draft, row, None, "theirs")  # as another process would
        changed = await second.push("draft.changed")
        assert (changed["revision"], changed["titled"], changed["title"]) == (3, 3, "theirs")
        await first.success("draft.delete", {"draft": row.pk})
        assert await second.push("draft.gone") == {"draft": row.pk}


async def test_only_the_owner_watches(web: str) -> None:
    """To a stranger the draft is not there."""
    row = await asyncio.to_thread(drafted, web)
    async with connected(STRANGER) as stranger:
        for command in ("draft.watch", "draft.branch"):
            refused = await stranger.error(command, {"draft": row.pk, "text": ""})
            assert refused["code"] == "source.not-found"


async def test_what_a_connection_watches_is_bounded_and_left(web: str) -> None:
    """The oldest of too many drafts is left; after the connection nothing is watched."""
    rows = [await asyncio.to_thread(drafted, web) for _ in range(notifications.DRAFTS_AT_ONCE + 1)]
    async with connected() as socket:
        for row in rows:
            await socket.success("draft.watch", {"draft": row.pk})
        assert set(notifications.drafts._watchers) == {row.pk for row in rows[1:]}
    assert not notifications.drafts._watchers


async def test_a_read_is_of_the_revision_that_was_opened(web: str) -> None:
    """While the page still shows the old revision it is answered of that; once it is gone, draft.stale."""
    row = await asyncio.to_thread(drafted, web)
    async with connected() as socket:
        opened = await socket.success("scenario.open", {"source": {"draft": row.pk}})
        pinned = {"draft": row.pk, "revision": opened["revision"]}
        await socket.success(
            "draft.save", {"draft": row.pk, "text": web.replace("replicas: 5", "replicas: 2")}
        )
        window = {"source": pinned, "from": 1, "count": 10}
        assert len((await socket.success("cycles.window", window))["cycles"]) == 5
        newest = await socket.success("scenario.open", {"source": {"draft": row.pk}})
        assert (newest["revision"], newest["cycles"]) == (2, 2)
        library.clear()
        assert (await socket.error("cycles.window", window))["code"] == "draft.stale"
        for command in ("branch.create", "scenario.fork"):
            assert (await socket.error(command, {"source": pinned}))["code"] == "draft.stale"


async def test_a_new_title_is_no_new_simulation(web: str) -> None:
    """Typing in the title computes nothing anew."""
    row = await asyncio.to_thread(drafted, web)
    async with connected() as socket:
        await socket.success("scenario.open", {"source": {"draft": row.pk}})
        await socket.success("draft.save", {"draft": row.pk, "title": "other"})
        opened = await socket.success("scenario.open", {"source": {"draft": row.pk}})
        assert (opened["title"], opened["revision"], len(library)) == ("other", 1, 1)


def test_a_text_is_never_read_under_the_revision_before(web: str) -> None:
    """Saved between finding the draft and reading it, it is opened as what it is now."""
    row = drafted(web)
    source = sources.find({"draft": row.pk}, OWNER)
    store.save_draft(row, web.replace("replicas: 5", "replicas: 2"))
    shelf = Library()
    sources.open_playback(source, shelf)
    assert list(shelf._entries) == [("draft", row.pk, 2)]
    with pytest.raises(store.StaleError):
        store.draft_files(source.row)  # type: ignore[arg-type]


async def test_a_text_is_saved_as_a_branch(web: str) -> None:
    """The draft stays as it is; the branch is its child, readable or not."""
    row = await asyncio.to_thread(drafted, web)
    async with connected() as socket:
        sent = {"draft": row.pk, "text": "kind: [", "title": "mine, beside"}
        answer = await socket.success("draft.branch", sent)
        [branch] = (await socket.success("branch.list", {"source": {"draft": row.pk}}))["branches"][1:]
    assert (branch["draft"], branch["parent"]) == (answer["draft"], f"draft:{row.pk}")
    assert answer["url"] == f"/p/{answer['draft']}/"
    made = await Draft.objects.aget(pk=answer["draft"])
    assert store.draft_files(made) == [("", "kind: [")]


async def test_a_branch_is_bounded_as_a_draft_is(web: str, limits: Callable[..., None]) -> None:
    """A text that is too long, or one branch too many, is refused."""
    row = await asyncio.to_thread(drafted, web)
    limits(DRAFT_BYTES=10, BRANCHES_PER_FAMILY=1)
    async with connected() as socket:
        large = {"draft": row.pk, "text": "x" * 11}
        assert (await socket.error("draft.branch", large))["code"] == "bundle.too-large"
        await socket.success("draft.branch", {"draft": row.pk, "text": "x"})
        assert (await socket.error("draft.branch", {"draft": row.pk, "text": "x"}))["code"] == "branch.full"


def test_the_text_of_a_draft_says_of_which_revision_it_is(owner: Client, web: str) -> None:
    """Text and revision are one answer: a tab never takes a text for another revision's."""
    row = drafted(web)
    store.save_draft(row, title="renamed")
    assert owner.get(f"/p/{row.pk}/bundle").headers["ETag"] == '"1"'
    store.save_draft(row, "# new\n")
    assert owner.get(f"/p/{row.pk}/bundle").headers["ETag"] == '"3"'


# --- over HTTP


def matched(caller: Caller, method: str, address: str, tag: str, body: Any = None) -> Any:
    """Send a request with If-Match."""
    data = "" if body is None else json.dumps(body)
    headers = {**caller._headers, "If-Match": tag}
    return caller._client.generic(method, address, data, content_type="application/json", headers=headers)


def test_if_match_lets_only_an_edit_of_the_newest_through(web: str) -> None:
    """Another revision, or a tag that is none, is 412 with the newest; the draft stays."""
    draft, owner = made(web)
    address = f"/api/drafts/{draft['id']}"
    assert owner.ask("GET", address).headers["ETag"] == '"1"'
    answer = matched(owner, "PATCH", address, '"1"', {"title": "second"})
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"2"')
    for method, path in (("PATCH", address), ("POST", f"{address}/share"), ("DELETE", address)):
        for tag in ('"1"', '"7"', 'W/"2"', '"x"'):
            refused = matched(owner, method, path, tag, {"bundle": "# lost\n"})
            assert (refused.status_code, refused.headers["ETag"]) == (412, '"2"'), (method, tag)
            assert "revision 2" in json.loads(refused.content)["errors"][0]["message"]
    assert owner.body("GET", address)["bundle"] == web
    assert matched(owner, "PATCH", address, '"1", "2"', {"title": "third"}).status_code == 200
    assert matched(owner, "PATCH", address, "*", {"title": "fourth"}).status_code == 200
    assert owner.body("PATCH", address, {"title": "fifth"})["revision"] == 5
    assert matched(owner, "DELETE", address, '"5"').status_code == 204


# --- at once


def at_once(writes: Sequence[Callable[[], object]]) -> list[object]:
    """Run all writes on threads of their own; a StaleError is an answer."""

    def run(write: Callable[[], object]) -> object:
        try:
            return write()
        except store.StaleError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(writes)) as threads:
        return list(threads.map(run, writes))


def test_of_many_edits_at_once_one_is_saved(web: str) -> None:
    """Each revision is the base of one edit; the others are refused, none is overwritten."""
    row = drafted(web)
    for base in range(1, 6):
        answers = at_once([partial(store.save_draft, row, f"# {base}.{n}\n", None, base) for n in range(8)])
        [saved] = [answer for answer in answers if isinstance(answer, Draft)]
        assert saved.revision == base + 1
        assert all(isinstance(answer, Draft | store.StaleError) for answer in answers)
        row.refresh_from_db()
        assert store.draft_files(row) == store.draft_files(saved)


def test_a_family_that_is_deleted_at_once_leaves_no_child_behind(web: str) -> None:
    """A branch whose parent and grandparent go in the same moment becomes the next one's above."""
    for _ in range(5):
        top = drafted(web)
        family = f"draft:{top.pk}"
        line = [top]
        for _ in range(4):
            origin = store.Origin(f"draft:{line[-1].pk}", family)
            line.append(store.create_draft(OWNER, [("", web)], "", "", origin))
        at_once([partial(store.delete_draft, row) for row in line[1:4]])
        line[4].refresh_from_db()
        assert line[4].parent == family

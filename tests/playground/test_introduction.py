"""What the comment at the head of a text says is reported with the scenario, whatever way it was opened."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from playground.storage import bundles, store
from playground.storage.texts import INTRODUCTION, introduction
from scheduler_core.authoring import examples
from tests.playground.conftest import OWNER, connected, visitor_client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("# One\n#  two\n#\n# three\nkind: Node # no\n", "One\n two\n\nthree"),
        ("\ufeff\r\n---\r\n# yes\r\nkind: Node\r\n# no\r\n", "yes"),
        ("kind: Node\n# no\n", ""),
        ("---\n# Source: chart/templates/web.yaml\nkind: Node\n", ""),
        ("# -----\n# yes\n# -----\nkind: Node\n", "yes"),
        ("# above\n\n# below the gap\nkind: Node\n", "above"),
        ('{"kind": "Node"}', ""),
        ("#\n", ""),
    ],
)
def test_the_head_of_a_text(text: str, reported: str) -> None:
    """Only the first comment tells, without its marks and rulers."""
    assert introduction(text) == reported


def test_a_long_head_is_cut() -> None:
    """What is shown is bounded."""
    reported = introduction("# abcdefghi\n" * 10_000 + "kind: Node\n")
    assert len(reported) <= INTRODUCTION + 1
    assert reported.endswith("\n…")


@pytest.mark.parametrize("slug", ["shop", "cache-half-remedy", "gpu-trace", "five-hundred"])
async def test_an_example_tells_its_lesson_wherever_it_goes(slug: str) -> None:
    """Opened, forked, shared again: page and socket have what its first comment says."""
    found = examples.find(slug)
    assert found is not None
    reported = introduction(found.read())
    assert reported
    client = visitor_client(OWNER)

    def short() -> str:
        return str(client.get(f"/examples/{slug}/").headers["Location"]).split("/")[2]

    source = {"scenario": await sync_to_async(short)()}
    async with connected(OWNER) as socket:
        assert (await socket.ask("scenario.open", {"source": source}))[2]["about"] == reported
        fork = (await socket.ask("scenario.fork", {"source": source}))[2]["draft"]
        assert (await socket.ask("scenario.open", {"source": {"draft": fork}}))[2]["about"] == reported
        again = (await socket.ask("draft.share", {"draft": fork}))[2]
        assert again["scenario"] == source["scenario"]
    answer = await sync_to_async(client.get)(f"/p/{fork}/")
    assert answer.context["about"] == reported


def test_a_scenario_without_a_text_tells_nothing(web: str, owner: Client) -> None:
    """A link of the older rule has no comments to show, and its page opens."""
    row = store.share(bundles.parse([("", web)]), text=f"# hello\n{web}").scenario
    assert owner.get(f"/s/{row.short}/").context["about"] == "hello"
    type(row).objects.update(text=None)
    assert owner.get(f"/s/{row.short}/").context["about"] == ""


def test_a_hostile_head_stays_text(web: str, owner: Client) -> None:
    """Nothing of it is markup on the page."""
    row = store.share(
        bundles.parse([("", web)]), text=f"# </script><script>alert(1)</script>\n{web}"
    ).scenario
    assert b"<script>alert(1)" not in owner.get(f"/s/{row.short}/").content

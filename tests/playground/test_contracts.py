"""Contracts on the server: read while they are typed, checked in the pool, verdict by verdict."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from scheduler_core.studies.contracts.library import READY, ready_text
from tests.core.contracts.ready import CASES
from tests.playground.conftest import OWNER, STRANGER, connected
from tests.playground.test_two_sources import shared

pytestmark = pytest.mark.django_db(transaction=True)

ZONE = next(case for case in CASES if case.name == "zone-loss")
TWO = f"{ready_text('zone-loss')}---\n{ready_text('surge-fits')}"


async def test_verdicts_come_one_by_one() -> None:
    """Each is pushed once, in order; a counterexample's bundle opens as a draft that has its step."""
    name = await sync_to_async(shared)(ZONE.violated)
    async with connected(OWNER) as socket:
        found = await socket.success("contracts.check", {"source": {"scenario": name}, "text": TWO})
        pushed = [frame[2]["verdict"] for frame in socket.pushed if frame[0] == "contracts.verdict"]
        verdicts = found["verdicts"]
        assert pushed == verdicts and not found["errors"]
        assert [one["verdict"] for one in verdicts] == ["violated", "holds"]
        shown = verdicts[0]["counterexample"]
        made = await socket.success("bundle.open", {"text": shown["bundle"]})
        await socket.success("scenario.open", {"source": {"draft": made["draft"]}})
        await socket.success("step.locate", {"source": {"draft": made["draft"]}, "step": shown["step"]})


async def test_what_is_wrong_has_its_line() -> None:
    """While it is typed and when it is checked, also of what the source does not have."""
    name = await sync_to_async(shared)(ZONE.satisfied)
    async with connected(OWNER) as socket:
        unknown = ready_text("zone-loss").replace("ready >= 1", "redy >= 1")
        asked = {"source": {"scenario": name}}
        (error,) = (await socket.success("contracts.read", {**asked, "text": unknown}))["errors"]
        assert (error["line"], "did you mean 'ready'?" in error["message"]) == (10, True)
        elsewhere = ready_text("serving-first")
        read = await socket.success("contracts.read", {**asked, "text": elsewhere})
        found = await socket.success("contracts.check", {**asked, "text": elsewhere})
        assert read == {"names": ["serving-first"], "errors": found["errors"]}
        assert found["verdicts"] == [] and found["errors"][0]["line"] == 9


async def test_a_draft_is_checked_for_its_owner_alone() -> None:
    """A stranger hears that there is none."""
    async with connected(OWNER) as owner, connected(STRANGER) as stranger:
        draft = (await owner.success("bundle.open", {"text": ZONE.satisfied}))["draft"]
        asked = {"source": {"draft": draft}, "text": ready_text("zone-loss")}
        assert (await stranger.error("contracts.check", asked))["code"] == "source.not-found"


async def test_ready_contracts_are_offered() -> None:
    """Each with what it is for."""
    async with connected(STRANGER) as socket:
        found = await socket.success("contracts.ready", {})
    assert [one["name"] for one in found["contracts"]] == list(READY)
    assert all(one["because"] for one in found["contracts"])


FORMS = {
    "application/json": '"verdict":"violated"',
    "text/markdown": "| ✗ | zone-loss |",
    "application/xml": "<testsuite",
    "application/sarif+json": '"version": "2.1.0"',
}


def test_contracts_are_checked_over_http(client: Client) -> None:
    """In the form of Accept or the parameter; what is wrong has its line, also of what the cluster lacks."""
    address = f"/api/scenarios/{shared(ZONE.violated)}/check"
    for media, expected in FORMS.items():
        answer = client.post(address, TWO, "application/yaml", headers={"Accept": media})
        assert answer.status_code == 200 and answer["Content-Type"].startswith(media)
        assert expected in answer.text
    body = {"contracts": ready_text("surge-fits")}
    found = client.post(f"{address}?format=json", body, "application/json").json()
    assert [one["verdict"] for one in found["verdicts"]] == ["holds"]
    elsewhere = client.post(address, ready_text("serving-first"), "application/yaml")
    assert elsewhere.status_code == 422 and elsewhere.json()["errors"][0]["line"] == 9


@pytest.mark.parametrize(
    ("query", "text", "path"), [("?format=pdf", TWO, "format"), ("", "", "contracts")], ids=["form", "text"]
)
def test_a_check_that_cannot_be_read_is_refused(client: Client, query: str, text: str, path: str) -> None:
    """An unknown form, and a body without contracts."""
    answer = client.post(f"/api/scenarios/{shared(ZONE.satisfied)}/check{query}", text, "application/yaml")
    assert answer.status_code == 400 and answer.json()["errors"][0]["path"] == path

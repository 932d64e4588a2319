"""The reference page of kube-batch: every action, plugin, argument and switch of the engine's tables."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from playground.reference import kube_batch_texts as texts
from scheduler_core.schedulers.kube_batch.actions import ACTIONS
from scheduler_core.schedulers.kube_batch.configuration import ARGUMENTS
from scheduler_core.schedulers.kube_batch.plugin import SWITCHES, Registration
from scheduler_core.schedulers.kube_batch.plugins import PLUGINS


@pytest.fixture
def text(client: Client) -> str:
    """The page."""
    return client.get("/reference/kube-batch/").content.decode()


def reported(text: str, anchor: str) -> str:
    """Return what the page says in a row, without its tags."""
    body = text[text.index(f'<tr id="{anchor}"') :]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body[: body.index("</tr>")])).split())


def test_every_action_and_plugin_is_reported(text: str) -> None:
    """Under its name; the texts are of the tables' rows and of no others."""
    assert set(texts.ACTIONS) == set(ACTIONS)
    assert set(texts.PLUGINS) == set(PLUGINS)
    assert set(texts.ARGUMENTS) == {one for names in ARGUMENTS.values() for one in names}
    for name in ACTIONS:
        assert f'id="action-{name}"' in text
    for name in PLUGINS:
        assert reported(text, f"plugin-{name}").startswith(name)


def test_a_plugin_lists_what_it_registers_with_its_switch(text: str) -> None:
    """As it does with a session; arguments have their defaults."""
    assert reported(text, "plugin-gang").endswith(
        "job order enableJobOrder , victims of preempt enablePreemptable , "
        "victims of reclaim enableReclaimable , job ready enableJobReady , "
        "job pipelined enableJobPipelined , job valid, at close"
    )
    assert reported(text, "plugin-conformance").count("victims") == 2 + 1  # and in what it does
    assert "Not in the default file." in reported(text, "plugin-conformance")
    assert "mostrequested.weight prefer nodes of which much is requested (0)" in reported(
        text, "plugin-nodeorder"
    )


def test_every_switch_and_every_field_of_a_registration_has_its_name() -> None:
    """What only the session calls or reports has none."""
    assert {switch for _, switch in texts.POINTS.values() if switch} == set(SWITCHES)
    unnamed = {"allocated", "deallocated", "job_shares", "queue_shares"}
    assert set(texts.POINTS) | unnamed == set(Registration.__struct_fields__)


def test_anchors_are_there_once_and_the_pages_lead_to_each_other(text: str, client: Client) -> None:
    """This page is marked as the present one, and on top of the others."""
    anchors = re.findall(r' id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= {*anchors, "main"}
    assert 'href="/reference/kube-batch/" aria-current="page"' in text
    assert text.count('aria-current="page"') == 2  # and the section
    for page in ("predicates", "cache", "podgroups"):
        assert (
            'href="/reference/kube-batch/">kube-batch' in client.get(f"/reference/{page}/").content.decode()
        )

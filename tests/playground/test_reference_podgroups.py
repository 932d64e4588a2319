"""The PodGroups' reference page: every rule, argument and event of the engine's tables, under its id."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from playground.reference.podgroup_texts import ARGUMENTS
from scheduler_core.schedulers.coscheduling.controller import PHASE_TABLES
from scheduler_core.schedulers.coscheduling.editions import CLASSIC, CURRENT, Edition
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling
from scheduler_core.schedulers.v1_22.events import PLUGIN_EVENTS
from scheduler_core.schedulers.v1_22.releases import RELEASES


@pytest.fixture
def text(client: Client) -> str:
    return client.get("/reference/podgroups/").content.decode()


def reported(text: str, anchor: str) -> str:
    """Return what the page says in a row, without its tags."""
    body = text[text.index(f'<tr id="{anchor}"') :]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body[: body.index("</tr>")])).split())


@pytest.mark.parametrize("edition", PHASE_TABLES)
def test_every_rule_of_an_edition_is_reported(text: str, edition: str) -> None:
    """From which phase, if what, to which phase; and that a sync stops there."""
    table = PHASE_TABLES[edition]
    rules = [(phase or "(new)", rule) for phase, found in table.entry.items() for rule in found]
    for phase, rule in [*rules, *(("any other", rule) for rule in table.others)]:
        said = reported(text, f"{edition}-{rule.id}")
        assert said.startswith(f"{phase} {rule.text}")
        assert said.endswith(rule.phase)
        assert ("the sync stops here" in said) == rule.stop
        assert ("occupiedBy" in said) == bool(rule.owners)


def test_post_bind_moves_phases_in_classic_only(text: str) -> None:
    """The two steps that no sync makes are in the one table and not in the other."""
    assert reported(text, "classic-post-bind-scheduled").endswith("Scheduled")
    assert "current-post-bind" not in text


@pytest.mark.parametrize("edition", [CLASSIC, CURRENT], ids=lambda edition: edition.id)
def test_what_an_edition_reads_is_reported(text: str, edition: Edition) -> None:
    """Its API group, its label, and its arguments with their defaults."""
    plain = " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())
    assert f"{edition.api_group}/v1alpha1" in plain
    assert edition.pod_label in plain
    for argument in edition.arguments:
        assert f"{argument.name} {ARGUMENTS[argument.name]} {argument.default} by default." in plain


def test_every_event_names_the_plugins_that_wait_for_it(text: str) -> None:
    """The table is the engine's, the plugin Coscheduling's own events among them; a flush helps all."""
    known = {**PLUGIN_EVENTS, Coscheduling.name: Coscheduling.events}
    for name in frozenset[str]().union(*known.values()):
        said = reported(text, name).split()
        assert [plugin for plugin in known if plugin in said] == [p for p in known if name in known[p]]
    assert reported(text, "UnschedulableTimeout").endswith("all of them")


def test_the_flush_is_reported_for_every_release(text: str) -> None:
    """How long a pod stays unschedulable without an event is the one number that releases differ in."""
    for release in RELEASES.values():
        assert re.search(rf"Kubernetes {release.name}</th>.*?{release.unschedulable_stay:g}s", text)


def test_anchors_are_there_once_and_the_pages_lead_to_each_other(text: str, client: Client) -> None:
    """The PodGroups tab links to an edition; the other reference pages have this one on top."""
    anchors = re.findall(r' id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert {"classic", "current"} <= set(anchors)
    assert set(re.findall(r'href="#([^"]+)"', text)) <= {*anchors, "main"}
    assert 'href="/reference/podgroups/" aria-current="page"' in text
    assert text.count('class="ref-pages"') == 1
    for page in ("predicates", "cache"):
        other = client.get(f"/reference/{page}/").content.decode()
        assert 'href="/reference/podgroups/">PodGroups' in other

"""Extenders that are called over HTTP, well-behaved and other."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.__main__ import main
from scheduler_core.compare.compare import compare
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from scheduler_core.schedulers.extenders.approval import using
from scheduler_core.schedulers.extenders.webhooks.allowlist import ApprovalError, Approved
from scheduler_core.schedulers.extenders.webhooks.transport import Webhooks
from tests.core.extenders.parts import (
    NODES,
    RELEASES,
    V1_11,
    V1_37,
    Release,
    answers,
    calls,
    extender,
    pod,
    policy,
    scenario,
)
from tests.core.extenders.server import serving

PODS = [pod(f"p-{number}", cpu="1500m", priority=number) for number in range(9)]


@pytest.fixture
def server():
    """Return an extender that runs."""
    with serving() as one:
        yield one


@pytest.fixture(params=RELEASES, ids=lambda release: release.name)
def release(request) -> Release:
    """Return a release that asks extenders."""
    return request.param


def everything(release, server, **fields):
    """Return a configuration with an extender of all verbs."""
    verbs = {
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "bindVerb": "bind",
        "preemptVerb": "preempt",
    }
    return release.configured(extender(server.url, weight=2, **verbs, **fields))


def live(release, server, *documents, **limits):
    """Run documents with calls of the server; return the simulation, and its cycles."""
    with using(Webhooks(Approved([server.url]), **limits)):
        simulation = release.simulation(scenario(*documents))
        return simulation, list(simulation)


def test_a_live_extender_decides_as_its_table_would(release, server):
    """The same answers, declared, give the same decisions."""
    rows: list[dict[str, Any]] = [
        {"verb": "filter", "pod": "*1", "failedNodes": {"a": "a is taken"}},
        {"verb": "filter"},
        {"verb": "prioritize", "scores": {"a": 2, "b": 8, "c": 2}},
        {"verb": "bind", "pod": "*2", "error": "no twos"},
        {"verb": "bind"},
    ]
    asked = extender(server.url, filterVerb="filter", prioritizeVerb="prioritize", bindVerb="bind", weight=2)
    configured = release.configured(asked)
    simulation, cycles = live(release, server, configured, *PODS)
    table = answers(*rows, url=server.url)
    declared = list(release.simulation(scenario(configured, table, *PODS)))
    assert [cycle.decision for cycle in cycles] == [cycle.decision for cycle in declared]
    assert [cycle.message for cycle in cycles] == [cycle.message for cycle in declared]
    assert {call.source for cycle in cycles for call in calls(cycle)} == {"live"}
    assert {path for path, _ in server.asked} == {
        f"/scheduler/{verb}" for verb in ("filter", "prioritize", "bind")
    }
    assert not simulation.scenario.warnings


def test_what_was_recorded_replays_without_a_call(release, server):
    """The recorded document gives the same decisions, whether the extender still runs or not."""
    low = [pod(f"low-{name}", cpu="2", on=name) for name in "abc"]
    documents = (everything(release, server), *low, *PODS[1:])
    simulation, cycles = live(release, server, *documents)
    assert {call.verb for cycle in cycles for call in calls(cycle)} == {
        "filter",
        "prioritize",
        "bind",
        "preempt",
    }
    recording = simulation.asking.recording()
    count = len(server.asked)
    replayed = list(release.simulation(scenario(*documents, recording)))
    assert [cycle.decision for cycle in replayed] == [cycle.decision for cycle in cycles]
    assert {call.source for cycle in replayed for call in calls(cycle)} == {"recorded"}
    assert not scenario(*documents, recording).warnings
    assert len(server.asked) == count


def test_stepping_back_asks_nothing_again(release, server):
    """A fork, and a copy that replays, answer from what the run was answered."""
    simulation, cycles = live(release, server, everything(release, server), *PODS)
    lines = [trace_line(cycle) for cycle in cycles]
    count = len(server.asked)
    recorded = scenario(everything(release, server), simulation.asking.recording(), *PODS)
    back = release.simulation(recorded)
    back.replay(cycle.decision for cycle in cycles[:4])
    assert trace_line(back.step()) == lines[4].replace('"source":"live"', '"source":"recorded"')
    assert len(server.asked) == count
    with using(Webhooks(Approved([server.url]))):
        first = release.simulation(simulation.scenario)
        fork = first.fork(trace=True)
        before = len(server.asked)
        line = trace_line(next(iter(first)))
        asked = len(server.asked)
        assert asked > before
        assert trace_line(next(iter(fork))) == line
        assert len(server.asked) == asked


def test_a_comparison_asks_each_question_once(release, server):
    """Also where the first difference is run again to be shown."""
    with using(Webhooks(Approved([server.url]))):
        asked = scenario(everything(release, server), pod("p-1"))
        compared = compare(asked, scenario(release.configured(), pod("p-1")))
    assert not compared.same
    paths = [path for path, _ in server.asked]
    assert sorted(paths) == sorted(set(paths))


@pytest.mark.parametrize(
    ("behaves", "reported"),
    [
        ("fails", "failed filter with extender at URL http://127.0.0.1:{port}/scheduler/filter, code 500"),
        ("garbage", "the answer is not UTF-8"),
        ("too_much", "the answer has more than 100,000 bytes"),
        ("compressed", "the answer is compressed"),
        ("elsewhere", "code 307"),
        ("lies", 'node "ghost"'),
        ("hangs", "Client.Timeout exceeded"),
        ("drips", "Client.Timeout exceeded"),
        ("hangs_up", "Post http://127.0.0.1:{port}/scheduler/filter: "),
    ],
)
def test_an_extender_that_misbehaves_ends_the_attempt_in_time(release, server, behaves, reported):
    """Every misbehaviour is an error with a text, within the timeout, and recorded as it was."""
    server.behaves = behaves
    seconds = 0.5 if behaves in {"hangs", "drips"} else 9
    timeout = release.duration(seconds)
    asked = release.configured(extender(server.url, filterVerb="filter", httpTimeout=timeout))
    began = time.monotonic()
    _, (cycle, *again) = live(release, server, asked, pod("p"), most_bytes=100_000)
    assert time.monotonic() - began < 60  # the timeout of what hangs is half a second; it would hang for ever
    assert cycle.result == "error"
    assert reported.format(port=server.server_port).lower() in cycle.message.lower()
    assert len(server.asked) == 1 + len(again)
    (call,) = calls(cycle)
    assert (call.outcome, call.source) == ("failed", "live")
    assert json.loads(call.request)["NodeNames"] == ["a", "b", "c"]


def test_an_extender_that_is_slow_is_waited_for_and_its_duration_recorded(release, server):
    """Each call has its seconds."""
    server.behaves = "slow"
    _, (cycle,) = live(release, server, everything(release, server), pod("p-1"))
    assert cycle.node == "b"
    assert all(0.14 < call.seconds < 2 for call in calls(cycle))


def test_scores_of_a_liar_are_added_as_they_are(release, server):
    """Unknown nodes have no effect; 1,000 is ten hundred times ten, and v1.37 scales it."""
    server.behaves = "lies"
    scoring = release.configured(extender(server.url, prioritizeVerb="prioritize", weight=1))
    _, (cycle,) = live(release, server, scoring, pod("p"))
    assert (cycle.node, cycle.totals.tolist()) == ("c", [0, 0, 1_000 if release is V1_11 else 10_000])
    assert len(calls(cycle)[0].notes) == 2


@pytest.mark.parametrize(("behaves", "changed"), [("well", []), ("relabels", ["b"])])
def test_nodes_that_come_back_changed_are_named(server, behaves, changed):
    """v1.37 scores them as they came back, podstep as sent; how an amount is written is no change."""
    server.behaves = behaves
    asked = V1_37.configured(extender(server.url, filterVerb="filter", nodeCacheCapable=False))
    _, (cycle,) = live(V1_37, server, asked, pod("p"))
    notes = calls(cycle)[0].notes
    assert "#141781" in notes[0]
    assert [note.partition(" ")[0] for note in notes[1:]] == changed


@pytest.mark.parametrize("ignorable", [True, False])
def test_nobody_there_is_an_error_like_any_other(release, ignorable):
    """A refused connection of an ignorable extender changes nothing."""
    with serving() as server:
        url = server.url
    with using(Webhooks(Approved([url]))):
        asked = release.configured(extender(url, filterVerb="filter", ignorable=ignorable))
        cycle, *_ = release.simulation(scenario(asked, pod("p")))
    assert cycle.result == ("scheduled" if ignorable else "error")
    assert "refused" in calls(cycle)[0].error


@pytest.mark.parametrize(
    "approved",
    [
        [],
        ["http://127.0.0.1:{port}/schedule"],
        ["http://127.0.0.1:{port}/scheduler/filter/more"],
        ["https://127.0.0.1:{port}/scheduler"],
        ["http://127.0.0.1:1/scheduler"],
        ["http://localhost:{port}/scheduler"],
    ],
)
def test_a_url_that_is_not_approved_gets_no_connection(release, server, approved):
    """Neither another port or scheme, nor a sibling path, nor another name of the same host."""
    prefixes = [prefix.format(port=server.server_port) for prefix in approved]
    with using(Webhooks(Approved(prefixes)) if prefixes else None):
        loaded = scenario(everything(release, server), *PODS)
        cycles = list(release.simulation(loaded))
    assert server.connections == 0
    assert {call.outcome for cycle in cycles for call in calls(cycle)} == {"not called"}
    assert f"extender {server.url} is not called: its URL is not approved" in loaded.warnings[0].message


def test_a_name_that_resolves_to_a_private_address_gets_no_connection(server, monkeypatch):
    """The address is looked at, not the name; a listed network admits it."""
    monkeypatch.setattr(
        "socket.getaddrinfo", lambda host, port, *_, **__: [(2, 1, 6, "", ("127.0.0.1", port))]
    )
    url = f"http://extender.example:{server.server_port}/scheduler"
    asked = policy(extender(url, filterVerb="filter"))
    with using(Webhooks(Approved([url]))):
        (cycle,) = Simulation(scenario(asked, pod("p")))
    assert "extender.example has the address 127.0.0.1, which is not public and not listed" in cycle.message
    assert server.connections == 0
    with using(Webhooks(Approved([url], ["127.0.0.0/8"]))):
        (cycle,) = Simulation(scenario(asked, pod("p")))
    assert (cycle.result, server.connections) == ("scheduled", 1)


@pytest.mark.parametrize(
    ("host", "address", "admitted"),
    [
        ("a.example", "93.184.216.34", True),
        ("a.example", "10.0.0.1", False),
        ("a.example", "169.254.169.254", False),
        ("a.example", "::ffff:10.0.0.1", False),
        ("a.example", "64:ff9b::a00:1", False),
        ("a.example", "::ffff:93.184.216.34", True),
        ("a.example", "::10.0.0.1", False),
        ("a.example", "::127.0.0.1", False),
        ("a.example", "::ffff:0:127.0.0.1", False),
        ("a.example", "64:ff9b::5db8:d822", True),
        ("a.example", "64:ff9b:1::7f00:1", False),
        ("a.example", "64:ff9b:1::5db8:d822", False),
        ("a.example", "2002:a00:1::", False),
        ("a.example", "2002:5db8:d822::1", True),
        ("a.example", "2001:0:5db8:d822::80ff:fffe", False),
        ("a.example", "2001:0:7f00:1::a247:27dd", False),
        ("a.example", "2606:4700::5efe:10.0.0.1", False),
        ("a.example", "2606:4700::200:5efe:169.254.169.254", False),
        ("a.example", "::", False),
        ("a.example", "ff02::1", False),
        ("localhost", "::1", True),
        ("localhost", "::ffff:127.0.0.1", True),
        ("localhost", "::127.0.0.1", True),
        ("::127.0.0.1", "::127.0.0.1", True),
        ("a.example", "fe80::1%eth0", False),
        ("a.example", "::1", False),
        ("a.example", "0.0.0.0", False),
        ("a.example", "224.0.0.1", False),
        ("a.example", "2606:4700::1111", True),
        ("localhost", "127.0.0.1", True),
        ("localhost", "10.0.0.1", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("0.0.0.0", "0.0.0.0", False),
        ("a.example", "what", False),
    ],
)
def test_only_public_addresses_are_admitted_unless_they_are_listed(host, address, admitted):
    """In whatever notation an address comes."""
    assert Approved([]).admits(host, address) is admitted


@pytest.mark.parametrize("address", ["10.0.0.1", "::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::a00:1"])
def test_a_listed_network_admits_an_address_in_every_notation(address):
    """As the IPv4 address that it stands for."""
    assert Approved([], ["10.0.0.0/8"]).admits("a.example", address)
    assert not Approved([], ["10.1.0.0/16"]).admits("a.example", address)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/sched\tuler/filter",
        " http://a.example/scheduler/filter",
        "http://a.example/scheduler/filter\n",
        "http://a.example/scheduler/fil ter",
        "http://a.example/scheduler/\x7f",
        "http://[/scheduler/filter",
        "http://a.example/scheduler/../admin",
        "http://a.example/scheduler/%2e%2e/admin",
        "http://a.example/scheduler%2f..%2fadmin/x",
        "http://a.example/scheduler/..%5cadmin",
        "http://user@a.example/scheduler/filter",
        "http://a.example@b.example/scheduler/filter",
        "http://a.example/scheduler/filter?x=1",
        "http://a.example:81/scheduler/filter",
        "http://a.example/schedulers/filter",
        "ftp://a.example/scheduler/filter",
        "http://a.example:x/scheduler/filter",
        "http:///scheduler/filter",
        "",
    ],
)
def test_a_prefix_covers_what_is_below_it_and_nothing_else(url):
    """Segments are compared, on one origin."""
    approved = Approved(["http://A.example./scheduler/"])
    assert approved("http://a.example:80/scheduler/filter")
    assert approved("http://a.example/scheduler")
    assert not approved(url)


@pytest.mark.parametrize(
    "url", ["http://[/", "http://a.example:x/", "http://a\t/", "", "http://" + "a" * 300]
)
def test_a_url_that_cannot_be_called_is_a_failure(url):
    """Whoever approved of it: the transport answers, and never raises."""
    calling = Webhooks(Approved([]), seconds=1)
    calling.approved = lambda _url: True  # type: ignore[assignment]
    reply = calling.post(url, "{}", 1, "")
    assert (reply.status, bool(reply.failure)) == (0, True)


@pytest.mark.parametrize(("prefixes", "networks"), [(["a.example"], []), (["http://a"], ["10.0.0.1/8"])])
def test_an_approval_that_cannot_be_read_is_an_error(prefixes, networks):
    """A misspelt setting must not approve of nothing in silence."""
    with pytest.raises(ApprovalError):
        Approved(prefixes, networks)


def test_no_proxy_of_the_environment_is_used(server, monkeypatch):
    """A proxy would connect on its own terms."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    _, (cycle,) = live(V1_11, server, everything(V1_11, server), pod("p"))
    assert cycle.result == "scheduled"


def test_the_command_calls_what_it_is_reported_to_and_writes_what_it_was_answered(
    release, server, tmp_path, capsys
):
    """Simulate --extenders URL --record-answers FILE, and again with that file."""
    bundle, kept = tmp_path / "bundle.yaml", tmp_path / "answers.yaml"
    bundle.write_text(write_yaml([*NODES, everything(release, server), *PODS]))
    assert main(["simulate", str(bundle)]) == 0
    plain = capsys.readouterr()
    assert "is not called: its URL is not approved" in plain.err
    assert server.connections == 0
    assert main(["simulate", str(bundle), "--extenders", server.url, "--record-answers", str(kept)]) == 0
    called = capsys.readouterr()
    assert not called.err
    assert called.out != plain.out
    count = server.connections
    assert main(["simulate", str(bundle), str(kept)]) == 0
    assert capsys.readouterr().out == called.out
    assert server.connections == count


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["--extenders", "gopher://x"], "--extenders: 'gopher://x' is no URL prefix"),
        (["--record-answers", "x.yaml"], "no extender was called, so there is nothing to record"),
    ],
)
def test_the_command_says_what_is_wrong_with_its_options(arguments, reported, tmp_path: Path, capsys):
    """Exit status 2, and a message."""
    bundle = tmp_path / "bundle.yaml"
    bundle.write_text(write_yaml([*NODES, pod("p")]))
    assert main(["simulate", str(bundle), *arguments]) == 2
    assert reported in capsys.readouterr().err

"""Which kube-scheduler answers a bundle, and what it is reported to leave out."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from scheduler_core import load
from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import examples
from scheduler_core.authoring.policy_edits import edited
from scheduler_core.cli.input_files import read_scenario
from scheduler_core.compare.cost import with_cache
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run import simulate
from scheduler_core.run.instant import Simulation
from scheduler_core.run.several.lone import LoneStepper
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.settings import release as release_module
from scheduler_core.settings.release import V1_11, V1_22, V1_37, release_of_kubelets

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: '4', pods: '9'}}\n"
POD = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"
NEW = NODE.replace("status: {", "status: {nodeInfo: {kubeletVersion: v1.33.4+k3s1}, ")
OLD = NODE.replace("status: {", "status: {nodeInfo: {kubeletVersion: v1.11.2}, ")
POLICY = "---\napiVersion: v1\nkind: Policy\n"
KIND = "kind: KubeSchedulerConfiguration\n"
V1 = f"---\napiVersion: kubescheduler.config.k8s.io/v1\n{KIND}"
BETA = f"---\napiVersion: kubescheduler.config.k8s.io/v1beta2\n{KIND}"
GANGS = V1 + (
    "profiles: [{plugins: {multiPoint: {enabled: [{name: Coscheduling}]}, "
    "queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: PrioritySort}]}}}]\n"
)
CLASSIC_GANGS = (
    "profiles: [{plugins: {queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: PrioritySort}]}, "
    "permit: {enabled: [{name: Coscheduling}]}, reserve: {enabled: [{name: Coscheduling}]}}, "
    "pluginConfig: [{name: Coscheduling, args: {deniedPGExpirationTimeSeconds: 3}}]}]\n"
)
BATCH = '---\nactions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n'
LATER = (
    "---\nkind: Scenario\nspec:\n  operations:\n  - step: 1\n    createOperation:\n      object:\n"
    "        {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}\n"
)


def settings(text: str) -> str:
    """Return a SimulationSettings document."""
    return f"---\napiVersion: podstep/v1\nkind: SimulationSettings\n{text}\n"


def created(text: str) -> str:
    """Return a history in which an operation writes settings."""
    written = f"{{apiVersion: podstep/v1, kind: SimulationSettings, {text}}}"
    return (
        f"---\nkind: Scenario\nspec: {{operations: [{{step: 9, createOperation: {{object: {written}}}}}]}}\n"
    )


def patched(text: str) -> str:
    """Return settings that say nothing, and a history in which an operation patches them."""
    patch = f"{{typeMeta: {{kind: SimulationSettings}}, patch: {{{text}}}}}"
    return (
        settings("") + f"---\nkind: Scenario\nspec: {{operations: [{{step: 9, patchOperation: {patch}}}]}}\n"
    )


@pytest.mark.parametrize(
    ("text", "release"),
    [
        (NODE + POD, "v1.37"),
        (NODE + POD + POLICY, "v1.11"),
        (NODE + POD + V1, "v1.37"),
        (NODE + POD + BETA, "v1.22"),
        (NODE + POD + GANGS + settings("scheduler: v1.22"), "v1.22"),
        (NODE + POD + GANGS + settings("schedulers: [{name: kube-batch}]"), "v1.22"),
        (NODE + POD + LATER, "v1.37"),
        (NODE + POD + POLICY + settings("time: virtual"), "v1.22"),
        (NODE + POD + settings("time: virtual\nquirks: fixed"), "v1.22"),
        (NODE + POD + settings("time: virtual\nschedulers: [{name: kube-batch}]"), "v1.22"),
        (NODE + POD + BATCH + settings("time: virtual"), "v1.22"),
        (OLD + POD + settings("time: virtual"), "v1.22"),
        (NODE + POD + POLICY + created("time: virtual"), "v1.22"),
        (NODE + POD + created("time: virtual, quirks: fixed"), "v1.22"),
        (NODE + POD + settings("scheduler: v1.37"), "v1.37"),
        (NODE + POD + V1 + settings("scheduler: v1.22"), "v1.22"),
        (NODE + POD + V1 + settings("scheduler: v1.11"), "v1.11"),
        (NODE + POD + POLICY + settings("scheduler: v1.37"), "v1.37"),
        (NEW + POD, "v1.37"),
        (OLD + POD, "v1.11"),
        (NEW + POD + POLICY, "v1.11"),
        (NEW + POD + settings("cache: sound"), "v1.11"),
        (NEW + POD + settings("cache: 'off'"), "v1.11"),
        (NODE + POD + settings("cache: off"), "v1.11"),
        (NODE + POD + settings("cache: null"), "v1.37"),
        (NODE + POD + settings("quirks: v1.11"), "v1.11"),
        (NODE + POD + settings("predicateOrder: v1.11"), "v1.11"),
        (NODE + POD + settings("equivalenceClass: controller"), "v1.11"),
        (NODE + POD + settings("audit: false"), "v1.11"),
        (NODE + POD + settings("staleWrites: generations"), "v1.11"),
        (NODE + POD + settings("until: 60\ntime: instant"), "v1.37"),
        (NODE + POD + V1 + settings("cache: 'off'"), "v1.37"),
        (OLD + POD + settings("until: 60"), "v1.11"),
        (NODE + POD + created("until: 60"), "v1.37"),
        (OLD + POD + created("until: 60"), "v1.11"),
        (NODE + POD + created("quirks: v1.11"), "v1.11"),
        (NEW + POD + created("cache: sound"), "v1.11"),
        (NODE + POD + patched("cache: sound"), "v1.11"),
        (NODE + POD + patched("until: 60"), "v1.37"),
        (NEW + POD + settings("quirks: fixed\nscheduler: v1.37"), "v1.37"),
    ],
)
def test_the_release_follows_from_the_bundle(text: str, release: str) -> None:
    """Settings first, then the configuration, then the nodes; the simulation is that release's."""
    scenario = load(text)
    assert scenario.release == release
    classes = {"v1.11": Simulation, "v1.22": TimedSimulation, "v1.37": V1_37Simulation}
    simulation = simulate(scenario)
    assert type(simulation) is classes[release]
    assert [cycle.node for cycle in simulation] == ["n1"]


@pytest.mark.parametrize(
    "text",
    [
        settings("time: virtual"),
        V1 + settings("time: virtual"),
        created("time: virtual"),
        patched("time: virtual"),
        GANGS,
        GANGS + "---\nkind: Scenario\nspec: {controllers: [], operations: []}\n",
    ],
    ids=["settings", "configuration", "written later", "patched later", "gangs", "gangs alone"],
)
@pytest.mark.parametrize("node", [NODE, NEW], ids=["silent", "new kubelets"])
def test_virtual_time_is_of_v1_37_with_controllers(node: str, text: str) -> None:
    """Nothing but v1.11's own rules or several schedulers take it to the framework."""
    scenario = load(node + POD + text)
    simulation = simulate(scenario)
    assert (scenario.release, scenario.lives) == ("v1.37", True)
    assert isinstance(simulation, LoneStepper)
    assert [cycle.node for cycle in simulation] == ["n1"]


BATCHED = POD.replace("spec: {", "spec: {schedulerName: kube-batch, ")
ADDED = BATCHED.replace("---\n", "").replace("\n", "\n        ").strip()


@pytest.mark.parametrize(
    ("text", "release"),
    [
        (BATCHED + settings("time: virtual"), "v1.22"),
        (BATCHED + settings("time: virtual\nscheduler: v1.37"), "v1.37"),
        (BATCHED, "v1.37"),
        (
            settings("time: virtual") + "---\nkind: Scenario\nspec:\n  operations:\n  - time: 5\n"
            f"    createOperation:\n      object:\n        {ADDED}\n",
            "v1.22",
        ),
    ],
    ids=["its pod", "named", "without time", "created later"],
)
def test_pods_of_kube_batch_take_virtual_time_to_the_framework(text: str, release: str) -> None:
    """It runs nowhere else."""
    scenario = load(NODE + text)
    assert (scenario.release, scenario.said_release or "v1.37") == (release, release)


@pytest.mark.parametrize("presumed", ["v1.11", "v1.22"])
def test_virtual_time_keeps_what_was_presumed(presumed: str) -> None:
    """As a stored text does: v1.11's rules under the framework's clock."""
    scenario = load(NODE + POD + settings("time: virtual"), presumed=presumed)
    assert (scenario.release, scenario.said_release) == ("v1.22", "")
    assert scenario.configuration.framework is None


@pytest.mark.parametrize(
    ("versions", "release"),
    [
        ([], ""),
        (["unknown"], ""),
        (["v1.11.0", "v1.12.3"], "v1.37"),
        (["v1.9"], "v1.11"),
        (["v1.120"], "v1.37"),
    ],
)
def test_the_newest_kubelet_counts(versions: list[str], release: str) -> None:
    """A control plane is never older than its nodes."""
    assert release_of_kubelets(versions) == release


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (NODE + POD + POLICY + settings("scheduler: v1.37"), "reads no Policy"),
        (NODE + POD + BETA + settings("scheduler: v1.37"), "v1beta2: it is read as v1"),
        (
            NODE + POD + BETA + CLASSIC_GANGS + settings("scheduler: v1.37"),
            "is an argument of the classic edition, for Kubernetes 1.22: the current one",
        ),
        (NODE + POD + V1 + settings("scheduler: v1.11"), "reads no KubeSchedulerConfiguration"),
        (NODE + POD + settings("scheduler: v1.37\nquirks: fixed"), "are settings of v1.11"),
        (
            NODE + POD + settings("scheduler: v1.37") + "---\nkind: CompositePodGroup\napiVersion: "
            "scheduling.k8s.io/v1alpha3\nmetadata: {name: gold}\n",
            "CompositePodGroup gold: the kind is not implemented",
        ),
        (NODE + POD + V1 + "extenders: [{urlPrefix: 'http://x/', filterVerb: f}]\n", "is not called"),
    ],
)
def test_what_the_release_does_not_do_is_named(text: str, reported: str) -> None:
    """As a warning about the bundle; nothing is left out in silence."""
    assert any(reported in problem.message for problem in load(text).warnings)


def test_a_configuration_that_cannot_be_used_is_an_error() -> None:
    """With its line, from either reader."""
    with pytest.raises(BundleError) as caught:
        load(NODE + POD + V1 + "percentageOfNodesToScore: 400\n")
    assert caught.value.problems[0].line == 13
    wrong = "profiles: [{plugins: {score: {enabled: [{name: DynamicResource}]}}}]\n"
    with pytest.raises(BundleError, match="DynamicResource"):
        load(NODE + POD + V1 + wrong)
    load(NODE + POD + V1 + wrong.replace("DynamicResource}", "DynamicResources}"))


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("permitWaitingTimesSeconds", "unknown argument: did you mean 'permitWaitingTimeSeconds'[?]"),
        ("color", "unknown: .*permitWaitingTimeSeconds.* exist"),
    ],
)
def test_an_unknown_argument_is_answered_with_a_known_one(name: str, reported: str) -> None:
    """The nearest one, or all of them."""
    with pytest.raises(BundleError, match=reported):
        load(NODE + POD + BETA + CLASSIC_GANGS.replace("deniedPGExpirationTimeSeconds", name))


def test_fields_that_the_release_honors_are_not_reported() -> None:
    """A spread constraint filters under v1.37, so that no warning says it would elsewhere."""
    constraint = "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"
    pod = POD.replace("spec: {", f"spec: {{topologySpreadConstraints: [{constraint}], ")
    assert any(
        "topologySpreadConstraints" in problem.unhonored
        for problem in load(NODE + pod, presumed="v1.11").warnings
    )
    modern = load(NODE + pod)
    assert not any("topologySpreadConstraints" in problem.unhonored for problem in modern.warnings)


@pytest.mark.parametrize(
    ("scheduler", "warned"),
    [("", False), ("schedulerName: modern, ", False), ("schedulerName: old, ", True)],
)
def test_a_scheduler_that_runs_v1_37_next_to_others_honors_what_v1_37_honors(
    scheduler: str, warned: bool
) -> None:
    """A constraint is reported only for pods whose own scheduler ignores it."""
    listed = "[{name: default-scheduler, runs: v1.37}, {name: modern, runs: v1.37}, {name: old, runs: v1.11}]"
    constraint = "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"
    pod = POD.replace("spec: {", f"spec: {{{scheduler}topologySpreadConstraints: [{constraint}], ")
    read = load(NODE + pod + settings(f"time: virtual\nschedulers: {listed}"))
    found = [problem for problem in read.warnings if "topologySpreadConstraints" in problem.unhonored]
    assert bool(found) is warned


def test_the_commands_take_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``simulate``, ``explain`` and ``compare`` with ``--scheduler``; the report names it."""
    path, trace = tmp_path / "bundle.yaml", tmp_path / "trace.jsonl"
    pod = POD.replace("spec: {", "spec: {nodeSelector: {disk: nvme}, ")
    path.write_text(NODE + pod)
    assert main(["simulate", str(path), "--scheduler", "v1.37", "--trace", str(trace)]) == 0
    out = capsys.readouterr().out
    assert "kube-scheduler v1.37: 1 node, 1 cycle" in out
    assert "didn't match Pod's node affinity/selector. preemption:" in out
    assert '"release":"v1.37"' in trace.read_text()
    assert main(["explain", str(path), "--scheduler", "v1.37", "--pod", "p"]) == 0
    out = capsys.readouterr().out
    assert "NodeAffinity: node(s) didn't match Pod's node affinity/selector" in out
    assert "a node with disk=nvme is added" in out
    assert "Smallest change with which it fits on n1:\n  - set label disk=nvme on node n1\n" in out
    assert main(["compare", str(path), "--scheduler", "v1.11", "--scheduler", "v1.37"]) == 0
    out = capsys.readouterr().out
    assert "kube-scheduler v1.11 under A, v1.37 under B" in out
    path.write_text(NODE + POD.replace("spec: {", "spec: {overhead: {cpu: '4'}, "))
    assert main(["compare", str(path), "--scheduler", "v1.11", "--scheduler", "v1.37", "--json"]) == 0
    assert '"placements": {}' in capsys.readouterr().out


@pytest.mark.parametrize("bundle", [NODE + POD, NEW + POD], ids=["silent", "newer kubelets"])
@pytest.mark.parametrize(
    ("options", "answers"),
    [
        ([], "v1.37"),
        (["--feature-gates", "GenericWorkload=true"], "v1.37"),
        (["--cache", "v1.11"], "v1.11"),
        (["--cache", "off"], "v1.11"),
        (["--audit"], "v1.11"),
        (["--config", POLICY], "v1.11"),
        (["--config", settings("cache: sound")], "v1.11"),
        (["--config", V1], "v1.37"),
        (["--config", V1, "--cache", "sound"], "v1.37"),
        (["--scheduler", "v1.37", "--cache", "sound"], "v1.37"),
    ],
)
def test_what_only_v1_11_has_chooses_it(
    bundle: str, options: list[str], answers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As an option or in a file of its own, for a bundle that chooses none by its settings."""
    path, config = tmp_path / "bundle.yaml", tmp_path / "config.yaml"
    path.write_text(bundle)
    if options[:1] == ["--config"]:
        config.write_text(options[1])
        options = ["--config", str(config), *options[2:]]
    assert main(["simulate", str(path), *options]) == 0
    assert ("kube-scheduler v1.37: 1 node, 1 cycle" in capsys.readouterr().out) == (answers == "v1.37")


@pytest.mark.parametrize(
    ("text", "config", "options", "answers"),
    [
        (settings("scheduler: v1.11"), V1, [], "v1.37"),
        (settings("scheduler: v1.37"), POLICY, [], "v1.11"),
        (settings("scheduler: v1.22"), V1, [], "v1.22"),
        (settings("scheduler: v1.11"), V1 + settings("scheduler: v1.11"), [], "v1.11"),
        ("", POLICY, ["--scheduler", "v1.37"], "v1.37"),
    ],
)
def test_a_configuration_is_read_by_a_release_that_can(
    text: str, config: str, options: list[str], answers: str, tmp_path: Path
) -> None:
    """A file of it takes the place of the bundle's release, but of none that is asked for with it."""
    path, file = tmp_path / "bundle.yaml", tmp_path / "config.yaml"
    path.write_text(NODE + POD + text)
    file.write_text(config)
    scheduler = options[1] if options else ""
    assert read_scenario([str(path)], str(file), scheduler).release == answers


def test_another_form_of_the_configuration_drops_a_release_that_does_not_read_it() -> None:
    """So that it is in force; one that reads it stays."""
    pinned = load(NODE + POD + POLICY + "priorities: []\n" + settings("scheduler: v1.11"))
    after = edited(pinned.documents, "form", "KubeSchedulerConfiguration", "v1beta2")
    assert [one["kind"] for one in after] == ["Node", "Pod", "KubeSchedulerConfiguration"]
    back = edited((*after, {"kind": "SimulationSettings", "scheduler": "v1.22"}), "form", "Policy", "")
    assert back[-1] == {"kind": "SimulationSettings", "scheduler": "v1.22"}


def test_a_bundle_is_compared_under_v1_11_with_what_only_that_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both sides, though the option names one of them; nothing else differs."""
    path, config = tmp_path / "bundle.yaml", tmp_path / "policy.yaml"
    path.write_text(NODE + POD)
    config.write_text(POLICY.removeprefix("---\n"))
    for options in (["--cache", "sound"], ["--config", str(config)], ["--cache", "off", "--cache", "v1.11"]):
        assert main(["compare", str(path), *options]) == 0
        assert "kube-scheduler v1.37" not in capsys.readouterr().out
    assert main(["compare", str(path), "--scheduler", "v1.11"]) == 0
    assert "kube-scheduler v1.37 under A, v1.11 under B" in capsys.readouterr().out


def test_a_scenario_without_its_cache_keeps_its_release() -> None:
    """Though it was the cache that chose it."""
    for node in (NODE, NEW):
        scenario = load(node + POD + settings("cache: sound"))
        assert with_cache(scenario, cache="off").release == "v1.11"


@cache
def _releases_of_examples() -> dict[str, str]:
    return {example.slug: example.load().release for example in examples()}


@pytest.mark.parametrize("default", ["v1.11", "v1.22"])
def test_every_example_says_who_answers_it(default: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text tells what that release does."""
    said = _releases_of_examples()
    assert set(said.values()) == {V1_11, V1_22, V1_37}
    monkeypatch.setattr(release_module, "DEFAULT_RELEASE", default)
    answered = {example.slug: example.load() for example in examples()}
    assert [slug for slug, scenario in answered.items() if not scenario.said_release] == []
    assert {slug: scenario.release for slug, scenario in answered.items()} == said

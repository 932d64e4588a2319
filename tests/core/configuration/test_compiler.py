"""What a KubeSchedulerConfiguration compiles to; the cases are data in ``compiled.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.schedulers.coscheduling import Arguments
from scheduler_core.schedulers.v1_22.configuration.arguments import NodeResourcesFitArgs
from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS, POINTS
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS
from scheduler_core.settings.settings import Settings

CASES = yaml.safe_load((Path(__file__).parent / "compiled.yaml").read_text(encoding="utf-8"))["cases"]


def document(version: str, *profiles: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a configuration."""
    head = {"apiVersion": VERSIONS[version].api_version, "kind": "KubeSchedulerConfiguration"}
    return {**head, **({"profiles": list(profiles)} if profiles else {}), **fields}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_profile_has_its_plugins_at_their_points(case: dict[str, Any]) -> None:
    """Names, order and weights are those of kube-scheduler; predicates and priorities stand for them."""
    given = [case["profile"]] if "profile" in case else []
    compiled = compile_configuration(document(case["version"], *given))
    profile = compiled.main
    for point, names in case.get("points", {}).items():
        assert list(profile.names(point)) == names, point
    if "weights" in case:
        assert list(profile.weights.items()) == list(case["weights"].items())
    if "predicates" in case:
        assert list(profile.profile.order) == case["predicates"]
    if "priorities" in case:
        scored = [(priority.name, priority.weight) for priority in profile.profile.priorities]
        assert scored == list(case["priorities"].items())
    if "warns" in case:
        assert any(case["warns"] in problem.message for problem in compiled.warnings)
    assert profile.profile.preempts is case.get("preempts", True)


def test_every_default_plugin_is_in_the_table_at_its_points() -> None:
    """A version enables nothing that does not exist in it, and nowhere that it does not work."""
    for version in VERSIONS.values():
        profile = compile_configuration(document(version.name)).main
        for point in POINTS:
            for name in profile.names(point):
                assert point in PLUGINS[name].points


def test_a_policy_s_place_is_taken_by_the_main_profile() -> None:
    """Whoever compiles the policy of a scenario gets the default scheduler's predicates and priorities."""
    packing = {"scoringStrategy": {"type": "MostAllocated"}}
    packer = {"schedulerName": "packer", "pluginConfig": [{"name": "NodeResourcesFit", "args": packing}]}
    given = document("v1", packer, {"schedulerName": "default-scheduler"})
    configuration = compile_configuration(given)
    assert configuration.names == ("packer", "default-scheduler")
    assert compile_profile(given).summary() == configuration.main.profile.summary()
    assert configuration.of("").scheduler_name == "default-scheduler"
    assert configuration.of("nobody") is None


def test_arguments_have_their_defaults() -> None:
    """Arguments are typed; what is left out is what kube-scheduler fills in, by edition for Coscheduling."""
    gang = {
        "plugins": {
            "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
            "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
        }
    }
    profile = compile_configuration(document("v1", gang)).main
    assert profile.arguments["Coscheduling"] == Arguments(60, 20, 0, 10)
    assert profile.arguments["NodeResourcesFit"] == NodeResourcesFitArgs()
    assert profile.coscheduling
    assert profile.queue_sort == "Coscheduling"


def test_what_is_read_and_kept_without_effect_is_reported() -> None:
    """Backoff and percentages are in the result, and a warning says that no run uses the percentages."""
    fields = {"percentageOfNodesToScore": 30, "podInitialBackoffSeconds": 2, "podMaxBackoffSeconds": 60}
    compiled = compile_configuration(document("v1", {"percentageOfNodesToScore": 20}, **fields))
    kept = (
        compiled.percentage_of_nodes_to_score,
        compiled.pod_initial_backoff_seconds,
        compiled.pod_max_backoff_seconds,
        compiled.main.percentage_of_nodes_to_score,
    )
    assert kept == (30, 2, 60, 20)
    reported = {problem.path for problem in compiled.warnings if problem.message.startswith("has no effect")}
    assert reported == {"percentageOfNodesToScore", "profiles[0].percentageOfNodesToScore"}


def test_rules_of_v1_11_that_differ_from_today_s_are_named() -> None:
    """A warning lists each plugin with the rule that evaluates it, and what nothing evaluates."""
    twins = document("v1", {"schedulerName": "a"}, {"schedulerName": "b"})
    reported = [problem.message for problem in compile_configuration(twins).warnings]
    assert len(reported) == len(set(reported))  # profiles that run the same rules are mentioned once
    assert any("NodeAffinity by NodeAffinityPriority" in text for text in reported)
    assert not any(
        "NodeResourcesFit by LeastRequestedPriority" in text for text in reported
    )  # scored as today
    assert any(
        "not evaluated at filter, where every node passes: NodeVolumeLimits" in text for text in reported
    )
    assert any("the known deviations of v1.11 are in force" in text for text in reported)
    fixed = compile_configuration(document("v1"), Settings(quirks="fixed"))
    assert not any("deviations" in problem.message for problem in fixed.warnings)
    assert fixed.main.profile.quirks == frozenset()


def test_the_equivalence_cache_is_refused() -> None:
    """The cache was gone before profiles came; the error names the setting."""
    with pytest.raises(PolicyError, match=r"write cache: off in the SimulationSettings, not designed"):
        compile_configuration(document("v1"), Settings(cache="designed"))


def test_all_problems_are_reported_at_once() -> None:
    """Every mistake has its path in one error."""
    wrong = {
        "plugins": {"score": {"enabled": [{"name": "NodeName"}, {"name": "Nope"}]}},
        "pluginConfig": [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 200}}],
    }
    with pytest.raises(PolicyError) as found:
        compile_configuration(document("v1", wrong, podInitialBackoffSeconds=0))
    assert {problem.path for problem in found.value.problems} == {
        "podInitialBackoffSeconds",
        "profiles[0].plugins.score.enabled[0].name",
        "profiles[0].plugins.score.enabled[1].name",
        "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
    }


def test_the_page_on_policies_has_every_plugin_with_its_rule() -> None:
    """The table in docs/policy.md is the table that the engine compiles by."""
    page = (Path(__file__).parents[3] / "docs" / "policy.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("| ")}
    for row in PLUGINS.values():
        reported = [
            *row.points,
            *row.predicates,
            row.priority,
            row.filter_differs,
            row.score_differs,
            row.instead,
        ]
        assert all(text in rows[row.name] for text in reported), row.name


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("profiles", document("v1", *({"schedulerName": f"s{n}"} for n in range(51)))),
        (
            "profiles[0].plugins.score.disabled",
            document("v1", {"plugins": {"score": {"disabled": [{"name": f"p{n}"} for n in range(201)]}}}),
        ),
        (
            "profiles[0].pluginConfig",
            document("v1", {"pluginConfig": [{"name": f"p{n}"} for n in range(201)]}),
        ),
    ],
)
def test_lists_are_bounded(path: str, given: dict[str, Any]) -> None:
    """A text cannot ask for work without end: longer lists than anyone writes are one error each."""
    with pytest.raises(PolicyError, match="entries: at most") as found:
        compile_configuration(given)
    assert [problem.path for problem in found.value.problems] == [path]

"""The SimulationSettings document: read from a bundle or a configuration file, wrong values refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_core import load
from scheduler_core.cli.input_files import InputError, configured, read_configuration
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings

SETTINGS = "apiVersion: podstep/v1\nkind: SimulationSettings\n"


def test_a_bundle_without_settings_has_those_of_v1_11() -> None:
    """If v1.11 answers it, every quirk is reproduced and v1.11's order is used."""
    assert (
        load("apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\n").settings
        == DEFAULT_SETTINGS
        == Settings("v1.11", "v1.11")
    )


def test_settings_are_read_and_written_again() -> None:
    """What the document says stands in the scenario, also after writing and reading it."""
    scenario = load(SETTINGS + "quirks: fixed\npredicateOrder: proposal\n")
    assert scenario.settings == Settings("fixed", "proposal", names_v1_11=True)
    assert load(scenario.to_yaml()).settings == scenario.settings


def test_a_cache_that_is_off_needs_no_quotes() -> None:
    """A plain ``off`` is a boolean in YAML, and means the mode of that name; ``on`` is none."""
    assert load(SETTINGS + "cache: sound\n").settings.cache == "sound"
    assert load(SETTINGS + "cache: off\n").settings.cache == "off"
    with pytest.raises(BundleError, match="must be a string, not a boolean"):
        load(SETTINGS + "cache: on\n")


@pytest.mark.parametrize(
    ("text", "line", "path", "part"),
    [
        ("quirks: none\n", 3, "quirks", "allowed are v1.11, fixed"),
        ("predicateOrder: v1.10\n", 3, "predicateOrder", "v1.11"),
        ("quirks: [fixed]\n", 3, "quirks", "must be a string"),
        (f"---\n{SETTINGS}", 5, "kind", "a second SimulationSettings"),
    ],
)
def test_wrong_settings_are_refused_on_their_line(text: str, line: int, path: str, part: str) -> None:
    """A wrong value names its line, its path and what would be right."""
    with pytest.raises(BundleError) as caught:
        load(SETTINGS + text)
    problem = caught.value.problems[0]
    assert (problem.line, problem.path) == (line, path)
    assert part in problem.message


def test_a_configuration_file_of_settings_leaves_the_policy_alone(tmp_path: Path) -> None:
    """A file may hold a Policy, settings, or both; what it lacks stays as the bundle has it."""
    scenario = load("apiVersion: v1\nkind: Policy\npriorities: []\n")
    config = tmp_path / "fixed.yaml"
    config.write_text(SETTINGS + "quirks: fixed\n")
    changed = configured(scenario, read_configuration(str(config)))
    assert changed.policy == scenario.policy
    assert changed.settings.quirks == "fixed"


def test_a_configuration_file_of_manifests_is_refused(tmp_path: Path) -> None:
    """A file with neither says what was expected."""
    config = tmp_path / "pod.yaml"
    config.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\n")
    with pytest.raises(
        InputError, match="holds no configuration; a document of apiVersion v1 and kind Policy"
    ):
        configured(load(SETTINGS), read_configuration(str(config)))

"""The configuration file: what the original reads, what ends its process, and what is said of it."""

from __future__ import annotations

import pytest

from scheduler_core import load
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.schedulers.kube_batch.configuration import (
    DEFAULT_CONFIGURATION,
    MOST_ACTIONS,
    MOST_CHARACTERS,
    MOST_PLUGINS,
    ConfigurationError,
    parse_configuration,
)
from tests.core.kube_batch.parts import configuration
from tests.core.timed.parts import VIRTUAL, node


def test_without_a_file_the_default_runs() -> None:
    """Allocate and backfill, and six plugins in two tiers."""
    found = parse_configuration(None)
    assert found == parse_configuration(DEFAULT_CONFIGURATION)
    assert found.actions == ("allocate", "backfill")
    assert [[one.name for one in tier.plugins] for tier in found.tiers] == [
        ["priority", "gang"],
        ["drf", "predicates", "proportion", "nodeorder"],
    ]


def test_switches_and_arguments_are_read_as_the_original_does() -> None:
    """A null switch is on, as is one left out; scalars of any type are arguments."""
    text = (
        'actions: " backfill ,allocate"\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: off\n'
        "    enableJobReady:\n    enablePreemptable: true\n  - name: nodeorder\n"
        "    arguments: {leastrequested.weight: 2, nodeaffinity.weight: '3', podaffinity.weight: }\n"
    )
    found = parse_configuration(text)
    assert found.actions == ("backfill", "allocate")
    gang, order = found.tiers[0].plugins
    assert gang.off == {"enableJobOrder"}
    assert order.arguments == {
        "leastrequested.weight": "2",
        "nodeaffinity.weight": "3",
        "podaffinity.weight": "",
    }


def test_the_last_listing_of_a_plugin_gives_its_arguments() -> None:
    """Its functions count in every listing nevertheless."""
    conf = (
        "actions: allocate\ntiers:\n- plugins:\n  - {name: drf, arguments: {a: 1}}\n"
        "- plugins:\n  - {name: drf, arguments: {a: 2}}\n"
    )
    assert parse_configuration(conf).names()["drf"].arguments == {"a": "2"}


UNMARSHAL = "yaml: unmarshal errors:\n  line"
WRONG = {
    "a typo": (
        "actions: alocate\n",
        "failed to found Action alocate, ignore it",
        "1 actions: 'alocate' is not an action: did you mean 'allocate'?",
    ),
    "a second one": (
        "tiers: []\nactions: 'allocate, nope'\n",
        "failed to found Action  nope, ignore it",
        "2 actions: 'nope' is not an action: the actions are allocate, backfill, preempt, reclaim",
    ),
    "nothing": (
        "",
        "failed to found Action , ignore it",
        "None actions: an action is missing: the actions are allocate, backfill, preempt, reclaim",
    ),
    "a list of actions": (
        "actions: [allocate]\n",
        f"{UNMARSHAL} 1: cannot unmarshal !!seq into string",
        "1 actions: must be text on one line",
    ),
    "a document that is a list": (
        "- a\n",
        f"{UNMARSHAL} 1: cannot unmarshal !!seq into conf.SchedulerConfiguration",
        "1 : must be an object with fields",
    ),
    "tiers that are no list": (
        "actions: allocate\ntiers: {plugins: []}\n",
        f"{UNMARSHAL} 2: cannot unmarshal !!map into []conf.Tier",
        "2 tiers: must be a list: put a '-' before each entry",
    ),
    "a quoted switch": (
        "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: 'false'\n",
        f"{UNMARSHAL} 5: cannot unmarshal !!str `false` into bool",
        "5 tiers[0].plugins[0].enableJobOrder: must be true or false, without quotes",
    ),
    "a switch in mixed letters": (
        "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: nO\n",
        f"{UNMARSHAL} 5: cannot unmarshal !!str `nO` into bool",
        "5 tiers[0].plugins[0].enableJobOrder: must be true or false, without quotes",
    ),
    "a key that is a list": (
        "actions: allocate\ntiers:\n- plugins:\n  - {name: gang, arguments: {? [a] : 1}}\n",
        f"{UNMARSHAL} 4: cannot unmarshal !!seq into string",
        "4 tiers[0].plugins[0].arguments: must have keys that are text",
    ),
    "a merge of text": (
        "<<: a\nactions: allocate\n",
        "yaml: map merge requires map or sequence of maps as the value",
        "1 : can merge with << only objects with fields",
    ),
    "arguments that are a list": (
        "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    arguments: [1]\n",
        f"{UNMARSHAL} 5: cannot unmarshal !!seq into map[string]string",
        "5 tiers[0].plugins[0].arguments: must be an object with fields",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_ends_the_process_is_an_error_with_line_path_and_remedy(case: str) -> None:
    """The exception's message is the original's."""
    text, original, reported = WRONG[case]
    with pytest.raises(ConfigurationError) as raised:
        parse_configuration(text)
    assert str(raised.value) == original
    (problem,) = raised.value.problems
    assert f"{problem.line} {problem.path}: {problem.message}" == reported


@pytest.mark.parametrize("word", ["n", "N", "no", "No", "NO", "off", "OFF", "False", '!!bool "no"'])
def test_a_switch_is_off_by_any_boolean_of_yaml_1_1(word: str) -> None:
    """In the three ways of writing that gopkg.in/yaml.v2 knows, and with an explicit tag."""
    text = f"actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: {word}\n"
    assert parse_configuration(text).tiers[0].plugins[0].off == {"enableJobOrder"}


def test_merged_fields_count_at_their_place() -> None:
    """Of several mappings the first counts; fields that follow replace them."""
    text = (
        "actions: allocate\ntiers:\n- plugins:\n  - &a {name: gang, enableJobOrder: false}\n"
        "  - &b {name: drf, enableJobReady: false}\n  - {<<: *a, name: priority}\n  - {<<: [*b, *a]}\n"
    )
    *_, one, other = parse_configuration(text).tiers[0].plugins
    assert (one.name, sorted(one.off)) == ("priority", ["enableJobOrder"])
    assert (other.name, sorted(other.off)) == ("drf", ["enableJobOrder", "enableJobReady"])


@pytest.mark.parametrize(
    "text", ["&a {<<: *a, actions: allocate}", "&a {<<: [*a, *a, *a], actions: allocate}"]
)
def test_merges_are_bounded(text: str) -> None:
    """A mapping that merges itself ends in an error."""
    with pytest.raises(ConfigurationError, match="merges more than"):
        parse_configuration(text)


@pytest.mark.parametrize(
    "text", ["actions:\tallocate\t# tab\n", "actions: allocate\ntiers:\t\n- plugins: [\t]\n"]
)
def test_tabs_between_tokens_are_blanks(text: str) -> None:
    """As for libyaml; where a block may begin they are errors."""
    assert parse_configuration(text).actions == ("allocate",)
    with pytest.raises(ConfigurationError, match=r"^yaml: "):
        parse_configuration("tiers:\n-\tplugins: []\n")


@pytest.mark.parametrize("text", ["actions: [allocate\n", "a: b: c\n", "\x00", "[" * 5000, "&a [*b]"])
def test_what_is_no_yaml_is_an_error(text: str) -> None:
    """However it is broken."""
    with pytest.raises(ConfigurationError, match=r"^yaml: "):
        parse_configuration(text)


def test_sizes_are_bounded() -> None:
    """Characters, actions and plugins."""
    for text in (
        "#" * (MOST_CHARACTERS + 1),
        f"actions: {'allocate,' * MOST_ACTIONS}allocate",
        configuration(tiers=["gang " * (MOST_PLUGINS + 1)]),
    ):
        with pytest.raises(ConfigurationError):
            parse_configuration(text)


def test_what_the_original_only_logs_is_a_warning() -> None:
    """Unknown plugins, arguments that are not read or not of their type, and fields that are passed over."""
    text = (
        "actions: allocate\ntiers:\n- plugins:\n  - name: gnag\n  - name: nodeorder\n"
        "    enabledJobOrder: true\n    arguments:\n      leastrequested.weigth: 1\n"
        "      nodeaffinity.weight: many\n"
        "  - name: predicates\n    arguments: {predicate.MemoryPressureEnable: yes}\n  - {}\n"
    )
    found = [f"{one.line} {one.path}: {one.message}" for one in parse_configuration(text).warnings]
    path = "tiers[0].plugins"
    unread = "nodeorder reads no such argument: did you mean 'leastrequested.weight'?"
    no_boolean = "'yes' is not true or false: the default is used"
    known = "the plugins are priority, gang, conformance, drf, predicates, proportion, nodeorder"
    assert found == [
        f"4 {path}[0].name: 'gnag' is not a plugin, so nothing runs here: did you mean 'gang'?",
        f"6 {path}[1].enabledJobOrder: is not read: did you mean 'enableJobOrder'?",
        f"8 {path}[1].arguments.leastrequested.weigth: {unread}",
        f"9 {path}[1].arguments.nodeaffinity.weight: 'many' is not an integer: the default is used",
        f"11 {path}[2].arguments.predicate.MemoryPressureEnable: {no_boolean}",
        f"12 {path}[3].name: the plugin's name is missing, so nothing runs here: {known}",
    ]


def config_map(text: str) -> str:
    """Return a ConfigMap that holds a file."""
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: kb}}\ndata:\n  kb.conf: |\n{lines}\n"


@pytest.mark.parametrize("wrap", [str, config_map])
def test_a_bundle_holds_the_file_as_it_is_or_in_a_config_map(wrap: type[str]) -> None:
    """It becomes the configuration of the scheduler kube-batch, and stays a document."""
    text = configuration("preempt", ("gang",))
    scenario = load("---\n".join((wrap(text), VIRTUAL, node("n"))))
    found = parse_configuration(scenario.schedulers["kube-batch"])
    assert (found.actions, [one.name for one in found.tiers[0].plugins]) == (("preempt",), ["gang"])
    assert load(scenario.to_yaml()).schedulers == scenario.schedulers
    assert not [one for one in scenario.warnings if "ConfigMap" in one.message]


def test_problems_in_a_bundle_have_their_lines() -> None:
    """In the file itself the field's, in a ConfigMap the line of the file that contains it."""
    wrong = "actions: alocate\ntiers: []\n"
    with pytest.raises(BundleError) as raised:
        load(wrong)
    assert (raised.value.problems[0].line, raised.value.problems[0].path) == (1, "actions")
    with pytest.raises(BundleError) as raised:
        load(config_map(wrong))
    assert raised.value.problems[0].message.startswith("line 1: actions: 'alocate' is not an action")
    with pytest.raises(BundleError, match="a second configuration of kube-batch"):
        load("---\n".join((configuration(), config_map(configuration()))))
    (warning,) = [
        one for one in load(config_map(configuration(tiers=["gagn"]))).warnings if "gagn" in one.message
    ]
    assert warning.message.startswith("line 4: tiers[0].plugins[0].name: 'gagn' is not a plugin")

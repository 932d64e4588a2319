"""What people really paste: documents of other tools, texts around manifests, configurations in ConfigMaps.

Each kind of input has a row with what is read of it and what is said of the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import indent
from time import process_time

import pytest

from scheduler_core import load, simulate
from scheduler_core.formats.folder import Folder
from scheduler_core.formats.paste import cleaned
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run import is_timed_run
from scheduler_core.scenario.scenario import Scenario

NODE = """apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: x}]}
"""
BASE = f"{NODE}---\n{POD}"


def after(*documents: str) -> str:
    """Return documents with a node and a pod behind them."""
    return "---\n".join([*(f"{one.rstrip()}\n" for one in documents), NODE, POD])


def messages(scenario: Scenario) -> str:
    """Return all warnings."""
    return "\n".join(problem.message for problem in scenario.warnings)


def placed(scenario: Scenario) -> dict[str, str | None]:
    """Return the node of each pod that was tried."""
    return {cycle.pod.partition("/")[2]: cycle.node for cycle in simulate(scenario)}


def widget(more: str) -> str:
    """Return an object of a kind that nobody knows."""
    return f"apiVersion: x.io/v1\nkind: Widget\nmetadata: {{name: w}}\n{more}"


def notes(text: str) -> str:
    """Return a ConfigMap with a file."""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  a: |\n{indent(text, '    ')}"


FOREIGN = {
    "specification and status of text": widget("spec: text\nstatus: ok"),
    "numbers as labels": "apiVersion: x.io/v1\nkind: Widget\nmetadata: {name: w, labels: {a: 1, b: true}}",
    "an answer of the API server": "apiVersion: v1\nkind: Status\nstatus: Failure\ncode: 403",
    "a key twice": "apiVersion: x.io/v1\nkind: Widget\nmetadata: {name: w}\nspec: {a: 1, a: 2}",
    "a key twice in the metadata": "apiVersion: x.io/v1\nkind: Widget\nmetadata:\n  name: w\n  name: v",
    "metadata of text": "apiVersion: x.io/v1\nkind: Widget\nmetadata: words",
    "lists instead of objects": "apiVersion: x.io/v1\nkind: Widget\nmetadata: []\nspec: []\nstatus: [1]",
    "a number as version": "apiVersion: 2\nkind: Widget\nmetadata: {name: w}",
    "a kind that Kubernetes has too": widget("spec: words").replace("Widget", "DeviceClass"),
    "a schema": widget("spec: 1").replace("Widget", "CustomResourceDefinition"),
    "a table": "apiVersion: meta.k8s.io/v1\nkind: Table\nrows: [{cells: [a]}]",
}


@pytest.mark.parametrize("document", FOREIGN.values(), ids=FOREIGN)
def test_a_kind_that_is_not_read_is_never_an_error(document: str) -> None:
    """Whatever it holds, the others are read, and a warning names it."""
    scenario = load(after(document))
    assert placed(scenario) == {"web": "n1"}
    assert "is ignored" in messages(scenario)


def test_a_key_twice_in_json_of_a_kind_that_is_not_read() -> None:
    """The last one counts, as for kubectl; in a kind that is read it is an error."""
    items = '{"kind": "List", "items": [%s, ' + json.dumps(NODE_JSON) + "]}"
    scenario = load(
        items % '{"kind": "Foo", "metadata": {"name": "a", "name": "b"}, "spec": {"x": 1, "x": 2}}'
    )
    assert [document["metadata"]["name"] for document in scenario.documents] == ["b", "n1"]
    with pytest.raises(BundleError, match="duplicate key 'name'"):
        load(items % '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "name": "b"}}')


NODE_JSON = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}
POD_JSON = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "x"}]},
}


def bare(document: Mapping[str, object]) -> dict[str, object]:
    """Return an object as Go marshals it."""
    return {key: value for key, value in document.items() if key not in ("apiVersion", "kind")}


DUMP = "\n".join(
    json.dumps({"kind": f"{one['kind']}List", "apiVersion": "v1", "items": [bare(one)]}, indent=1)
    for one in (NODE_JSON, POD_JSON)
)
OF = "logs for container c of pod default/web ===="
LOG = f"==== START {OF}\n{{%s\n==== END {OF}\n"
EVENTS = [
    {"type": "ADDED", "object": NODE_JSON},
    {"type": "ADDED", "object": {**POD_JSON, "metadata": {"name": "gone"}}},
    {"type": "ADDED", "object": {**POD_JSON, "spec": {**POD_JSON["spec"], "schedulerName": "other"}}},  # type: ignore[dict-item]
    {"type": "MODIFIED", "object": POD_JSON},
    {"type": "DELETED", "object": {**POD_JSON, "metadata": {"name": "gone"}}},
    {"type": "BOOKMARK", "object": {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}}},
]
TEXTS = {
    "cluster-info dump": (DUMP + "\n" + LOG, "its logs are passed over"),
    "cluster-info dump of two namespaces": (DUMP.replace("}\n{", "}\n" + LOG + "{") + "\n" + LOG, "its logs"),
    "cluster-info dump that was cut off": (DUMP + "\n" + LOG[:60], "its logs are passed over"),
    "events of a watch, a line each": ("\n".join(map(json.dumps, EVENTS)), "events of a watch"),
    "events of a watch, indented": ("\n".join(json.dumps(e, indent=2) for e in EVENTS), "events of a watch"),
    "a fence of Markdown": (f"```yaml\n{BASE}```\n", "Markdown"),
    "an issue with prose, two fences and one of a shell": (
        f"Hello!\n\n## Steps\n```yaml\n{NODE}```\nthen\n~~~\n{POD}~~~\n```sh\nkubectl get po\n```\nThanks\n",
        "Markdown",
    ),
    "a fence that is not closed": (f"see\n```\n{BASE}", "Markdown"),
    "a prompt": (f"$ kubectl get nodes,pods -o yaml\n{BASE}", "commands and messages"),
    "a prompt with user and host": (f"me@box:~/x$ kubectl get no -o yaml\n{BASE}me@box:~/x$ ", "commands"),
    "a prompt of root": (f"[root@m1 ~]# oc get no,po -o yaml\n{BASE}[root@m1 ~]# \n", "commands"),
    "a prompt of zsh": (f"(base) me@box ~/src % kubectl get no,po -o yaml\n{BASE}", "commands"),
    "a prompt with an arrow": (f"➜  ~ git:(main) ✗ kubectl get no,po -o yaml\n{BASE}", "commands"),
    "a traced command": (f"+ kubectl get no,po -o yaml\n{BASE}", "commands"),
    "PowerShell": (f"PS C:\\> kubectl get no,po -o yaml\n{BASE}", "commands"),
    "two commands": (f"$ kubectl get no n1 -o yaml\n{NODE}$ kubectl get po web -o yaml\n{POD}", "commands"),
    "a here-document": (f"cat <<EOF | kubectl apply -f -\n{BASE}EOF\n", "commands"),
    "a here-document with quotes": (f"kubectl apply -f - <<'END'\n{BASE}END\n", "commands"),
    "a warning": (f"Warning: v1 ComponentStatus is deprecated in v1.19+\n{BASE}", "commands and messages"),
    "warnings of helm": (
        f"WARNING: Kubernetes configuration file is group-readable\nWARNING: and world-readable\n{BASE}",
        "messages",
    ),
    "a line of klog": (f"W1128 10:00:00.123456   1 loader.go:222] Config not found\n{BASE}", "messages"),
    "helm's dry run": (
        f"NAME: x\nSTATUS: pending-install\nHOOKS:\nMANIFEST:\n---\n{BASE}\nNOTES:\nVisit: http://x\n",
        "dry run",
    ),
    "a fence in a quotation": (
        "".join(f"> {line}\n" for line in f"```yaml\n{BASE}```".split("\n")),
        "Markdown",
    ),
    "a fence in a list": (
        f"1. Apply:\n\n{indent(f'```yaml{chr(10)}{BASE}```', '   ')}\n\n2. See\n",
        "Markdown",
    ),
    "a page with front matter": (f"---\ntitle: Pods\n---\n\nText\n\n```yaml\n{BASE}```\n", "Markdown"),
    "a session in a fence": (f"See\n```console\n$ kubectl get no,po -o yaml\n{BASE}$ \n```\n", "Markdown"),
    "a message before and after JSON": (f"Warning: old\n{DUMP}\nWarning: late", "messages"),
    "a session that ends": (
        f"me@box:~$ oc get no,po -o yaml\n{BASE}me@box:~$ exit\n",
        "commands",
    ),
    "a prompt of a container": (f"bash-5.1$ kubectl get no,po -o yaml\n{BASE}bash-5.1$ \n", "commands"),
    "a message of kubectl get": (f"No resources found in default namespace.\n{BASE}", "messages"),
    "messages of kubectl apply": (f"namespace/x created\npod/web configured (dry run)\n{BASE}", "messages"),
    "no-break spaces": (BASE.replace(" ", "\u00a0"), "no-break spaces"),
    "invisible marks": ("\u200b" + BASE.replace("kind:", "\u2060kind:"), "no-break spaces"),
}


@pytest.mark.parametrize(("text", "said"), TEXTS.values(), ids=TEXTS)
def test_what_is_around_manifests_is_passed_over(text: str, said: str) -> None:
    """The manifests are read, and a warning says what was not."""
    scenario = load(text)
    assert placed(scenario) == {"web": "n1"}
    assert said in messages(scenario)


def test_lines_of_errors_are_those_of_the_paste() -> None:
    """What is passed over counts as lines."""
    text = f"$ kubectl get po -o yaml\nWarning: old\n{POD.replace('containers', 'nodeName: 1, containers')}"
    with pytest.raises(BundleError) as raised:
        load(text)
    assert [problem.line for problem in raised.value.problems] == [6]


@pytest.mark.parametrize(
    "text", ["==== START logs for x\n" * 20_000, "~~~" * 20_000 + "`"], ids=["logs", "fence"]
)
def test_hostile_text_is_looked_through_in_linear_time(text: str) -> None:
    """Neither logs that never end nor an endless fence are tried from each of their positions."""
    begin = process_time()
    list(cleaned(text))
    assert process_time() - begin < 20  # it takes 0.03; from each position it would take minutes


def test_a_table_is_recognized_behind_its_command() -> None:
    """The error says what to add to the command, at the line of the table."""
    with pytest.raises(BundleError, match="add -o yaml to the command") as raised:
        load("$ kubectl get nodes\nNAME   STATUS   ROLES    AGE\nn1     Ready    <none>   1d\n")
    assert raised.value.problems[0].line == 2


KEPT = {
    "Markdown in a ConfigMap": notes("```\nx\n```"),
    "a prompt in a ConfigMap": notes("$ kubectl get po"),
    "a comment with a command": f"# kubectl get nodes -o yaml\n{notes('x')}",
}


@pytest.mark.parametrize("document", KEPT.values(), ids=KEPT)
def test_what_is_inside_of_manifests_stays(document: str) -> None:
    """A text in a manifest is data, whatever it looks like."""
    scenario = load(after(document))
    assert "passed over" not in messages(scenario) and "Markdown" not in messages(scenario)
    assert placed(scenario) == {"web": "n1"}


@pytest.mark.parametrize("variable", ["${REPLICAS}", "${REPLICAS:=2}", "${replicas:-two}"])
def test_a_variable_of_flux_is_named_with_the_command_that_replaces_it(variable: str) -> None:
    """An error at its line is explained by it."""
    text = f"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: a}}\nspec:\n  replicas: {variable}\n"
    with pytest.raises(BundleError, match="flux build") as raised:
        load(f"{text}  selector: {{}}\n  template: {{spec: {{containers: [{{name: c}}]}}}}\n")
    assert raised.value.problems[0].line == 5


def test_all_errors_are_found_at_once() -> None:
    """Fields that only v1.37 reads, and controllers that cannot be, are mentioned beside all others."""
    spread = POD.replace("containers:", "topologySpreadConstraints: [{maxSkew: x}], containers:")
    controller = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {}}\n"
    wrong = NODE.replace('"4"', "four")
    with pytest.raises(BundleError) as raised:
        load(f"{spread}---\n{controller}---\n{wrong}")
    found = "\n".join(f"{problem.path}: {problem.message}" for problem in raised.value.problems)
    assert all(part in found for part in ("maxSkew", "template is missing", "allocatable.cpu"))


# --- Configurations of other schedulers, and inside ConfigMaps


def config_map(text: str, name: str = "c", key: str = "config.yaml") -> str:
    """Return a ConfigMap with a file."""
    head = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: kube-system}}\ndata:\n"
    return f"{head}  {key}: |\n{indent(text, '    ')}\n"


def tiers(actions: str, *plugins: str) -> str:
    """Return a configuration file of kube-batch's form."""
    return f'actions: "{actions}"\ntiers:\n- plugins:\n' + "".join(f"  - name: {one}\n" for one in plugins)


OTHERS = {
    "Volcano's default": (config_map(tiers("enqueue, allocate, backfill", "gang", "binpack")), "Volcano"),
    "Volcano's without enqueue": (config_map(tiers("allocate", "gang", "overcommit")), "Volcano"),
    "Volcano's plugins alone": (
        config_map(tiers("allocate, backfill", "drf", "sla"), "x", "y.conf"),
        "Volcano",
    ),
    "Volcano's by name": (config_map(tiers("allocate", "gang"), "volcano-scheduler-configmap"), "Volcano"),
    "Volcano's file": (tiers("enqueue, allocate", "gang"), "Volcano"),
    "KAI's": (config_map(tiers("allocate, consolidation, stalegangeviction", "elastic")), "KAI Scheduler"),
    "YuniKorn's": (config_map("partitions: [{name: default}]", "yunikorn-configs"), "Apache YuniKorn"),
    "nobody's": (config_map(tiers("allocate, defragment", "magic")), "another scheduler"),
    "two of Volcano": (
        config_map(tiers("enqueue", "gang"), "a") + "---\n" + config_map(tiers("enqueue", "sla"), "b"),
        "2 configurations of Volcano",
    ),
}


@pytest.mark.parametrize(("document", "named"), OTHERS.values(), ids=OTHERS)
def test_the_configuration_of_another_scheduler_is_left_out(document: str, named: str) -> None:
    """It has the form of kube-batch's, and asks for nothing here."""
    scenario = load(after(document))
    assert placed(scenario) == {"web": "n1"}
    assert named in messages(scenario) and "left out" in messages(scenario)


def test_a_typing_error_in_kube_batchs_own_file_stays_an_error() -> None:
    """A file that was passed to be run, or a ConfigMap that is named for it, is checked."""
    for document in (tiers("alocate", "gang"), config_map(tiers("alocate", "gang"), "kube-batch-config")):
        with pytest.raises(BundleError, match="alocate"):
            load(after(document))


def profile(name: str = "", plugins: str = "", version: str = "v1") -> str:
    """Return a KubeSchedulerConfiguration with one profile."""
    head = f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    named = f"schedulerName: {name}" if name else "plugins: {}"
    return f"{head}- {named}\n{plugins}"


PACKING = """  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""


def for_scheduler(name: str) -> str:
    """Return a pod for a scheduler."""
    return POD.replace("web", name).replace("spec: {", f"spec: {{schedulerName: {name}, ")


CONTAINED = {
    "a second scheduler's": (
        config_map(profile("packer", PACKING)),
        "packer",
        "profile packer of this",
        "n1",
    ),
    "two second schedulers'": (
        config_map(profile("a"), "a") + "---\n" + config_map(profile("packer"), "b"),
        "packer",
        "profile packer of this",
        "n1",
    ),
    "the default scheduler's": (config_map(profile()), "web2", "profile default-scheduler of this", None),
    "of an earlier version": (config_map(profile("packer", "", "v1beta3")), "packer", "v1beta3", None),
    "beside the bundle's own": (
        profile("own") + "---\n" + config_map(profile("packer")),
        "packer",
        "the bundle has a configuration of its own",
        None,
    ),
    "with an error": (
        config_map(profile("packer", "  percentageOfNodesToScore: many\n")),
        "packer",
        "that is not used: profiles[0].percentageOfNodesToScore",
        None,
    ),
    "with plugins from elsewhere": (
        config_map(profile("packer", "  plugins: {score: {enabled: [{name: TargetLoadPacking}]}}\n")),
        "packer",
        "TargetLoadPacking",
        "n1",
    ),
    "a Policy of v1.11": (
        config_map("kind: Policy\napiVersion: v1\npredicates: [{name: PodFitsHost}]\n", key="policy.cfg"),
        "packer",
        "a Policy of kube-scheduler that is not used",
        None,
    ),
    "an audit policy": (
        config_map("kind: Policy\napiVersion: audit.k8s.io/v1\nrules: []\n"),
        "packer",
        "1 ConfigMap is ignored",
        None,
    ),
    "a Policy for pods": (
        config_map("kind: Pod\nmetadata: {name: x}\n"),
        "packer",
        "1 ConfigMap is ignored",
        None,
    ),
}


@pytest.mark.parametrize(("document", "name", "said", "node"), CONTAINED.values(), ids=CONTAINED)
def test_a_configuration_in_a_config_map_is_used_or_named(
    document: str, name: str, said: str, node: str | None
) -> None:
    """Its profiles run as those of one kube-scheduler; the default one keeps running beside them."""
    scenario = load(after(document, for_scheduler(name)))
    assert said in messages(scenario)
    found = placed(scenario)
    assert found.get(name) == node
    assert found.get("web") == (None if document.startswith(profile("own")) else "n1")


POLICY = """apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig: [{name: RemovePodsViolatingNodeTaints, args: {}}]
  plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}
"""
PASS = """apiVersion: simulation.kubernetes.io/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  operations:
  - step: 2
    patchOperation:
      typeMeta: {apiVersion: v1, kind: Node}
      objectMeta: {name: n1}
      patch: {metadata: {annotations: {podstep/deschedule: ""}}}
"""
TIMED = "apiVersion: podstep/v1\nkind: SimulationSettings\ntime: virtual\n"
STARTED = f"{TIMED}descheduler: {{interval: 1m, passes: 1}}\n"
PASSES = {
    "a policy and a pass": ([POLICY, TIMED, PASS], "runs when an operation asks for a pass", True),
    "a policy in a ConfigMap and a pass": (
        [config_map(POLICY), TIMED, PASS],
        "of this ConfigMap is used",
        True,
    ),
    "a policy in a ConfigMap and settings": (
        [config_map(POLICY), STARTED],
        "of this ConfigMap is used",
        True,
    ),
    "a policy in a ConfigMap alone": ([config_map(POLICY)], "without descheduler do not run it", False),
    "a policy alone": ([POLICY], "without descheduler do not run it", False),
}


@pytest.mark.parametrize(("documents", "said", "runs"), PASSES.values(), ids=PASSES)
def test_a_pass_that_is_asked_for_runs_the_policy(documents: list[str], said: str, runs: bool) -> None:
    """Wherever the policy is, and without settings for an interval."""
    scenario = load(after(*documents))
    assert said in messages(scenario)
    assert (scenario.descheduler is not None) is runs
    simulation = simulate(scenario)
    for _ in simulation:
        pass
    assert is_timed_run(simulation) or not runs


PLUGINS = {
    "of scheduler-plugins": ("NodeResourcesAllocatable", "kubernetes-sigs/scheduler-plugins"),
    "of Koordinator": ("LoadAwareScheduling", "koordinator-sh/koordinator"),
    "of a vendor": ("AcmeRackBalance", "nor of a project that is known here"),
}


@pytest.mark.parametrize("point", ["multiPoint", "score", "filter"])
@pytest.mark.parametrize(("name", "said"), PLUGINS.values(), ids=PLUGINS)
def test_a_plugin_from_elsewhere_is_left_out_with_a_warning(name: str, said: str, point: str) -> None:
    """kube-scheduler would not start without it, so that every answer says so."""
    text = profile("", f"  pluginConfig: [{{name: {name}, args: {{x: 1}}}}]\n").replace(
        "plugins: {}", f"plugins: {{{point}: {{enabled: [{{name: {name}}}]}}}}"
    )
    scenario = load(after(text))
    assert said in messages(scenario) and "would not start" in messages(scenario)
    assert placed(scenario) == {"web": "n1"}


def test_a_queue_sort_from_elsewhere_gives_way_to_the_default_one() -> None:
    """A profile without one cannot be."""
    plugins = "plugins: {queueSort: {enabled: [{name: TopologicalSort}], disabled: [{name: '*'}]}}"
    assert placed(load(after(profile().replace("plugins: {}", plugins)))) == {"web": "n1"}


@pytest.mark.parametrize("name", ["NodeResourceFit", "TaintTolerations", "ImageLocalty"])
def test_a_typing_error_of_a_known_plugin_stays_an_error(name: str) -> None:
    """Left out, it would change decisions for no reason."""
    plugins = f"plugins: {{score: {{enabled: [{{name: {name}}}]}}}}"
    with pytest.raises(BundleError, match="did you mean"):
        load(after(profile().replace("plugins: {}", plugins)))


# --- Versions

GATES = "apiVersion: podstep/v1\nkind: SimulationSettings\nfeatureGates: {GenericWorkload: true}\n"
MODES = {
    "a word in v1alpha2": ("v1alpha2", "PodGroup", ""),
    "the other word": ("v1alpha2", "Pod", ""),
    "an object in v1alpha3": ("v1alpha3", "{all: {}}", ""),
    "an object in v1beta1": ("v1beta1", "{single: {}}", ""),
    "a wrong word": ("v1alpha2", "Pods", "must be one of Pod, PodGroup"),
    "a word in v1beta1": ("v1beta1", "PodGroup", "a word is read in scheduling.k8s.io/v1alpha2 alone"),
}


@pytest.mark.parametrize(("version", "mode", "error"), MODES.values(), ids=MODES)
def test_a_disruption_mode_is_read_by_its_version(version: str, mode: str, error: str) -> None:
    """Kubernetes 1.36 has a word, 1.37 an object."""
    group = f"apiVersion: scheduling.k8s.io/{version}\nkind: PodGroup\nmetadata: {{name: g}}\n"
    text = after(
        GATES, f"{group}spec: {{disruptionMode: {mode}, schedulingPolicy: {{gang: {{minCount: 1}}}}}}"
    )
    text = text.replace("spec: {containers", "spec: {schedulingGroup: {podGroupName: g}, containers")
    if error:
        with pytest.raises(BundleError, match=error):
            load(text)
    else:
        assert placed(load(text)) in ({"web": "n1"}, {"g": None})


def test_devices_of_v1alpha3_are_read_and_the_older_api_is_left_out() -> None:
    """v1alpha3 has the shape of v1beta1; before it claims had no devices."""
    claim = """apiVersion: resource.k8s.io/v1alpha3
kind: ResourceClaim
metadata: {name: c}
spec: {devices: {requests: [{name: r, deviceClassName: gpu}]}}
"""
    old = claim.replace("v1alpha3", "v1alpha2").replace("name: c", "name: d").split("spec")[0]
    scenario = load(after(claim, old))
    assert "1 ResourceClaim is left out" in messages(scenario)
    assert not any(document["metadata"]["name"] == "d" for document in scenario.documents)


# --- Directories


def folder(**files: str) -> Folder:
    """Return a directory; ``__`` in a name is a slash, and the last ``_`` the dot."""
    named = {".".join(name.replace("__", "/").rsplit("_", 1)): text for name, text in files.items()}
    return Folder("repo", sorted((name, text.encode()) for name, text in named.items()))


DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},
  spec: {containers: [{name: c}]}}}
"""
PATCHED = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 3}\n"
DIRECTORIES = {
    "a patch that a kustomization names": (
        {
            "k__kustomization_yaml": "resources: [../d.yaml]\npatches: [{path: p.yaml}]\n",
            "k__p_yaml": PATCHED,
        },
        "2 files (k/kustomization.yaml, k/p.yaml)|k/p.yaml is left out: patches and settings",
        1,
    ),
    "a patch in the older field, above": (
        {"k__kustomization_yaml": "patchesStrategicMerge: [../p.yaml]\n", "p_yaml": PATCHED},
        "p.yaml is left out: patches and settings",
        1,
    ),
    "settings of kustomize": (
        {
            "k__kustomization_yaml": "configurations: [params.yaml]\n",
            "k__params_yaml": "varReference:\n- {path: spec, kind: Deployment}\n",
        },
        "k/params.yaml is left out: patches and settings",
        1,
    ),
    "a patch that nobody names": ({"p_yaml": PATCHED}, "left out: template is missing", 1),
    "JSON patches": (
        {"p_yaml": "- {op: add, path: /spec, value: {kind: Pod}}\n"},
        "no manifest found",
        1,
    ),
    "values with a kind in them": (
        {"v_yaml": "workload:\n  kind: Deployment\n"},
        "no manifest of Kubernetes",
        1,
    ),
    "no apiVersion": ({"p_yaml": "kind: Pod\nmetadata: {name: x}\n"}, "left out: apiVersion is missing", 1),
    "a name that is to be filled in": (
        {"p_yaml": POD.replace("web", "'<name>'")},
        "left out: '<name>' must consist of",
        1,
    ),
    "a template of Helm": (
        {"c__templates__p_yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Values.name }}}\n"},
        "left out: this is a Helm template",
        1,
    ),
    "several configurations": (
        {"a_yaml": profile("a"), "b_yaml": profile("b")},
        "2 documents of kind KubeSchedulerConfiguration in a directory are not used",
        1,
    ),
    "the same error often": (
        {f"p{number}_yaml": "kind: Pod\nmetadata: {name: x}\n" for number in range(5)},
        "left out (and 4 more like it): apiVersion is missing",
        1,
    ),
}


@pytest.mark.parametrize(("files", "said", "pods"), DIRECTORIES.values(), ids=DIRECTORIES)
def test_a_directory_opens_with_what_can_be_read(files: dict[str, str], said: str, pods: int) -> None:
    """The rest is a list of warnings with their reasons."""
    scenario = load([folder(d_yaml=DEPLOYMENT, n_yaml=NODE, **files)])
    assert any(part in messages(scenario) for part in said.split("|"))
    assert len([pod for pod in placed(scenario).values() if pod == "n1"]) == pods


def test_an_archive_of_objects_of_go_is_read_by_their_fields() -> None:
    """An object without kind is a Pod or a Node by what only these have."""
    node = {**bare(NODE_JSON), "spec": {"podCIDR": "10.0.0.0/24"}}
    owned = {**bare(POD_JSON)}
    owned["metadata"] = {"name": "web", "ownerReferences": [{"kind": "ReplicaSet", "name": "r", "uid": "1"}]}
    scenario = load(
        [folder(n_json=json.dumps(node), p_json=json.dumps(owned), t_json='{"a": {"kind": "Pod"}}')]
    )
    assert placed(scenario) == {"web": "n1"}
    assert "read as a Node, which alone has status.allocatable" in messages(scenario)


def test_what_decides_everything_is_an_error_in_a_directory_too() -> None:
    """Settings with an error are not left out: the answer would be another."""
    with pytest.raises(BundleError):
        load([folder(a_yaml=BASE, s_yaml=TIMED.replace("virtual", "sometimes"))])
    with pytest.raises(BundleError, match="apiVersion is missing"):
        load([folder(p_yaml="kind: Pod\nmetadata: {name: x}\n")])


# --- Kueue

LABEL = "labels: {kueue.x-k8s.io/queue-name: team}"
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: big, LABEL}
spec:
  parallelism: 3
  completions: 3
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}
"""
QUEUE = (
    "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: NAME}\nspec: {clusterQueue: q}\n"
)
ADMITTED = {
    "a Job": (JOB.replace("LABEL", LABEL), "these 3 pods would wait"),
    "a Job of the default queue": (
        JOB.replace(", LABEL", "") + "---\n" + QUEUE.replace("NAME", "default"),
        "3 pods",
    ),
    "a Job that waits": (
        JOB.replace("LABEL", LABEL).replace("spec:\n", "spec:\n  suspend: true\n"),
        "what it suspends",
    ),
    "a pod": (POD.replace("name: web", f"name: q, {LABEL}"), "this pod would wait"),
    "a Deployment": (
        DEPLOYMENT.replace("name: d", f"name: d, {LABEL}").replace("spec: {", "spec: {replicas: 2, "),
        "2 pods",
    ),
    "a label of a controller's pods": (
        DEPLOYMENT.replace("labels: {a: b}", f"{LABEL[:-1]}, a: b}}"),
        "this pod would wait",
    ),
    "a pod that runs": (
        POD.replace("name: web", f"name: q, {LABEL}").replace("spec: {", "spec: {nodeName: n1, "),
        "what it suspends",
    ),
}


@pytest.mark.parametrize(("document", "said"), ADMITTED.values(), ids=ADMITTED)
def test_what_kueue_would_admit_is_named_with_its_pods(document: str, said: str) -> None:
    """They are scheduled at once, and would not be in a cluster with Kueue."""
    found = messages(load(after(document, QUEUE.replace("NAME", "team"))))
    assert said in found and "admission by Kueue is not simulated" in found
    assert "controller may create" not in found


def test_nothing_is_said_of_kueue_where_nobody_asks_for_it() -> None:
    """A queue without workloads changes nothing."""
    found = messages(load(after(QUEUE.replace("NAME", "team"), JOB.replace(", LABEL", ""))))
    assert "would wait for it" not in found

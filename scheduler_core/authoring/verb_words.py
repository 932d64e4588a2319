"""What a verb will do, in one sentence, before it is done: which pods go, and what budgets allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scheduler_core.authoring.verb_targets import Targets
from scheduler_core.kubernetes.manifests import Document

STAYING = ("DaemonSet", "Node")
NAMED = 3  # pods or budgets that are listed by name


class SeenPod(Struct, frozen=True):
    """A pod at the moment: its node (``""``: none yet), the kind of its controller, and its budgets."""

    key: str
    node: str = ""
    owner: str = ""
    budgets: tuple[str, ...] = ()


class SeenCluster(Struct, frozen=True):
    """What a running cluster adds to the manifests: its pods, and how many disruptions each budget allows."""

    pods: Sequence[SeenPod] = ()
    allowed: Mapping[str, int] = field(default_factory=dict)
    finished: Sequence[SeenPod] = ()
    """Pods that Succeeded or Failed: a drain evicts them, too, and no budget covers them."""


class Effect(Struct, frozen=True):
    """What a sentence is about: targets, value, words of the change, and the cluster if it runs."""

    targets: Targets
    value: str = ""
    words: str = ""
    seen: SeenCluster | None = None

    @property
    def phrase(self) -> str:
        """What the targets are called."""
        return self.targets.phrase

    @property
    def their(self) -> str:
        """``its`` or ``their``."""
        return "its" if len(self.targets.found) == 1 else "their"

    @property
    def manifest(self) -> Document:
        """The first target's manifest."""
        return self.targets.found[0].manifest

    @property
    def pods(self) -> list[SeenPod] | None:
        """The pods on the nodes that are targets, if that is known."""
        return None if self.seen is None else self._there(self.seen.pods)

    @property
    def finished(self) -> list[SeenPod]:
        """The pods on these nodes that have finished and that an eviction removes: a static pod's stays."""
        there = [] if self.seen is None else self._there(self.seen.finished)
        return [pod for pod in there if pod.owner != "Node"]

    def _there(self, pods: Iterable[SeenPod]) -> list[SeenPod]:
        nodes = {one.key[1] for one in self.targets.found}
        return [pod for pod in pods if pod.node in nodes]


Sentence = Callable[[Effect], str]


def plain(text: str) -> Sentence:
    """Return the sentence of a text with ``{what}``, ``{its}``, ``{value}`` and ``{words}``."""
    return lambda effect: text.format(
        what=effect.phrase, its=effect.their, value=effect.value, words=effect.words
    )


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 pod``, ``14 pods``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# --- nodes


def cordons(effect: Effect) -> str:
    """Return what a cordon does."""
    pods = effect.pods
    stay = "" if pods is None else f"; {effect.their} {counted(len(pods), 'pod')} {_stay(len(pods))}"
    return f"Cordons {effect.phrase}: no further pod is placed there{stay}."


def drains(effect: Effect) -> str:
    """Return what a drain without ``--force`` does: a pod without a controller ends it on its node."""
    pods = effect.pods
    if pods is None:
        return (
            f"Cordons {effect.phrase}, then evicts {effect.their} pods as PodDisruptionBudgets allow; "
            "DaemonSet pods stay, and a pod without a controller fails a drain before anything is evicted."
        )
    ended = {pod.node for pod in pods if not pod.owner}
    going = [pod for pod in pods if pod.owner and pod.owner not in STAYING and pod.node not in ended]
    finished = sum(pod.node not in ended for pod in effect.finished)
    return _joined(
        [_evicted(effect, going, finished), _daemons(pods), _ended(pods), *_budgets(effect, going)]
    )


def force_drains(effect: Effect) -> str:
    """Return what a drain with ``--force`` does."""
    pods = effect.pods
    if pods is None:
        return (
            f"Cordons {effect.phrase}, then evicts {effect.their} pods as PodDisruptionBudgets allow, "
            "those without a controller for good; DaemonSet pods stay."
        )
    going = [pod for pod in pods if pod.owner not in STAYING]
    bare = [pod.key for pod in going if not pod.owner]
    gone = f"{_names(bare, 'pod')} without a controller {'goes' if len(bare) == 1 else 'go'} for good"
    evicted = _evicted(effect, going, len(effect.finished))
    return _joined([evicted, _daemons(pods), gone if bare else "", *_budgets(effect, going)])


def fails(effect: Effect) -> str:
    """Return what a node's failure does."""
    pods, verb = effect.pods, "stops" if len(effect.targets.found) == 1 else "stop"
    about = "" if pods is None else f" with {counted(len(pods), 'pod')}"
    return (
        f"{_capital(effect.phrase)} {verb} answering{about}: taints follow after the grace period, and pods "
        "are evicted when their tolerations end, after 300 s by default."
    )


def upgrades(effect: Effect) -> str:
    """Return what an upgrade of nodes does."""
    nodes, pause = len(effect.targets.found), float(effect.value)
    order = ", one after the other" if nodes > 1 else ""
    return _joined(
        [
            f"Drains {effect.phrase}{order}, with {pause:g} s for each until it is uncordoned",
            f"what is not evicted by then stays; it takes {nodes * pause:,.0f} s",
            _ended(effect.pods or ()),
        ]
    )


def _ended(pods: Sequence[SeenPod]) -> str:
    """Return which pods end a drain that is not forced."""
    bare = [pod.key for pod in pods if not pod.owner]
    nodes = sorted({pod.node for pod in pods if not pod.owner})
    if not bare:
        return ""
    has, them = ("has", "it") if len(bare) == 1 else ("have", "them")
    return (
        f"the drain of {_names(nodes, 'node')} fails before anything is evicted there, as "
        f"{_names(bare, 'pod')} {has} no controller: Drain with force deletes {them}"
    )


def _evicted(effect: Effect, going: Sequence[SeenPod], finished: int) -> str:
    pods = len(going) + finished
    what = counted(pods, "pod") if pods else "no pod"
    return f"Cordons {effect.phrase}, then evicts {what}{f' ({finished:,} finished)' if finished else ''}"


def _daemons(pods: Sequence[SeenPod]) -> str:
    staying = sum(pod.owner in STAYING for pod in pods)
    return f"{counted(staying, 'DaemonSet or static pod')} {_stay(staying)}" if staying else ""


def _budgets(effect: Effect, going: Sequence[SeenPod]) -> list[str]:
    """Return a part for each budget that holds evictions up, the strictest first."""
    assert effect.seen is not None
    covered = Counter(name for pod in going for name in pod.budgets)
    held = {name: effect.seen.allowed.get(name, 0) for name in covered}
    strict = sorted((name for name in held if held[name] < covered[name]), key=lambda name: held[name])
    parts = [_budget(name, held[name], covered[name]) for name in strict[:NAMED]]
    more = len(strict) - len(parts)
    return [*parts, *([f"{counted(more, 'more budget')} hold evictions up"] if more > 0 else [])]


def _budget(name: str, allowed: int, pods: int) -> str:
    if allowed:
        return f"budget {name} allows {allowed:,} at a time"
    return f"budget {name} allows none now: {counted(pods, 'pod')} {_stay(pods)} until it does"


# --- workloads and pods


def scales(effect: Effect) -> str:
    """Return what a new number of replicas does."""
    job = effect.manifest.get("kind") == "Job"
    given = (effect.manifest.get("spec") or {}).get("parallelism" if job else "replicas")
    before, after = 1 if given is None else int(given), int(effect.value)
    difference = abs(after - before)
    done = "nothing changes" if not difference else f"{counted(difference, 'pod')} "
    if difference:
        done += f"{'is' if difference == 1 else 'are'} {'created' if after > before else 'deleted'}"
    return f"Scales {effect.phrase} from {before:,} to {after:,}: {done}."


def rolls(begin: str) -> Sentence:
    """Return the sentence of a change to the pod template, which begins with ``begin``."""

    def sentence(effect: Effect) -> str:
        return f"{plain(begin)(effect)}: {_rollout(effect.manifest)}."

    return sentence


def evicts(effect: Effect) -> str:
    """Return what the eviction of a pod does."""
    known = {} if effect.seen is None else {pod.key: pod for pod in effect.seen.pods}
    found = [known.get(one.key[1]) for one in effect.targets.found]
    pods = [pod for pod in found if pod is not None]
    if not pods:
        return f"Evicts {effect.phrase}, once, if {effect.their} PodDisruptionBudget allows it."
    bare = [pod.key for pod in pods if not pod.owner]
    parts = [f"Evicts {effect.phrase}", *_single(effect, pods)]
    if bare:
        parts.append(f"{_names(bare, 'pod')} has no controller and does not come back")
    elif len(pods) == 1:
        parts.append(f"its {pods[0].owner} replaces it")
    return _joined(parts)


def _single(effect: Effect, pods: Sequence[SeenPod]) -> list[str]:
    assert effect.seen is not None
    allowed = effect.seen.allowed
    covered = Counter(name for pod in pods for name in pod.budgets)
    return [
        f"budget {name} allows {allowed.get(name, 0) or 'none'} now, and refuses the others"
        if allowed.get(name, 0)
        else f"budget {name} allows none now: the eviction is refused"
        for name in covered
        if allowed.get(name, 0) < covered[name]
    ]


def _rollout(manifest: Document) -> str:
    """Return how a workload's pods get a new template."""
    kind, spec = manifest.get("kind"), manifest.get("spec") or {}
    strategy = spec.get("strategy" if kind == "Deployment" else "updateStrategy") or {}
    way = str(strategy.get("type") or "RollingUpdate")
    if kind == "ReplicaSet":
        return "pods that it creates from then on have it"
    if spec.get("paused"):
        return "the rollout is paused, so its pods stay until it is resumed"
    if way == "OnDelete":
        return "each pod gets it when it is deleted (OnDelete)"
    if way == "Recreate":
        return "all pods are deleted, then created again (Recreate)"
    limits = _limits(strategy.get("rollingUpdate") or {})
    return f"a rolling update replaces its pods{limits}"


def _limits(rolling: Mapping[str, Any]) -> str:
    names = "maxSurge", "maxUnavailable", "partition"
    given = [f"{name} {rolling[name]}" for name in names if name in rolling]
    return f" ({', '.join(given)})" if given else ""


# --- words


def _stay(number: int) -> str:
    return "stays" if number == 1 else "stay"


def _names(names: Sequence[str], noun: str) -> str:
    shown = ", ".join(names[:NAMED])
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{noun}{'' if len(names) == 1 else 's'} {shown}{more}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _joined(parts: Iterable[str]) -> str:
    return "; ".join(part for part in parts if part) + "."

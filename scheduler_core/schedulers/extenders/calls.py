"""The rules by which a scheduler asks its extenders, whatever answers.

Source: v1.11's core.findNodesThatFit, core.PrioritizeNodes, core.processPreemptionWithExtenders and
factory.getBinderFunc; v1.37's findNodesThatPassExtenders, prioritizeNodes, Evaluator.callExtenders and
extendersBinding. Their differences are in :mod:`scheduler_core.schedulers.extenders.rules`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct, field

from scheduler_core.schedulers.extenders.configuration import Extender, Verb
from scheduler_core.schedulers.extenders.messages import (
    AnswerError,
    FilterResult,
    binding_args,
    binding_result,
    changed_nodes,
    extender_args,
    filter_result,
    host_priorities,
    preemption_args,
    preemption_result,
)
from scheduler_core.schedulers.extenders.port import ExtenderCall, Port, Proposed, Reply, timed_out
from scheduler_core.schedulers.extenders.record import SHOWN, CallRecord, ExtenderRecord
from scheduler_core.schedulers.extenders.rules import MAX_EXTENDER_PRIORITY, V1_11_RULES, ExtenderRules

NAMES_SHOWN = 5

T = TypeVar("T")
Outcome = Literal["answered", "ignored", "failed"]


class ExtenderError(Exception):
    """An extender's error that ends what it was asked for."""


class AskedPod(Struct, frozen=True):
    """The pod that extenders are asked about; ``resources`` are all that its containers name."""

    key: str
    namespace: str
    name: str
    uid: str
    resources: frozenset[str]


class Documents(Protocol):
    """The manifests that are posted, as JSON."""

    def pod(self, key: str) -> str:
        """Return a pod of the cluster, by namespace/name."""
        ...

    def node(self, name: str) -> str:
        """Return a node of the cluster."""
        ...


class Passed(Struct):
    """What the extenders left of the nodes.

    ``nodes`` are the names, in the order of the last answer; ``asked`` has, for every extender that
    answered, its label, the nodes that it was asked about and the messages of those that it failed.
    v1.11 reads ``messages``, which counts them, of unknown nodes too. v1.37 reads ``failed``: by node, of
    unknown ones too, the last message and whether deleting pods may help; and ``rebuilt``: whether the nodes
    came back as objects, without their pods.
    """

    nodes: tuple[str, ...]
    asked: list[tuple[str, tuple[str, ...], dict[str, str]]] = field(default_factory=list)
    messages: Counter[str] = field(default_factory=Counter)
    failed: dict[str, tuple[str, bool]] = field(default_factory=dict)
    rebuilt: bool = False


class Prioritized(Struct, frozen=True):
    """The scores of one extender: by node, before its weight."""

    label: str
    weight: int
    scores: Mapping[str, int]


Victims = Mapping[str, tuple[Sequence[tuple[str, str]], int]]
"""By node: the pods to delete, as (namespace/name, uid), and how many budgets that violates."""


class ExtenderCalls:
    """The calls of one attempt to schedule a pod."""

    def __init__(
        self,
        extenders: Sequence[Extender],
        port: Port,
        documents: Documents,
        pod: AskedPod,
        cycle: int,
        rules: ExtenderRules = V1_11_RULES,
        *,
        trace: bool = True,
    ) -> None:
        self.extenders = [one for one in extenders if one.interested(pod.resources)]
        self.port = port
        self.documents = documents
        self.pod = pod
        self.cycle = cycle
        self.rules = rules
        self.trace = trace
        self.calls: list[CallRecord] = []
        self._bodies: dict[tuple[str, bool, tuple[str, ...]], str] = {}

    def record(self) -> ExtenderRecord:
        """Return the record of the calls so far."""
        return ExtenderRecord(tuple(self.calls))

    # --- the four verbs

    def filter(self, nodes: Sequence[str], known: Container[str]) -> Passed:
        """Ask one extender after the other which nodes pass, as long as there are any (findNodesThatFit).

        ``known`` holds every node of the cluster by its name.

        Raises:
            ExtenderError: One that is not ignorable fails.
        """
        passed = Passed(tuple(nodes))
        for extender in self._with("filter"):
            if not passed.nodes:
                break
            asked = passed.nodes

            def read(
                reply: Reply, extender: Extender = extender, asked: tuple[str, ...] = asked
            ) -> FilterResult:
                content = self._content(reply, extender, "filter")
                result = filter_result(content, node_cache=extender.node_cache)
                if self.rules.only_asked and result.objects is None:
                    _check_asked(result.nodes, asked, extender)
                return result

            result, notes = self._ask(extender, "filter", asked, self._args(extender, asked), read)
            if result is None:
                continue
            notes += [*result.notes, *_strangers(result.nodes, asked, known, self.rules.release)]
            if result.objects is not None and len(result.nodes) > 1 and self.rules.rebuilt:
                notes += [self.rules.rebuilt, *self._changed(result.objects, known)]
            unknown = next((name for name in result.nodes if name not in known), None)
            if unknown is not None:
                self._settle("failed", f"it left a node that is not in the cluster: {unknown!r}", notes)
                raise ExtenderError(f'extender {extender.url}: node "{unknown}" not found')
            self._settle("answered", "", notes)
            messages = {**result.unresolvable, **result.failed}
            if self.rules.unresolvable_first:
                messages = {**result.failed, **result.unresolvable}
            left = frozenset(result.nodes)
            reasons = {name: messages.get(name, "") for name in asked if name not in left}
            passed.asked.append((extender.label, asked, reasons))
            passed.messages.update(result.failed.values())
            for name, message in messages.items():
                passed.failed[name] = message, name not in result.unresolvable
            passed.rebuilt = passed.rebuilt or result.objects is not None
            passed.nodes = tuple(dict.fromkeys(result.nodes))
        return passed

    def prioritize(self, nodes: Sequence[str]) -> list[Prioritized]:
        """Ask all extenders for scores; one that fails gives none (PrioritizeNodes)."""
        found = []
        names = tuple(nodes)
        for extender in self._with("prioritize"):

            def read(reply: Reply, extender: Extender = extender) -> list[tuple[str, int]]:
                return host_priorities(self._content(reply, extender, "prioritize"))

            args = self._args(extender, names)
            result, notes = self._ask(extender, "prioritize", names, args, read, forgiven=True)
            if result is None:
                continue
            scores: dict[str, int] = {}
            for node, score in result:
                scores[node] = scores.get(node, 0) + score
            self._settle("answered", "", [*notes, *_odd_scores(result, names)])
            found.append(Prioritized(extender.label, extender.weight, scores))
        return found

    def preempt(self, victims: Victims, residents: Callable[[str], Mapping[str, str] | None]) -> Victims:
        """Ask the extenders in turn which victims may go where (processPreemptionWithExtenders).

        ``residents`` returns the pods of a node, by uid, as namespace/name; ``None`` for an unknown node.
        v1.11 does not read an answer's budgets: it counts no violation afterwards.

        Raises:
            ExtenderError: One that is not ignorable fails.
        """
        for extender in self._with("preempt"):
            if not victims:
                break
            proposed = victims

            def body(extender: Extender = extender, proposed: Victims = proposed) -> str:
                cached = extender.node_cache
                texts = {
                    node: ([uid if cached else self.documents.pod(key) for key, uid in pods], violations)
                    for node, (pods, violations) in proposed.items()
                }
                return preemption_args(self.documents.pod(self.pod.key), texts, meta=cached)

            def read(reply: Reply, extender: Extender = extender) -> Victims:
                answer = preemption_result(self._content(reply, extender, "preempt"))
                found = {
                    node: (self._pods(node, uids, residents(node), extender), violations)
                    for node, (uids, violations) in answer.items()
                }
                return self._with_victims(found, extender) if self.rules.victims_needed else found

            listed = tuple((node, tuple(pods), count) for node, (pods, count) in proposed.items())
            result, notes = self._ask(extender, "preempt", tuple(proposed), body, read, victims=listed)
            if result is None:
                continue
            unproposed = [f"{node} was not proposed" for node in result if node not in proposed]
            self._settle("answered", "", [*notes, *unproposed[:NAMES_SHOWN]])
            counted = self.rules.budgets
            victims = {node: (pods, count if counted else 0) for node, (pods, count) in result.items()}
        return victims

    @staticmethod
    def _with_victims(found: Victims, extender: Extender) -> Victims:
        """Return the nodes with victims; any without is an error, unless the extender is ignorable."""
        bare = next((node for node, (pods, _) in found.items() if not pods), None)
        if bare is not None and not extender.ignorable:
            raise AnswerError(f'expected at least one victim pod on node "{bare}"')
        return {node: entry for node, entry in found.items() if entry[0]}

    def bind(self, node: str) -> str:
        """Bind with the extender that can; return its error, or "" if the pod is bound.

        v1.11: factory.getBinderFunc. v1.37: extendersBinding, which binds itself after an ignorable error.
        """
        binder = next(self._with("bind"), None)
        if binder is None:
            return ""
        pod = self.pod

        def read(reply: Reply) -> bool:
            binding_result(self._content(reply, binder, "bind"))
            return True

        def body() -> str:
            return binding_args(pod.namespace, pod.name, pod.uid, node)

        try:
            strict = not self.rules.binder_ignorable
            bound, notes = self._ask(binder, "bind", (node,), body, read, strict=strict)
        except ExtenderError as error:
            return str(error)
        if bound is not None:
            self._settle("answered", "", notes)
        return ""

    def _changed(self, objects: Sequence[Mapping[str, Any]], known: Container[str]) -> list[str]:
        """Describe nodes that the last call answered otherwise than they were sent.

        A table has no more than their names.
        """
        if self.calls[-1].source == "declared":
            return []
        change = "came back changed: kube-scheduler scores it so, here it is scored as it was sent"
        changed = changed_nodes(objects, lambda name: self.documents.node(name) if name in known else "")
        return [f"{name} {change}" for name in changed][:NAMES_SHOWN]

    # --- one call

    def _with(self, verb: Verb) -> Iterator[Extender]:
        return (extender for extender in self.extenders if verb in extender.verbs)

    def _args(self, extender: Extender, nodes: tuple[str, ...]) -> Callable[[], str]:
        """Return what makes ExtenderArgs, which extenders of one kind share."""

        def body() -> str:
            key = ("", extender.node_cache, nodes)
            if key not in self._bodies:
                documents = None if extender.node_cache else (self.documents.node(name) for name in nodes)
                self._bodies = {key: extender_args(self.documents.pod(self.pod.key), nodes, documents)}
            return self._bodies[key]

        return body

    def _ask(
        self,
        extender: Extender,
        verb: Verb,
        nodes: tuple[str, ...],
        body: Callable[[], str],
        read: Callable[[Reply], T],
        *,
        forgiven: bool = False,
        strict: bool = False,
        victims: Proposed = (),
    ) -> tuple[T | None, list[str]]:
        """Make one call; return what was read, or ``None`` if the extender is passed over, and notes so far.

        ``forgiven`` passes over any error; ``strict`` over none, however ignorable the extender.

        Raises:
            ExtenderError: It failed.
        """
        call = ExtenderCall(extender, verb, self.cycle, self.pod.key, nodes, body, victims)
        reply = self.port.ask(call)
        if reply is None:
            self._note(call, None)
            return None, []
        if reply.source == "declared" and reply.seconds > extender.timeout:
            reply = Reply(0, "", timed_out(call.url), extender.timeout, reply.source)
        if reply.failure == timed_out(call.url):
            late = self.rules.late.format(url=call.url)
            reply = Reply(0, "", late, reply.seconds, reply.source)
        self._note(call, reply)
        try:
            return read(reply), []
        except AnswerError as error:
            message = str(error)
            ignored = forgiven or (extender.ignorable and not strict)
            self._settle("ignored" if ignored else "failed", message, [])
            if ignored:
                return None, []
            raise ExtenderError(message) from error

    def _content(self, reply: Reply, extender: Extender, verb: Verb) -> str:
        """Return the body of a successful answer (HTTPExtender.send).

        Raises:
            AnswerError: There was no answer, or its status is not 200.
        """
        if reply.failure:
            raise AnswerError(reply.failure)
        if reply.status != 200:
            path, url = extender.verbs[verb], extender.address(verb)
            raise AnswerError(self.rules.wrong_status.format(path=path, url=url, code=reply.status))
        return reply.body

    def _pods(
        self, node: str, uids: Iterable[str], residents: Mapping[str, str] | None, extender: Extender
    ) -> list[tuple[str, str]]:
        """Return the pods of a node by their uids (convertPodUIDToPod)."""
        if residents is None:
            raise AnswerError(self.rules.no_such_node.format(extender=extender.url, node=node))
        found = []
        for uid in uids:
            if uid not in residents:
                raise AnswerError(
                    f"extender: {extender.url} claims to preempt pod (UID: {uid}) on node: {node}, but the "
                    "pod is not found on that node"
                )
            found.append((residents[uid], uid))
        return found

    def _note(self, call: ExtenderCall, reply: Reply | None) -> None:
        request = call.body() if self.trace else ""
        response = reply.body if reply is not None else ""
        answered = reply is not None and not reply.failure
        self.calls.append(
            CallRecord(
                call.extender.label,
                call.verb,
                call.url,
                reply.source if reply is not None else "not called",
                request[:SHOWN],
                len(request.encode()),
                reply.status if reply is not None and answered else None,
                response[:SHOWN] if self.trace else "",
                len(response.encode()) if self.trace else 0,
                round(reply.seconds, 6) if reply is not None else 0.0,
                "answered" if reply is not None else "not called",
                "" if reply is None else reply.failure,
                (),
            )
        )

    def _settle(self, outcome: Outcome, error: str, notes: Sequence[str]) -> None:
        """Complete the record of the last call."""
        last = self.calls[-1]
        self.calls[-1] = CallRecord(
            last.extender,
            last.verb,
            last.url,
            last.source,
            last.request,
            last.request_bytes,
            last.status,
            last.response,
            last.response_bytes,
            last.seconds,
            outcome,
            error or last.error,
            tuple(notes),
        )


def _check_asked(nodes: Iterable[str], asked: Iterable[str], extender: Extender) -> None:
    """Raise AnswerError for a name that was not asked about (HTTPExtender.Filter)."""
    were = frozenset(asked)
    for name in nodes:
        if name not in were:
            raise AnswerError(
                f'extender "{extender.url}" claims a filtered node "{name}" which is not found in the input '
                "node list"
            )


def _strangers(nodes: Sequence[str], asked: Sequence[str], known: Container[str], release: str) -> list[str]:
    """Describe what a filter answered other than a part of the nodes that it was asked about."""
    were = frozenset(asked)
    strangers = [name for name in nodes if name in known and name not in were]
    notes = [f"{name} was not asked about: it passes all the same" for name in strangers]
    twice = [name for name, count in Counter(nodes).items() if count > 1]
    notes += [
        f"{name} is answered more than once: it counts once here, in {release} as often" for name in twice
    ]
    return notes[:NAMES_SHOWN]


def _odd_scores(scores: Sequence[tuple[str, int]], nodes: Sequence[str]) -> list[str]:
    """Describe scores of unknown nodes and those beyond 0 to 10, which are added as they are."""
    were = frozenset(nodes)
    notes = [
        f"the score of {node} has no effect: it was not asked about" for node, _ in scores if node not in were
    ]
    notes += [
        f"the score of {node} is {score}, beyond 0 to {MAX_EXTENDER_PRIORITY}: it is added all the same"
        for node, score in scores
        if node in were and not 0 <= score <= MAX_EXTENDER_PRIORITY
    ]
    return notes[:NAMES_SHOWN]

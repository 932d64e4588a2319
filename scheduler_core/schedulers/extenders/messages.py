"""The protocol of extenders: the bodies that are posted, and what is read of the answers.

ExtenderArgs, ExtenderFilterResult, HostPriorityList, ExtenderPreemptionArgs and -Result, ExtenderBindingArgs
and -Result. kube-scheduler encodes its internal types, whose fields have no JSON names: they are
written with capitals, and read whatever their case, as Go's decoder does. It reads one value and passes over
what follows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scheduler_core.kubernetes.quantity import parse_quantity
from scheduler_core.kubernetes.readers import kind_of

MOST_NODES = 100_000  # names or scores that are read of one answer
LONGEST_TEXT = 2_000  # characters of a message that are kept
_MOST, _LEAST = 2**63 - 1, -(2**63)


class AnswerError(ValueError):
    """An answer that cannot be read, or that reports an error."""


class FilterResult(Struct, frozen=True):
    """``nodes`` are those that pass; ``failed`` and ``unresolvable`` map the others to a message.

    ``objects`` are they as they came, if that was as nodes and not as names.
    """

    nodes: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    objects: tuple[Mapping[str, Any], ...] | None = None


def encode(value: Any) -> str:
    """Return compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# --- requests; pods and nodes are given as JSON


def extender_args(pod: str, nodes: Sequence[str], documents: Iterable[str] | None) -> str:
    """Return ExtenderArgs: the names of the nodes, or without a node cache their ``documents``."""
    if documents is None:
        return f'{{"Pod":{pod},"Nodes":null,"NodeNames":{encode(list(nodes))}}}'
    return f'{{"Pod":{pod},"Nodes":{{"metadata":{{}},"items":[{",".join(documents)}]}},"NodeNames":null}}'


def preemption_args(pod: str, victims: Mapping[str, tuple[Sequence[str], int]], *, meta: bool) -> str:
    """Return ExtenderPreemptionArgs; ``victims`` maps a node to its pods and the budgets violated.

    With ``meta`` the pods are uids, otherwise their JSON.
    """
    body = ",".join(
        f'{encode(node)}:{{"Pods":[{",".join(_uid(pod) if meta else pod for pod in pods)}],'
        f'"NumPDBViolations":{violations}}}'
        for node, (pods, violations) in victims.items()
    )
    full, short = ("null", f"{{{body}}}") if meta else (f"{{{body}}}", "null")
    return f'{{"Pod":{pod},"NodeNameToVictims":{full},"NodeNameToMetaVictims":{short}}}'


def _uid(uid: str) -> str:
    return encode({"UID": uid})


def binding_args(namespace: str, name: str, uid: str, node: str) -> str:
    """Return ExtenderBindingArgs."""
    return encode({"PodName": name, "PodNamespace": namespace, "PodUID": uid, "Node": node})


# --- answers


def filter_result(body: str, *, node_cache: bool) -> FilterResult:
    """Read an ExtenderFilterResult (HTTPExtender.Filter); without names or nodes none passes.

    Raises:
        AnswerError: It cannot be read, or its field Error is set.
    """
    answer = _fields(decode(body))
    _raise_error(answer)
    failed, unresolvable = (_messages(answer, name) for name in ("FailedNodes", "FailedAndUnresolvableNodes"))
    names = _list(answer, "NodeNames")
    listed = None if answer.get("nodes") is None else _list(_fields(answer["nodes"]), "Items") or []
    if names is not None:
        for name in names:
            if not isinstance(name, str):
                raise AnswerError(f"NodeNames must hold names, not {kind_of(name)}")
    if node_cache and names is not None:
        return FilterResult(tuple(names), failed, unresolvable)
    if listed is not None:
        found = tuple(_node_name(node) for node in listed)
        return FilterResult(found, failed, unresolvable, objects=tuple(node or {} for node in listed))
    notes: tuple[str, ...] = ()
    if names:
        notes = ("it answered NodeNames, which are read only with nodeCacheCapable: no node is left",)
    return FilterResult((), failed, unresolvable, notes)


def changed_nodes(objects: Iterable[Mapping[str, Any]], sent: Callable[[str], str]) -> list[str]:
    """Return the names of nodes that came back otherwise than they were ``sent``, in what scores read.

    ``sent`` returns a node's JSON, "" for one that is unknown.
    """
    found = []
    for node in objects:
        name = _node_name(node)
        before = sent(name)
        if before and _scored(node) != _scored(json.loads(before)):
            found.append(name)
    return found


def _scored(node: Any) -> list[Any]:
    """Return labels, taints and allocatable amounts of a node, whatever the case of the sections' names."""
    fields = _fields(node)
    metadata, spec, status = (fields.get(section) for section in ("metadata", "spec", "status"))
    held = _field(status, "allocatable")
    amounts = {key: _amount(value) for key, value in held.items()} if isinstance(held, Mapping) else {}
    return [_field(metadata, "labels"), _field(spec, "taints"), amounts]


def _field(section: Any, name: str) -> Any:
    return (section.get(name) if isinstance(section, Mapping) else None) or None


def _amount(value: Any) -> Any:
    """Return a quantity as a number, for Go rewrites it; what is none, as it is."""
    try:
        return parse_quantity(str(value), 1000)
    except ValueError:
        return value


def host_priorities(body: str) -> list[tuple[str, int]]:
    """Read a HostPriorityList: pairs of node and score, as given.

    Raises:
        AnswerError: It cannot be read.
    """
    answer = decode(body)
    if answer is None:
        return []
    if not isinstance(answer, list) or len(answer) > MOST_NODES:
        raise AnswerError(f"it must be a list of Host and Score, not {kind_of(answer)}")
    out = []
    for entry in answer:
        row = _fields(entry)
        host, score = row.get("host") or "", row.get("score") or 0
        if not isinstance(host, str) or type(score) is not int or not _LEAST <= score <= _MOST:
            raise AnswerError("each entry must have a Host and a whole number as Score")
        out.append((host, score))
    return out


def preemption_result(body: str) -> dict[str, tuple[list[str], int]]:
    """Read an ExtenderPreemptionResult: by node, the uids of the victims and how many budgets they violate.

    Raises:
        AnswerError: It cannot be read.
    """
    answer = _fields(decode(body))
    given = answer.get("nodenametometavictims")
    if given is None:
        return {}
    if not isinstance(given, Mapping) or len(given) > MOST_NODES:
        raise AnswerError(f"NodeNameToMetaVictims must be an object, not {kind_of(given)}")
    out: dict[str, tuple[list[str], int]] = {}
    for node, victims in given.items():
        if victims is None:
            # the scheduler dereferences it; here it is an answer that cannot be read
            raise AnswerError(f"NodeNameToMetaVictims has no victims object for node {node}")
        fields = _fields(victims)
        pods = [_fields(pod).get("uid") or "" for pod in _list(fields, "Pods") or ()]
        violations = fields.get("numpdbviolations") or 0
        if not all(isinstance(uid, str) for uid in pods):
            raise AnswerError("each of Pods must have a UID")
        if type(violations) is not int or not _LEAST <= violations <= _MOST:
            raise AnswerError("NumPDBViolations must be a whole number")
        out[node] = pods, violations
    return out


def binding_result(body: str) -> None:
    """Read an ExtenderBindingResult.

    Raises:
        AnswerError: It cannot be read, or its field Error is set.
    """
    _raise_error(_fields(decode(body)))


def decode(body: str) -> Any:
    """Read the first JSON value of a body (json.Decoder.Decode).

    Raises:
        AnswerError: There is none.
    """
    text = body.lstrip(" \t\r\n")
    if not text:
        raise AnswerError("EOF: the answer is empty")
    try:
        value, _ = json.JSONDecoder(parse_constant=_refuse).raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"the answer is not JSON: {str(error)[:200]}") from error
    return value


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _fields(value: Any) -> dict[str, Any]:
    """Return an object's fields under lower-case names; null is an object without any."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise AnswerError(f"it must hold an object, not {kind_of(value)}")
    return {str(key).lower(): item for key, item in value.items()}


def _list(fields: Mapping[str, Any], name: str) -> list[Any] | None:
    value = fields.get(name.lower())
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > MOST_NODES:
        raise AnswerError(f"{name} must be a list of at most {MOST_NODES:,}, not {kind_of(value)}")
    return value


def _messages(fields: Mapping[str, Any], name: str) -> dict[str, str]:
    value = fields.get(name.lower())
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > MOST_NODES:
        raise AnswerError(f"{name} must be an object of messages by node, not {kind_of(value)}")
    if not all(item is None or isinstance(item, str) for item in value.values()):
        raise AnswerError(f"{name} must hold texts")
    return {str(node): (text or "")[:LONGEST_TEXT] for node, text in value.items()}


def _raise_error(fields: Mapping[str, Any]) -> None:
    error = fields.get("error")
    if error is not None and not isinstance(error, str):
        raise AnswerError(f"Error must be a text, not {kind_of(error)}")
    if error:
        raise AnswerError(error[:LONGEST_TEXT])


def _node_name(node: Any) -> str:
    name = _fields(_fields(node).get("metadata")).get("name")
    if name is not None and not isinstance(name, str):
        raise AnswerError("the name of a node must be a text")
    return name or ""

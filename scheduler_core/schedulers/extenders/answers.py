"""The document ``ExtenderAnswers``: what extenders answer, declared by hand or recorded in a run.

A bundle may hold several. The answers of an extender are found by its urlPrefix; the first row that fits
answers::

    apiVersion: podstep/v1
    kind: ExtenderAnswers
    extenders:
    - urlPrefix: http://gpu.example:8888/scheduler
      answers:
      - {verb: filter, pod: "default/train-*", failedNodes: {node-b: no GPU left}}
      - {verb: filter}                              # any other pod: every node passes
      - {verb: prioritize, scores: {node-a: 10}}    # 0 for any other node
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Outline,
    enum,
    integer,
    kind_of,
    list_of,
    mapping,
    opaque,
    outlined,
    record,
    show,
    string_map,
    text,
)
from scheduler_core.schedulers.extenders.configuration import LONGEST_URL, VERBS, Verb
from scheduler_core.schedulers.extenders.messages import encode
from scheduler_core.schedulers.extenders.port import ExtenderCall, Reply, digest

ANSWERS_KIND = "ExtenderAnswers"
MOST_ROWS = 10_000  # of one extender
LONGEST_BODY = 1_000_000  # characters of one answer
LONGEST_SECONDS = 3_600.0

FIELDS_OF: Mapping[Verb, tuple[str, ...]] = {
    "filter": ("nodeNames", "failedNodes", "failedAndUnresolvableNodes", "error"),
    "prioritize": ("scores",),
    "preempt": ("victims",),
    "bind": ("error",),
}
"""The fields of a verb's short answer."""

_LITERAL = ("response", "body", "failure")


class Row(Struct, frozen=True):
    """One answer: to which calls, and what.

    ``pod`` is a pattern of namespace/name, "" for every pod. ``cycle`` and ``request`` restrict a recorded
    answer to the call that it answered. ``short`` holds the fields of :data:`FIELDS_OF` that are given;
    ``body`` is a literal answer.
    """

    verb: Verb
    pod: str = ""
    cycle: int = 0
    request: str = ""
    status: int = 200
    body: str | None = None
    failure: str = ""
    seconds: float = 0.0
    short: Mapping[str, Any] | None = None

    def fits(self, call: ExtenderCall) -> bool:
        """Return whether it answers a call, so far as the request's text does not matter."""
        if self.verb != call.verb or self.cycle not in (0, call.cycle):
            return False
        return not self.pod or fnmatchcase(call.pod, self.pod)

    def reply(self, call: ExtenderCall) -> Reply:
        """Return the reply to a call."""
        body = self.body if self.body is not None else _body(call, self.short or {})
        return Reply(
            self.status,
            "" if self.failure else body,
            self.failure,
            self.seconds,
            "recorded" if self.request else "declared",
        )


class Answers(Struct, frozen=True):
    """The answers of an extender, by its urlPrefix."""

    url: str
    rows: tuple[Row, ...] = ()


class Table:
    """The rows of a scenario, to look a call up in."""

    def __init__(self, declared: Iterable[Answers]) -> None:
        self._recorded: dict[tuple[str, Verb, int], dict[str, Row]] = {}
        self._rows: dict[str, list[Row]] = {}
        for one in declared:
            rows = self._rows.setdefault(_plain(one.url), [])
            for row in one.rows:
                if row.request:
                    of_cycle = self._recorded.setdefault((_plain(one.url), row.verb, row.cycle), {})
                    of_cycle.setdefault(row.request, row)
                else:
                    rows.append(row)

    def answers(self, url: str) -> bool:
        """Return whether anything is declared or recorded of an extender."""
        return _plain(url) in self._rows

    def has(self, url: str, verb: Verb) -> bool:
        """Return whether any answer to a verb of an extender is declared or recorded."""
        plain = _plain(url)
        declared = any(row.verb == verb for row in self._rows.get(plain, ()))
        return declared or any(key[:2] == (plain, verb) for key in self._recorded)

    def find(self, call: ExtenderCall) -> Reply | None:
        """Return the answer to a call, what was recorded of it first; ``None`` if there is none."""
        url = _plain(call.extender.url)
        recorded = self._recorded.get((url, call.verb, call.cycle))
        row = None if recorded is None else recorded.get(digest(call.url, call.body()))
        if row is not None:
            return row.reply(call)
        row = next((row for row in self._rows.get(url, ()) if row.fits(call)), None)
        return None if row is None else row.reply(call)


class RecordedReply(Struct, frozen=True):
    """A reply with what identifies its call: ``request`` is the digest of what was posted."""

    url: str
    verb: Verb
    cycle: int
    pod: str
    request: str
    reply: Reply


def recording(replies: Iterable[RecordedReply]) -> dict[str, Any]:
    """Return the document of what a run's extenders answered, from which the run replays."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for kept in replies:
        row: dict[str, Any] = {"verb": kept.verb, "cycle": kept.cycle, "pod": kept.pod}
        row.update(request=kept.request, seconds=round(kept.reply.seconds, 6))
        if kept.reply.failure:
            row["failure"] = kept.reply.failure
        else:
            row.update(status=kept.reply.status, body=kept.reply.body)
        rows.setdefault(kept.url, []).append(row)
    listed = [{"urlPrefix": url, "answers": found} for url, found in rows.items()]
    return {"apiVersion": "podstep/v1", "kind": ANSWERS_KIND, "extenders": listed}


def _plain(url: str) -> str:
    return url.rstrip("/")


# --- short answers, expanded as the protocol has them


def _body(call: ExtenderCall, short: Mapping[str, Any]) -> str:
    """Return the JSON that an extender would answer."""
    return _BODIES[call.verb](call, short)


def _filter_body(call: ExtenderCall, short: Mapping[str, Any]) -> str:
    failed = {
        node: message for node, message in (short.get("failedNodes") or {}).items() if node in call.nodes
    }
    given = short.get("failedAndUnresolvableNodes") or {}
    unresolvable = {node: message for node, message in given.items() if node in call.nodes}
    names = short.get("nodeNames")
    passing = None if names is None else frozenset(names)
    left = [
        node
        for node in call.nodes
        if node not in failed and node not in unresolvable and (passing is None or node in passing)
    ]
    # with a node cache it answers names, otherwise nodes; the scheduler reads no more than their names
    as_names = call.extender.node_cache
    return encode(
        {
            "NodeNames": left if as_names else None,
            "Nodes": None if as_names else {"items": [{"metadata": {"name": node}} for node in left]},
            "FailedNodes": failed,
            "FailedAndUnresolvableNodes": unresolvable,
            "Error": short.get("error") or "",
        }
    )


def _prioritize_body(call: ExtenderCall, short: Mapping[str, Any]) -> str:
    scores = short.get("scores") or {}
    return encode([{"Host": node, "Score": scores.get(node, 0)} for node in call.nodes])


def _preempt_body(call: ExtenderCall, short: Mapping[str, Any]) -> str:
    """Return the victims: those proposed on every node, or those declared, by node and pod."""
    declared = short.get("victims")
    proposed = {node: dict(pods) for node, pods, _ in call.victims}
    violations = {node: {"NumPDBViolations": count} for node, _, count in call.victims if count}
    if declared is None:
        found = {node: list(pods.values()) for node, pods in proposed.items()}
    else:
        found = {
            node: [proposed[node].get(pod, pod) for pod in pods]
            for node, pods in declared.items()
            if node in proposed
        }
    meta = {
        node: {"Pods": [{"UID": uid} for uid in uids], **violations.get(node, {})}
        for node, uids in found.items()
    }
    return encode({"NodeNameToMetaVictims": meta})


def _bind_body(call: ExtenderCall, short: Mapping[str, Any]) -> str:
    del call
    return encode({"Error": short.get("error") or ""})


_BODIES = {
    "filter": _filter_body,
    "prioritize": _prioritize_body,
    "preempt": _preempt_body,
    "bind": _bind_body,
}


# --- reading


def _seconds(value: Any, at: At) -> float | None:
    if type(value) not in (int, float) or not 0 <= value <= LONGEST_SECONDS:
        at.error(f"must be seconds from 0 to {LONGEST_SECONDS:,.0f}, not {show(value)}")
        return None
    return float(value)


outlined(_seconds, Outline("number"))


def _literal(value: Any, at: At) -> str | None:
    literal = text(value, at)
    if literal is not None and len(literal) > LONGEST_BODY:
        at.error(f"must have at most {LONGEST_BODY:,} characters, not {len(literal):,}")
        return None
    return literal


outlined(_literal, text)


def _response(value: Any, at: At) -> str | None:
    if not isinstance(value, (dict, list)):
        at.error(f"must be the object or list that is answered, not {kind_of(value)}: a text goes into body")
        return None
    try:
        return _literal(encode(value), at)
    except (TypeError, ValueError, RecursionError):
        at.error("cannot be written as JSON")
        return None


outlined(_response, opaque)


def _row(**read: Any) -> Row:
    verb: Verb = read["verb"]
    given = {name: read[name] for name in FIELDS_OF[verb] if name in read}
    body = read.get("response", read.get("body"))
    return Row(
        verb,
        read.get("pod", ""),
        read.get("cycle", 0),
        read.get("request", ""),
        read.get("status", 200),
        body,
        read.get("failure", ""),
        read.get("seconds", 0.0),
        given or None,
    )


def _check(read: dict[str, Any], at: At) -> None:
    """Report fields that contradict each other, or that belong to another verb."""
    verb = read["verb"]
    others = {name for names in FIELDS_OF.values() for name in names} - set(FIELDS_OF[verb])
    for name in sorted(others & read.keys()):
        of = ", ".join(FIELDS_OF[verb])
        at.child(name).error(f"is not what {verb} answers: that is said by {of}, response, body or failure")
    given = [name for name in (*_LITERAL, *FIELDS_OF[verb]) if name in read]
    literal = [name for name in given if name in _LITERAL]
    if literal and len(given) > 1:
        at.child(literal[0]).error(f"is the whole answer: leave out {', '.join(set(given) - {literal[0]})}")
    if "request" in read and "cycle" not in read:
        at.child("cycle").error("cycle is missing: a recorded answer has the number of its cycle")


_NAMES = list_of(text)
_ROW = record(
    _row,
    {
        "verb": Field("verb", enum(*VERBS), required=True),
        "pod": Field("pod", text),
        "cycle": Field("cycle", integer(1)),
        "request": Field("request", text),
        "seconds": Field("seconds", _seconds),
        "status": Field("status", integer(100, 599)),
        "response": Field("response", _response),
        "body": Field("body", _literal),
        "failure": Field("failure", text),
        "nodeNames": Field("nodeNames", _NAMES),
        "failedNodes": Field("failedNodes", string_map),
        "failedAndUnresolvableNodes": Field("failedAndUnresolvableNodes", string_map),
        "scores": Field("scores", mapping(integer())),
        "victims": Field("victims", mapping(_NAMES)),
        "error": Field("error", text),
    },
    check=_check,
)


def _rows(value: Any, at: At) -> Any:
    if type(value) is list and len(value) > MOST_ROWS:
        at.error(f"has {len(value):,} entries: at most {MOST_ROWS:,} are read")
        return None
    return _LIST(value, at)


_LIST = list_of(_ROW)
outlined(_rows, _LIST)


def _url(value: Any, at: At) -> str | None:
    url = text(value, at)
    if url is not None and len(url) > LONGEST_URL:
        at.error(f"must have at most {LONGEST_URL:,} characters")
    return url


outlined(_url, text)

ANSWERS = record(
    dict,
    {
        "extenders": Field(
            "extenders",
            list_of(
                record(
                    Answers,
                    {
                        "urlPrefix": Field("url", _url, required=True),
                        "answers": Field("rows", _rows),
                    },
                )
            ),
            required=True,
        )
    },
    unread="apiVersion kind metadata",
)


def read_answers(value: Mapping[str, Any], at: At) -> tuple[Answers, ...]:
    """Read an ``ExtenderAnswers`` document. Errors are added to the report of ``at``."""
    if value.get("apiVersion") not in (None, "podstep/v1"):
        message = f"{ANSWERS_KIND} have the apiVersion podstep/v1, not {show(value.get('apiVersion'))}"
        at.child("apiVersion").error(message)
    read = ANSWERS(value, at)
    return tuple(read["extenders"]) if read else ()

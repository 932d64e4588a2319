"""Predictions: a question about a cycle, the votes, and the answer that the engine gives.

The answer is computed when the question is asked, or marked by who asks, is stored with it, and leaves the
server when it is revealed. An answer, of a vote as of the engine, is compared as the JSON text of
:func:`canonical`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.record.cycle import Cycle

TEXT = 200  # characters of a question
CHOICES = 12
CHOICE = 100  # characters
NAME = 600  # characters of a node's name or a pod's key
VICTIMS = 50  # of one vote
SEVERAL = 200  # names of one answer to a lesson's question
LARGEST = 10**15  # number of an answer
TALLY = 100  # distinct answers that are sent, most votes first

Canonical = Callable[[Any, Mapping[str, Any]], Any]


class InvalidVoteError(ValueError):
    """An answer is none of those that the kind of question has; the text says what they are."""


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """A kind of question: how a vote is read, and the true answer; None: nothing computes it."""

    read: Canonical
    truth: Callable[[Cycle], Any] | None


def _node(answer: Any, _: Mapping[str, Any]) -> str:
    if answer is not None and not (isinstance(answer, str) and len(answer) <= NAME):
        raise InvalidVoteError("answer must be a node's name, or an empty text for none.")
    return answer or ""


def _fits(answer: Any, _: Mapping[str, Any]) -> bool:
    known = {"yes": True, "no": False, True: True, False: False}
    if not isinstance(answer, bool | str) or answer not in known:
        raise InvalidVoteError('answer must be "yes" or "no".')
    return known[answer]


def _victims(answer: Any, _: Mapping[str, Any]) -> list[str]:
    pods = [answer] if isinstance(answer, str) else answer
    sound = isinstance(pods, list) and all(isinstance(pod, str) and len(pod) <= NAME for pod in pods)
    if not sound or len(pods) > VICTIMS:
        raise InvalidVoteError(f"answer must be a list of at most {VICTIMS} pods, each namespace/name.")
    return sorted({pod for pod in pods if pod})


def _choice(answer: Any, question: Mapping[str, Any]) -> int:
    choices = question["choices"]
    if isinstance(answer, str) and answer in choices:
        return int(choices.index(answer))
    if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < len(choices):
        raise InvalidVoteError("answer must be the number of a choice, from 0, or its text.")
    return answer


def _lesson(answer: Any, question: Mapping[str, Any]) -> Any:
    """Return an answer to a lesson's question in the form in which the engine gives its own."""
    form, options = question["form"], {key for key, *_ in question["options"]}
    if form == "number":
        return _number(answer)
    if form in ("edit", "claim"):
        if answer is not True:
            raise InvalidVoteError("answer must be the receipt of the solved stop.")
        return True
    if form in ("nodes", "pods", "order"):
        several = answer if isinstance(answer, list) else [answer]
        known = all(isinstance(one, str) and (one in options or not options) for one in several)
        if not known or len(several) > SEVERAL or any(len(one) > NAME for one in several):
            raise InvalidVoteError("answer must be a list of what the question offers.")
        return several if form == "order" else sorted(set(several))
    if form == "yesno" and isinstance(answer, bool):
        return answer
    if not isinstance(answer, str) or answer not in options:
        raise InvalidVoteError("answer must be one of the question's options.")
    return answer == "yes" if form == "yesno" else answer


def _number(answer: Any) -> int | float:
    if isinstance(answer, str):
        try:
            answer = float(answer.strip().replace(",", "")[:40])
        except ValueError:
            answer = None
    if isinstance(answer, bool) or not isinstance(answer, int | float) or not math.isfinite(answer):
        raise InvalidVoteError("answer must be a number.")
    if abs(answer) > LARGEST:
        raise InvalidVoteError("answer must be a smaller number.")
    return int(answer) if answer == int(answer) else answer


KINDS: Mapping[str, QuestionKind] = {
    "node": QuestionKind(_node, lambda cycle: cycle.node or ""),
    "fits": QuestionKind(_fits, lambda cycle: bool(len(cycle.feasible)) or cycle.node is not None),
    "victims": QuestionKind(_victims, lambda cycle: sorted(cycle.decision.victims)),
    "choice": QuestionKind(_choice, None),
    "lesson": QuestionKind(_lesson, None),
}
OWN = ("node", "fits", "victims", "choice")
"""The kinds that a leader asks about the scenario; that of a lesson comes with its stop."""


TITLES: Mapping[str, str] = {
    "node": "Which node wins?",
    "fits": "Does it fit?",
    "victims": "Who is evicted?",
    "choice": "A question",
    "lesson": "A question of the lesson",
}
"""What a kind of question asks, of one that has no text of its own."""


def worded(question: Mapping[str, Any], answer: Any) -> str:
    """Return an answer in words."""
    if question["kind"] == "lesson":
        return _in_words(question, answer)
    if isinstance(answer, bool):
        return "Yes" if answer else "No"
    if isinstance(answer, int):
        return str(question["choices"][answer])
    if isinstance(answer, list):
        return ", ".join(pod.rpartition("/")[2] for pod in answer) or "Nobody"
    return str(answer) or "No node"


def _in_words(question: Mapping[str, Any], answer: Any) -> str:
    labels = {key: f"{group}: {label}" if group else label for key, label, group in question["options"]}
    form = question["form"]
    if form in ("edit", "claim"):
        return "Solved"
    if isinstance(answer, bool):
        return labels.get("yes" if answer else "no", "")
    if isinstance(answer, list):
        return ", ".join(str(labels.get(one, one)) for one in answer) or "None of them"
    if form == "number":
        return f"{answer:,} {question['unit']}".strip()
    return str(labels.get(answer, answer)) or "No node"


def canonical(question: Mapping[str, Any], answer: Any) -> str:
    """Return a vote as the text that equal answers share. Raises InvalidVoteError."""
    return json.dumps(KINDS[question["kind"]].read(answer, question), separators=(",", ":"))


def drafted(kind: str, text: str, choices: Sequence[str] | None, right: int | None = None) -> dict[str, Any]:
    """Return a question that is not about a cycle yet. Raises InvalidVoteError with what is wrong."""
    if kind not in OWN:
        raise InvalidVoteError(f"kind must be one of {', '.join(OWN)}.")
    if len(text) > TEXT:
        raise InvalidVoteError(f"text may have {TEXT} characters.")
    if kind == "choice" and not choices:
        raise InvalidVoteError("A question of kind choice needs its choices.")
    if choices and not 2 <= len(choices) <= CHOICES:
        raise InvalidVoteError(f"There must be 2 to {CHOICES} choices.")
    if choices and any(not 0 < len(choice) <= CHOICE for choice in choices):
        raise InvalidVoteError(f"A choice must have 1 to {CHOICE} characters.")
    if choices and len(set(choices)) < len(choices):
        raise InvalidVoteError("Two choices are equal.")
    if right is not None and (kind != "choice" or not choices or right >= len(choices)):
        raise InvalidVoteError("right must be the number of one of the choices, from 0.")
    return {
        "kind": kind,
        "text": text,
        "choices": list(choices) if choices else None,
        "truth": None if right is None else json.dumps(right),
        "revealed": False,
    }


def about(question: Mapping[str, Any], cycle: Cycle, index: int, why: Sequence[str] = ()) -> dict[str, Any]:
    """Return a question about a cycle, with the answer that its decision gives, and why it does."""
    truth = KINDS[question["kind"]].truth
    answer = None if truth is None else json.dumps(truth(cycle), separators=(",", ":"))
    revealed = {"truth": answer, "why": list(why)}
    return {**question, "index": index, "step": cycle.step, "pod": cycle.pod, **revealed}


def veil_of(question: Mapping[str, Any] | None) -> int | None:
    """Return the last cycle that viewers may see of; ``None`` while no question hides any.

    A question of a room of an earlier version hides the cycle that it is about.
    """
    if question is None or question["revealed"]:
        return None
    hidden = question.get("hides", question.get("index"))
    return None if hidden is None else max(0, hidden - 1)


def wire(question: Mapping[str, Any] | None, votes: int) -> dict[str, Any] | None:
    """Return a question as everybody may see it: without its answer until that is revealed."""
    if question is None:
        return None
    fields = ("number", "kind", "text", "choices", "index", "step", "pod", "revealed")
    shown = {name: question.get(name) for name in fields}
    shown["hides"] = None if (last := veil_of(question)) is None else last + 1
    shown["ballot"] = question.get("ballot")
    if question["kind"] == "lesson":
        shown |= {name: question[name] for name in ("lesson", "stop", "form", "options", "unit")}
    shown["round"] = 2 if question.get("before") else 1
    return {**shown, "votes": votes, **(question["tally"] if question["revealed"] else {})}


def tally(question: Mapping[str, Any], votes: Sequence[str]) -> dict[str, Any]:
    """Return the counts of a question's answers and the true one; ``right`` is None where there is none."""
    counts = Counter(votes)
    ranked = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    truth = question.get("truth")
    before = question.get("before")
    accepted = [json.loads(answer) for answer in counts if is_right(question, answer)]
    return {
        **({"accepted": accepted[:TALLY]} if question["kind"] == "lesson" else {}),
        **({"before": {name: before[name] for name in ("votes", "tally", "others")}} if before else {}),
        "why": question.get("why") or [],
        "votes": len(votes),
        "tally": [[json.loads(answer), count] for answer, count in ranked[:TALLY]],
        "others": sum(count for _, count in ranked[TALLY:]),
        "answer": None if truth is None else json.loads(truth),
        "right": None if truth is None else sum(n for one, n in counts.items() if is_right(question, one)),
    }


def is_right(question: Mapping[str, Any], answer: str) -> bool | None:
    """Return whether a vote, in its canonical text, is right; None where nothing says so."""
    if question["kind"] != "lesson":
        truth = question.get("truth")
        return None if truth is None else answer == truth
    if question["form"] in ("edit", "claim"):
        return True  # only who solved it has a vote
    if question["form"] != "number":
        return answer in question["accepted"]
    given = json.loads(answer)
    return any(abs(given - json.loads(one)) <= question["tolerance"] for one in question["accepted"])


def misconception(question: Mapping[str, Any], answer: str) -> str:
    """Return the misconception that leads to a vote, "" if none is known to."""
    return "" if is_right(question, answer) else dict(question.get("leads") or ()).get(answer, "")

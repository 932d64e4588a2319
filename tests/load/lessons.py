"""Lessons that somebody would write to stop a server: ``python -m tests.load lessons --count 2000``.

Each is a shipped lesson with files replaced, mutated and filled with what hurts. It is imported as an
archive, its preview, tests and handout are looked at, changes that are mutated too are made, and what can be
is published, played and answered by somebody else. Nothing may be answered by a status of 500 or more, and no
answer may take longer than ``--bound`` seconds. Each distinct traceback of the server's log is printed once.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import requests

from playground.courseware.archives import packed
from playground.courseware.catalogue import _HERE, _texts
from playground.courseware.facts import FACTS
from tests.conformance.random_records import Dice
from tests.core.properties.test_mutations import NONSENSE
from tests.load.abuse import LIMITS, Log, Report, failed, shown
from tests.load.living_bundles import living
from tests.load.mutants import mutant, written
from tests.load.server import serving
from tests.services.client import PATIENCE

RAISED = {
    **LIMITS,
    "PLAYGROUND_LESSON_CHANGES_PER_MINUTE": "1000000",
    "PLAYGROUND_LESSON_ANSWERS_PER_MINUTE": "1000000",
    "PLAYGROUND_LESSONS_PER_OWNER": "1000000",
    "PLAYGROUND_CPU_SECONDS_PER_VISITOR": "1000000",
    "PLAYGROUND_CPU_SECONDS_PER_ADDRESS": "1000000",
}
UNITS = (
    "{{", "}}", "{{ pods() }}", "![", "[", "[a](", "`", "```\n", "> ", "- ", "* ", "**", "_", "|",
    "|a|b|\n|-|-|\n", "<a ", "\n", "# ", "&amp;", "\\", "1\n", "\t", "~~", "[a]: b\n", "---\n", ": ",
    "\u202e", "é", "\0", "'", '"', "{", "a: ",
)  # fmt: skip
NAMES = (
    "stops/09-x.md",
    "stops/01-.md",
    "solution-z.yaml",
    "de/stops/01-a.md",
    "wrong/a.yaml",
    "../x",
    "x" * 300,
)
GIVEN: tuple[Any, ...] = (
    "n1",
    "n2",
    "web",
    "yes",
    "no",
    1,
    2.5,
    ["n1", "n2"],
    [],
    "a",
    "n1/TaintToleration",
    "count(pending()) == 0",
    "x" * 700,
)
ARGUMENTS = (
    '"web"',
    '"n1"',
    '"1.1"',
    '"cpu"',
    '"x"',
    "[]",
    "10**9",
    "-1",
    "True",
    '"spec.containers[0]"',
    '"end"',
    "None",
)


def fact(dice: Dice) -> str:
    """Return a call of a fact that may mean nothing."""
    given = ", ".join(dice.some(ARGUMENTS, 0, 3))
    text = f"{dice.choice([*FACTS])}({given})"
    return dice.choice(
        (text, f"{text}.node", f"count({text}) + 1", f"{text}[0]", f"{'(' * 40}{text}{')' * 40}")
    )


def hurt(text: str, dice: Dice) -> str:
    """Return a text with something put in, taken out or repeated."""
    at = dice.randint(0, len(text))
    match dice.randint(0, 5):
        case 0:
            return text[:at] + dice.choice(UNITS) * dice.choice((1, 3, 40, 2_000, 30_000)) + text[at:]
        case 1:
            return (
                text[:at]
                + "".join(f"{{{{ {fact(dice)} }}}}\n" for _ in range(dice.choice((1, 5, 60))))
                + text[at:]
            )
        case 2:
            return text[:at] + text[at + dice.randint(1, 40) :]
        case 3:
            lines = text.split("\n")
            dice.shuffle(lines)
            return "\n".join(lines)
        case 4:
            return text.replace(
                dice.choice(("cycle", "node", "web", ":", "n2", '"')), str(dice.choice(NONSENSE))
            )
        case _:
            return text[:at] + text[:at][-200:] * dice.choice((1, 50)) + text[at:]


def lesson(seed: int) -> dict[str, str]:
    """Return the files of a hurt lesson."""
    dice = Dice(seed)
    folders = sorted(
        (one for one in _HERE.iterdir() if one.is_dir() and one.name[:2].isdigit()), key=lambda one: one.name
    )
    files = dict(_texts(dice.choice(folders)))
    for _ in range(dice.choice((0, 1, 1, 2, 5))):
        name = dice.choice([*files])
        match dice.randint(0, 6):
            case 0:
                files[dice.choice(NAMES)] = files.pop(name)
            case 1:
                del files[name]
            case 2 if name.endswith(".yaml"):
                files[name] = written(living(seed) if dice.chance(0.5) else mutant(seed))
            case _:
                files[name] = hurt(files[name], dice)
        files = files or {"lesson.yaml": ""}
    return files


def value(dice: Dice, depth: int = 0) -> Any:
    """Return JSON of any kind."""
    match dice.randint(0, 8):
        case 0 if depth < 3:
            return [value(dice, depth + 1) for _ in range(dice.randint(0, 4))]
        case 1 if depth < 3:
            return {
                str(dice.choice(NONSENSE))[:50]: value(dice, depth + 1) for _ in range(dice.randint(0, 3))
            }
        case 2:
            nested: Any = "x"
            for _ in range(dice.choice((5, 30, 200))):
                nested = [nested] if dice.chance(0.5) else {"a": nested}
            return nested
        case 3:
            return hurt("The node `n1` is {{ pods() }}.", dice)
        case _:
            return dice.choice(
                (*NONSENSE, None, True, 10**30, -1, 1.5, "1.1", fact(dice), "scenario.yaml", ["queue"])
            )


def change(dice: Dice, state: dict[str, Any]) -> dict[str, Any]:
    """Return a change of a lesson as its page shows it, which may mean nothing."""
    keys = [one["key"] for one in state["stops"]] or ["x"]
    match dice.randint(0, 9):
        case 0:
            return {"kind": "order", "was": keys, "now": dice.sample(keys, len(keys))}
        case 1:
            return {"kind": "remove", "stop": dice.choice(keys)}
        case 2:
            files = dice.choice(({}, {"scenario-9.yaml": "a"}))
            text = hurt("---\ntitle: x\n---\nText\n", dice)
            key, place = dice.choice(("x", *keys)), dice.choice((0, -9, 10**9))
            return {"kind": "restore", "stop": key, "place": place, "text": text, "files": files}
        case 3:
            return {
                "kind": dice.choice(("value", "explode", None)),
                "path": value(dice),
                "was": value(dice),
                "now": value(dice),
            }
    stop = dice.choice([*state["stops"], None] if state["stops"] else [None])
    head = state["head"] if stop is None else {**stop["head"], "text": stop["text"]}
    path: list[Any] = []
    was = head
    while isinstance(was, (dict, list)) and was and (not path or dice.chance(0.7)):
        step = dice.choice([*was]) if isinstance(was, dict) else dice.randint(0, len(was) - 1)
        path.append(step)
        was = was[step]
    now = hurt(was, dice) if isinstance(was, str) and dice.chance(0.6) else value(dice)
    return {
        "kind": "value",
        "path": path or ["title"],
        "was": was,
        "now": now,
        "stop": "" if stop is None else stop["key"],
    }


class Visitor:
    """A browser with its cookies."""

    def __init__(self, base: str, report: Report) -> None:
        self.base, self.report, self.session = base, report, requests.Session()
        self.session.trust_env = False
        self.session.get(f"{base}/learn/author/", timeout=PATIENCE)

    def ask(self, seed: int, method: str, path: str, what: str, **more: Any) -> requests.Response | None:
        """Return an answer; None for one that is a defect."""
        headers = {"X-CSRFToken": self.session.cookies.get("csrftoken", "") or "", "Referer": self.base}
        began = time.monotonic()
        try:
            answer = self.session.request(
                method, self.base + path, headers=headers, timeout=PATIENCE, allow_redirects=False, **more
            )
        except requests.RequestException as error:
            self.report.found(f"{what}: {type(error).__name__}", "", seed, "")
            return None
        self.report.took(time.monotonic() - began, seed, what)
        self.report.answers[f"{what} {answer.status_code}"] += 1
        busy = answer.status_code in {503, 507} and "retry-after" in answer.headers
        return answer if answer.status_code < 500 or busy else None


class Writer:
    """Who imports, changes, publishes and plays the lessons."""

    def __init__(self, base: str, log: Log, report: Report) -> None:
        self.log, self.report = log, report
        self.author, self.learner = Visitor(base, report), Visitor(base, report)

    def lesson(self, seed: int) -> None:
        """Do everything with one lesson."""
        files, dice = lesson(seed), Dice(seed + 1)
        sound = self._way(seed, files, dice)
        traces = self.log.tracebacks()
        if not sound or traces:
            self.report.found(f"lesson {seed}", traces[-1] if traces else "", seed, json.dumps(files))

    def _way(self, seed: int, files: dict[str, str], dice: Dice) -> bool:
        try:
            data = packed(dice.choice(("01-a", "07-my-lesson", "x", "99-" + "y" * 80)), files)
        except UnicodeEncodeError:
            return True
        made = self.author.ask(
            seed, "POST", "/learn/author/import", "import", files={"lesson": ("a.zip", data)}
        )
        if made is None or made.status_code != 302:
            return made is not None
        home = made.headers["Location"]
        sound = self._changed(seed, home, dice) and self._seen(seed, home, dice)
        return self.author.ask(seed, "POST", f"{home}delete", "delete") is not None and sound

    def _changed(self, seed: int, home: str, dice: Dice) -> bool:
        for _ in range(dice.choice((0, 1, 2, 4))):
            state = self.author.ask(seed, "GET", f"{home}state", "state")
            if state is None:
                return False
            asked = change(dice, state.json())
            if self.author.ask(seed, "POST", f"{home}change", "change", json=asked) is None:
                return False
        return True

    def _seen(self, seed: int, home: str, dice: Dice) -> bool:
        state = self.author.ask(seed, "GET", f"{home}state", "state")
        if state is None:
            return False
        shown = state.json()["stops"]
        paths = [(f"{home}problems", "problems"), (home, "page")]
        if shown:
            preview = dice.choice(shown)["preview"]
            base = preview.rsplit("/", 2)[0]
            paths += [
                (preview, "preview"),
                (f"{base}/handout/?answers=1", "handout"),
                (f"{base}/done/", "done"),
            ]
        published = self.author.ask(seed, "POST", f"{home}publish", "publish")
        if published is None or any(self.author.ask(seed, "GET", *one) is None for one in paths):
            return False
        return published.status_code != 200 or self._played(seed, published.json(), dice)

    def _played(self, seed: int, state: dict[str, Any], dice: Dice) -> bool:
        name = state["link"].split("/")[2]
        for stop in state["stops"]:
            if self.learner.ask(seed, "GET", f"{state['link']}{stop['key']}/", "stop") is None:
                return False
            for what, body in (
                ("answer", {"answer": dice.choice((*GIVEN, value(dice)))}),
                ("hint", {"number": dice.randint(1, 3)}),
            ):
                path = f"/api/lessons/{name}/{stop['key']}/{what}"
                if self.learner.ask(seed, "POST", path, what, json=body) is None:
                    return False
        return self.learner.ask(seed, "GET", f"{state['link']}handout/", "handout") is not None


def main(arguments: Sequence[str]) -> int:
    """Write lessons on a server; print what came of it; return 1 if anything was answered by a defect."""
    parser = argparse.ArgumentParser(prog="python -m tests.load lessons", description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--bound", type=float, default=20.0, help="seconds that one answer may take")
    options = parser.parse_args(arguments)
    report = Report()
    with serving(limits=RAISED) as server:
        assert server.home is not None
        writer = Writer(server.base, Log(server.home), report)
        for number, seed in enumerate(range(options.first, options.first + options.count), 1):
            writer.lesson(seed)
            if number % 200 == 0:
                print(f"… {number:,} {server.resident_mib():,.0f} MiB", file=sys.stderr, flush=True)
        print(f"{server.resident_mib():,.0f} MiB")
    shown(report, options.bound)
    return int(failed(report, options.bound))

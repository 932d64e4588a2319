"""What is around manifests in a paste: shell prompts, messages, Markdown, logs; blanked, so that lines stay.

Only what cannot be part of a manifest is blanked, and each kind is named in a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

Cleaned = tuple[str, str]
"""The text, and what is to be said of the change; "" if there was none."""

_FIRST = 40
"""Lines in which prompts and messages before the manifests are recognized."""

_PROMPT = re.compile(
    r"(?:\+ |➜ {1,3}\S{1,60} (?:git:\(\S{1,60}\) )?(?:✗ )?"
    r"|(?:\([\w.-]{1,40}\) ?)?"
    r"(?:[^\s$#%>❯➜]{0,80}(?: [~/][^\s$#%>]{0,60})?|\[[^\]\n]{1,80}\]|PS [^>\n]{0,80}) ?[$#%>❯➜] ?)?"
    r"(?:sudo )?(?:kubectl|oc|helm|kustomize|flux|k3s|k|cat|microk8s) .*"
)
_BARE_PROMPT = re.compile(
    r"(?:[^\s@$#]{1,40}@[^\s$#]{1,80}[$#]|\[[^\]\n]{1,80}\][$#]|(?:ba)?sh-\d\.\d[$#])(?: .*)?|[$%❯➜] {0,3}"
    r"|\$ (?:exit|logout|clear)"
)
_HEREDOC = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")
_MESSAGE = re.compile(
    r"(?i:warning: .*|warning:$)|[WIEF]\d{4} \d\d:\d\d:\d\d.*|Flag --\S+ has been deprecated.*"
    r"|Defaulted container .*|No resources found.*|Error from server.*"
    r"|[a-z][\w.-]{0,200}/\S{1,253} (?:created|configured|unchanged|replaced|patched|deleted)(?: \(.*\))?"
    r"|\w+\.go:\d+: .*|Unable to use a TTY.*|error: .* skipping.*|(?:Pulled|Digest): .*|Using \S+ namespace.*"
    r"|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d .*|level=\w+ .*|time=\S+ level=.*"
)
_BEGINS = re.compile(r"(?:-\s+)?[\"']?(?:apiVersion|kind|items|metadata)[\"']?\s*:|[{\[]|---|%YAML")
_IN_MANIFEST = re.compile(r"(?:-\s+)?[\"']?(?:apiVersion|kind|items|metadata)[\"']?\s*:|[{\[]\s*$")
_FENCE = re.compile(r"((?: {0,3}> ?){0,3} {0,12})(`{3,}+|~{3,}+)[^`]*+")
"""A fence; before it are the marks of a quotation, and the indentation of a list's item."""
_SPACE = "\u00a0\u2007\u202f\u2002\u2003\u2009\u3000"
_INVISIBLE = "\u200b\u2060\ufeff"
_SPACED = re.compile(rf"^[ -]*[{_SPACE}]|[:,{{\[-][ ]*[{_SPACE}]|[{_INVISIBLE}]", re.MULTILINE)
_LOG = ("==== START logs for ", "==== END logs for ")
_DRY_RUN = re.compile(r"^(?:MANIFEST|HOOKS):[ ]*$", re.MULTILINE)


def cleaned(text: str) -> Iterator[Cleaned]:
    """Yield the text after each change that there is to make, and what it was; the last one is read."""
    for clean in _STEPS:
        made, said = clean(text)
        if said:
            text = made
            yield text, said


def _spaces(text: str) -> Cleaned:
    """Make plain spaces of others where YAML reads indentation or a separator."""
    if text.isascii() or not any(mark in text for mark in _SPACE + _INVISIBLE):
        return text, ""
    if not _SPACED.search(text):
        return text, ""
    table = {ord(mark): " " for mark in _SPACE} | {ord(mark): None for mark in _INVISIBLE}
    return text.translate(table), "no-break spaces are read as spaces"


def _logs(text: str) -> Cleaned:
    """Blank the logs in what ``kubectl cluster-info dump`` prints; one that was cut off goes to the end."""
    if _LOG[0] not in text:
        return text, ""
    lines, inside = text.split("\n"), False
    for at, line in enumerate(lines):
        inside = inside or line.startswith(_LOG[0])
        if inside:
            lines[at] = ""
            inside = not line.startswith(_LOG[1])
    made = "\n".join(lines)
    said = "kubectl cluster-info dump: its objects are read, its logs are passed over"
    return made, said if made != text else ""


def _fences(text: str) -> Cleaned:
    """Keep the fenced blocks of a Markdown text that hold manifests, without the messages in them."""
    if "```" not in text and "~~~" not in text:
        return text, ""
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if _FENCE.fullmatch(line)), None)
    if first is None or any(_IN_MANIFEST.match(line) for line in lines[:first]):
        return text, ""
    kept = [""] * len(lines)
    for begin, end, margin in _blocks(lines, first):
        body = [_without(margin, line) for line in lines[begin + 1 : end]]
        if any(_BEGINS.match(line.strip()) for line in body):
            kept[begin] = "---"
            kept[begin + 1 : end] = ["" if _is_noise(line) else line for line in body]
    if not any(kept):
        return text, ""
    return "\n".join(kept), "Markdown: the manifests in its fenced blocks are read"


def _blocks(lines: list[str], at: int) -> Iterator[tuple[int, int, str]]:
    """Yield the first and the last line of each fenced block, and what precedes its fence.

    One that is not closed goes to the end.
    """
    while at < len(lines):
        opened = _FENCE.fullmatch(lines[at])
        if opened is None:
            at += 1
            continue
        margin, mark = opened.groups()
        end = next((n for n in range(at + 1, len(lines)) if _closes(lines[n], mark)), len(lines))
        yield at, end, margin
        at = end + 1


def _closes(line: str, mark: str) -> bool:
    found = line.lstrip("> ").rstrip()
    return len(found) >= len(mark) and not found.strip(mark[0])


def _without(margin: str, line: str) -> str:
    """Return a line of a block without the marks of a quotation and the indentation of its fence."""
    for _ in range(margin.count(">")):
        line = line.lstrip(" ").removeprefix(">").removeprefix(" ")
    indent = len(margin) - len(margin.rstrip(" ")) - margin.count(">")
    return line[min(max(indent, 0), len(line) - len(line.lstrip(" "))) :]


def _dry_run(text: str) -> Cleaned:
    """Keep the manifests of what ``helm install --dry-run`` prints."""
    marks = list(_DRY_RUN.finditer(text)) if text.lstrip().startswith("NAME:") else []
    if not marks:
        return text, ""
    start = marks[-1].end()
    notes = re.compile(r"^NOTES:", re.MULTILINE).search(text, start)
    end = notes.start() if notes else len(text)
    head, tail = text[:start], text[end:]
    made = "\n" * head.count("\n") + text[start:end] + "\n" * tail.count("\n")
    return made, "helm's dry run: its manifests are read"


def _shell(text: str) -> Cleaned:
    """Blank commands, here-documents' ends and messages before, between and after manifests."""
    head = text[:4_000].split("\n", _FIRST)
    begin = next((n for n, line in enumerate(head) if _BEGINS.match(line) and not _is_noise(line)), None)
    if begin is None:
        return _prompted(text)
    strange = [line for line in head[:begin] if line.strip() and not line.lstrip().startswith("#")]
    ends = {found.group(1) for line in strange for found in [_HEREDOC.search(line)] if found}
    if not all(_is_noise(line) for line in strange):
        return text, ""
    if not strange and not _is_noise(text.rstrip().rpartition("\n")[2]):
        return text, ""
    lines = text.split("\n")
    lines[:begin] = ["" if _is_noise(line) else line for line in lines[:begin]]
    for at in range(begin, len(lines)):
        line = lines[at]
        if line in ends or _BARE_PROMPT.fullmatch(line) or _MESSAGE.fullmatch(line):
            lines[at] = ""
        elif strange and line[:1] not in (" ", "-", "#", "") and _PROMPT.fullmatch(line):
            found = _HEREDOC.search(line)
            ends |= {found.group(1)} if found else set()
            lines[at] = "---"
    made = "\n".join(lines)
    return made, "commands and messages around the manifests are passed over" if made != text else ""


def _prompted(text: str) -> Cleaned:
    """Blank the command in front of what is no manifest, such as a table, so that this is recognized."""
    command, _, rest = text.partition("\n")
    if rest.strip() and _PROMPT.fullmatch(command):
        return f"\n{rest}", "commands and messages around the manifests are passed over"
    return text, ""


def _is_noise(line: str) -> bool:
    return bool(_PROMPT.fullmatch(line) or _MESSAGE.fullmatch(line) or _BARE_PROMPT.fullmatch(line))


_STEPS: tuple[Callable[[str], Cleaned], ...] = (_spaces, _logs, _fences, _dry_run, _shell)

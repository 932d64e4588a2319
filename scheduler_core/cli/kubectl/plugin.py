"""``kubectl podstep``: its verbs, each a command of ``podstep`` on a snapshot that stays on this machine."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from scheduler_core.authoring import redaction
from scheduler_core.cli import commands, upload
from scheduler_core.cli.input_files import InputError
from scheduler_core.cli.kubectl import lists
from scheduler_core.cli.kubectl.name_key import name_key

NAME = "cluster.json"
CHOOSING = ("kubeconfig", "context", "cluster", "user", "as")
"""Flags of kubectl that choose the cluster and the user."""
PREVIEW_LINES = 60
DEFAULT_PORT = 8000
ALONE = ("open", "snapshot")
"""Verbs that are no command of ``podstep``, which would take further options."""


class PluginVerb(NamedTuple):
    """A verb: its help, its arguments, and what it does with the snapshot."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, lists.ListedCluster], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one question; returns an exit code of ``podstep``."""
    described = parser()
    options, rest = described.parse_known_args(arguments)
    options.rest = rest
    if options.rest and options.verb in ALONE:
        described.error(f"unrecognized arguments: {' '.join(options.rest)}")
    return commands.guarded(lambda: _run(options))


def console() -> None:
    """Run the plugin with the process's arguments, and exit with its code."""
    sys.exit(main())


def parser() -> argparse.ArgumentParser:
    """Describe the verbs."""
    top = argparse.ArgumentParser(
        prog="kubectl podstep",
        description="Answers about the cluster of your kubeconfig: `kubectl get` reads it, and what was read "
        "stays on this machine.",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, verb in VERBS.items():
        described = verbs.add_parser(name, help=verb.help, description=verb.help)
        described.add_argument("-n", "--namespace", default="")
        for flag in CHOOSING:
            described.add_argument(f"--{flag}", default="", help=argparse.SUPPRESS)
        verb.add_arguments(described)
    return top


def _run(options: argparse.Namespace) -> int:
    if not getattr(options, "dry_run", True):
        raise InputError("podstep changes nothing in your cluster: add --dry-run")
    given = [(flag, getattr(options, flag)) for flag in CHOOSING]
    flags = tuple(f"--{flag}={value}" for flag, value in given if value)
    kubectl = lists.Kubectl(flags, options.namespace)
    lists.show(lists.calls(kubectl))
    cluster = lists.read(kubectl)
    for note in cluster.notes:
        print(f"note: {note}", file=sys.stderr)
    return VERBS[options.verb].run(options, cluster)


# What the verbs do


def _asked(options: argparse.Namespace, cluster: lists.ListedCluster, command: str, *arguments: str) -> int:
    """Run a command of ``podstep`` on the snapshot."""
    return _with_file(cluster.documents, lambda file: [command, file, *arguments, *options.rest])


def _with_file(documents: Sequence[object], command: Callable[[str], list[str]]) -> int:
    """Run a command on a file with the documents, which only this user can read, and which goes with it."""
    with tempfile.TemporaryDirectory(prefix="podstep-") as folder:
        file = Path(folder) / NAME
        file.write_bytes(_text(documents))
        return commands.main(command(str(file)))


def _text(documents: Sequence[object]) -> bytes:
    return msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": documents})


def _why(options: argparse.Namespace, cluster: lists.ListedCluster) -> int:
    pod = _pod(options.pod, options.namespace, cluster)
    brief = () if options.details else ("--brief",)
    return _asked(options, cluster, "explain", f"--pod={pod}", *brief)


def _pod(name: str, namespace: str, cluster: lists.ListedCluster) -> str:
    """Return ``namespace/name`` of a pod: without a namespace, of the only one with that name."""
    if "/" in name or namespace:
        return name if "/" in name else f"{namespace}/{name}"
    metas = [one["metadata"] for one in cluster.documents if one.get("kind") == "Pod"]
    found = [f"{meta.get('namespace', 'default')}/{name}" for meta in metas if meta["name"] == name]
    if len(found) > 1:
        raise InputError(f"{name} is a pod of several namespaces: add --namespace ({', '.join(found[:5])})")
    return found[0] if found else name


def _audit(options: argparse.Namespace, cluster: lists.ListedCluster) -> int:
    code = _asked(options, cluster, "audit", f"--see={NAME}")
    print(f"{NAME}: what `kubectl podstep snapshot -f {NAME}` writes", file=sys.stderr)
    return code


def _drain(options: argparse.Namespace, cluster: lists.ListedCluster) -> int:
    brief = () if options.details else ("--brief",)
    return _asked(options, cluster, "simulate", f"--drain={options.node}", *brief)


def _snapshot(options: argparse.Namespace, cluster: lists.ListedCluster) -> int:
    _preview(cluster)
    documents = _hidden(cluster) if options.hide_names else cluster.documents
    if options.preview:
        _show_first(documents)
    elif options.file:
        Path(options.file).write_bytes(_text(documents))
    else:
        sys.stdout.buffer.write(_text(documents) + b"\n")
    return 0


def _open(options: argparse.Namespace, cluster: lists.ListedCluster) -> int:
    _preview(cluster)
    documents = _hidden(cluster) if options.hide_names else cluster.documents
    if upload.is_local(options.server) and not upload.answers(options.server):
        return _serve(options, documents)
    if not (options.yes or upload.is_local(options.server) or upload.agreed(options.server)):
        raise InputError("nothing was sent")
    print(upload.send(options.server, _text(documents), options.title, browser=not options.no_browser))
    return 0


def _serve(options: argparse.Namespace, documents: Sequence[object]) -> int:
    """Start a workbench with the snapshot, until Ctrl-C."""
    port = urlsplit(options.server).port or DEFAULT_PORT
    quiet = ["--no-browser"] if options.no_browser else []
    return _with_file(documents, lambda file: ["serve", file, f"--port={port}", *quiet])


def _hidden(cluster: lists.ListedCluster) -> list[dict[str, object]]:
    return redaction.renamed(cluster.documents, name_key())


def _preview(cluster: lists.ListedCluster) -> None:
    for line in cluster.preview():
        print(line, file=sys.stderr)


def _show_first(documents: Sequence[dict[str, object]]) -> None:
    """Print the first object of each kind, as it would leave this machine."""
    for one in {str(document.get("kind")): document for document in reversed(documents)}.values():
        print("\n".join(json.dumps(one, indent=1).splitlines()[:PREVIEW_LINES]))


# What they take


def _about_pod(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pod", metavar="POD")
    parser.add_argument("--details", action="store_true", help="every node, and every change that helps")


def _about_node(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("node", metavar="NODE")
    parser.add_argument("--dry-run", action="store_true", help="required: nothing is drained")
    parser.add_argument("--details", action="store_true", help="every pod, those that stay too")


def _about_names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--hide-names",
        action="store_true",
        help="hashes for names, by a key that stays on this machine; numbers before them keep ties",
    )


def _about_file(parser: argparse.ArgumentParser) -> None:
    _about_names(parser)
    parser.add_argument("-f", "--file", help="write to this file (default: standard output)")
    parser.add_argument(
        "--preview", action="store_true", help="show what would be written, and write nothing"
    )


def _about_server(parser: argparse.ArgumentParser) -> None:
    _about_names(parser)
    parser.add_argument("--server", default=upload.LOCAL, help=f"a podstep (default: {upload.LOCAL})")
    parser.add_argument("--title", default="", help="of the scenario")
    parser.add_argument("--yes", action="store_true", help="send without asking")
    parser.add_argument("--no-browser", action="store_true", help="print the address alone")


VERBS = {
    "why": PluginVerb("why a pod is pending, or where it is; and the smallest change", _about_pod, _why),
    "audit": PluginVerb("what of the cluster is at risk", lambda _: None, _audit),
    "open": PluginVerb("open the cluster in a workbench", _about_server, _open),
    "snapshot": PluginVerb("write what podstep reads of the cluster", _about_file, _snapshot),
    "drain": PluginVerb("what a drain of a node would do", _about_node, _drain),
}

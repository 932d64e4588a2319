"""Reading visitors' bundles within limits, and writing them."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import json
import re
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Literal, Protocol

import zstandard
from msgspec.structs import replace

from playground.limits import limit
from scheduler_core import Limits, load, load_documents
from scheduler_core.authoring.policy_edits import edited
from scheduler_core.compare import plane
from scheduler_core.formats.archive import read_archive
from scheduler_core.formats.bundle import File
from scheduler_core.formats.folder import Folder, joined
from scheduler_core.formats.limits import FormatError
from scheduler_core.formats.text import decode as decode_text
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.progress import Watch, unwatched
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import (
    CACHING,
    CONFIGURATION_KIND,
    POLICY_KIND,
    TIMED,
    VIRTUAL,
    default_release,
    is_framework_document,
    release_by_time,
)
from scheduler_core.settings.settings import SETTINGS_KIND

Files = list[tuple[str, str]]  # name, text
Times = Literal["keep", "ignore"]

_GZIP = b"\x1f\x8b"
LIVES = ',"lives":true'
_RELEASE_AT_END = re.compile(rb',"release":"([^"]*)"}$')
SHOWN_PROBLEMS = 100
YAML_BYTES = 4_000_000
LARGE_BYTES = 200_000  # of a bundle, of which the results of two readings are kept
KEPT_LARGE = 2
KEPT_BYTES = 8 * 2**20  # of the smaller ones together, in memory
KEPT_SECONDS = 120.0
BYTES_OF_TEXT = 16  # in memory per byte of text, an upper bound: ConfigMaps take 8, pods 16, a long text 1
NO_OBJECT = (
    "It contains no objects; paste the output of `kubectl get nodes,pods -A -o yaml`, or your own manifests."
)


class TooLargeError(ValueError):
    """A limit is exceeded. The text says which and by how much."""


class OutgrownError(TooLargeError):
    """A stored scenario cannot be read under the current limits."""


def problems_wire(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return the first :data:`SHOWN_PROBLEMS` problems, and a last one that counts the rest.

    Those that concern the whole result, of fields that are not honored and of missing objects, are always
    included, however many others there are.
    """
    first = sorted(problems, key=lambda one: not (one.unhonored or one.incomplete))[:SHOWN_PROBLEMS]
    kept = {id(problem) for problem in first}
    wire = [problem.as_dict() for problem in problems if id(problem) in kept]
    if len(problems) > SHOWN_PROBLEMS:
        wire.append(Problem(f"and {len(problems) - SHOWN_PROBLEMS:,} more like these").as_dict())
    return wire


_watch: ContextVar[Watch] = ContextVar("watch", default=unwatched)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Report the progress of every reading in this context to ``watch``, which can abort one by raising."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def watching() -> Watch:
    """Return the callback that receives the progress of a reading in this context."""
    return _watch.get()


class BundleReader(Protocol):
    """A reader of large bundles in place of this thread; returns None for small ones."""

    def read(self, files: Sequence[File], times: Times, presumed: str = "") -> Scenario | None:
        """Read files as :func:`parse` does after its size checks, without a title."""

    def documents(self, text: str) -> Scenario | None:
        """Return a scenario with the documents that :func:`read_documents` returns."""

    def restore(self, content: bytes) -> Scenario | None:
        """Restore content as :func:`restore` does."""


_reader: ContextVar[BundleReader | None] = ContextVar("reader", default=None)


@contextmanager
def read_by(reader: BundleReader | None) -> Iterator[None]:
    """Let ``reader`` read large bundles in this context."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def ask_on() -> None:
    """Abort the current reading, by what its watch raises, if it is no longer wanted; call before storing."""
    _watch.get()("assembling", 1, 1)


def parse(
    files: Sequence[File],
    title: str = "",
    *,
    times: Times = "keep",
    watch: Watch | None = None,
    presumed: str = "",
) -> Scenario:
    """Parse a bundle; with ``times`` "ignore" every pod of a trace is created at once and never ends.

    ``watch`` (None: that of :func:`watched`) receives the progress, and can abort by raising. ``presumed`` is
    the release that answers a bundle which names none, "" being the default. Raises BundleError with all
    problems, or TooLargeError.
    """
    texts = [text for file in files for text in texts_of(file)]
    size = sum(map(text_bytes, texts))
    if size > limit("BUNDLE_BYTES"):
        raise TooLargeError(f"The bundle has {size:,} bytes; at most {limit('BUNDLE_BYTES'):,} are read.")
    if not any(text.strip() for text in texts):
        raise BundleError(
            [Problem("The text is empty. Paste manifests, or the output of `kubectl get … -o yaml`.")]
        )
    key = content_key(files, times, presumed)
    known = last_read.find(key)
    if known is not None:
        return replace(known, title=title)
    scenario = _read(files, title, times, watch, presumed)
    last_read.keep(key, scenario, BYTES_OF_TEXT * size)
    return scenario


def _read(files: Sequence[File], title: str, times: Times, watch: Watch | None, presumed: str) -> Scenario:
    reader = _reader.get()
    if reader is not None:
        with watched(watch or _watch.get()):
            read = reader.read(files, times, presumed)
        if read is not None:
            return replace(read, title=title)
    scenario = load(
        [*files],
        title=title,
        limits=core_limits(),
        times=times,
        watch=watch or _watch.get(),
        presumed=presumed,
    )
    if not scenario.objects and not scenario.operations:
        raise BundleError([Problem(NO_OBJECT)])
    check_size(scenario)
    return scenario


def content_key(files: Sequence[File], times: Times, presumed: str = "") -> bytes:
    """Return a digest of everything that the result of reading files depends on, the limits included."""
    digest = hashlib.sha256(f"{times} {core_limits()} {limit('NODES')} {presumed}".encode())
    for file in files:
        name, held = "", [file]
        if isinstance(file, Folder):
            name, held = f"{file.name}{file.separator}{file.left}", list(file.files)
        digest.update(f"{name}\0{len(held)}\0".encode(errors="surrogatepass"))
        for part in (part for one in held if not isinstance(one, Folder) for part in one):
            data = part if isinstance(part, bytes) else part.encode(errors="surrogatepass")
            digest.update(len(data).to_bytes(8))
            digest.update(data)
    return digest.digest()


class LastRead:
    """A cache of the bundles read last: a text is usually checked, edited, opened and played in turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, tuple[float, Scenario, int]] = OrderedDict()

    @property
    def held_bytes(self) -> int:
        """The approximate memory that they take, in bytes."""
        with self._lock:
            return sum(size for _, _, size in self._kept.values())

    def clear(self) -> None:
        """Drop all of them to free the memory."""
        with self._lock:
            self._kept.clear()

    def find(self, key: bytes) -> Scenario | None:
        """Return the scenario read from files with this :func:`content_key`; None on a cache miss."""
        with self._lock:
            self._forget()
            found = self._kept.get(key)
        return found[1] if found is not None else None

    def keep(self, key: bytes, scenario: Scenario, size: int) -> None:
        """Cache a scenario of about ``size`` bytes until it expires or is evicted."""
        with self._lock:
            self._forget()
            self._kept[key] = (time.monotonic(), scenario, size)
            self._kept.move_to_end(key)
            large = small = 0
            for kept, (_, _, held) in list(reversed(self._kept.items())):
                if held > BYTES_OF_TEXT * LARGE_BYTES:
                    large += 1
                    surplus = large > KEPT_LARGE
                else:
                    small += held
                    surplus = small > KEPT_BYTES
                if surplus:
                    del self._kept[kept]

    def _forget(self) -> None:
        oldest = time.monotonic() - KEPT_SECONDS
        for key in [key for key, (since, _, _) in self._kept.items() if since < oldest]:
            del self._kept[key]


last_read = LastRead()


def read_documents(text: str) -> tuple[Document, ...]:
    """Return the documents of a text, under the same limits as a bundle's file. Raises BundleError."""
    reader = _reader.get()
    if reader is not None and (read := reader.documents(text)) is not None:
        return read.documents
    return load(text, limits=core_limits(), watch=_watch.get()).documents


def core_limits() -> Limits:
    """Return the limits of every reading, of visitors' bundles as well as of stored ones."""
    # Django limits the number of uploaded files; an archive among them may contain many.
    return Limits(
        size=limit("BUNDLE_BYTES"),
        files=Limits().entries,
        documents=limit("MANIFESTS"),
        pods=limit("PODS"),
    )


def counts(scenario: Scenario) -> tuple[int, int, int]:
    """Return the numbers of nodes, pods and operations, including nodes and pods created by operations."""
    created = [operation.object for operation in scenario.operations if operation.action == "create"]
    everything = [*scenario.objects, *created]
    nodes = sum(isinstance(item, Node) for item in everything)
    pods = sum(isinstance(item, Pod) for item in everything)
    return nodes, pods, len(scenario.operations)


def check_size(scenario: Scenario) -> None:
    """Raise TooLargeError for a scenario with more nodes or pods than the limits allow."""
    nodes, pods, _ = counts(scenario)
    for noun, count, most in (("nodes", nodes, limit("NODES")), ("pods", pods, limit("PODS"))):
        if count > most:
            raise TooLargeError(f"The scenario has {count:,} {noun}; at most {most:,} are simulated.")


def interactive_work(scenario: Scenario) -> int:
    """Return the work of playing a scenario in a web process: nodes × pods to be scheduled."""
    nodes, pods, _ = counts(scenario)
    bound = sum(isinstance(item, Pod) and bool(item.node_name) for item in scenario.objects)
    return nodes * (pods - bound)


def text_bytes(text: str) -> int:
    """Return the length of ``text`` in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def decode(name: str, data: bytes, most: int | None = None) -> str:
    """Return an uploaded file's text, including a byte order mark; gzip is decompressed.

    Never more than ``most`` bytes (None: the limit).

    Raises TooLargeError, or BundleError if the bytes are not text.
    """
    most = limit("BUNDLE_BYTES") if most is None else most
    if data[:2] == _GZIP:
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(most + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BundleError([Problem(f"The gzip file cannot be unpacked: {error}", file=name)]) from error
    if len(data) > most:
        raise TooLargeError(f"{name} exceeds the {limit('BUNDLE_BYTES'):,} bytes that a bundle may have.")
    try:
        text = decode_text(data, limits=core_limits())
    except FormatError as error:
        raise BundleError([Problem(error.message, line=error.line, file=name)]) from error
    # UTF-8 text is kept byte for byte, mark included; other encodings are converted to UTF-8 without one.
    return f"\ufeff{text}" if data.startswith(codecs.BOM_UTF8) else text


def opened(name: str, data: bytes, most: int | None = None) -> File:
    """Return an uploaded file's name and text, or an archive's manifests as a folder of texts.

    Raises the errors of :func:`decode`.
    """
    limits = replace(core_limits(), size=limit("BUNDLE_BYTES") if most is None else most)
    try:
        folder = read_archive(name, data, limits)
        if folder is None:
            return name, decode(name, data, most)
        read = folder.read(limits)
    except FormatError as error:
        raise BundleError([Problem(error.message, line=error.line, file=error.file or name)]) from error
    if not read.files:
        looked = ", ".join(read.notes()) or "it is empty"
        raise BundleError([Problem(f"it contains no manifest: {looked}", file=name)])
    return read


def stored(files: Sequence[File]) -> Files:
    """Return the files as a draft stores them: an archive's YAML as one text."""
    out: Files = []
    for file in files:
        if isinstance(file, Folder):
            out += joined(file)
        else:
            out.append((file[0], str(file[1])))
    return out


def file_bytes(file: File) -> int:
    """Return the length of a file's texts in bytes of UTF-8."""
    return sum(map(text_bytes, texts_of(file)))


def texts_of(file: File) -> list[str]:
    """Return the texts of a file: its own, or those of an archive's files."""
    return [str(text) for _, text in (file.files if isinstance(file, Folder) else [file])]


# --- stored forms ----------------------------------------------------------------------------


def pack(data: bytes) -> bytes:
    """Compress for the database."""
    return zstandard.ZstdCompressor(level=6).compress(data)


def unpack(data: bytes | memoryview) -> bytes:
    """Undo :func:`pack`."""
    return zstandard.ZstdDecompressor().decompress(bytes(data), max_output_size=1 << 31)


def unpacked_bytes(data: bytes) -> int:
    """Return the number of bytes that :func:`unpack` returns."""
    return int(zstandard.frame_content_size(data))


def content_of(scenario: Scenario) -> bytes:
    """Return what is stored of a scenario: ``canonical()``, and the kube-scheduler that answers it.

    A stored scenario keeps that release even if what a bundle names is read otherwise one day, and runs
    without controllers if it was stored when v1.37 had none: what lives says so.
    """
    lives = f'{LIVES},"' if scenario.lives else ',"'
    return scenario.canonical()[:-1] + f'{lives}release":"{scenario.release}"}}'.encode()


def restore(content: bytes | memoryview) -> Scenario:
    """Return the scenario whose :func:`content_of` was packed into ``content``.

    Its documents name the release that answered it, if today another one would. Content without a release
    was stored when there were v1.11 and the framework alone; what does not say that it lives has no
    controllers under v1.37. The current limits apply. Raises OutgrownError
    if they were lowered since it was stored and it exceeds them, or if it can no longer be read.
    """
    reader = _reader.get()
    if reader is not None and (restored := reader.restore(bytes(content))) is not None:
        return restored
    body = json.loads(unpack(content))
    try:
        read = partial(
            load_documents,
            title=body["title"],
            limits=core_limits(),
            watch=_watch.get(),
            controllers=bool(body.get("lives")),
        )
        scenario = read(body["documents"])
        release = body.get("release") or release_before_v1_37(scenario)
        if release != scenario.release:
            scenario = read(with_release(body["documents"], release))
        check_size(scenario)
    except (BundleError, TooLargeError) as error:
        raise OutgrownError(
            f"This was stored under different limits: {error}. Its text can still be "
            "downloaded; the operator of this server can raise the limit."
        ) from error
    return scenario


def restored(content: bytes) -> Scenario:
    """Return what :func:`restore` does, and keep it for the next time, as :func:`parse` does."""
    key = hashlib.sha256(b"stored" + content).digest()
    known = last_read.find(key)
    if known is None:
        known = restore(content)
        last_read.keep(key, known, BYTES_OF_TEXT * unpacked_bytes(content))
    return known


def release_before_v1_37(scenario: Scenario) -> str:
    """Return the release that answered a scenario while there was no other than v1.11 and the framework."""
    timed = (
        is_framework_document(one.policy) or one.settings.time == "virtual" for one in scenario.configurations
    )
    return release_by_time(timed=any(timed))


def with_release(documents: Sequence[Document], release: str) -> tuple[Document, ...]:
    """Return a bundle's documents with a release in their SimulationSettings.

    Documents that let time pass and choose no scheduler once chose the framework with v1.11's rules, which an
    empty Policy stands for: ``scheduler: v1.22`` alone has rules of its own.
    """
    if release not in (CACHING, TIMED) or not _passes_time_alone(documents):
        return edited(tuple(documents), "setting", "scheduler", release)
    policy = {"apiVersion": "v1", "kind": POLICY_KIND}
    return (*edited(tuple(documents), "setting", "scheduler", TIMED), policy)


def _passes_time_alone(documents: Sequence[Document]) -> bool:
    """Return whether settings let time pass, and neither they nor a configuration choose a scheduler."""
    settings = [one for one in documents if one.get("kind") == SETTINGS_KIND]
    configured = any(one.get("kind") in (POLICY_KIND, CONFIGURATION_KIND) for one in documents)
    return not configured and any(one.get("time") == VIRTUAL and not one.get("scheduler") for one in settings)


def implicit_release(content: bytes) -> str:
    """Return the release that :func:`restore` adds to the stored documents, "" if they name it."""
    silent = SETTINGS_KIND.encode() not in unpack(content)
    if silent and stored_release(content) == default_release():
        return ""  # no document chose another when it was stored, nor does one today
    given = json.loads(unpack(content))["documents"]
    return "" if _named_release(given) else _named_release(restore(content).documents)


def _named_release(documents: Sequence[Document]) -> str:
    settings = (document for document in documents if document.get("kind") == SETTINGS_KIND)
    return next((str(one["scheduler"]) for one in settings if one.get("scheduler")), "")


def stored_documents(content: bytes) -> tuple[Document, ...]:
    """Return the documents as they were when they were stored."""
    return tuple(json.loads(unpack(content))["documents"])


def release_of(content: bytes, scenario: Scenario) -> str:
    """Return the release that answers stored content, which ``scenario`` has the documents of."""
    return stored_release(content) or release_before_v1_37(scenario)


def stored_release(content: bytes) -> str:
    """Return the release that stored content names, "" of content from before it did; nothing is parsed."""
    found = _RELEASE_AT_END.search(unpack(content)[-40:])
    return "" if found is None else found[1].decode()


def lives(content: bytes) -> bool:
    """Return whether stored content runs with controllers under v1.37; nothing is parsed."""
    return LIVES.encode() in unpack(content)[-40:]


def reread(scenario: Scenario, scheduler: str = "", presumed: str = "") -> Scenario:
    """Return the scenario of changed documents, as :func:`parse` would read them.

    ``scheduler`` is a release that answers it, "" for the one that the documents choose. If they choose none
    they are made to name ``presumed``, unless that is the default. Raises BundleError with all problems, or
    TooLargeError.
    """
    changed = load_documents(
        scenario.documents,
        title=scenario.title,
        limits=core_limits(),
        watch=_watch.get(),
        scheduler=scheduler,
        presumed=presumed,
    )
    check_size(changed)
    if changed.said_release or changed.release == default_release():
        return changed
    return reread(replace(scenario, documents=with_release(scenario.documents, changed.release)))


def living(scenario: Scenario) -> Scenario:
    """Return the scenario with controllers. Raises BundleError and TooLargeError."""
    made = plane.living(scenario, core_limits(), _watch.get())
    check_size(made)
    return made


def bundle_text(scenario: Scenario) -> str:
    """Return the documents as one YAML stream, or as a JSON List if they are very large.

    Keys keep their order.
    """
    documents = [_plain(document) for document in scenario.documents]
    as_json = json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": documents}, indent=1, ensure_ascii=False
    )
    if len(as_json) > YAML_BYTES:  # writing this as YAML takes many seconds, and no person reads it
        return as_json
    return write_yaml(documents)


def _plain(value: Any) -> Any:
    """Copy mappings and sequences into dicts and lists, so that the YAML has no aliases."""
    if hasattr(value, "items"):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

"""Reading what visitors give us, within bounds, and writing it again."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import json
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Literal, Protocol

import zstandard

from playground.limits import limit
from scheduler_core import Limits, load, load_documents
from scheduler_core.config.policy import PolicyError
from scheduler_core.formats.archive import read_archive
from scheduler_core.formats.bundle import File
from scheduler_core.formats.folder import Folder, joined
from scheduler_core.formats.limits import FormatError
from scheduler_core.formats.text import decode as decode_text
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.framework.configuration.profiles import compile_profile
from scheduler_core.objects.manifests import Document
from scheduler_core.objects.model import Node, Pod
from scheduler_core.objects.problems import BundleError, Problem
from scheduler_core.progress import Watch, unwatched
from scheduler_core.scenario.scenario import Scenario

Files = list[tuple[str, str]]  # name, text
Times = Literal["keep", "ignore"]

_GZIP = b"\x1f\x8b"
SHOWN_PROBLEMS = 100
YAML_BYTES = 4_000_000
LARGE_BYTES = 200_000  # of a bundle whose reading takes long enough to be kept
KEPT_SCENARIOS = 2
KEPT_SECONDS = 120.0
BYTES_OF_TEXT = 16  # in memory for each of a text, as a bound: ConfigMaps take 8, pods 16, a long text 1
NO_OBJECT = (
    "There is no object in it; paste what `kubectl get nodes,pods -A -o yaml` prints, "
    "or manifests of your own."
)


class TooLargeError(ValueError):
    """More than a limit allows. The text says which and by how much."""


class OutgrownError(TooLargeError):
    """What was stored cannot be read under the limits in force now."""


def problem_wire(problem: Problem) -> dict[str, Any]:
    """Return the protocol's ``Problem``."""
    wire: dict[str, Any] = {
        "message": problem.message,
        "path": problem.path,
        "line": problem.line,
        "document": problem.document,
    }
    if problem.file:
        wire["file"] = problem.file
    if problem.unhonored:
        wire["unhonored"] = problem.unhonored
    return wire


def problems_wire(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return the first :data:`SHOWN_PROBLEMS` problems, and a last one that counts the rest.

    Those of fields that are not honored are among the first, however many others there are.
    """
    first = sorted(problems, key=lambda problem: not problem.unhonored)[:SHOWN_PROBLEMS]
    kept = {id(problem) for problem in first}
    wire = [problem_wire(problem) for problem in problems if id(problem) in kept]
    if len(problems) > SHOWN_PROBLEMS:
        wire.append(problem_wire(Problem(f"and {len(problems) - SHOWN_PROBLEMS:,} more like these")))
    return wire


_watch: ContextVar[Watch] = ContextVar("watch", default=unwatched)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Let ``watch`` hear how far every reading inside is; it ends one by raising."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def watching() -> Watch:
    """Return what hears how far a reading in this thread is."""
    return _watch.get()


class BundleReader(Protocol):
    """Who reads large bundles in place of this thread; None is returned for what is small."""

    def read(self, files: Sequence[File], times: Times) -> Scenario | None:
        """Do what :func:`parse` does of files within the bounds of size, whatever the title."""

    def documents(self, text: str) -> Scenario | None:
        """Return a scenario with what :func:`read_documents` returns."""

    def restore(self, content: bytes) -> Scenario | None:
        """Do what :func:`restore` does."""


_reader: ContextVar[BundleReader | None] = ContextVar("reader", default=None)


@contextmanager
def read_by(reader: BundleReader | None) -> Iterator[None]:
    """Let ``reader`` read what is large inside."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def ask_on() -> None:
    """Raise what ends the reading at hand if nobody wants it any more: before what it is for is stored."""
    _watch.get()("assembling", 1, 1)


def parse(
    files: Sequence[File], title: str = "", *, times: Times = "keep", watch: Watch | None = None
) -> Scenario:
    """Read a bundle; of a trace with ``times`` "ignore" every pod comes at once and stays.

    ``watch`` (None: that of :func:`watched`) hears how far it is, and ends it by raising. Raises
    BundleError with everything that is wrong, or TooLargeError.
    """
    texts = [text for file in files for text in texts_of(file)]
    size = sum(map(text_bytes, texts))
    if size > limit("BUNDLE_BYTES"):
        raise TooLargeError(f"The bundle has {size:,} bytes; at most {limit('BUNDLE_BYTES'):,} are read.")
    if not any(text.strip() for text in texts):
        raise BundleError(
            [Problem("There is nothing in it. Paste manifests, or what `kubectl get … -o yaml` prints.")]
        )
    if size <= LARGE_BYTES:
        return _read(files, title, times, watch)
    key = content_key(files, times)
    known = last_read.find(key)
    if known is not None:
        return replace(known, title=title)
    scenario = _read(files, title, times, watch)
    last_read.keep(key, scenario, BYTES_OF_TEXT * size)
    return scenario


def _read(files: Sequence[File], title: str, times: Times, watch: Watch | None) -> Scenario:
    reader = _reader.get()
    if reader is not None:
        with watched(watch or _watch.get()):
            read = reader.read(files, times)
        if read is not None:
            return replace(read, title=title)
    scenario = load([*files], title=title, limits=core_limits(), times=times, watch=watch or _watch.get())
    if not scenario.objects and not scenario.operations:
        raise BundleError([Problem(NO_OBJECT)])
    check_size(scenario)
    check_policy(scenario)
    return scenario


def content_key(files: Sequence[File], times: Times) -> bytes:
    """Return a digest of all that a reading of files depends on."""
    digest = hashlib.sha256(times.encode())
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
    """The large bundles that were read last: who checks a text opens it next, and who applies it plays it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, tuple[float, Scenario, int]] = OrderedDict()

    @property
    def held_bytes(self) -> int:
        """About how many bytes they take."""
        with self._lock:
            return sum(size for _, _, size in self._kept.values())

    def clear(self) -> None:
        """Let all of them go: there is better use for the memory."""
        with self._lock:
            self._kept.clear()

    def find(self, key: bytes) -> Scenario | None:
        """Return what files of that :func:`content_key` were read to, None where that is not at hand."""
        with self._lock:
            self._forget()
            found = self._kept.get(key)
        return found[1] if found is not None else None

    def keep(self, key: bytes, scenario: Scenario, size: int) -> None:
        """Have a scenario of about ``size`` bytes at hand for a while, or until they are needed."""
        with self._lock:
            self._forget()
            self._kept[key] = (time.monotonic(), scenario, size)
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT_SCENARIOS:
                self._kept.popitem(last=False)

    def _forget(self) -> None:
        oldest = time.monotonic() - KEPT_SECONDS
        for key in [key for key, (since, _, _) in self._kept.items() if since < oldest]:
            del self._kept[key]


last_read = LastRead()


def read_documents(text: str) -> tuple[Document, ...]:
    """Return the documents of a text, held to what is text in a file of a bundle. Raises BundleError."""
    reader = _reader.get()
    if reader is not None and (read := reader.documents(text)) is not None:
        return read.documents
    return load(text, limits=core_limits(), watch=_watch.get()).documents


def check_policy(scenario: Scenario) -> None:
    """Raise BundleError for a Policy that the engine cannot use."""
    try:
        compile_profile(scenario.policy, scenario.settings)
    except PolicyError as error:
        raise BundleError(error.problems) from error


def core_limits() -> Limits:
    """Return the bounds of every reading: of what a visitor sends, and of what was stored."""
    # How many files one upload has, Django bounds; an archive that was one of them may be many.
    return Limits(size=limit("BUNDLE_BYTES"), files=Limits().entries, pods=limit("PODS"))


def counts(scenario: Scenario) -> tuple[int, int, int]:
    """Return how many nodes, pods and operations there are, created ones included."""
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
    """Return how many bytes ``text`` has as UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def decode(name: str, data: bytes, most: int | None = None) -> str:
    """Return an uploaded file's text, byte order mark included; gzip is unpacked.

    Never beyond ``most`` bytes (None: the limit).

    Raises TooLargeError, or BundleError if the bytes are no text.
    """
    most = limit("BUNDLE_BYTES") if most is None else most
    if data[:2] == _GZIP:
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(most + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BundleError([Problem(f"The gzip file cannot be unpacked: {error}", file=name)]) from error
    if len(data) > most:
        raise TooLargeError(f"{name} goes beyond the {limit('BUNDLE_BYTES'):,} bytes that a bundle may have.")
    try:
        text = decode_text(data)
    except FormatError as error:
        raise BundleError([Problem(error.message, line=error.line, file=name)]) from error
    # The mark is part of a text that is kept byte for byte; other encodings are kept as UTF-8 without one.
    return f"\ufeff{text}" if data.startswith(codecs.BOM_UTF8) else text


def opened(name: str, data: bytes, most: int | None = None) -> File:
    """Return an uploaded file's name and text, or an archive's manifests as a folder of texts.

    Raises as :func:`decode`.
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
        raise BundleError([Problem(f"there is no manifest in it: {looked}", file=name)])
    return read


def stored(files: Sequence[File]) -> Files:
    """Return what a draft keeps of the files that it is made of: an archive's YAML as one text."""
    out: Files = []
    for file in files:
        if isinstance(file, Folder):
            out += joined(file)
        else:
            out.append((file[0], str(file[1])))
    return out


def file_bytes(file: File) -> int:
    """Return how many bytes the texts of a file have as UTF-8."""
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
    """Return how many bytes :func:`unpack` gives."""
    return int(zstandard.frame_content_size(data))


def restore(content: bytes | memoryview) -> Scenario:
    """Return the scenario whose ``canonical()`` was packed into ``content``.

    The bounds are those it was stored under, unless they were lowered since. Raises OutgrownError where it
    is beyond them now, or cannot be read any more.
    """
    reader = _reader.get()
    if reader is not None and (restored := reader.restore(bytes(content))) is not None:
        return restored
    body = json.loads(unpack(content))
    try:
        scenario = load_documents(
            body["documents"], title=body["title"], limits=core_limits(), watch=_watch.get()
        )
        check_size(scenario)
        check_policy(scenario)
    except (BundleError, TooLargeError) as error:
        raise OutgrownError(
            f"This was stored under other limits than those in force now: {error}. Its text can still be "
            "downloaded; whoever runs this server can raise the limit again."
        ) from error
    return scenario


def reread(scenario: Scenario) -> Scenario:
    """Return the scenario of changed documents, as :func:`parse` would read them.

    Raises BundleError with everything that is wrong, or TooLargeError.
    """
    changed = load_documents(
        scenario.documents, title=scenario.title, limits=core_limits(), watch=_watch.get()
    )
    check_size(changed)
    check_policy(changed)
    return changed


def bundle_text(scenario: Scenario) -> str:
    """Return the documents as one YAML stream, or as a JSON List where they are very many.

    Keys stay in the order they were given.
    """
    documents = [_plain(document) for document in scenario.documents]
    as_json = json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": documents}, indent=1, ensure_ascii=False
    )
    if len(as_json) > YAML_BYTES:  # writing YAML takes many seconds there, and nobody reads it
        return as_json
    return write_yaml(documents)


def _plain(value: Any) -> Any:
    """Copy mappings and sequences into dicts and lists, so that YAML writes no aliases."""
    if hasattr(value, "items"):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

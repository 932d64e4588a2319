"""ZIP and tar archives, read in memory: nothing is written to disk, and a path inside is only a name.

Archives are detected by content. Entries, unpacked bytes and ratio are bounded during reading, so that a
decompression bomb costs no more than the bounds allow. A path that could refer to another file than the
packed one (an absolute path, ``..``) is an error; links and nested archives are skipped and reported by name.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from scheduler_core.formats.folder import LINK, NESTED, NOT_A_MANIFEST, Folder, is_manifest
from scheduler_core.formats.kustomize import is_kustomization
from scheduler_core.formats.limits import FormatError, Limits, too_large
from scheduler_core.formats.text import decode

if TYPE_CHECKING:
    import zipfile

PEEKED = 2**16  # bytes per read; the first ones decide whether the rest is read
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_GZIP = b"\x1f\x8b"
_BLOCK = 512  # bytes of a tar's header
_OVERHEAD = 4  # times ``Limits.size``: the unpacked bytes of a whole tar, including padding
_FREE = 2**20  # bytes that any archive may unpack to, regardless of its ratio
_CENTRAL = b"PK\x01\x02"  # begins each entry of a ZIP archive's directory
_SYMLINK, _KIND_OF_FILE = 0o120000, 0o170000
_NESTED = re.compile(r"\.(?:zip|tar|tgz|tar\.gz|tbz2?|txz|tar\.(?:bz2|xz|zst)|7z|rar|jar)$", re.IGNORECASE)
_UNSAFE = re.compile(r"(?:[/\\]|[A-Za-z]:|(?:.*[/\\])?\.\.(?:[/\\]|$))", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
# Files of macOS, of version control and of editors.
_HIDDEN = re.compile(r"(?:^|/)(?:\.[^/]|__MACOSX/)")


def is_archive(data: bytes) -> bool:
    """Return whether a file is a ZIP archive or a tar, gzipped or not."""
    return data.startswith(_ZIP) or is_tar(_beginning(data))


def read_archive(name: str, data: bytes, limits: Limits) -> Folder | None:
    """Return an archive's files, or None if ``data`` is not an archive. Raises FormatError."""
    if data.startswith(_ZIP):
        return _zip(name, data, limits)
    if is_tar(_beginning(data)):
        return _tar(name, data, limits)
    return None


def unzipped(data: bytes, limits: Limits) -> dict[str, bytes]:
    """Return every file of a ZIP archive by its path, but for those of macOS, version control and editors.

    Raises FormatError, for a link, an archive inside or a path that is there twice as well.
    """
    if not data.startswith(_ZIP):
        raise FormatError("this is not a ZIP archive")
    found: dict[str, bytes] = {}
    bounds = _Bounds(len(data), limits)
    with _repacking():
        for info, archive in _entries(data, bounds):
            name = info.filename
            if info.external_attr >> 16 & _KIND_OF_FILE == _SYMLINK or _NESTED.search(name):
                raise FormatError(f"{name[:80]} in the archive is a link or an archive: pack files alone")
            if name in found:
                raise FormatError(f"{name[:80]} is in the archive twice")
            if not _HIDDEN.search(name):
                found[name] = _whole(archive, info, bounds)
    return found


def _whole(archive: zipfile.ZipFile, info: zipfile.ZipInfo, bounds: _Bounds) -> bytes:
    content = bytearray()
    with _opened(archive, info) as stream:
        while part := stream.read(PEEKED):
            bounds.take(len(part))
            content += part
    return bytes(content)


def is_tar(block: bytes) -> bool:
    """Return whether a block is a tar header, by its checksum."""
    if len(block) < _BLOCK:
        return False
    field = block[148:156].strip(b" \0")
    if not re.fullmatch(rb"[0-7]{1,7}", field):
        return False
    return sum(block[:148]) + 8 * 32 + sum(block[156:_BLOCK]) == int(field, 8)


def _beginning(data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data[:_BLOCK]
    try:
        return zlib.decompressobj(wbits=31).decompress(data[:PEEKED], _BLOCK)
    except zlib.error:
        return b""


class _Bounds:
    """The usage of one archive against its bounds."""

    def __init__(self, packed: int, limits: Limits) -> None:
        self.limits = limits
        self.entries = self.bytes = 0
        self.most = _FREE + packed * limits.ratio

    def entry(self, name: str) -> None:
        """Count an entry, and check its path."""
        self.entries += 1
        if self.entries > self.limits.entries:
            raise _too_many(self.limits)
        if _UNSAFE.match(name) or _CONTROL.search(name):
            message = f"the archive has an unsafe path, {name[:80]!r}"
            raise FormatError(f"{message}: pack it with relative paths without ..")
        if name.rstrip("/").count("/") > self.limits.levels:
            raise FormatError(f"directories nested deeper than {self.limits.levels} levels in the archive")

    def take(self, number: int) -> None:
        """Count unpacked bytes of a file that is kept."""
        self.bytes += number
        if self.bytes > self.limits.size:
            raise too_large(self.limits, "unpacked, ")
        self.unpacked(self.bytes)

    def unpacked(self, number: int) -> None:
        """Check the ratio of unpacked to packed bytes."""
        if number > self.most:
            times = f"more than {self.limits.ratio} times its size"
            raise FormatError(f"the archive unpacks to {times}: that is not an archive of manifests")


def _too_many(limits: Limits) -> FormatError:
    return FormatError(f"more than {limits.entries:,} entries in the archive: pack only the manifests")


def _is_read(name: str, folder: Folder) -> bool:
    """Return whether a file's content is read; record a nested archive as left out."""
    if _HIDDEN.search(name):
        return False
    if _NESTED.search(name):
        folder.left.append((name, NESTED))
        return False
    return True


def glance(path: str, beginning: bytes) -> str | None:
    """Return why a file with this beginning is left out, None if it may be a manifest."""
    if is_kustomization(path):
        return None  # it names the files that it applies
    if is_archive(beginning):
        return NESTED
    if beginning.startswith(_GZIP):
        with suppress(zlib.error):
            beginning = zlib.decompressobj(wbits=31).decompress(beginning, PEEKED)
    if b"\0\0\0" in beginning:
        return NOT_A_MANIFEST
    try:
        return None if is_manifest(decode(beginning, final=False), beginning=True) else NOT_A_MANIFEST
    except FormatError:
        return None  # the error is reported when the whole file is read


def _keep(name: str, stream: IO[bytes], bounds: _Bounds, folder: Folder) -> None:
    """Read a file to its end, unless its beginning shows that it is left out."""
    data = bytearray(stream.read(PEEKED))
    why = glance(name, bytes(data))
    if why is not None:
        folder.left.append((name, why))
        return
    bounds.take(len(data))
    while part := stream.read(PEEKED):
        bounds.take(len(part))
        data += part
    folder.files.append((name, bytes(data)))


# --- ZIP


def _zip(name: str, data: bytes, limits: Limits) -> Folder:
    folder, bounds = Folder(name), _Bounds(len(data), limits)
    with _repacking():
        for info, archive in _entries(data, bounds):
            if info.external_attr >> 16 & _KIND_OF_FILE == _SYMLINK:
                folder.left.append((info.filename, LINK))
            elif _is_read(info.filename, folder):
                with _opened(archive, info) as stream:
                    _keep(info.filename, stream, bounds, folder)
    return folder


def _entries(data: bytes, bounds: _Bounds) -> Iterator[tuple[zipfile.ZipInfo, zipfile.ZipFile]]:
    """Yield the files of an archive."""
    import zipfile

    if data.count(_CENTRAL) > bounds.limits.entries:  # before an object is created for each
        raise _too_many(bounds.limits)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            bounds.entry(info.filename)
            if not info.is_dir():
                yield info, archive


@contextmanager
def _repacking() -> Iterator[None]:
    """Report a damaged archive as what it is. Raises FormatError."""
    import zipfile

    try:
        yield
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, zlib.error) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"damaged ZIP archive: {error}: repack it") from None


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    from zipfile import ZIP_DEFLATED, ZIP_STORED

    if info.flag_bits & 0x1:
        raise FormatError(f"{info.filename[:80]} in the archive is encrypted: pack it without a password")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        message = f"{info.filename[:80]} is packed by a method other than deflate"
        raise FormatError(f"{message}: repack it with zip's default method")
    return archive.open(info)


# --- tar


class _Unpacking(io.RawIOBase):
    """The bytes of a tar, unpacked as they are read and counted against the bound on unpacked bytes."""

    def __init__(self, data: bytes, bounds: _Bounds) -> None:
        self._bounds = bounds
        self._parts = _inflated(data) if data.startswith(_GZIP) else iter((data,))
        self._rest = memoryview(b"")
        self._seen = 0

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` bytes, b"" at the end."""
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return b""
            self._seen += len(part)
            self._bounds.unpacked(self._seen)
            if self._seen > self._bounds.limits.size * _OVERHEAD:
                raise too_large(self._bounds.limits, "unpacked, ")
            self._rest = memoryview(part)
        taken, self._rest = self._rest[:size], self._rest[size:]
        return bytes(taken)


def _inflated(data: bytes) -> Iterator[bytes]:
    while data:
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            part = stream.decompress(data, PEEKED)
            data = stream.unconsumed_tail
            if part:
                yield part
            elif not data and not stream.eof:
                raise FormatError("damaged gzip data: unexpected end of data")
        data = stream.unused_data.lstrip(b"\0")


def _tar(name: str, data: bytes, limits: Limits) -> Folder:
    import tarfile

    folder, bounds = Folder(name), _Bounds(len(data), limits)
    try:
        with tarfile.open(fileobj=_Unpacking(data, bounds), mode="r|", errorlevel=2) as archive:
            for info in archive:
                archive.members = []  # type: ignore[attr-defined]  # else tarfile keeps every entry
                path = info.name.removeprefix("./")
                bounds.entry(path)
                if info.islnk() or info.issym():
                    folder.left.append((path, LINK))
                elif info.isreg() and not info.issparse() and _is_read(path, folder):
                    stream = archive.extractfile(info)
                    if stream is not None:
                        _keep(path, stream, bounds, folder)
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, OverflowError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"damaged tar archive: {error}: repack it") from None
    return folder

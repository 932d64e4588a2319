"""Archives made for tests, hostile ones included."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping

Files = dict[str, str | bytes]  # path in the archive, content

NODE = 'apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: "4", pods: "10"}}\n'
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c}]}\n"
CHART = "apiVersion: v2\nname: shop\nversion: 0.1.0\n"
VALUES = "replicas: 3\nimage:\n  tag: v1\n"


def zipped(files: Mapping[str, str | bytes], **how: int) -> bytes:
    """Pack files as ZIP."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how.get("compression", zipfile.ZIP_DEFLATED)) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(
    files: Mapping[str, str | bytes], mode: str = "w:gz", links: Mapping[str, str] | None = None
) -> bytes:
    """Pack files as a tar; ``links`` are symbolic ones, name to target."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return out.getvalue()


def linked_zip() -> bytes:
    """Return a ZIP archive with a node, and a symbolic link to a file outside."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("node.yaml", NODE)
        info = zipfile.ZipInfo("pod.yaml")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def encrypted_zip() -> bytes:
    """Return a ZIP archive whose one file says that it is encrypted."""
    data = bytearray(zipped({"node.yaml": NODE}))
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def overlapping_zip(times: int) -> bytes:
    """Return a ZIP archive whose directory names one packed file so many times."""
    data = zipped({"node.yaml": NODE + "# " + "x" * 1_000_000})
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry, tail = data[start:end], bytearray(data[end:])
    tail[8:10] = tail[10:12] = times.to_bytes(2, "little")
    tail[12:16] = (len(entry) * times).to_bytes(4, "little")
    return data[:start] + entry * times + bytes(tail)

"""Bytes to text: gzip, byte order marks, encodings, line ends."""

from __future__ import annotations

import codecs
import re
import zlib

from scheduler_core.formats.limits import FormatError, Limits, too_large
from scheduler_core.formats.packed_trace import is_packed, text_of

DEFAULT_LIMITS = Limits()
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SIGNATURES = {
    b"PK\x03\x04": "a ZIP archive inside another file: pass it as a separate file",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: pack it as .zip or .tar.gz",
    b"Rar!\x1a\x07": "a RAR archive: pack it as .zip or .tar.gz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it first",
    b"BZh": "compressed with bzip2: unpack it first",
    b"\xfd7zXZ\x00": "compressed with xz: unpack it first",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format 3": "a database",
}
_PACKED_AS_TEXT = ("PK\x03\x04", "\x1f\ufffd\x08", "\x1f\x8b\x08")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CONTROLS = bytes(code for code in range(128) if _CONTROL.match(chr(code)))


def to_text(data: bytes | str, limits: Limits) -> str:
    """Return the text of a file, with Unix line ends and without byte order mark. Raises FormatError."""
    if isinstance(data, str):
        text = data.removeprefix("\ufeff")
        if len(text) > limits.size:
            raise too_large(limits)
        if text.startswith(_PACKED_AS_TEXT):
            raise FormatError("this is a compressed file pasted as text: pass the file itself")
    else:
        text = decode(_unpack(data, limits), limits=limits)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    bad = _CONTROL.search(text) if _may_hold_controls(text) else None
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        what = "binary data" if bad.group() == "\0" else f"the control character {bad.group()!r}"
        raise FormatError(f"{what} is not allowed in a text of manifests", line)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise FormatError("half of a surrogate pair is not a character", line) from None
    return text


def _may_hold_controls(text: str) -> bool:
    """Return whether a search for control characters may find any: it takes ten times as long as this."""
    data = text.encode(errors="replace")
    return len(data.translate(None, _CONTROLS)) < len(data)


def _unpack(data: bytes, limits: Limits) -> bytes:
    if len(data) > limits.size:
        raise too_large(limits)
    if not data.startswith(b"\x1f\x8b"):
        return data
    out = bytearray()
    while data:
        stream = zlib.decompressobj(wbits=31)
        try:
            out += stream.decompress(data, limits.size - len(out) + 1)
        except zlib.error as error:
            raise FormatError(f"damaged gzip data: {error}") from None
        if len(out) > limits.size:
            raise too_large(limits, "unpacked, ")
        if not stream.eof:
            raise FormatError("damaged gzip data: unexpected end of data")
        data = stream.unused_data.lstrip(b"\0")
    return bytes(out)


def decode(data: bytes, *, final: bool = True, limits: Limits = DEFAULT_LIMITS) -> str:
    """Decode bytes, detecting the encoding by the byte order mark or first letters. Raises FormatError.

    A packed trace of SimKube is unpacked. If ``final`` is false, they may end within a character.
    """
    if is_packed(data):
        return text_of(data, limits)
    for signature, meaning in _SIGNATURES.items():
        if data.startswith(signature):
            raise FormatError(f"this is {meaning}")
    encoding = next((name for mark, name in _BOMS if data.startswith(mark)), None) or _unmarked(data)
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = "not UTF-8 text" if encoding.startswith("utf-8") else f"damaged {encoding.upper()} text"
        raise FormatError(f"{message}: save the file in the encoding UTF-8", line) from None


def _unmarked(data: bytes) -> str:
    """Return the encoding of a text without a byte order mark: every supported format begins with ASCII."""
    for encoding, letters in (("utf-16-le", data[:4:2]), ("utf-16-be", data[1:4:2])):
        zeros = data[1:4:2] if encoding == "utf-16-le" else data[:4:2]
        if zeros == b"\0\0" and letters.isascii() and b"\0" not in letters:
            return encoding
    return "utf-8"

// The scenario that a file of podstep carries: a picture of a step, or a recording. docs/recordings.md has the format.

import { MOST_OPENED, PREFIX, inflated, unpack, type Packed } from "../lib/packed.ts";

const PICTURE = /\.png$/i;
const PAGE = /\.html?$/i;
const KEYWORD = "podstep\0";
const SIGNATURE = "\x89PNG\r\n\x1a\n"; // before the first chunk of a PNG
const AROUND = 12; // bytes of a chunk's length, type and checksum
const MOST = 64 * 1024 * 1024; // bytes of a file that is looked through
const MOST_TEXT = 40 * 1024 * 1024; // characters of a scenario in one
const MARK = "<template data-bundle>";

/** The scenario that a file carries; null where it is no file of that kind. Rejects with an Error in words. */
export async function heldIn(file: File): Promise<Packed | null> {
  if (!PICTURE.test(file.name) && !PAGE.test(file.name)) return null;
  if (file.size > MOST) throw new Error("The file is larger than 64 MiB.");
  return PICTURE.test(file.name) ? inPicture(await file.arrayBuffer()) : inPage(await file.text());
}

async function inPicture(buffer: ArrayBuffer) {
  const bytes = new Uint8Array(buffer);
  if (!startsWith(bytes, SIGNATURE)) throw new Error("The file is no PNG.");
  for (const { type, body, checksum } of chunks(bytes)) {
    if (!startsWith(body, KEYWORD)) continue;
    if (type === "zTXt" || type === "iTXt")
      throw new Error("The picture's text is compressed: podstep writes it plain.");
    if (type !== "tEXt") continue;
    if (body.length > KEYWORD.length + MOST_OPENED)
      throw new Error("The picture's text is longer than a scenario may be.");
    if (crc(`${type}${latin(body)}`) !== checksum)
      throw new Error("The picture's text was changed: its checksum is wrong.");
    return unpackedFrom(latin(body.subarray(KEYWORD.length)));
  }
  throw new Error("The picture carries no scenario: only those of a step that podstep saved do.");
}

function* chunks(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer);
  for (let at = SIGNATURE.length; at < bytes.length;) {
    const end = at + AROUND > bytes.length ? Infinity : at + AROUND + view.getUint32(at);
    if (end > bytes.length) throw new Error("The picture is cut short.");
    const type = latin(bytes.subarray(at + 4, at + 8));
    yield { type, body: bytes.subarray(at + 8, end - 4), checksum: view.getUint32(end - 4) };
    if (type === "IEND") return;
    at = end;
  }
}

async function unpackedFrom(fragment: string) {
  try {
    if (fragment.startsWith(PREFIX)) return await unpack(fragment);
  } catch (cause) {
    throw new Error("The scenario in the picture is cut short, changed or too large.", { cause });
  }
  throw new Error("What the picture carries is no scenario.");
}

function startsWith(bytes: Uint8Array, text: string) {
  return latin(bytes.subarray(0, text.length)) === text;
}

function latin(bytes: Uint8Array) {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/** The checksum of a chunk: CRC-32 of its type and body. */
function crc(text: string) {
  let sum = -1;
  for (const letter of text) {
    sum ^= letter.charCodeAt(0);
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 && 0xedb88320);
  }
  return ~sum >>> 0;
}

/** What a recording holds; null for a page of somebody else's, which goes on as a text. */
async function inPage(text: string) {
  const from = text.indexOf(MARK);
  if (from < 0) return null;
  try {
    const base64 = text.slice(from + MARK.length, text.indexOf("<", from + MARK.length));
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return JSON.parse(await inflated(bytes, "gzip", MOST_TEXT)) as Packed;
  } catch (cause) {
    throw new Error("The scenario in the recording is cut short, changed or too large.", { cause });
  }
}

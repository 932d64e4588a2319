// The scenario that a file of podstep carries: a picture of a step, or a recording. docs/recordings.md has the format.

import { PREFIX, inflated, unpack, type Packed } from "../lib/packed.ts";

const PICTURE = /\.png$/i;
const PAGE = /\.html?$/i;
const KEYWORD = "podstep\0";
const SIGNATURE = 8; // bytes before the first chunk of a PNG
const AROUND = 12; // bytes of a chunk's length, type and checksum
const MOST = 64 * 1024 * 1024; // bytes of a file that is looked through
const MOST_TEXT = 40 * 1024 * 1024; // characters of a scenario in one
const MARK = "<template data-bundle>";

/** The scenario that a file carries; null where it carries none. */
export async function heldIn(file: File): Promise<Packed | null> {
  if (file.size > MOST) return null;
  try {
    if (PICTURE.test(file.name)) return await inPicture(await file.arrayBuffer());
    if (PAGE.test(file.name)) return await inPage(await file.text());
  } catch {
    /* it is a file of somebody else's */
  }
  return null;
}

function inPicture(buffer: ArrayBuffer) {
  const view = new DataView(buffer);
  const latin = new TextDecoder("latin1");
  for (let at = SIGNATURE; at + AROUND <= view.byteLength;) {
    const length = view.getUint32(at);
    if (at + AROUND + length > view.byteLength) return null;
    const text = latin.decode(new Uint8Array(buffer, at + 4, 4 + length));
    if (text.startsWith(`tEXt${KEYWORD}${PREFIX}`)) return unpack(text.slice(4 + KEYWORD.length));
    at += AROUND + length;
  }
  return null;
}

async function inPage(text: string) {
  const from = text.indexOf(MARK);
  if (from < 0) return null;
  const base64 = text.slice(from + MARK.length, text.indexOf("<", from + MARK.length));
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return JSON.parse(await inflated(bytes, "gzip", MOST_TEXT)) as Packed;
}

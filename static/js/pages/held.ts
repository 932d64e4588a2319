// The scenario that a file of podstep carries: a picture of a step, or a recording. docs/recordings.md has the format.

import { PREFIX, inflated, pack, type Packed } from "../lib/packed.ts";

const PICTURE = /\.png$/i;
const PAGE = /\.html?$/i;
const KEYWORD = "podstep\0";
const SIGNATURE = 8; // bytes before the first chunk of a PNG
const AROUND = 12; // bytes of a chunk's length, type and checksum
const MOST = 64 * 1024 * 1024; // bytes of a file that is looked through
const MARK = "<template data-bundle>";

/** The fragment of a link that holds the same scenario; null where a file carries none. */
export async function heldIn(file: File): Promise<string | null> {
  if (file.size > MOST) return null;
  try {
    if (PICTURE.test(file.name)) return inPicture(await file.arrayBuffer());
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
    if (text.startsWith(`tEXt${KEYWORD}${PREFIX}`)) return text.slice(4 + KEYWORD.length);
    at += AROUND + length;
  }
  return null;
}

async function inPage(text: string) {
  const from = text.indexOf(MARK);
  if (from < 0) return null;
  const base64 = text.slice(from + MARK.length, text.indexOf("<", from + MARK.length));
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return pack(JSON.parse(await inflated(bytes, "gzip")) as Packed);
}

// What somebody drops or chooses: texts go into the box, so that their errors have lines; the rest is sent as files.

import { dropped } from "./folder.ts";
import type { InFolder } from "./folder.ts";

const TEXT = /\.(ya?ml|json|jsonl|txt)(\.gz)?$/i;
const TABLE = /\.csv(\.gz)?$/i;

export const isTable = (file: File) => TABLE.test(file.name);

/** Return a file's text, unpacked if it is gzip. Rejects for what is no text: the server reports what it is. */
async function textOf(file: File) {
  const packed = /\.gz$/i.test(file.name);
  const stream = packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
}

/** The encoding by a byte order mark, or by zeros between letters: PowerShell writes UTF-16. */
function encodingOf([a, b, c, d]: Uint8Array) {
  if ((a === 0xff && b === 0xfe) || (a && b === 0 && c && d === 0)) return "utf-16le";
  if ((a === 0xfe && b === 0xff) || (a === 0 && b && c === 0 && d)) return "utf-16be";
  return "utf-8";
}

/** Return the files as one text of at most `most` characters, or null if they are to be sent as they are. */
export async function asText(files: File[], most: number) {
  if (!files.length || !files.every((file) => TEXT.test(file.name) && file.size < most)) return null;
  if (files.length > 1 && !files.every((file) => /\.ya?ml(\.gz)?$/i.test(file.name))) return null;
  try {
    const texts = await Promise.all(files.map(textOf));
    const text = texts.map((one) => one.trimEnd()).join("\n---\n");
    return text.length < most ? `${text}\n` : null;
  } catch {
    return null; // no gzip after all: the server reports what is wrong with it
  }
}

/** Whether a CSV file holds a trace's nodes; the other kind holds its pods. */
export async function holdsNodes(file: File) {
  try {
    return /^\W*sn\s*,/.test((await textOf(file)).slice(0, 200));
  } catch {
    return /node/i.test(file.name);
  }
}

/** Give `files` to an input. */
export function give(input: HTMLInputElement, files: Iterable<File>) {
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  input.files = transfer.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/**
 * Let files be dropped on `target`, taken as files, or as a promise of a folder's `{path, file}`; `show` receives
 * whether some are held over it. What a part of it has already taken is left alone.
 */
export function onDrop(
  target: HTMLElement,
  take: (files: File[], folder?: Promise<InFolder[]>) => void,
  show: (held: boolean) => void = () => {},
) {
  let depth = 0;
  const over = () => {
    target.classList.toggle("drag", depth > 0);
    show(depth > 0);
  };
  const files = (event: DragEvent) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  target.addEventListener("dragenter", (event) => {
    if (files(event)) {
      depth += 1;
      over();
    }
  });
  target.addEventListener("dragleave", (event) => {
    if (files(event)) {
      depth = Math.max(0, depth - 1);
      over();
    }
  });
  target.addEventListener("dragover", (event) => {
    if (files(event)) event.preventDefault();
  });
  target.addEventListener("drop", (event) => {
    if (!files(event)) return;
    depth = 0;
    over();
    if (event.defaultPrevented) return;
    event.preventDefault();
    const { dataTransfer } = event;
    if (!dataTransfer) return; // it has files, by its types
    const folder = dropped(dataTransfer);
    if (folder) take([], folder);
    else take([...dataTransfer.files]);
  });
}

// Folders: what of them is sent, as one tar, so that the server reads them as the command line reads a directory.

const SENT = /(^|\/)[^./]+$|\.(ya?ml|json|jsonl|ndjson|csv|txt)(\.gz)?$/i;
const HIDDEN = /(^|\/)\./;
const ENTRIES = 5_000;
const LEVELS = 40;
const BLOCK = 512;

/** a file, and where in the folder it is */
export type InFolder = { path: string; file: File };

export class FolderError extends Error {}

/** Return what is dropped as `{path, file}` where a folder is among it, else null. To be called within the event. */
export function dropped(transfer: DataTransfer) {
  const entries = [...(transfer.items ?? [])].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  return entries.some((entry) => entry.isDirectory) ? walk(entries) : null;
}

/** Return the files of an input that takes a folder as `{path, file}`. */
export const chosen = (input: HTMLInputElement) =>
  [...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

async function walk(entries: FileSystemEntry[]): Promise<InFolder[]> {
  const found: InFolder[] = [];
  let waiting = entries.map((entry) => ({ entry, level: 0 }));
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { entry, level } = next;
    const path = entry.fullPath.replace(/^\//, "");
    if (HIDDEN.test(path)) continue;
    if (isFile(entry)) {
      found.push({ path, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) });
      if (found.length > ENTRIES)
        throw new FolderError(`The folder has more than ${ENTRIES.toLocaleString("en")} files: drop a subfolder.`);
    } else if (level < LEVELS) {
      waiting = (await list(entry as FileSystemDirectoryEntry))
        .map((inner) => ({ entry: inner, level: level + 1 }))
        .concat(waiting);
    } else throw new FolderError(`The folder is nested deeper than ${LEVELS} levels: drop a subfolder.`);
  }
  return found;
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;

/** A directory's entries; the browser hands out a hundred at a time. */
async function list(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some: FileSystemEntry[] = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length || all.length > ENTRIES) return all;
    all.push(...some);
  }
}

/** Pack `{path, file}` into one tar file of at most `most` bytes, sorted by path; `left` counts what is not sent. */
export function packed(files: InFolder[], most: number) {
  const sent = files
    .filter(({ path }) => SENT.test(path) && !HIDDEN.test(path))
    .sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
  if (!sent.length) throw new FolderError("The folder contains no YAML or JSON files.");
  if (sent.length > ENTRIES)
    throw new FolderError(`The folder has more than ${ENTRIES.toLocaleString("en")} files: choose a subfolder.`);
  const size = sent.reduce((sum, { file }) => sum + file.size, 0);
  if (size > most)
    throw new FolderError(
      `The folder has ${(size / 2 ** 20).toFixed(1)} MiB, more than the limit of ${most / 2 ** 20} MiB: `
        + "choose a subfolder.",
    );
  const tops = new Set(sent.map(({ path }) => path.split("/")[0]));
  const name = tops.size === 1 && sent[0].path.includes("/") ? [...tops][0] : "files";
  const parts = sent.flatMap(({ path, file }) => [...headers(path, file.size), file, padding(file.size)]);
  return { file: new File([...parts, new Uint8Array(2 * BLOCK)], `${name}.tar`), left: files.length - sent.length };
}

const padding = (size: number) => new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);

/** A tar's header for one file; a path beyond a hundred bytes gets one of its own before, as GNU tar writes it. */
function headers(path: string, size: number) {
  const name = new TextEncoder().encode(path);
  if (name.length <= 100) return [header(name, size, "0")];
  return [
    header(new TextEncoder().encode("././@LongLink"), name.length, "L"),
    name,
    padding(name.length),
    header(name.slice(0, 100), size, "0"),
  ];
}

function header(name: Uint8Array, size: number, type: string) {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => {
    for (let i = 0; i < text.length; i += 1) block[at + i] = text.charCodeAt(i);
  };
  block.set(name);
  put(100, "0000644\0");
  put(124, `${size.toString(8).padStart(11, "0")}\0`);
  put(136, "00000000000\0");
  put(148, "        ");
  put(156, type);
  put(257, "ustar  \0");
  const sum = block.reduce((all, byte) => all + byte, 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return block;
}

// A scenario inside an address: JSON, deflated, as base64url behind the "#", which no server is sent.

export const PREFIX = "#scenario=";
export const MOST = 16_000; // characters of such an address, which chats and mail programs still take whole
export const MOST_OPENED = 256_000; // characters of one that is opened
const UNNAMED_RELEASE = "v1.11"; // of texts that name none, in links that name none either
const MOST_BYTES = 4_000_000; // that one may hold: deflated text may be a thousand times smaller

/** What such an address holds: `query` is that of the view, `release` the one that answers a text which names none. */
export type Packed = { text: string; title: string; query: string; release: string };

/** The fragment that holds a scenario. */
export async function pack(packed: Packed) {
  const json = new Blob([JSON.stringify(packed)]);
  const stream = json.stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return PREFIX + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What a fragment holds. Rejects with an Error in words. */
export async function unpack(fragment: string): Promise<Packed> {
  if (fragment.length > MOST_OPENED) throw new Error("The link is longer than a link may be.");
  let found;
  try {
    const binary = atob(fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    found = JSON.parse(await inflated(Uint8Array.from(binary, (letter) => letter.charCodeAt(0))));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new Error("The link is cut short or changed: it holds no scenario.", { cause: error });
  }
  const { text, title = "", query = "", release = UNNAMED_RELEASE } = found ?? {};
  if ([text, title, query, release].some((part) => typeof part !== "string"))
    throw new Error("The link holds no scenario.");
  return { text, title, query, release };
}

/** Inflate bytes, and stop where it is too much. */
export async function inflated(
  bytes: Uint8Array<ArrayBuffer>,
  format: CompressionFormat = "deflate-raw",
  most = MOST_BYTES,
) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)).getReader();
  const parts = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length;
    if (size > most) {
      await reader.cancel();
      throw new RangeError("The link holds more than a link may hold.");
    }
    parts.push(next.value);
  }
  return new Blob(parts).text();
}

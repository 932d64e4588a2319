// What the formats of films have in common: the size of a frame, and bounds.

export const WIDTH = 1280; // pixels of a frame
export const HEIGHT = 720;
export const MOST_BYTES = 64 * 1024 * 1024; // of a file
export const TOO_LARGE = "The file would be larger than 64 MiB. Choose fewer steps.";

/**
 * A file in the making. `add` takes what is on its canvas, to be shown for `seconds`; `end` answers the file; `close`
 * gives up what it holds, at any time.
 */
export type Film = {
  add: (seconds: number) => Promise<void>;
  end: () => Promise<Blob>;
  close: () => Promise<void>;
};

/** Join bytes. */
export function joined(parts: (Uint8Array | number[])[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

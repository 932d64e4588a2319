// GIF (GIF89a), which every browser makes and every site shows: a frame a step, with the colours that it has most of.

import { HEIGHT, MOST_BYTES, TOO_LARGE, WIDTH, joined } from "./format.ts";
import { penOf } from "../../lib/dom.ts";
import type { Film } from "./format.ts";

const COLOURS = 256;
const BINS = 2 ** 15; // five bits of red, green and blue each
const MOST_CODES = 2 ** 12;

/** Begin a file of what is drawn on a canvas. It repeats for ever. */
export function gif(canvas: HTMLCanvasElement): Film {
  const size = [WIDTH & 255, WIDTH >> 8, HEIGHT & 255, HEIGHT >> 8];
  const head = [...ascii("GIF89a"), ...size, 0x70, 0, 0];
  const forever = [0x21, 0xff, 11, ...ascii("NETSCAPE2.0"), 3, 1, 0, 0, 0];
  const parts: Uint8Array<ArrayBuffer>[] = [joined([head, forever])];
  let bytes = 0;
  return {
    add: async (seconds) => {
      const { data } = penOf(canvas).getImageData(0, 0, WIDTH, HEIGHT);
      const { table, pixels } = quantized(data);
      const hundredths = Math.round(seconds * 100);
      const control = [0x21, 0xf9, 4, 0, hundredths & 255, hundredths >> 8, 0, 0];
      const image = [0x2c, 0, 0, 0, 0, ...size, 0x87]; // with a table of 256 colours of its own
      const frame = joined([control, image, table, [8], compressed(pixels), [0]]);
      parts.push(frame);
      bytes += frame.length;
      if (bytes > MOST_BYTES) throw new Error(TOO_LARGE);
    },
    end: async () => new Blob([...parts, new Uint8Array([0x3b])], { type: "image/gif" }),
    close: async () => {
      parts.length = 0;
    },
  };
}

/**
 * A table of the most frequent colours, and the number of the nearest one for each pixel. What is drawn here is flat:
 * the rest are edges of letters.
 *
 * @param data four bytes a pixel
 */
function quantized(data: Uint8ClampedArray) {
  const counts = new Uint32Array(BINS);
  const bins = new Uint16Array(data.length / 4);
  const sums = [0, 1, 2].map(() => new Float64Array(BINS));
  for (let i = 0, at = 0; i < bins.length; i++, at += 4) {
    const bin = ((data[at] >> 3) << 10) | ((data[at + 1] >> 3) << 5) | (data[at + 2] >> 3);
    bins[i] = bin;
    counts[bin]++;
    for (let c = 0; c < 3; c++) sums[c][bin] += data[at + c];
  }
  const used = [...counts.keys()].filter((bin) => counts[bin]).sort((a, b) => counts[b] - counts[a]);
  const colour = (bin: number) => sums.map((sum) => sum[bin] / counts[bin]);
  const chosen = used.slice(0, COLOURS).map(colour);
  const table = new Uint8Array(3 * COLOURS);
  for (const [n, rgb] of chosen.entries()) table.set(rgb.map(Math.round), 3 * n);
  const numbers = new Uint8Array(BINS);
  for (const [n, bin] of used.entries()) numbers[bin] = n < COLOURS ? n : nearest(chosen, colour(bin));
  return { table, pixels: Uint8Array.from(bins, (bin) => numbers[bin]) };
}

function nearest(colours: number[][], [red, green, blue]: number[]) {
  let [found, least] = [0, Infinity];
  for (const [n, [r, g, b]] of colours.entries()) {
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
    if (distance < least) [found, least] = [n, distance];
  }
  return found;
}

/** Pixels of eight bits by GIF's variant of LZW, in sub-blocks of up to 255 bytes. */
function compressed(pixels: Uint8Array) {
  const [clear, end] = [COLOURS, COLOURS + 1];
  const next = new Int16Array(MOST_CODES * COLOURS); // the code of a string with a pixel after it; 0: it has none
  const out: number[] = [];
  let [bits, held, width, codes] = [0, 0, 9, end + 1];
  const put = (code: number) => {
    bits |= code << held;
    for (held += width; held >= 8; held -= 8, bits >>>= 8) out.push(bits & 255);
  };
  put(clear);
  let string = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const at = string * COLOURS + pixels[i];
    if (next[at]) {
      string = next[at];
      continue;
    }
    put(string);
    string = pixels[i];
    if (codes === MOST_CODES) {
      put(clear);
      next.fill(0);
      [width, codes] = [9, end + 1];
    } else {
      if (codes === 1 << width) width++; // the decoder is one code behind
      next[at] = codes++;
    }
  }
  put(string);
  if (codes === 1 << width && codes < MOST_CODES) width++;
  put(end);
  if (held) out.push(bits & 255);
  const blocks = [];
  for (let at = 0; at < out.length; at += 255) {
    const body = out.slice(at, at + 255);
    blocks.push(Uint8Array.from([body.length, ...body]));
  }
  return joined(blocks);
}

const ascii = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0));

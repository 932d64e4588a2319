// WebM: the browser's VideoEncoder makes the frames, and here they get their container (RFC 9559, Matroska; RFC 8794,
// EBML). The times are those of the steps, not of a clock: it takes as long as encoding takes, and the file states its
// duration and can be searched, which one of MediaRecorder can not.

import { HEIGHT, MOST_BYTES, TOO_LARGE, WIDTH, joined } from "./format.js";
/** @import { Film } from "./format.js" */

const RATE = 4; // frames a second: players move their clock by frames, and some drop a last one that stands alone
const BITRATE = 4_000_000; // at most; a picture that stands still takes next to nothing
/** @type {[codec: string, name: string][]} */
const CODECS = [
  ["vp09.00.31.08", "V_VP9"],
  ["vp8", "V_VP8"],
];

/** @typedef {{ data: Uint8Array, at: number, key: boolean }} Frame milliseconds, and whether it needs no other */
/** @typedef {{ config: VideoEncoderConfig, name: string }} Codec */

/**
 * The first codec that this browser encodes; null of one without VideoEncoder, which pages have only over HTTPS or from
 * the machine itself.
 *
 * @returns {Promise<Codec | null>}
 */
export async function webmCodec() {
  if (typeof VideoEncoder === "undefined") return null;
  for (const [codec, name] of CODECS) {
    const config = { codec, width: WIDTH, height: HEIGHT, bitrate: BITRATE, framerate: RATE };
    const { supported } = await VideoEncoder.isConfigSupported(config).catch(() => ({ supported: false }));
    if (supported) return { config, name };
  }
  return null;
}

/**
 * Begin a file.
 *
 * @param {Codec} codec
 * @returns {Film}
 */
export function webm({ config, name }) {
  /** @type {Frame[]} */
  const frames = [];
  let [bytes, at] = [0, 0];
  /** @type {Error | null} */
  let failed = null;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      frames.push({ data, at: Math.round(chunk.timestamp / 1000), key: chunk.type === "key" });
      bytes += data.length;
    },
    error: (error) => (failed = error),
  });
  encoder.configure(config);
  return {
    add: async (canvas, seconds) => {
      for (let n = 0; n < seconds * RATE; n++) {
        if (failed) throw failed;
        const frame = new VideoFrame(canvas, { timestamp: at * 1000, duration: 1_000_000 / RATE });
        encoder.encode(frame, { keyFrame: n === 0 });
        frame.close();
        at += 1000 / RATE;
      }
      await encoder.flush();
      if (failed) throw failed;
      if (bytes > MOST_BYTES) throw new Error(TOO_LARGE);
    },
    end: async () => new Blob(container(frames, name, at), { type: "video/webm" }),
    close: () => {
      if (encoder.state !== "closed") encoder.close();
    },
  };
}

// --- the container -----------------------------------------------------------------------------------------------

/**
 * The parts of a file: what it is, an index of its clusters, and a cluster from each frame that needs no other.
 *
 * @param {Frame[]} frames
 * @param {string} codec
 * @param {number} duration in milliseconds
 */
function container(frames, codec, duration) {
  /** @type {{ at: number, bytes: Uint8Array<ArrayBuffer> }[]} */
  const clusters = [];
  for (let first = 0, next; first < frames.length; first = next) {
    for (next = first + 1; next < frames.length && !frames[next].key;) next++;
    const { at } = frames[first];
    const blocks = frames.slice(first, next).map((frame) => block(frame, at));
    clusters.push({ at, bytes: element(0x1f43b675, element(0xe7, uint(at, 4)), ...blocks) });
  }
  const info = element(
    0x1549a966,
    element(0x2ad7b1, uint(1_000_000, 4)), // a tick is a millisecond, in nanoseconds
    element(0x4489, float(duration)),
    element(0x4d80, ascii("podstep")),
    element(0x5741, ascii("podstep")),
  );
  const video = element(0xe0, element(0xb0, uint(WIDTH, 2)), element(0xba, uint(HEIGHT, 2)));
  const track = [element(0xd7, [1]), element(0x73c5, [1]), element(0x9c, [0]), element(0x83, [1])];
  const tracks = element(0x1654ae6b, element(0xae, ...track, element(0x86, ascii(codec)), video));
  // The index precedes the clusters it points to: each position takes four bytes, so its own length is known.
  let position = info.length + tracks.length + cues(clusters.map(({ at }) => [at, 0])).length;
  const index = cues(
    clusters.map(({ at, bytes }) => {
      const here = position;
      position += bytes.length;
      return [at, here];
    }),
  );
  const head = element(
    0x1a45dfa3,
    ...[0x4286, 0x42f7].map((id) => element(id, [1])),
    element(0x42f2, [4]),
    element(0x42f3, [8]),
    element(0x4282, ascii("webm")),
    ...[0x4287, 0x4285].map((id) => element(id, [2])),
  );
  return [head, joined([id(0x18538067), size(position)]), info, tracks, index, ...clusters.map(({ bytes }) => bytes)];
}

/** @param {[at: number, position: number][]} points */
function cues(points) {
  const point = (/** @type {[number, number]} */ [at, position]) =>
    element(0xbb, element(0xb3, uint(at, 4)), element(0xb7, element(0xf7, [1]), element(0xf1, uint(position, 4))));
  return element(0x1c53bb6b, ...points.map(point));
}

/**
 * A frame of track 1, its time from that of its cluster in 16 bits: the seconds of a step keep it below 32.
 *
 * @param {Frame} frame
 * @param {number} since
 */
const block = ({ data, at, key }, since) => element(0xa3, [0x81], uint(at - since, 2), [key ? 0x80 : 0], data);

/**
 * @param {number} name
 * @param {...(Uint8Array | number[])} body
 */
function element(name, ...body) {
  const length = body.reduce((sum, part) => sum + part.length, 0);
  return joined([id(name), size(length), ...body]);
}

/** @param {number} name */
const id = (name) => uint(name, name > 0xffffff ? 4 : name > 0xffff ? 3 : name > 0xff ? 2 : 1);

/**
 * A length in eight bytes, the first of which says so.
 *
 * @param {number} length
 */
const size = (length) => [0x01, 0, 0, ...uint(Math.floor(length / 2 ** 32), 1), ...uint(length % 2 ** 32, 4)];

/**
 * @param {number} value
 * @param {number} bytes
 */
const uint = (value, bytes) =>
  Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** (bytes - 1 - i)) & 255);

/** @param {number} value */
function float(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

/** @param {string} text */
const ascii = (text) => Array.from(text, (letter) => letter.charCodeAt(0));

// WebM: the browser's VideoEncoder makes the frames, and Mediabunny writes them into a file. The times are those of the
// steps, not of a clock: it takes as long as encoding takes, and the file states its duration and can be searched,
// which one of MediaRecorder can not.

import { HEIGHT, MOST_BYTES, TOO_LARGE, WIDTH } from "./format.ts";
import type { Film } from "./format.ts";

const RATE = 4; // frames a second: players move their clock by frames, and some drop a last one that stands alone
const BITRATE = 4_000_000; // at most; a picture that stands still takes next to nothing
const NOT_LOADED = "What writes WebM could not be loaded from this server. Reload the page, or choose GIF.";
const CODECS: Codec[] = [
  { codec: "vp9", fullCodecString: "vp09.00.31.08" },
  { codec: "vp8", fullCodecString: "vp8" },
];

export type Codec = { codec: "vp8" | "vp9"; fullCodecString: string };

/**
 * The first codec that this browser encodes; null of one without VideoEncoder, which pages have only over HTTPS or from
 * the machine itself.
 */
export async function webmCodec(): Promise<Codec | null> {
  if (typeof VideoEncoder === "undefined") return null;
  for (const one of CODECS) {
    const config = { codec: one.fullCodecString, width: WIDTH, height: HEIGHT, bitrate: BITRATE, framerate: RATE };
    const { supported } = await VideoEncoder.isConfigSupported(config).catch(() => ({ supported: false }));
    if (supported) return one;
  }
  return null;
}

/** Begin a file of what is drawn on a canvas. Rejects with an Error in words. */
export async function webm(canvas: HTMLCanvasElement, codec: Codec): Promise<Film> {
  const { BufferTarget, CanvasSource, Output, Quality, WebMOutputFormat } = await library();
  let [bytes, at] = [0, 0];
  const source = new CanvasSource(canvas, {
    ...codec,
    quality: new Quality({ bitrate: BITRATE }),
    onEncodedPacket: (packet) => (bytes += packet.byteLength),
  });
  const target = new BufferTarget();
  const output = new Output({ format: new WebMOutputFormat(), target });
  output.addVideoTrack(source, { frameRate: RATE });
  await output.start();
  return {
    add: async (seconds) => {
      for (let n = 0; n < seconds * RATE; n++) {
        await source.add(at, 1 / RATE, { keyFrame: n === 0 }); // waits while the encoder is behind
        at += 1 / RATE;
      }
      if (bytes > MOST_BYTES) throw new Error(TOO_LARGE);
    },
    end: async () => {
      await output.finalize();
      const buffer = target.buffer as ArrayBuffer; // it is there once the output is finalized
      if (buffer.byteLength > MOST_BYTES) throw new Error(TOO_LARGE);
      return new Blob([buffer], { type: "video/webm" });
    },
    close: async () => {
      if (output.state !== "finalized") await output.cancel();
    },
  };
}

async function library() {
  try {
    return await import("../../../vendor/mediabunny.js");
  } catch {
    throw new Error(NOT_LOADED);
  }
}

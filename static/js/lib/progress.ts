// A server's reports of how far it is, in words.

import { count } from "./quantity.ts";
import type { Report } from "./protocol.js";

const MEBIBYTE = 1024 * 1024;

export const bytes = (n: number) =>
  n < MEBIBYTE ? `${count(Math.round(n / 1024))} KiB` : `${(n / MEBIBYTE).toFixed(1)} MiB`;

// Of reading a bundle: the words, the share of the whole at which a stage begins, and how much of it the stage is.
const STAGES: Record<string, [words: string, from: number, wide: number]> = {
  sending: ["Uploading", 0, 0.1],
  reading: ["Reading the text", 0.1, 0.4],
  checking: ["Checking the objects", 0.5, 0.3],
  assembling: ["Assembling the cluster", 0.8, 0.2],
};

/** A report `{stage, done, of}` as the share of the whole and words. */
export function progressOf({ stage, done, of }: Report): [share: number, words: string] {
  const [words, from, wide] = STAGES[stage] ?? STAGES.reading;
  const share = of > 0 ? Math.min(1, done / of) : 0;
  const amount =
    stage === "checking" || stage === "assembling"
      ? `${count(done)} of ${count(of)}`
      : `${bytes(done)} of ${bytes(of)}`;
  return [from + wide * share, `${words}: ${amount}`];
}

// The record that a file carries: answers of the server, each text once, in compressed chunks that are unpacked when
// they are first needed. playground/recordings/ writes it.

import { Lru } from "../lib/lru.ts";
import type { Packed } from "../lib/packed.ts";

const CHUNKS_KEPT = 24; // unpacked, of about half a megabyte each

/** A cycle in which a condition of `cycle.find` holds, why, and what of it may be met already. */
export type Match = [index: number, why: string, met: string];

/** What a record holds beside the texts, whose places it names. */
export type Head = {
  source: Record<string, string>;
  /** By the command and what is asked, as JSON. */
  answers: Record<string, number>;
  /** By part, of each cycle from the first. */
  parts: Record<string, number[]>;
  steps: string[];
  found: Record<string, Match[]>;
  /** The first place in each chunk. */
  starts: number[];
};

/** The scenario that a file carries, to be opened where there is an engine. */
export const bundleOf = async (page: Document): Promise<Packed> =>
  JSON.parse(await textOf(page.querySelector("template[data-bundle]")));

const textOf = async (held: HTMLTemplateElement | null): Promise<string> => window.podstepHeld?.text(held);

export class Recorded {
  #chunks: HTMLTemplateElement[];
  #unpacked: Lru<number, Promise<string[]>> = new Lru(CHUNKS_KEPT);

  private constructor(
    readonly head: Head,
    page: Document,
  ) {
    this.#chunks = [...page.querySelectorAll<HTMLTemplateElement>("template[data-chunk]")];
  }

  static async of(page: Document) {
    const head = await textOf(page.querySelector("template[data-record]"));
    return new Recorded(JSON.parse(head), page);
  }

  /** The text at a place: JSON of an answer, or of a part of one. */
  async text(place: number): Promise<string> {
    const { starts } = this.head;
    const chunk = starts.findLastIndex((first) => first <= place);
    const texts = this.#unpacked.get(chunk) ?? this.#unpack(chunk);
    return (await texts)[place - (starts[chunk] ?? 0)] ?? "null";
  }

  #unpack(chunk: number) {
    const texts = textOf(this.#chunks[chunk] ?? null).then((text) => text.split("\n"));
    this.#unpacked.set(chunk, texts);
    return texts;
  }
}

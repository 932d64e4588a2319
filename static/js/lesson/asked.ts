// What the server says of a stop, and what the player knows of its question: signals that components read.

import { computed, signal } from "@preact/signals";
import { $ } from "../lib/dom.ts";
import type { Verdict } from "./api.ts";

export interface Option {
  key: string;
  label: string;
  group: string;
}

/** What a stop asks; nothing of it tells the answer. */
export interface Asked {
  kind: string;
  form: string;
  question: string;
  options: Option[];
  unit: string;
  hints: number;
  par: number | null;
  forbidden: string[];
}

/**
 * A stop as the page has it. `language` is that of the stop's texts; `stage` has the addresses of the frame while the
 * question is open, and afterwards. `home` is the address below which the stops are; `launch` names what a learning
 * platform launched, of which the server knows what was `passed`.
 */
export interface Player {
  lesson: string;
  stop: string;
  stops: string[];
  resumes: boolean;
  seed: number | null;
  language: string;
  home: string;
  launch: string | null;
  passed: string[];
  task: Asked | null;
  stage: { scenario: string; open: string; shown: string };
}

export let player: Player = JSON.parse($("#player").textContent ?? "null");

/** Where the browser keeps how far the learner is: of a launched lesson apart, for its own person. */
export const kept = player.launch ? `launch:${player.launch}` : player.lesson;

/** An answer as it is sent: null while nothing is chosen. */
export type Answer = string | number | string[];

export const given = signal<Answer | null>(null);
export const sure = signal<boolean | null>(null);
export const verdict = signal<Verdict | null>(null);
export const busy = signal(false);
export const trouble = signal(""); // what went wrong with asking
export const passed = computed(() => verdict.value?.right === true);

/** Show another stop of the lesson, to which nothing is answered yet. */
export function begin(next: Player) {
  player = next;
  [given.value, sure.value, verdict.value] = [null, null, null];
  [busy.value, trouble.value] = [false, ""];
}

/** Answer otherwise: what was said of the answer before is no longer about this one. */
export function give(answer: Answer | null) {
  if (passed.value) return;
  given.value = answer;
  if (verdict.value) verdict.value = null;
  trouble.value = "";
}

// When something is created or changed: from the start, or after the cycle on screen.

import { signal, type Signal } from "../../kit/signals.ts";
import { count } from "../../lib/quantity.ts";
import { superseded } from "../../lib/socket.ts";
import type { Playback } from "../playback/playback.ts";

const TRIES = 20;
const AGAIN = 160;

/**
 * The major.minor of a cycle, "" if it cannot be had: then only the start is offered. The stage may ask for the same
 * one, and the newer question wins.
 */
export async function address(playback: Playback, index: number): Promise<string> {
  if (!index) return "";
  for (let tried = 0; tried < TRIES; tried += 1) {
    const known = playback.light(index)?.step;
    if (known) return known;
    try {
      const asked = { source: playback.source, step: String(index), parts: [] };
      return (await playback.socket.call("cycle.get", asked)).step;
    } catch (error) {
      if (!superseded(error)) break;
      await new Promise((done) => {
        setTimeout(done, AGAIN);
      });
    }
  }
  return "";
}

/** The moment that is chosen. */
export class Since {
  readonly index: number;
  readonly step = signal(""); // "" for the start
  offered = ""; // the step on screen, "" where only the start is offered

  constructor(readonly playback: Playback) {
    this.index = playback.wantedCycle;
  }

  async find() {
    this.offered = await address(this.playback, this.index);
  }

  get wish() {
    return this.step.value ? { step: this.step.value } : {};
  }

  words(step = this.step.value) {
    return step ? `After cycle ${count(this.index)}` : "From the start";
  }
}

/** Two choices, or one sentence before the first cycle. */
export function When({ since, legend, alone }: { since: Since; legend: string; alone: string }) {
  const { offered, step } = since;
  if (!offered) return <p class="edit-when dim">{alone}</p>;
  const choice = { name: "add-when", chosen: step };
  return (
    <fieldset class="edit-when">
      <legend>{legend}</legend>
      <Choice {...choice} value="" label={since.words("")} hint="before the first cycle" />
      <Choice {...choice} value={offered} label={since.words(offered)} hint="at the step on screen" />
    </fieldset>
  );
}

type ChoiceProps = { name: string; value: string; label: string; hint: string; chosen: Signal<string> };

/** One of several choices, each with a word on what it means. */
export const Choice = ({ name, value, label, hint, chosen }: ChoiceProps) => (
  <label>
    <input type="radio" {...{ name, value }} checked={chosen.value === value} onChange={() => (chosen.value = value)} />
    <span>
      <b>{label}</b> <span class="dim">{hint}</span>
    </span>
  </label>
);

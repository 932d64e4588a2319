// When something is created or changed: from the start, or after the cycle on screen.

import { signal, type Signal } from "../../kit/signals.ts";
import { count } from "../../lib/quantity.ts";
import type { Playback } from "../playback/playback.ts";

/** The major.minor of a cycle; "" of the start, and if it cannot be had: then only the start is offered. */
export const address = async (playback: Playback, index: number) =>
  index ? playback.address(index).catch(() => "") : "";

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

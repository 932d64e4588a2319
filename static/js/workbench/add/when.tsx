// When something is created or changed: from the start, or after the cycle on screen.

import type { Signal } from "../../kit/signals.ts";
import { count } from "../../lib/quantity.js";
import { superseded } from "../../lib/socket.js";
import type { Playback } from "../playback.js";

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

/** A step, as words before which it is said what happens; "" is the start. */
export const since = (step: string, index: number) => (step ? `After cycle ${count(index)}` : "From the start");

type WhenProps = {
  index: number;
  /** Of the cycle on screen; "" where only the start is offered. */
  step: string;
  chosen: Signal<string>;
  legend?: string;
  /** Said where there is no choice. */
  alone?: string;
};

/** Two choices, or one sentence before the first cycle. */
export function When({ index, step, chosen, legend = "When it is created", ...more }: WhenProps) {
  if (!step) return <p class="edit-when dim">{more.alone ?? "It exists from the start."}</p>;
  const choices = [
    ["", "before the first cycle"],
    [step, "at the step on screen"],
  ] as const;
  return (
    <fieldset class="edit-when">
      <legend>{legend}</legend>
      {choices.map(([value, hint]) => (
        <Choice key={value} {...{ name: "add-when", value, label: since(value, index), hint, chosen }} />
      ))}
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

// When an event lands: before the first cycle or after one, inside the next, or at a second of virtual time.

import { createRef } from "preact";
import { signal } from "../../kit/signals.ts";
import { count } from "../../lib/quantity.ts";
import { address } from "./when.tsx";
import type { Playback } from "../playback/playback.ts";

/** `step`, with `during` inside the cycle after it, or `seconds`; `index` is the cycle that is on screen then. */
export type When = { index: number; step?: string; seconds?: string; during?: string };
type Way = "cycle" | "second";

export const SECONDS_WANTED = "Write seconds from 0, such as 12.5.";
const LATER = 60; // the next full minute after the last cycle: what it placed runs by then

/** Seconds as they were written, with a point; null if it is no such number. */
export function readSeconds(typed: string) {
  const text = typed.trim().replace(",", ".");
  return /^\d+(\.\d+)?$/.test(text) ? text : null;
}

/**
 * Whether there is a cache that a change inside a cycle could leave stale: the scenario's, or one of a later
 * configuration.
 */
export const caches = ({ policy, current }: Playback) => (policy?.cache ?? "off") !== "off" || Boolean(current?.policy);

/**
 * The moment on screen, and what is written in its place: its cycle, or where the run is over a second after it.
 * `timed`: what happens lets time pass, even if none does so far.
 */
export class Moment {
  readonly timed: boolean;
  readonly way = signal<Way>("cycle");
  readonly during = signal(false);
  readonly error = signal("");
  readonly typed;
  readonly fields = { cycle: createRef<HTMLInputElement>(), second: createRef<HTMLInputElement>() };

  constructor(
    readonly playback: Playback,
    { timed = false } = {},
  ) {
    this.timed = playback.timed || timed;
    const over = timed && playback.complete && playback.wantedCycle >= playback.cycles;
    const time = playback.time ?? 0;
    const next = playback.timed && playback.atEnd ? Math.ceil(time) : Math.ceil((time + LATER - 1) / LATER) * LATER;
    this.typed = {
      cycle: signal(String(playback.wantedCycle)),
      second: signal(String(over ? next : Math.ceil(time))),
    };
    if (over) this.way.value = "second";
  }

  choose(way: Way) {
    if (this.way.value === way) return;
    this.way.value = way;
    this.error.value = "";
  }

  showError(text: string) {
    this.error.value = text;
    if (text) this.fields[this.way.value].current?.focus();
  }

  /** Null, with the error at its field, if it is none. */
  async read(): Promise<When | null> {
    const { playback, typed } = this;
    this.showError("");
    if (this.way.value === "second") {
      const seconds = readSeconds(typed.second.value);
      if (seconds === null) return this.#refuse(SECONDS_WANTED);
      const index = playback.marks.firstAt(Number(seconds));
      return { seconds, index: index ? index - 1 : playback.cycles };
    }
    const text = typed.cycle.value.trim();
    const index = Number(text);
    if (!/^\d+$/.test(text) || index > playback.cycles)
      return this.#refuse(`Write the number of a cycle from 0 to ${count(playback.cycles)}.`);
    const step = (await address(playback, index)) || (index ? "" : "1.0");
    if (!step) return this.#refuse("This cycle is not loaded; try once more.");
    return { step, index, ...(this.during.value && !playback.timed ? { during: "evaluation" } : {}) };
  }

  #refuse(text: string) {
    this.showError(text);
    return null;
  }
}

export function MomentFields({ moment }: { moment: Moment }) {
  const { playback, timed, during, error } = moment;
  return (
    <fieldset class="edit-when moment">
      <legend>When it happens</legend>
      <div class="moment-choice">
        <Chosen moment={moment} way="cycle" text="After cycle" />
        <Written moment={moment} way="cycle" label="After which cycle" />
        <span class="dim">{`of ${count(playback.cycles)}; 0 is the start`}</span>
      </div>
      {timed ? (
        <div class="moment-choice">
          <Chosen moment={moment} way="second" text="At a time" />
          <span class="moment-second">
            <span class="dim">t =</span>
            <Written moment={moment} way="second" label="Seconds of virtual time" />
            <span class="dim">s</span>
          </span>
          <span class="dim">of virtual time, whatever runs then</span>
        </div>
      ) : caches(playback) ? (
        <label class="moment-inside">
          <input
            type="checkbox"
            checked={during.value}
            onChange={(event) => (during.value = event.currentTarget.checked)}
          />
          <span>
            inside the next cycle, between evaluating and writing{" "}
            <span class="dim">(the stale write of the cache)</span>
          </span>
        </label>
      ) : null}
      <small class="field-note stale-text" id="moment-error" role="alert">
        {error}
      </small>
    </fieldset>
  );
}

const Chosen = ({ moment, way, text }: { moment: Moment; way: Way; text: string }) => (
  <label>
    <input type="radio" name="moment" checked={moment.way.value === way} onChange={() => moment.choose(way)} />
    <span>{text}</span>
  </label>
);

/** What is written of a choice; who comes to it chooses it. */
const Written = ({ moment, way, label }: { moment: Moment; way: Way; label: string }) => (
  <input
    ref={moment.fields[way]}
    class="field num"
    inputMode={way === "cycle" ? "numeric" : "decimal"}
    size={6}
    value={moment.typed[way].value}
    aria-label={label}
    aria-describedby="moment-error"
    aria-invalid={Boolean(moment.error.value) && moment.way.value === way}
    onInput={(event) => (moment.typed[way].value = event.currentTarget.value)}
    onFocus={() => moment.choose(way)}
  />
);

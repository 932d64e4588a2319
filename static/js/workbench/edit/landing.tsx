// When an edit lands: after the cycle on screen, inside the next one, at a second of virtual time, or from the start.

import { createRef } from "preact";
import { signal } from "../../kit/signals.ts";
import { count } from "../../lib/quantity.ts";
import { SECONDS_WANTED, caches, readSeconds } from "./moment.tsx";
import type { Playback } from "../playback/playback.ts";
import { capital } from "../playback/terms.ts";

type Way = "start" | "after" | "second" | "inside";
/** Fields of `bundle.operate`; `start`: the manifest is changed. */
export type Lands = { start?: boolean; seconds?: string; during?: string };

const FIELDS = { start: { start: true }, after: {}, inside: { during: "evaluation" } };

export class Landing {
  readonly way = signal<Way>("after");
  readonly typed;
  readonly error = signal("");
  readonly field = createRef<HTMLInputElement>();

  /** `settled`: it restarts the scheduler; `start`: the object may be changed from the start. */
  constructor(
    readonly playback: Playback,
    readonly index: number,
    readonly about: { settled: boolean; start: boolean },
  ) {
    this.typed = signal(String(Math.ceil(playback.time ?? 0)));
    if (about.start && !about.settled) this.way.value = "start";
  }

  choose(way: Way) {
    if (this.way.value === way) return;
    this.way.value = way;
    this.error.value = "";
  }

  /** Null, with the error at its field, if a second is needed and none was written. */
  read(): Lands | null {
    const way = this.way.value;
    if (way !== "second") return FIELDS[way];
    const seconds = readSeconds(this.typed.value);
    this.error.value = seconds === null ? SECONDS_WANTED : "";
    if (seconds === null) this.field.current?.focus();
    return seconds === null ? null : { seconds };
  }
}

export function LandingFields({ landing }: { landing: Landing }) {
  const { playback, index, about, way, typed, error, field } = landing;
  const after = index ? `after cycle ${count(index)}` : "before the first cycle";
  if (about.settled) return <p class="edit-when dim">{`The scheduler restarts with it ${after}.`}</p>;
  const last = playback.complete && playback.cycles <= index;
  const inside = caches(playback) && !(playback.timed && last);
  const shown = last
    ? `No later cycle exists yet: a cycle that it triggers will show it${playback.end ? ", else the End" : ""}. `
      + "Earlier cycles are unchanged."
    : index
      ? "and before the next one, which is the first to show it. Earlier cycles are unchanged."
      : "and the first one shows it.";
  if (!playback.timed && !inside && !about.start)
    return (
      <p class="edit-when dim">
        <b>{`It lands ${after}`}</b>
        {`${last ? "." : ""} ${shown}`}
      </p>
    );
  const choice = (value: Way, label: string, hint = "") => (
    <label>
      <input type="radio" name="edit-when" checked={way.value === value} onChange={() => landing.choose(value)} />
      <span>
        <b>{label}</b>
        {hint ? (
          <>
            {" "}
            <span class="dim">{hint}</span>
          </>
        ) : null}
      </span>
    </label>
  );
  return (
    <fieldset class="edit-when moment">
      <legend>When it happens</legend>
      {about.start ? choice("start", "From the start", "its manifest is changed; no event") : null}
      {choice("after", about.start ? `${capital(after)}, as an event` : capital(after), shown)}
      {playback.timed ? (
        <>
          <div class="moment-choice">
            {choice("second", "At a time")}
            <span class="moment-second">
              <span class="dim">t =</span>
              <input
                ref={field}
                class="field num"
                inputMode="decimal"
                size={6}
                value={typed.value}
                aria-label="Virtual second at which it takes effect"
                aria-describedby="edit-second-error"
                aria-invalid={Boolean(error.value)}
                onInput={(event) => (typed.value = event.currentTarget.value)}
                onFocus={() => landing.choose("second")}
              />
              <span class="dim">s</span>
            </span>
            <span class="dim">of virtual time, whatever runs then</span>
          </div>
          <small class="field-note stale-text" id="edit-second-error" role="alert">
            {error}
          </small>
        </>
      ) : null}
      {inside
        ? choice(
            "inside",
            `Inside cycle ${count(index + 1)}, between evaluating and writing`,
            "The predicates have run on the old state when the change takes effect, and then write their results to "
              + "the equivalence cache: a stale write.",
          )
        : null}
    </fieldset>
  );
}

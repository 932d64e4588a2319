// A slider for the weight of a priority, a field for its number, and beside them where the winner flips.

import { useLayoutEffect, useRef } from "preact/hooks";
import { count } from "../../../lib/quantity.ts";
import type { RankedRow } from "../ranked.ts";
import { MOST_WEIGHT, type Flip } from "../weights.ts";

const FLIPS_SHOWN = 3; // beside a slider

/** The end of a slider: the weight twice, and the flips that are not far beyond. */
export function reachOf(flips: Flip[], weight: number) {
  const marks = flips.slice(1).map(({ from }) => from);
  const above = marks.find((mark) => mark > weight) ?? 0;
  let reach = Math.max(10, 2 * weight, Math.ceil(above * 1.5));
  const far = marks.filter((mark) => mark <= 4 * reach).at(-1) ?? 0;
  reach = Math.max(reach, Math.ceil(far * 1.2));
  return Math.min(reach, MOST_WEIGHT);
}

type SliderProps = {
  row: RankedRow;
  /** The weight that is tried, and up to which one can slide. */
  weight: number;
  reach: number;
  flips: Flip[];
  /** The position of who wins now, and what a position is called in so many letters. */
  winner: number;
  name: (position: number, most?: number) => string;
  /** Whether its lines are drawn. */
  drawn: boolean;
  attempt: (weight: number) => void;
  choose: () => void;
};

export function WeightSlider({ row, weight, reach, flips, winner, name, drawn, attempt, choose }: SliderProps) {
  const id = `weigh-${row.index}`;
  const field = useRef<HTMLInputElement>(null);
  // What is typed stays as it is typed.
  useLayoutEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = String(weight);
  });
  const valid = (input: HTMLInputElement) => input.value !== "" && input.checkValidity();
  const state = `${row.flat ? "same" : ""} ${weight === row.weight ? "" : "tried"} ${drawn ? "shown" : ""}`;
  return (
    <li class={state.replace(/\s+/g, " ").trim() || undefined}>
      <label for={id} title={row.name}>
        <b>{row.label}</b>
        {` ${row.short}`}
      </label>
      <input
        type="range"
        class="weigh-slider"
        id={id}
        min={0}
        max={reach}
        step={1}
        value={weight}
        data-weight={row.index}
        aria-describedby={`${id}-flips`}
        aria-valuetext={`${count(weight)}: ${name(winner, 80)} wins`}
        onInput={(event) => attempt(Number(event.currentTarget.value))}
        onFocus={choose}
      />
      <input
        ref={field}
        type="number"
        class="field num weigh-number"
        min={0}
        max={MOST_WEIGHT}
        step={1}
        inputMode="numeric"
        aria-label={`Weight of ${row.name}`}
        onInput={({ currentTarget }) => {
          if (valid(currentTarget)) attempt(Number(currentTarget.value));
        }}
        onFocus={choose}
        onChange={({ currentTarget }) => {
          if (!valid(currentTarget)) currentTarget.value = String(weight);
        }}
      />
      <span class="weigh-flips dim num" id={`${id}-flips`}>
        {row.flat ? "" : flipWords(flips.slice(1), weight, name)}
      </span>
    </li>
  );
}

/** The flips around a weight, in words. */
function flipWords(marks: Flip[], weight: number, name: SliderProps["name"]) {
  if (!marks.length) return "no weight of it changes the winner";
  const next = marks.findIndex(({ from }) => from > weight);
  const around = Math.max(0, Math.min(next, marks.length - FLIPS_SHOWN));
  const shown = marks.slice(around, around + FLIPS_SHOWN);
  const wins = shown.map(({ from, winner }) => `${name(winner, 18)} wins from ${count(from)}`).join(", ");
  return `${around > 0 ? "… " : ""}${wins}${around + shown.length < marks.length ? ", …" : ""}`;
}

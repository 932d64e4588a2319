// Which part of a run its charts show: by cycles or over virtual time, from where to where, and where that opens.

import { useEffect, useState } from "preact/hooks";
import { Icon } from "../kit/icon.tsx";
import type { Span } from "../kit/plot.tsx";
import { Segmented } from "../kit/segmented.tsx";
import { clock, count } from "../lib/quantity.ts";
import type { View } from "./charts.tsx";
import { asked } from "./answer.tsx";

type RangeProps = {
  run: string;
  view: View;
  /** Where the run ends by this axis. */
  last: number;
  isTimed: boolean;
  onView: (view: View) => void;
};
const AXES: [View["by"], string][] = [
  ["cycle", "By cycle"],
  ["time", "Over virtual time"],
];

/** The cycles that a range holds, null of one without any. */
async function cyclesOf(run: string, { by, span }: View): Promise<Span | null> {
  if (!span) return null;
  if (by === "cycle") return [Math.max(1, Math.ceil(span[0])), Math.floor(span[1])];
  const { rows } = await asked(
    run,
    `SELECT min(cycle), max(cycle) FROM cycles WHERE time BETWEEN ${span[0]} AND ${span[1]}`,
  );
  return rows[0][0] === null ? null : [Number(rows[0][0]), Number(rows[0][1])];
}

export function RangeBar({ run, view, last, isTimed, onView }: RangeProps) {
  const { by, span } = view;
  const [cycles, setCycles] = useState<Span | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    let current = true;
    setError("");
    cyclesOf(run, view).then(
      (found) => current && setCycles(found),
      (failed: Error) => current && setError(failed.message),
    );
    return () => {
      current = false;
    };
  }, [run, view]);
  const set = (at: 0 | 1) => (value: string) => {
    const next: Span = [span?.[0] ?? 0, span?.[1] ?? last];
    next[at] = Math.max(0, Math.min(last, Number(value) || 0));
    onView({ by, span: next[1] > next[0] ? next : null });
  };
  const unit = by === "cycle" ? "cycle" : "second";
  return (
    <>
      {isTimed ? (
        <Segmented
          label="Axis of the charts"
          options={AXES}
          value={by}
          onChange={(next) => onView({ by: next as View["by"], span: null })}
        />
      ) : null}
      <Bound label={`From ${unit}`} value={span?.[0] ?? 0} last={last} onChange={set(0)} />
      <Bound label="to" value={span?.[1] ?? last} last={last} onChange={set(1)} />
      {span ? (
        <button type="button" class="btn" onClick={() => onView({ by, span: null })}>
          Whole run
        </button>
      ) : (
        <span class="dim">drag over a chart to show a part of it</span>
      )}
      {span && cycles ? (
        <a class="btn primary" href={`/runs/${run}/at/${cycles[0]}/`}>
          <Icon name="build" />
          <span>{`Open cycle ${count(cycles[0])} in the workbench`}</span>
        </a>
      ) : null}
      <span class="dim num" role="status">
        {error || (span ? wordsOf(view, cycles) : "")}
      </span>
    </>
  );
}

/** What a range holds, in words. */
function wordsOf({ by, span }: View, cycles: Span | null) {
  if (!span) return "";
  if (!cycles || cycles[1] < cycles[0]) return "no cycle in it";
  const held = `cycles ${count(cycles[0])} to ${count(cycles[1])}`;
  return by === "cycle" ? held : `${clock(span[0])} to ${clock(span[1])}: ${held}`;
}

type BoundProps = { label: string; value: number; last: number; onChange: (value: string) => void };

const Bound = ({ label, value, last, onChange }: BoundProps) => (
  <label class="bound">
    <span>{label}</span>
    <input
      class="field num"
      type="number"
      min="0"
      max={last}
      step="any"
      value={Math.round(value * 1000) / 1000}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  </label>
);

// An answer to a statement as a chart: a line where its first column goes up, else a bar for each row.

import { useState } from "preact/hooks";
import { Lines } from "../kit/plot.tsx";
import { Select } from "../kit/select.tsx";
import { count } from "../lib/quantity.ts";
import { isWords, shown, type Rows, type Value } from "./answer.tsx";

const BARS = 40;

export function AnswerChart({ columns, rows }: Rows) {
  const [chosen, choose] = useState("");
  const figures = columns.map((_, at) => at).filter((at) => at && columns[at] !== "cycle" && isNumbers(rows, at));
  if (!figures.length) return <p class="dim">A chart needs rows with a column of numbers after the first column.</p>;
  const at = figures.includes(Number(chosen)) ? Number(chosen) : figures[0];
  const texts = columns.map((_, column) => column).filter((column) => column && isWords(rows, column));
  const isLine = !texts.length && isRising(rows.map(([first]) => first));
  return (
    <>
      {figures.length > 1 ? (
        <Select
          aria-label="Column of the chart"
          value={String(at)}
          options={figures.map((figure): [string, string] => [String(figure), columns[figure]])}
          onChange={choose}
        />
      ) : null}
      {isLine ? <Line {...{ columns, rows, at }} /> : <Bars {...{ columns, rows, at, texts }} />}
    </>
  );
}

const isNumbers = (rows: Value[][], at: number) =>
  rows.some((row) => typeof row[at] === "number")
  && rows.every((row) => row[at] === null || typeof row[at] === "number");
const isRising = (values: Value[]) =>
  values.length > 1
  && values.every((value, i) => typeof value === "number" && (!i || value > (values[i - 1] as number)));

type DrawnProps = Pick<Rows, "columns" | "rows"> & { at: number };

function Line({ columns, rows, at }: DrawnProps) {
  const known = rows.filter((row) => row[at] !== null) as number[][];
  const x = known.map(([first]) => first);
  const y = known.map((row) => row[at]);
  return (
    <Lines
      lines={[{ name: columns[at], colour: "var(--g3)", symbol: 0, x, y }]}
      x={{ title: columns[0], format: shown }}
      y={{ title: columns[at], whole: y.every(Number.isInteger), format: shown }}
      range={[x[0], x[x.length - 1]]}
      label={`${columns[at]} by ${columns[0]}, a chart. Its numbers are in the table.`}
    />
  );
}

/** The first rows as bars, each below what else the row says: messages are long, and wrap. */
function Bars({ columns, rows, at, texts }: DrawnProps & { texts: number[] }) {
  const listed = rows.slice(0, BARS);
  const most = Math.max(...listed.map((row) => Number(row[at]))) || 1;
  const first = (value: Value) => (typeof value === "string" ? value : `${columns[0]} ${shown(value)}`);
  const wordsOf = (row: Value[]) => [first(row[0]), ...texts.map((text) => row[text] ?? "–")].join(" · ");
  return (
    <>
      <ol class="answer-bars num" aria-label={`${columns[at]} of each row`}>
        {listed.map((row, i) => (
          <li key={i}>
            <span title={wordsOf(row)}>{wordsOf(row)}</span>
            <b>{shown(row[at])}</b>
            <svg width="100%" height="8" aria-hidden="true">
              <rect width={`${Math.max(0, (100 * Number(row[at])) / most)}%`} height="8" rx="2" />
            </svg>
          </li>
        ))}
      </ol>
      {rows.length > BARS ? <p class="dim">{`The first ${count(BARS)} of ${count(rows.length)} rows.`}</p> : null}
    </>
  );
}

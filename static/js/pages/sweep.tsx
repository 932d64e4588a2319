// A sweep: a row for each cell, the cells that no other is better than, and two figures of all of them as a chart.

import { useState } from "preact/hooks";
import { Chart, look } from "../kit/chart.tsx";
import { place } from "../kit/place.ts";
import { Select } from "../kit/select.tsx";
import { Table } from "../kit/table.tsx";
import { $, announce } from "../lib/dom.ts";
import { count } from "../lib/quantity.ts";
import type { KeptLists } from "../lib/tables.ts";
import { token } from "../lib/theme.ts";

type Value = string | number | boolean | null;
type Metrics = Record<string, any> & { utilisation: Record<string, number> };
type Cell = {
  number: number;
  values: Record<string, Value>;
  run: string | null;
  state: string;
  metrics: Metrics | null;
  error: string | null;
};
type Sweep = {
  id: string;
  state: "running" | "done" | "cancelled";
  done: number;
  total: number;
  axes: { name: string; values: Value[] }[];
  front: number[];
  cells: Cell[];
};
type Figure = {
  name: string;
  title: string;
  of: (metrics: Metrics) => number | null;
  words: (value: number) => string;
};

const EVERY = 1500; // milliseconds between two looks while it runs
const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
const seconds = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} s`;
const plain = (name: string, title: string, words = count): Figure => ({
  name,
  title,
  of: (metrics) => metrics[name] ?? null,
  words,
});
const FIGURES: Figure[] = [
  plain("placed", "placed"),
  plain("pending", "pending"),
  plain("preemptions", "preemptions"),
  plain("nodesUsed", "nodes used"),
  { name: "cpu", title: "cpu requested", of: ({ utilisation }) => utilisation.cpu ?? null, words: percent },
  { name: "memory", title: "memory requested", of: ({ utilisation }) => utilisation.memory ?? null, words: percent },
  plain("fragmentation", "fragmentation", percent),
  plain("cpuDeviation", "deviation of cpu", percent),
  plain("meanWait", "mean wait", seconds),
  plain("pricePerHour", "price an hour", (value) => value.toFixed(2)),
];
const TONES: Record<string, string> = { done: "pass", running: "accent", failed: "stale", cancelled: "fail" };
const HEIGHT = 270;

const root = $("[data-sweep]");
const kept: KeptLists = {};
let sweep: Sweep = JSON.parse($("#sweep", root).textContent ?? "");

function draw() {
  const ended = sweep.state !== "running";
  const state = $("[data-state]", root);
  state.textContent = sweep.state;
  state.className = `pill ${TONES[sweep.state]}`;
  $("[data-progress-text]", root).textContent = `${count(sweep.done)} of ${count(sweep.total)} cells`;
  const bar = $("[data-progress]", root);
  bar.setAttribute("aria-valuenow", String(sweep.done));
  bar.className = `progress ${ended ? (sweep.state === "done" ? "done" : "stopped") : ""}`;
  $("i", bar).style.setProperty("width", `${(100 * sweep.done) / (sweep.total || 1)}%`);
  const form = $("[data-cancel-form]", root);
  if (form) form.hidden = ended;
  place(<Results of={sweep} />, $("[data-sweep-results]", root));
}

async function lookAgain() {
  try {
    const answer = await fetch(`/sweeps/${sweep.id}/cells.json`, { headers: { Accept: "application/json" } });
    if (answer.ok) {
      const before = sweep.state;
      sweep = await answer.json();
      if (before !== sweep.state) announce(`The sweep is ${sweep.state}.`);
      draw();
    }
  } catch {
    // the next look finds it
  }
  follow();
}

function follow() {
  const runs = sweep.cells.some(({ state }) => ["queued", "running", "cancelling"].includes(state));
  if (runs) setTimeout(() => void lookAgain(), document.hidden ? 10 * EVERY : EVERY);
}

/** The figures that differ between cells, and in words those that do not. */
function known(of: Sweep): [differing: Figure[], alike: string[]] {
  const valued = FIGURES.map((figure) => {
    const values = of.cells.map(({ metrics }) => metrics && figure.of(metrics)).filter((value) => value !== null);
    return { figure, values: [...new Set(values)] };
  }).filter(({ values }) => values.length);
  const differing = valued.filter(({ values }) => values.length > 1).map(({ figure }) => figure);
  const alike = valued.filter(({ values }) => values.length === 1);
  return [differing, alike.map(({ figure: { title, words }, values: [value] }) => `${title} ${words(value)}`)];
}

function Results({ of }: { of: Sweep }) {
  const [chosen, choose] = useState<string[]>([]);
  const [figures, alike] = known(of);
  const toggle = (run: string) =>
    choose(chosen.includes(run) ? chosen.filter((one) => one !== run) : [...chosen, run].slice(-2));
  return (
    <>
      <section class="card" aria-labelledby="cells-title">
        <Table
          title={<h2 id="cells-title">Cells</h2>}
          caption="Cells of the sweep"
          class="list tight num sweep-cells"
          filter={of.cells.length > 12 ? "Filter cells" : ""}
          kept={kept}
          name="cells"
          heads={["", ...of.axes.map(({ name }) => name), "state", ...figures.map(({ title }) => title), "run"]}
          rows={of.cells.map((cell) => (
            <Row
              key={cell.number}
              cell={cell}
              of={of}
              figures={figures}
              chosen={cell.run !== null && chosen.includes(cell.run)}
              toggle={toggle}
            />
          ))}
          tools={<Compare runs={chosen} />}
        />
        {alike.length ? <p class="dim fine">The same in every cell: {alike.join(", ")}.</p> : null}
        <p class="dim fine">
          ★: no other cell places as many pods on as few nodes at as little fragmentation. Fragmentation is the share of
          the most frequent size of pod that would still fit if all free resources were on one node, and does not.
        </p>
      </section>
      {figures.length > 1 ? <Scatter of={of} figures={figures} /> : null}
      {figures.length ? <Effects of={of} figures={figures} /> : null}
    </>
  );
}

type RowProps = { cell: Cell; of: Sweep; figures: Figure[]; chosen: boolean; toggle: (run: string) => void };

function Row({ cell, of, figures, chosen, toggle }: RowProps) {
  const { number, values, run, state, metrics, error } = cell;
  return (
    <tr>
      <td data-value={number}>
        <label class="check">
          <input
            type="checkbox"
            checked={chosen}
            disabled={!run || state !== "done"}
            aria-label={`Choose cell ${number} to compare`}
            onChange={() => run && toggle(run)}
          />
          {of.front.includes(number) ? <span title="On the Pareto front">★</span> : null}
        </label>
      </td>
      {of.axes.map(({ name }) => (
        <td>{shown(values[name])}</td>
      ))}
      <td>
        <span class={`pill ${TONES[state] ?? ""}`} title={error ?? ""}>
          {state}
        </span>
      </td>
      {figures.map(({ of: read, words }) => {
        const value = metrics ? read(metrics) : null;
        return <td data-value={value ?? ""}>{value === null ? "–" : words(value)}</td>;
      })}
      <td>{run ? <a href={`/runs/${run}/`}>open</a> : error}</td>
    </tr>
  );
}

const shown = (value: Value) => (value === null ? "–" : String(value));

/** Two cells side by side. */
const Compare = ({ runs: [left, right] }: { runs: string[] }) =>
  left && right ? (
    <a class="btn" href={`/compare/?left=run%3A${left}&right=run%3A${right}`}>
      Compare the two
    </a>
  ) : (
    <span class="dim">Choose two to compare</span>
  );

type FiguresProps = { of: Sweep; figures: Figure[] };

/** Two figures of every cell; a point opens its run. */
function Scatter({ of, figures }: FiguresProps) {
  const [x, setX] = useState("");
  const [y, setY] = useState("");
  const named = (name: string, place: number) => figures.find((one) => one.name === name) ?? figures[place];
  const [across, up] = [named(x, 0), named(y, figures.length > 2 ? 2 : 1)];
  const choices = figures.map(({ name, title }): [string, string] => [name, title]);
  const cells = of.cells.filter(({ metrics }) => metrics);
  const drawn = () => scatter(cells, of.front, across, up);
  return (
    <section class="card chart-card" aria-labelledby="scatter-title">
      <div class="chart-head">
        <h2 id="scatter-title">Two figures of every cell</h2>
        <span class="grow" />
        <Select aria-label="Figure upward" value={up.name} options={choices} onChange={setY} />
        <span class="dim">over</span>
        <Select aria-label="Figure across" value={across.name} options={choices} onChange={setX} />
      </div>
      <Chart
        library={root.dataset.plotly ?? ""}
        label={`${up.title} over ${across.title} of every cell, a chart. Its numbers are in the table above.`}
        class="chart"
        of={`${across.name}/${up.name}/${sweep.done}`}
        figure={drawn}
        onPoint={({ customdata }) => customdata && location.assign(`/runs/${customdata}/`)}
      />
    </section>
  );
}

function scatter(cells: Cell[], front: number[], x: Figure, y: Figure) {
  const { axis, title, plain: layout } = look();
  const side = (listed: Cell[], name: string, colour: string, symbol: string) => ({
    type: "scatter",
    mode: "markers",
    name,
    x: listed.map(({ metrics }) => x.of(metrics as Metrics)),
    y: listed.map(({ metrics }) => y.of(metrics as Metrics)),
    customdata: listed.map(({ run }) => run),
    text: listed.map(({ values }) =>
      Object.entries(values)
        .map(([key, value]) => `${key} ${shown(value)}`)
        .join("<br>"),
    ),
    hovertemplate: "%{text}<extra></extra>",
    marker: { color: token(colour), symbol, size: 10 },
  });
  const best = new Set(front);
  return {
    data: [
      side(
        cells.filter(({ number }) => !best.has(number)),
        "other cells",
        "--g3",
        "circle",
      ),
      side(
        cells.filter(({ number }) => best.has(number)),
        "no other is better",
        "--pass",
        "star",
      ),
    ],
    layout: {
      ...layout,
      height: HEIGHT,
      margin: { l: 60, r: 16, t: 12, b: 44 },
      showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
      xaxis: { ...axis, title: title(x.title) },
      yaxis: { ...axis, title: title(y.title) },
    },
  };
}

/** What a value of an axis does to the figures: the mean over its cells. */
function Effects({ of, figures }: FiguresProps) {
  const cells = of.cells.filter(({ metrics }) => metrics);
  return (
    <section class="card" aria-labelledby="effects-title">
      <h2 id="effects-title">What each value does</h2>
      <p class="dim fine">The mean of each figure over all cells with that value.</p>
      {of.axes
        .filter(({ values }) => values.length > 1)
        .map(({ name, values }) => (
          <Table
            key={name}
            title={<h3>{name}</h3>}
            caption={`Means by ${name}`}
            class="list tight num"
            kept={kept}
            name={`effects-${name}`}
            heads={[name, "cells", ...figures.map(({ title }) => title)]}
            rows={values.map((value) => {
              const own = cells.filter((cell) => cell.values[name] === value);
              return (
                <tr key={String(value)}>
                  <th scope="row">{shown(value)}</th>
                  <td>{count(own.length)}</td>
                  {figures.map((figure) => (
                    <Mean of={own} figure={figure} />
                  ))}
                </tr>
              );
            })}
          />
        ))}
    </section>
  );
}

function Mean({ of, figure }: { of: Cell[]; figure: Figure }) {
  const values = of.map(({ metrics }) => figure.of(metrics as Metrics)).filter((value) => value !== null);
  if (!values.length) return <td>–</td>;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const rounded = figure.words === count ? mean.toFixed(Number.isInteger(mean) ? 0 : 1) : figure.words(mean);
  return <td data-value={mean}>{rounded}</td>;
}

draw();
follow();

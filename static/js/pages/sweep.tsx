// A sweep: a row for each cell, the cells that no other is better than, and their figures as charts.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { place } from "../kit/place.ts";
import { Table } from "../kit/table.tsx";
import { $, announce } from "../lib/dom.ts";
import { count } from "../lib/quantity.ts";
import type { KeptLists } from "../lib/tables.ts";
import { Bars, Parallel, Scatter } from "./sweepcharts.tsx";
import { known, shown, sizesOf } from "./sweepfigures.ts";
import type { Cell, Distance, Figure, Metrics, Sweep } from "./sweepfigures.ts";

const EVERY = 1500; // milliseconds between two looks while it runs, of a hundred cells
const PAGE = 50; // rows
const TONES: Record<string, string> = { done: "pass", running: "accent", failed: "stale", cancelled: "fail" };

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
  bar.setAttribute("aria-valuemax", String(sweep.total));
  bar.setAttribute("aria-valuenow", String(sweep.done));
  bar.className = `progress ${ended ? (sweep.state === "done" ? "done" : "stopped") : ""}`;
  $("i", bar).style.setProperty("width", `${(100 * sweep.done) / (sweep.total || 1)}%`);
  const form = $("[data-cancel-form]", root);
  if (form) form.hidden = ended;
  const removal = $("[data-delete-form]", root);
  if (removal) removal.hidden = !ended;
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
  const pause = EVERY * Math.max(1, sweep.total / 100);
  if (runs) setTimeout(() => void lookAgain(), document.hidden ? 10 * pause : pause);
}

/** What was searched since the page was opened, by the number of the cell: the distance, or how that stands. */
type Searches = Record<number, Distance | string>;

function Results({ of }: { of: Sweep }) {
  const [chosen, choose] = useState<string[]>([]);
  const [searches, note] = useState<Searches>({});
  const search = (cell: Cell) =>
    void searched(of, cell, (found) => note((known) => ({ ...known, [cell.number]: found })));
  const last = Math.max(...of.cells.map(({ rung }) => rung));
  const cells = of.cells.filter(({ metrics, rung }) => metrics && rung === last);
  const [figures, alike] = known(cells);
  const toggle = (run: string) =>
    choose(chosen.includes(run) ? chosen.filter((one) => one !== run) : [...chosen, run].slice(-2));
  const charts = { of, cells, figures };
  const waits = of.state === "running" && !cells.length;
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
          heads={[
            "",
            ...(of.rungs.length ? ["rung"] : []),
            ...of.axes.map(({ name }) => name),
            "state",
            ...figures.map(({ title }) => title),
            "optimum",
            "run",
          ]}
          size={PAGE}
          rows={of.cells.map((cell) =>
            rowOf({
              cell,
              of,
              figures,
              chosen: cell.run !== null && chosen.includes(cell.run),
              toggle,
              found: searches[cell.number] ?? cell.optimum,
              search,
            }),
          )}
          tools={<Compare runs={chosen} />}
        />
        {waits ? <p class="dim fine">Figures appear as cells end. You may close this page meanwhile.</p> : null}
        {alike.length ? <p class="dim fine">The same in every cell: {alike.join(", ")}.</p> : null}
        <p class="dim fine">
          ★: no other cell places as many pods on as few nodes at as little fragmentation. Fragmentation is the share of
          the most frequent size of pod that would still fit if all free resources were on one node, and does not.
          {of.rungs.length ? ` ${halving(of)}` : ""}
        </p>
      </section>
      <Later>{figures.length && cells.length > 1 ? <Bars {...charts} /> : null}</Later>
      <Later>{figures.length > 1 && cells.length > 1 ? <Scatter {...charts} /> : null}</Later>
      <Later>{figures.length && cells.length > 1 ? <Parallel {...charts} /> : null}</Later>
      <Later>{cells.length ? <Fits cells={cells} /> : null}</Later>
      <Later>{figures.length ? <Effects of={of} cells={cells} figures={figures} /> : null}</Later>
    </>
  );
}

/** What is drawn in a task of its own, after what stands before it. */
function Later({ children }: { children: ComponentChildren }) {
  const [due, fall] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => fall(true));
    return () => clearTimeout(timer);
  }, []);
  return due ? <>{children}</> : null;
}

/** The rungs of a sweep in a sentence. */
function halving({ rungs, by }: Sweep) {
  const [[unit]] = rungs;
  const amounts = rungs.map(([, amount]) => (unit === "arrivals" ? `${100 * amount} %` : `${amount} s`));
  const what = unit === "arrivals" ? "of what arrives" : "of virtual time";
  return `Rungs run ${amounts.join(", ")} ${what}; the best by ${by.join(", then ")} go on. Charts show the last.`;
}

/** How many more pods of each size would fit at the end of every cell. */
function Fits({ cells }: { cells: Cell[] }) {
  const sizes = sizesOf(cells);
  return (
    <section class="card" aria-labelledby="fits-title">
      <Table
        title={<h2 id="fits-title">Pods that would still fit</h2>}
        caption="Pods that would still fit, by size"
        class="list tight num"
        filter={cells.length > 12 ? "Filter cells" : ""}
        kept={kept}
        name="fits"
        size={PAGE}
        heads={["cell", ...sizes]}
        rows={cells.map(({ number, metrics }) => (
          <tr key={number}>
            <th scope="row">{number}</th>
            {sizes.map((size) => {
              const found = metrics?.fits.find((one) => one.size === size);
              return <td data-value={found?.fits ?? ""}>{found ? <FitsOf {...found} /> : "–"}</td>;
            })}
          </tr>
        ))}
      />
      <p class="dim fine">By the free resources of each node; in parentheses, if all that is free were on one node.</p>
    </section>
  );
}

const FitsOf = ({ fits, whole }: { fits: number; whole: number }) => (
  <>
    {count(fits)} <span class="dim">({count(whole)})</span>
  </>
);

type RowProps = {
  cell: Cell;
  of: Sweep;
  figures: Figure[];
  chosen: boolean;
  toggle: (run: string) => void;
  found: Distance | string | null;
  search: (cell: Cell) => void;
};

/** The row of a cell: no component, because the table sorts and filters by what its cells say. */
function rowOf({ cell, of, figures, chosen, toggle, found, search }: RowProps) {
  const { number, rung, values, run, state, metrics, error } = cell;
  return (
    <tr key={number}>
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
      {of.rungs.length ? <td>{rung}</td> : null}
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
      <td>{metrics ? <Optimum number={number} found={found} search={() => search(cell)} /> : null}</td>
      <td>
        {run ? <a href={`/runs/${run}/`}>open</a> : null} {error}
      </td>
    </tr>
  );
}

/** Search how far a cell is from the best placement; `note` takes how that stands, and what was found. */
async function searched(of: Sweep, { number }: Cell, note: (found: Distance | string) => void) {
  note("searching …");
  try {
    const answer = await fetch(`/api/sweeps/${of.id}/cells/${number}/optimum`);
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.errors?.[0]?.message ?? answer.statusText);
    note(body);
    announce(`Cell ${number}: ${wordsOf(body)}.`);
  } catch (error) {
    note((error as Error).message);
  }
}

type OptimumProps = { number: number; found: Distance | string | null; search: () => void };

/** How far a cell is from the best placement, searched on request. */
const Optimum = ({ number, found, search }: OptimumProps) =>
  found === null ? (
    <button class="btn quiet" aria-label={`Search the optimum of cell ${number}`} onClick={search}>
      Search
    </button>
  ) : typeof found === "string" ? (
    <span class="dim">{found}</span>
  ) : (
    <span title={detailsOf(found)}>{wordsOf(found)}</span>
  );

const VERDICTS = { optimal: "proven optimal", equal: "equal", improved: "improved", other: "breaks a rule" };

function wordsOf({ verdict, placed, nodes, bestPlaced, bestNodes, why }: Distance) {
  if (!verdict || bestPlaced === null || bestNodes === null) return why;
  const pods = bestPlaced - placed;
  const better = pods ? `${pods > 0 ? "+" : "−"}${count(Math.abs(pods))} pods` : `−${count(nodes - bestNodes)} nodes`;
  return verdict === "improved" ? `improved: ${better}` : VERDICTS[verdict];
}

const detailsOf = ({ means, bestPlaced, bestNodes, leftOut }: Distance) =>
  [
    means,
    bestPlaced === null ? "" : `best found: ${bestPlaced} pods on ${bestNodes} nodes`,
    ...leftOut.map((rule) => `not known to the search: ${rule}`),
  ]
    .filter(Boolean)
    .join("; ");

/** Two cells side by side. */
const Compare = ({ runs: [left, right] }: { runs: string[] }) =>
  left && right ? (
    <a class="btn" href={`/compare/?left=run%3A${left}&right=run%3A${right}`}>
      Compare the two
    </a>
  ) : (
    <span class="dim">Choose two to compare</span>
  );

type FiguresProps = { of: Sweep; cells: Cell[]; figures: Figure[] };

/** What a value of an axis does to the figures: the mean over its cells. */
function Effects({ of, cells, figures }: FiguresProps) {
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

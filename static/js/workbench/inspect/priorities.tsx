// Priorities, under v1.37 Score: what every feasible node scored, as map, reduced or weighted, and the sum, in either
// orientation; and how a tie was broken.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { CopyRows } from "../../kit/copy.tsx";
import { Empty } from "../../kit/empty.tsx";
import { Filter } from "../../kit/filter.tsx";
import { Grid, type GridRows } from "../../kit/grid.tsx";
import { Heading } from "../../kit/heading.tsx";
import { Pager } from "../../kit/pager.tsx";
import { Segmented } from "../../kit/segmented.tsx";
import { $$, targetOf } from "../../lib/dom.ts";
import type { Absent, Light, PrioritiesPart } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { useInTab, useRedraw } from "../view/asking.tsx";
import type { List } from "../view/lists.ts";
import { capital, termsIn } from "../playback/terms.ts";
import type { View } from "../view/view.ts";
import { NodeColumn } from "./column.tsx";
import { Later } from "./empty.tsx";
import { NodeGrid } from "./nodegrid.tsx";
import type { Content } from "./panel.tsx";
import { rankedOf, type Mode, type Ranking } from "./ranked.ts";
import { columnsIn, nodeRows, priorityIds, priorityRows, priorityTsv } from "./scores.tsx";
import { sentence } from "../view/sentence.tsx";
import { Winner } from "./winner.tsx";
import { follow } from "../playback/store.ts";

const MODES: Mode[] = ["raw", "score", "weighted", "sum"];
const USUAL = "weighted";
const NARROW = 360; // pixels, as long as it is not known how many there are

/** What is said of a cycle without a ranking, and what leads to why. */
function reasonsIn(view: View, result: Light["result"]): [head: string, ask: string] {
  if (result === "unschedulable") return ["There was nothing to rank.", "See what removed the nodes"];
  if (result !== "scheduled") return ["No node was ranked in this cycle.", ""];
  const { scorers } = termsIn(view.playback);
  return [`${capital(scorers)} were not run, because only one node fits.`, "See what removed the others"];
}

/** What stands over the matrix where its weights can be tried. */
type Weights = { weights?: (ranked: PrioritiesPart) => ComponentChildren };

export function Priorities({ view, part, weights }: Content<"priorities"> & Weights) {
  const light = view.playback.current as Light;
  if ("totals" in part) return <Ranked {...{ view, light, weights }} ranked={part} />;
  if (light.result === "undecided") return <Later view={view} title="No node is ranked at this moment." />;
  const [head, ask] = reasonsIn(view, light.result);
  return (
    <Empty title={head}>
      <span>{String((part as Absent).why ?? "")}</span>
      {ask ? (
        <button type="button" class="btn" onClick={() => view.setTab("predicates")}>
          {ask}
        </button>
      ) : null}
    </Empty>
  );
}

type RankedProps = Weights & { view: View; light: Light; ranked: PrioritiesPart };

function Ranked({ view, light, ranked, weights }: RankedProps) {
  const { names } = view.playback.nodes;
  const made = rankedOf(ranked, names);
  const list = view.lists.list("priorities", "matrix", { sort: "total", down: true });
  const grid = useRef<GridRows>(null);
  const reveal = useRef(false);
  const stays = useRef(false); // the page of nodes as columns, which was turned to
  const redraw = useRedraw();
  useInTab(view.store, "priorities", view.store.subs);
  const { mode, across } = read(view.sub);
  const choose = (to: Mode, rows: boolean) => view.setSub(to === USUAL && !rows ? "" : rows ? `${to}/priorities` : to);
  const picked = made.rows.findIndex((row) => row.name === list.cell);
  const pick = (index: number) => {
    const row = made.rows[index];
    if (!row) return;
    list.cell = row.name;
    reveal.current = stays.current = true;
    view.lists.changed();
    redraw();
  };
  /** A column was chosen: a priority by `r3`, a node by `n17`. */
  const head = (key = "") => {
    const number = Number(key.slice(1));
    if (/^r\d+$/.test(key)) pick(number);
    else if (/^n\d+$/.test(key)) view.selectNode(number);
  };
  // The nodes that the filter leaves, best first.
  const nodes = made.order
    .map((i) => made.nodes[i])
    .filter((node) => !list.find || names[node].toLowerCase().includes(list.find));
  const tsv = () => (across ? priorityTsv(ranked, made, names, mode, nodes) : (grid.current?.tsv() ?? ""));
  const { column, columns, raw, score } = termsIn(view.playback);
  // It shows at once who wins, and needs to know how ties are broken.
  const weighed = (!ranked.release || ranked.turns) && (ranked.winner !== null || view.playback.reached.over);
  return (
    <>
      <div class="priority-summary">
        <Winner view={view} light={light} ranked={ranked} />
        {ranked.said?.length ? (
          <div class="story surprises">
            {ranked.said.map((parts) =>
              sentence(view, parts, { priority: (name) => pick(made.rows.findIndex((row) => row.name === name)) }),
            )}
          </div>
        ) : null}
      </div>
      {weighed ? weights?.(ranked) : null}
      <section class="matrix-section">
        <Heading
          text={across ? `${capital(column)} × node` : `Node × ${column}`}
          count={
            nodes.length === made.nodes.length
              ? plural(nodes.length, "feasible node")
              : `${count(nodes.length)} of ${plural(made.nodes.length, "feasible node")}`
          }
          live
        />
        <div class="matrix-tools">
          <Filter
            label="Filter nodes by name"
            placeholder="Filter nodes"
            state={list}
            onChange={() => {
              view.lists.changed();
              redraw();
            }}
          />
          <Segmented
            label="Values"
            options={[
              ["raw", raw],
              ["score", score],
              ["weighted", "Weighted"],
              ["sum", "Combine"],
            ]}
            value={mode}
            onChange={(to) => choose(to as Mode, across)}
          />
          <span class="rows-are">
            <span class="dim fine" aria-hidden="true">
              rows
            </span>
            <Segmented
              label="Rows are"
              options={[
                ["nodes", "Nodes"],
                ["priorities", capital(columns)],
              ]}
              value={across ? "priorities" : "nodes"}
              onChange={(rows) => choose(mode, rows === "priorities")}
            />
          </span>
          <CopyRows act={() => [tsv(), tsv().split("\n").length - 1]} />
        </div>
        {across ? (
          <Across
            {...{ view, ranked, made, mode, nodes, list, picked, pick, head, tsv, stays }}
            label={`${capital(column)} by node`}
          />
        ) : (
          <div class="score-holder">
            <NodeGrid
              view={view}
              grid={grid}
              list={list}
              label={`Node by ${column}`}
              className="matrix scores"
              columns={nodeRows(ranked, made, names, mode, picked)}
              rows={nodes}
              onSelect={(node, key) => {
                view.selectNode(node);
                head(key);
              }}
              onHead={head}
            />
          </div>
        )}
      </section>
      <NodeColumn view={view} ranked={ranked} made={made} picked={picked} pick={pick} reveal={reveal} />
    </>
  );
}

/** What the address asks for: `sum` or `raw/priorities`. */
function read(sub: string) {
  const [mode, rows] = sub.split("/");
  return { mode: MODES.find((one) => one === mode) ?? USUAL, across: rows === "priorities" };
}

type AcrossProps = {
  view: View;
  ranked: PrioritiesPart;
  made: Ranking;
  mode: Mode;
  nodes: number[];
  list: List;
  label: string;
  picked: number;
  pick: (index: number) => void;
  head: (key: string) => void;
  tsv: () => string;
  stays: { current: boolean };
};

/** Priorities as rows, and a page of nodes as columns: the one with the selected node, or else the chosen one. */
function Across({ view, ranked, made, mode, nodes, list, label, picked, pick, head, tsv, stays }: AcrossProps) {
  const holder = useRef<HTMLDivElement>(null);
  const grid = useRef<GridRows>(null);
  const redraw = useRedraw();
  useInTab(view.store, "priorities", view.store.selection);
  const size = columnsIn(holder.current?.clientWidth || NARROW);
  const drawn = useRef(size);
  drawn.current = size;
  if (!stays.current) {
    const at = nodes.indexOf(made.at.has(view.node) ? view.node : (ranked.winner ?? -1));
    list.page = Math.max(0, Math.floor(at / size));
  }
  stays.current = false;
  list.page = Math.min(list.page, Math.max(0, Math.ceil(nodes.length / size) - 1));
  const from = list.page * size;
  const shown = nodes.slice(from, from + size);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry?.contentRect.width && columnsIn(entry.contentRect.width) !== drawn.current) redraw();
    });
    if (holder.current) observer.observe(holder.current);
    const lit = (node: number) => {
      const table = grid.current;
      if (!table) return;
      for (const cell of $$(".lit-column", table.element)) cell.classList.remove("lit-column");
      const at = node < 0 ? -1 : table.columns.findIndex(({ key }) => key === `n${node}`);
      if (at > 0) for (const cell of $$(`[data-column="${at}"]`, table.element)) cell.classList.add("lit-column");
    };
    const end = follow(view.store.hovered, lit);
    return () => {
      observer.disconnect();
      end();
    };
  }, [view, redraw]);
  const turn = (to: number) => {
    list.page = Math.floor(to / size);
    stays.current = true;
    redraw();
    view.lists.changed();
  };
  const off = () => view.hover(-1);
  const point = (event: Event) => {
    const at = Number(targetOf(event).closest("[data-column]")?.dataset.column ?? 0);
    const key = grid.current?.columns[at]?.key ?? "";
    view.hover(/^n\d+$/.test(key) ? Number(key.slice(1)) : -1);
  };
  return (
    <>
      <Pager
        from={from}
        total={nodes.length}
        size={size}
        shown={shown.length}
        what="nodes"
        of={`${plural(nodes.length, "node")}, best first`}
        turns={["Better nodes", "Further nodes"]}
        go={turn}
      />
      <div
        ref={holder}
        class="score-holder"
        onPointerOver={point}
        onFocusIn={point}
        onPointerLeave={off}
        onFocusOut={off}
      >
        <Grid
          grid={grid}
          label={label}
          className="matrix scores across"
          columns={priorityRows(ranked, made, view.playback.nodes.names, mode, shown, view.node)}
          rows={shown.length ? priorityIds(made, mode) : []}
          selected={picked}
          onSelect={(id, key) => {
            head(key);
            pick(id);
          }}
          onHead={head}
          onCopy={tsv}
        />
      </div>
    </>
  );
}

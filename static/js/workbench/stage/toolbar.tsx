// What stands over the stage: how many nodes and pods there are, what the marks mean, and how the nodes are shown.

import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Select } from "../../kit/select.tsx";
import { classes } from "../../lib/dom.ts";
import { count, plural } from "../../lib/quantity.ts";
import type { HeatMap } from "./heat.ts";
import { UNREACHED } from "../playback/verdict.ts";
import type { View } from "../view/view.ts";
import { MEASURES } from "./shading.ts";
import { isDouble, viewsOf } from "../view/windows.ts";

const CLOSER = 1.6; // a press of a zoomer

/** `heat` is the heat map, null where the nodes are cards; `rooms`: their pods are blocks. */
type ToolbarProps = { view: View; heat: HeatMap | null; rooms: boolean };

export function Toolbar({ view, heat, rooms }: ToolbarProps) {
  const { lit, shown } = view;
  const asTable = shown.stage === "table";
  const opened = view.playback.index < 0; // no step is drawn yet
  return (
    <div class={classes("stage-tools", { plain: heat?.measure === "colour", overview: heat })}>
      <span class="dim num stage-count">{opened ? "" : counts(view)}</span>
      {rooms && !asTable ? <span class="dim axes">Blocks: cpu × memory</span> : null}
      <ul class="ghosts pods" aria-label="Marks on the nodes">
        {(opened ? [] : marksOf(view, heat !== null)).map(([, className, text]) => (
          <li key={className}>
            <i class={className} />
            {text}
          </li>
        ))}
      </ul>
      <span class="lit-note" role="status">
        {lit ? (
          <>
            <span class="pill fail">{`${plural(lit.nodes.size, "node")}: ${lit.label}`}</span>
            <Button look="quiet square tiny" icon="close" label="Stop highlighting" act={() => view.light(null)} />
          </>
        ) : null}
      </span>
      <span class="grow" />
      {heat ? (
        <>
          <label class="measure">
            <span>shade by</span>
            <Select
              aria-label="Shade nodes by"
              options={Object.entries(MEASURES)}
              value={heat.measure}
              onChange={(shade) => view.setShown({ shade })}
            />
            <span class="ramp-ends">0</span>
            <span class="ramp" aria-hidden="true" />
            <span class="ramp-ends">100 %</span>
          </label>
          <span class="zoomers">
            <Button look="quiet square" icon="minus" label="Zoom out" act={() => heat.zoom(1 / CLOSER)} />
            <Button look="quiet square" icon="plus" label="Zoom in" act={() => heat.zoom(CLOSER)} />
            <Button look="quiet square" icon="fit" label="Show all nodes" act={() => heat.fit()} />
          </span>
        </>
      ) : null}
      <button
        type="button"
        class="btn quiet small"
        aria-pressed={asTable}
        data-stage-table
        aria-label="Nodes as a table"
        title="Nodes as a table (t)"
        onClick={() => view.setShown({ stage: asTable ? "" : "table" })}
      >
        <Icon name="table" />
        <span class="long">Nodes as a table</span>
        <span class="brief">Table</span>
      </button>
    </div>
  );
}

/** How many nodes there are, and pods on them; those that are being deleted there count for themselves. */
function counts(view: View) {
  const { nodes, cluster, terminating } = view.playback;
  const present = nodes.since || nodes.until ? nodes.names.filter((_, node) => view.exists(node)) : nodes.names;
  const leaving = [...terminating].filter((pod) => cluster.placement[pod] >= 0).length;
  const words = [
    plural(present.length, "node"),
    `${count(cluster.placed - leaving)} of ${plural(cluster.present - leaving, "pod")} placed`,
  ];
  return (leaving ? [...words, `${count(leaving)} Terminating`] : words).join(" · ");
}

/** What the marks on the nodes mean, as far as there are any: the overview has no room for words beside them. */
function marksOf(view: View, overview: boolean) {
  const { waiting, nominated } = view.facts;
  const { nodes } = view.playback;
  const double = overview ? (viewsOf(view)?.windows.filter(isDouble).length ?? 0) : 0;
  let [failed, unreached, ill] = [0, 0, 0];
  for (let node = 0; overview && node < nodes.names.length; node += 1) {
    if (!view.exists(node)) continue;
    const state = view.verdictOf(node);
    if (state === "failed") failed += 1;
    else if (state === "unreached") unreached += 1;
    if (nodes.unschedulable[node] || nodes.conditions[node].length) ill += 1;
  }
  const all: [there: boolean, className: string, text: string][] = [
    [nominated >= 0, "pod ghost", "nominated"],
    [waiting.size > 0, "pod waiting", `${count(waiting.size)} waiting at Permit`],
    [failed > 0, "cell-mark no", `${count(failed)} ${failed === 1 ? "does" : "do"} not fit`],
    [unreached > 0, "cell-mark dim", `${count(unreached)} ${UNREACHED}`],
    [double > 0, "cell-mark double", `${count(double)} double-booked`],
    [ill > 0, "cell-mark ill", `${count(ill)} cordoned or not ready`],
  ];
  return all.filter(([there]) => there);
}

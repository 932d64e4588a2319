// A small diagram: every node's total as a line over the weight of one priority, with the weights at which the winner
// changes; a table with the same facts stands behind it.

import { Table } from "../../kit/table.tsx";
import { count, ellipsis } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { aboutNode, nodeLink } from "../view/nouns.tsx";
import { MOST_WEIGHT, type Flip } from "./weights.ts";

const WIDTH = 440;
const HEIGHT = 170;
const PAD = { left: 8, right: 8, top: 20, bottom: 20 };
const ACROSS = WIDTH - PAD.left - PAD.right;
const TOP = PAD.top - 4;
const FLOOR = HEIGHT - PAD.bottom;
const LABELLED = 4; // winners that are named in the diagram
const ROOM = 46; // pixels that a name needs

type LinesProps = {
  view: View;
  title: string;
  /** The priority. */
  what: string;
  weight: number;
  /** The weight in force. */
  asIs: number;
  /** Up to which weight it is drawn. */
  reach: number;
  flips: Flip[];
  /** The lines by position: the total without the priority, and its score. */
  series: { id: number; base: number; slope: number }[];
  winner: number;
  name: (position: number) => string;
  nodeOf: (position: number) => number;
  onWeight: (weight: number) => void;
};

/** The weights from `from` to `to` in words; the highest one stands for all above it. */
function spanWords(from: number, to: number) {
  if (to >= MOST_WEIGHT) return `from ${count(from)} on`;
  return from === to ? `at ${count(from)}` : `from ${count(from)} to ${count(to)}`;
}

export function Lines(props: LinesProps) {
  const { view, title, what, weight, flips, nodeOf } = props;
  return (
    <figure class="weigh-figure">
      <figcaption>
        <b>{title}</b>
        <span class="dim">: each node’s sum over its weight</span>
      </figcaption>
      <Drawing {...props} />
      <details>
        <summary>As a table</summary>
        <Table
          rows={flips.map(({ from, to, winner, total, ties }) => (
            <tr
              key={from}
              class={from <= weight && weight <= to ? "won" : undefined}
              {...aboutNode(view, nodeOf(winner))}
            >
              <td class="num" data-value={from}>
                {to >= MOST_WEIGHT
                  ? `${count(from)} and more`
                  : from === to
                    ? count(from)
                    : `${count(from)} to ${count(to)}`}
              </td>
              <th scope="row">{nodeLink(view, nodeOf(winner), 30)}</th>
              <td class="num">{count(total)}</td>
              <td class="num dim">{ties > 1 ? count(ties) : "–"}</td>
            </tr>
          ))}
          heads={[
            "weight",
            "node that wins",
            { text: "sum at the first", class: "num" },
            { text: "equal", class: "num" },
          ]}
          caption={`Who wins by the weight of ${what}`}
          title={<h4>Who wins by weight</h4>}
          kept={view.lists.of("priorities")}
          name="flips"
        />
      </details>
    </figure>
  );
}

function Drawing({ view, what, weight, reach, asIs, flips, series, winner, name, nodeOf, onWeight }: LinesProps) {
  const x = (w: number) => PAD.left + (w / reach) * ACROSS;
  const ends = series.flatMap(({ base, slope }) => [base, base + slope * reach]);
  const low = Math.min(...ends);
  const high = Math.max(...ends, low + 1);
  const y = (total: number) => FLOOR - ((total - low) / (high - low)) * (FLOOR - PAD.top);
  const spans = flips.filter(({ from }) => from <= reach);
  const winners = [...new Set(spans.map((span) => span.winner))];
  const look = (kind: string, id: number) => {
    const at = winners.indexOf(id);
    return `${kind} ${at < 0 ? "" : `line-${at % 6}`}${id === winner ? " now" : ""}`;
  };
  const wins = spans.map(({ from, to, winner: one }) => `${name(one)} wins ${spanWords(from, to)}`);
  const best = series.find(({ id }) => id === winner);
  const upright = (kind: string, at: number) => <line class={kind} x1={at} x2={at} y1={TOP} y2={FLOOR} />;
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Totals over the weight of ${what}, 0 to ${count(reach)}. ${wins.join("; ")}.`}
      class="weigh-lines"
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const at = ((event.clientX - box.left) / box.width) * WIDTH;
        onWeight(Math.max(0, Math.min(reach, Math.round(((at - PAD.left) / ACROSS) * reach))));
      }}
    >
      {spans.map(({ from, to, winner: one }, i) => {
        const left = x(i ? from - 0.5 : 0);
        const right = x(Math.min(reach, to + 0.5));
        return (
          <g class={look("band", one)}>
            <rect x={left} y={TOP} width={Math.max(1, right - left)} height={FLOOR - TOP} />
            {i ? upright("flip", left) : null}
            {i < LABELLED && right - left > ROOM ? (
              <text x={(left + right) / 2} y={12} class="band-name" text-anchor="middle">
                {ellipsis(name(one), Math.max(4, Math.floor((right - left) / 7)))}
              </text>
            ) : null}
          </g>
        );
      })}
      {series.map(({ id, base, slope }) => (
        <line
          class={look("total-line", id)}
          x1={x(0)}
          y1={y(base)}
          x2={x(reach)}
          y2={y(base + slope * reach)}
          onPointerEnter={() => view.hover(nodeOf(id))}
          onPointerLeave={() => view.hover(-1)}
        >
          <title>{name(id)}</title>
        </line>
      ))}
      {upright("as-is", x(asIs))}
      {upright("at", x(weight))}
      {best ? <circle class="at-best" cx={x(weight)} cy={y(best.base + best.slope * weight)} r={4} /> : null}
      <text x={x(0)} y={HEIGHT - 6} class="axis">
        0
      </text>
      <text x={x(reach)} y={HEIGHT - 6} class="axis" text-anchor="end">
        {count(reach)}
      </text>
      <text
        x={Math.max(x(0) + 24, Math.min(x(weight), x(reach) - 60))}
        y={HEIGHT - 6}
        class="axis at-text"
        text-anchor="middle"
      >
        {count(weight)}
      </text>
    </svg>
  );
}

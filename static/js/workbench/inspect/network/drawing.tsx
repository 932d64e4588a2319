// The picture of one flow problem: classes at the left, machines and the aggregator at the right, arcs as wide as their
// flow. Each arc ends at a place of its own, beside its flow, capacity and cost.

import { count, short } from "../../../lib/quantity.ts";
import type { NetworkPhase } from "../../../lib/protocol.js";

const WIDTH = 400;
const LEFT = 112; // where classes end
const RIGHT = 288; // where machines begin
const ROW = 18;
const GAP = 10;
const MOST = 60; // arcs; of more only those with flow
const LETTERS = 15; // of a name
const AGGREGATOR = "pending";

type Arc = { of: string; to: string; flow: number; label: string };

export function Drawing({ phase, path }: { phase: NetworkPhase; path: { of: string; node: string } | null }) {
  const all = arcsOf(phase);
  const shown = all.length > MOST ? all.filter(({ flow }) => flow).slice(0, MOST) : all;
  if (!shown.length) return null;
  const targets = placed(shown);
  const bottom = Math.max(...targets.map(({ end }) => end)) + GAP;
  const classes = phase.classes.filter(({ name }) => shown.some(({ of }) => of === name));
  const centre = new Map(classes.map(({ name }, i) => [name, ((i + 0.5) * bottom) / classes.length]));
  const most = Math.max(1, ...shown.map(({ flow }) => flow));
  const hidden = all.length - shown.length;
  return (
    <figure class="network-figure">
      <svg
        class="network-picture"
        viewBox={`0 0 ${WIDTH} ${bottom}`}
        role="img"
        aria-label={`${classes.length} task classes, ${targets.length} ends of arcs; the tables below have all figures`}
      >
        {targets.flatMap(({ arcs }) =>
          arcs.map(({ of, to, flow, label, y }) => {
            const from = centre.get(of) ?? 0;
            const marked = path && of === path.of && to === (path.node || AGGREGATOR);
            return (
              <>
                <path
                  class={`arc ${flow ? "flowing" : ""} ${to === AGGREGATOR ? "aggregator" : ""} ${marked ? "now" : ""}`}
                  d={`M${LEFT} ${from}C${LEFT + 50} ${from} ${RIGHT - 130} ${y} ${RIGHT - 76} ${y}`}
                  stroke-width={flow ? 1.5 + (4.5 * flow) / most : 1}
                />
                <text x={RIGHT - 4} y={y + 4} class="figure">
                  {label}
                </text>
              </>
            );
          }),
        )}
        {classes.map(({ name, first, tasks }) => (
          <Box
            left={0}
            right={LEFT}
            y={centre.get(name) ?? 0}
            label={labelled(first, tasks)}
            kind="class"
            name={name}
          />
        ))}
        {targets.map(({ to, start, end }) => (
          <Box
            left={RIGHT}
            right={WIDTH}
            y={(start + end) / 2}
            label={cut(to, LETTERS)}
            kind={to === AGGREGATOR ? "aggregator" : "machine"}
            name={to}
            height={end - start}
          />
        ))}
      </svg>
      <figcaption class="dim">
        {`flow / capacity · cost of the cheapest${hidden ? `; ${count(hidden)} arcs are not drawn` : ""}`}
      </figcaption>
    </figure>
  );
}

function arcsOf({ classes }: NetworkPhase): Arc[] {
  const arcs = classes.flatMap(({ name, arcs: own }) =>
    own.map(([to, machines, flow, capacity, cost]) => ({
      of: name,
      to: machines > 1 ? `${count(machines)} × ${to}` : to,
      flow,
      label: `${count(flow)}/${count(capacity)} · ${count(cost)}`,
    })),
  );
  const pending = classes.filter(({ unscheduled }) => unscheduled);
  return [
    ...arcs,
    ...pending.map(({ name, unscheduled }) => ({
      of: name,
      to: AGGREGATOR,
      flow: unscheduled,
      label: count(unscheduled),
    })),
  ];
}

/** The ends of the arcs, machine by machine, with the height at which each arc ends. */
function placed(arcs: Arc[]) {
  let y = GAP;
  return [...new Set(arcs.map(({ to }) => to))].map((to) => {
    const start = y;
    const own = arcs.filter((one) => one.to === to).map((arc, i) => ({ ...arc, y: start + (i + 0.5) * ROW }));
    const end = start + own.length * ROW;
    y = end + GAP;
    return { to, start, end, arcs: own };
  });
}

type BoxProps = { left: number; right: number; y: number; label: string; kind: string; name: string; height?: number };

const Box = ({ left, right, y, label, kind, name, height = ROW + 4 }: BoxProps) => (
  <g class={kind}>
    <title>{name}</title>
    <rect x={left + 0.5} y={y - height / 2} width={right - left - 1} height={height} rx={4} />
    <text x={left + 8} y={y + 4} class="name">
      {label}
    </text>
  </g>
);

const cut = (name: string, room: number) => (name.length > room ? `${name.slice(0, room - 1)}…` : name);

/** A class by its first pod. */
function labelled(first: string, tasks: number) {
  const times = tasks > 1 ? ` ×${count(tasks)}` : "";
  return cut(short(first), LETTERS - times.length) + times;
}

// Ready pods of a workload over virtual time, in the branch and in its parent: steps, with the fewest marked.

import type { Available, AvailableMoment } from "../../lib/protocol.js";
import { clock, count } from "../../lib/quantity.ts";

const WIDTH = Math.min(560, Math.max(280, innerWidth - 64)); // so that its text is as large as the page's
const HEIGHT = 96;
const LEFT = 30;
const RIGHT = 8;
const TOP = 8;
const FOOT = 18;
const READY = 2; // column of a moment

const readyAt = (moments: AvailableMoment[], at: number) => moments.findLast(([since]) => since <= at)?.[READY] ?? 0;

/** How many were ready before a time, and the fewest from then on, with what was desired then. */
export function lowest({ moments }: Available, at: number) {
  const [, desired = 0, before = 0] = moments.findLast(([since]) => since < at) ?? [];
  return moments
    .filter(([since]) => since >= at)
    .reduce(
      (least, [since, wanted, ready]) => (ready < least.ready ? { before, ready, desired: wanted, since } : least),
      { before, ready: before, desired, since: at },
    );
}

/** A time in tenths of a second. */
export const inTenths = (seconds: number) => clock(Math.round(seconds * 10) / 10);

type ChartProps = {
  branch: Available | null;
  parent: Available | null;
  from: number;
  to: number;
  at: number;
  label: string;
};

/** A parent that has nothing for controllers to do stays as the branch was at `at`. */
export function ReadyChart({ branch, parent, from, to, at, label }: ChartProps) {
  const moments = [...(branch?.moments ?? []), ...(parent?.moments ?? [])];
  const most = Math.max(1, ...moments.flatMap(([, desired, ready]) => [desired, ready]));
  const x = (at: number) => LEFT + ((at - from) / (to - from || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (n: number) => TOP + (1 - n / most) * (HEIGHT - TOP - FOOT);
  const line = ({ moments }: Available) =>
    moments
      .filter(([at]) => at > from && at <= to)
      .reduce(
        (path, row) => `${path}H${x(row[0]).toFixed(1)}V${y(row[READY]).toFixed(1)}`,
        `M${x(from)} ${y(readyAt(moments, from)).toFixed(1)}`,
      ) + `H${x(to)}`;
  const least = branch && lowest(branch, at);
  const right = WIDTH - RIGHT;
  return (
    <svg class="verb-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <path class="grid" d={`M${LEFT} ${y(0)}H${right}M${LEFT} ${y(most)}H${right}`} />
      <text x={LEFT - 6} y={y(most) + 4} text-anchor="end">
        {count(most)}
      </text>
      <text x={LEFT - 6} y={y(0) + 4} text-anchor="end">
        0
      </text>
      <text x={LEFT} y={HEIGHT - 3}>
        {inTenths(from)}
      </text>
      <text x={right} y={HEIGHT - 3} text-anchor="end">
        {inTenths(to)}
      </text>
      <path
        class="line-parent"
        d={parent ? line(parent) : `M${x(from)} ${y(least?.before ?? 0).toFixed(1)}H${x(to)}`}
      />
      {branch ? <path class="line-branch" d={line(branch)} /> : null}
      {least && least.ready < least.before && least.since <= to ? (
        <circle class="fewest" cx={x(Math.max(from, least.since))} cy={y(least.ready)} r={4} />
      ) : null}
    </svg>
  );
}

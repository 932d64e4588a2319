// A workload over time in one small line: ready over desired, where fewest were ready, and the present moment.

import { steps, type Seen } from "./series.ts";

const BOX = { width: 160, height: 20 };
const xOf = (at: number, ends: number) => ((at / (ends || 1)) * BOX.width).toFixed(1);

/** What of it stays while time passes. */
export function lineOf({ moments, fewestAt, fewestReady }: Seen, ends: number) {
  const most = Math.max(1, ...moments.flatMap(([, desired, ready]) => [desired, ready]));
  const box = { ...BOX, ends, most };
  const ready = steps(moments, 2, box);
  const [first] = moments;
  const low = (BOX.height - (fewestReady / most) * BOX.height).toFixed(1);
  return {
    ends,
    ready,
    area: first && ready ? `${ready}V${BOX.height}H${xOf(first[0], ends)}Z` : "",
    desired: steps(moments, 1, box),
    fewest: first ? `M${xOf(fewestAt, ends)} ${low}h0` : "",
  };
}

export const sparkline = ({ ends, area, desired, ready, fewest }: ReturnType<typeof lineOf>, now: number | null) => (
  <svg class="sparkline" viewBox={`0 -2 ${BOX.width} ${BOX.height + 4}`} preserveAspectRatio="none" aria-hidden="true">
    <path class="area" d={area} />
    <path class="desired" d={desired} />
    <path class="ready" d={ready} />
    <path class="fewest" d={fewest} />
    <path class="now" d={now === null || now > ends ? "" : `M${xOf(now, ends)} -2V${BOX.height + 2}`} />
  </svg>
);

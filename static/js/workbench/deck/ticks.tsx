import type { Marks } from "../playback/marks.ts";

const SHOWN = 400; // more could not be distinguished
const APART = 3; // pixels

/** A small mark at the foot of every cycle before or inside which something comes from outside. */
export function Ticks({ marks, scale }: { marks: Marks; scale: number }) {
  const ticks: number[] = [];
  for (let index = marks.seekOperation(0, 1); index && ticks.length < SHOWN; index = marks.seekOperation(index, 1)) {
    const x = (index - 1) * scale;
    if (x - (ticks.at(-1) ?? -Infinity) >= APART) ticks.push(x);
  }
  return (
    <div class="event-ticks" aria-hidden="true">
      {ticks.map((x) => (
        <i key={x} style={{ left: `${x.toFixed(1)}px` }} />
      ))}
    </div>
  );
}

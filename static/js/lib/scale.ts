// What a drawn axis and its lines need: round ticks, and as many points as there are pixels.

const FACTORS = [1, 2, 5, 10];
const SPANS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400]; // seconds
const DAY = 86_400;

/** Round steps for about so many ticks: of numbers 1, 2 and 5 and their tens, of seconds those of a clock. */
function stepOf(length: number, ticks: number, { whole = false, seconds = false }) {
  const least = length / ticks;
  if (seconds && least > 0.5) return SPANS.find((span) => span >= least) ?? Math.ceil(least / DAY) * DAY;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * (FACTORS.find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10);
  return whole ? Math.max(1, Math.round(step)) : step;
}

/** The round values from `from` to `to`. */
export function ticksOf(from: number, to: number, ticks: number, kind: { whole?: boolean; seconds?: boolean } = {}) {
  if (!(to > from)) return [from];
  const step = stepOf(to - from, Math.max(1, ticks), kind);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

export type Point = [x: number, y: number];

/**
 * The points of a line in pixels, of each column of pixels the first, the lowest, the highest and the last; `y` may
 * lack the value of a point. Outside of the `width` there is one point to each side.
 */
export function pointsOf(x: number[], y: number[], width: number, place: (x: number, y: number) => Point): Point[] {
  const out: Point[] = [];
  let column: Point[] = [];
  const flush = () => {
    if (column.length <= 4) out.push(...column);
    else {
      const [first, last] = [column[0], column[column.length - 1]];
      const [low, high] = [Math.min(...column.map(([, v]) => v)), Math.max(...column.map(([, v]) => v))];
      out.push(first, [first[0], low], [first[0], high], last);
    }
    column = [];
  };
  x.forEach((value, i) => {
    if (y[i] === null || y[i] === undefined) return;
    const [at, high] = place(value, y[i]);
    const point: Point = [Math.max(-1, Math.min(width + 1, at)), high];
    if (column.length && Math.floor(column[0][0]) !== Math.floor(point[0])) flush();
    column.push(point);
  });
  flush();
  return out;
}

/** The index of the value nearest to `wanted` among sorted ones. */
export function nearest(values: number[], wanted: number) {
  let [low, high] = [0, values.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= wanted) low = middle;
    else high = middle;
  }
  return wanted - values[low] <= values[high] - wanted ? low : high;
}

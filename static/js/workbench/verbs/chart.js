// Ready pods of a workload over virtual time, in the branch and in its parent: steps, with the fewest marked.

import { clock, count } from "../../lib/quantity.js";
/** @import { Available, AvailableMoment } from "../../lib/protocol.js" */

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = Math.min(560, Math.max(280, innerWidth - 64)); // so that its text is as large as the page's
const HEIGHT = 96;
const LEFT = 30;
const RIGHT = 8;
const TOP = 8;
const FOOT = 18;
const READY = 2; // column of a moment

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number>} props
 * @param {string} [text]
 */
function draw(tag, props, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * How many are ready at a time.
 *
 * @param {AvailableMoment[]} moments
 * @param {number} at
 */
const readyAt = (moments, at) => moments.findLast(([since]) => since <= at)?.[READY] ?? 0;

/**
 * How many were ready before a time, and the fewest from then on, with what was desired then.
 *
 * @param {Available} one
 * @param {number} at
 */
export function lowest({ moments }, at) {
  const [, desired = 0, before = 0] = moments.findLast(([since]) => since < at) ?? [];
  return moments
    .filter(([since]) => since >= at)
    .reduce(
      (least, [since, wanted, ready]) => (ready < least.ready ? { before, ready, desired: wanted, since } : least),
      { before, ready: before, desired, since: at },
    );
}

/**
 * The chart from one time to another; `label` says what it shows. A parent that has nothing for controllers to do stays
 * as the branch was at `at`.
 *
 * @param {{ branch: Available | null, parent: Available | null }} sides
 * @param {{ from: number, to: number, at: number }} span
 * @param {string} label
 */
export function chart({ branch, parent }, { from, to, at }, label) {
  const series = [branch, parent].map((side) => side?.moments ?? []);
  const most = Math.max(1, ...series.flat().flatMap(([, desired, ready]) => [desired, ready]));
  const x = (/** @type {number} */ at) => LEFT + ((at - from) / (to - from || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ n) => TOP + (1 - n / most) * (HEIGHT - TOP - FOOT);
  const line = (/** @type {AvailableMoment[]} */ moments) =>
    moments
      .filter(([at]) => at > from && at <= to)
      .reduce(
        (path, row) => `${path}H${x(row[0]).toFixed(1)}V${y(row[READY]).toFixed(1)}`,
        `M${x(from)} ${y(readyAt(moments, from)).toFixed(1)}`,
      ) + `H${x(to)}`;
  const svg = draw("svg", { class: "verb-chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  svg.append(
    draw("path", { class: "grid", d: `M${LEFT} ${y(0)}H${WIDTH - RIGHT}M${LEFT} ${y(most)}H${WIDTH - RIGHT}` }),
    draw("text", { x: LEFT - 6, y: y(most) + 4, "text-anchor": "end" }, count(most)),
    draw("text", { x: LEFT - 6, y: y(0) + 4, "text-anchor": "end" }, "0"),
    draw("text", { x: LEFT, y: HEIGHT - 3 }, clock(Math.round(from * 10) / 10)),
    draw("text", { x: WIDTH - RIGHT, y: HEIGHT - 3, "text-anchor": "end" }, clock(Math.round(to * 10) / 10)),
  );
  const still = `M${x(from)} ${y(branch ? lowest(branch, at).before : 0).toFixed(1)}H${x(to)}`;
  svg.append(draw("path", { class: "line-parent", d: parent ? line(series[1]) : still }));
  if (!branch) return svg;
  svg.append(draw("path", { class: "line-branch", d: line(series[0]) }));
  const { before, ready, since } = lowest(branch, at);
  if (ready < before && since <= to)
    svg.append(draw("circle", { class: "fewest", cx: x(Math.max(from, since)), cy: y(ready), r: 4 }));
  return svg;
}

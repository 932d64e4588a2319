// A workload over time in one small line: ready over desired, where fewest were ready, and the present moment.

import { steps } from "./series.js";
/** @import { Seen } from "./series.js" */

const SVG = "http://www.w3.org/2000/svg";
const BOX = { width: 160, height: 20 };

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number>} props
 */
function draw(tag, props) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, String(value));
  return element;
}

/**
 * The line, and `stand(time)`, which moves the mark of the present moment.
 *
 * @param {Seen} one
 * @param {number} ends
 */
export function sparkline(one, ends) {
  const { moments, fewestAt, fewestReady } = one;
  const most = Math.max(1, ...moments.flatMap(([, desired, ready]) => [desired, ready]));
  const box = { ...BOX, ends, most };
  const x = (/** @type {number} */ at) => ((at / (ends || 1)) * BOX.width).toFixed(1);
  const ready = steps(moments, 2, box);
  const first = moments.length ? x(moments[0][0]) : "0";
  const element = draw("svg", {
    class: "sparkline",
    viewBox: `0 -2 ${BOX.width} ${BOX.height + 4}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const now = draw("path", { class: "now" });
  element.append(
    draw("path", { class: "area", d: ready ? `${ready}V${BOX.height}H${first}Z` : "" }),
    draw("path", { class: "desired", d: steps(moments, 1, box) }),
    draw("path", { class: "ready", d: ready }),
    draw("path", {
      class: "fewest",
      d: moments.length ? `M${x(fewestAt)} ${(BOX.height - (fewestReady / most) * BOX.height).toFixed(1)}h0` : "",
    }),
    now,
  );
  const stand = (/** @type {number | null} */ time) =>
    now.setAttribute("d", time === null || time > ends ? "" : `M${x(time)} -2V${BOX.height + 2}`);
  return { element, stand };
}

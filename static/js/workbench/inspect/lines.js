// A small diagram: every node's total as a line over the weight of one priority, with the weights at which the winner
// changes.

import { h, fill } from "../../lib/dom.js";
import { count, ellipsis } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { aboutNode, nodeLink } from "./byhand.js";
import { MOST_WEIGHT } from "./weights.js";

const WIDTH = 440;
const HEIGHT = 170;
const PAD = { left: 8, right: 8, top: 20, bottom: 20 };
const LABELLED = 4; // winners that are named in the diagram
const ROOM = 46; // pixels that a name needs
const SVG = "http://www.w3.org/2000/svg";

function s(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== null) element.setAttribute(name, value);
  element.append(...children.filter((one) => one !== null));
  return element;
}

/**
 * The weights from `from` to `to` in words; the highest one stands for all above it.
 *
 * @param {number} from
 * @param {number} to
 */
function spanWords(from, to) {
  if (to >= MOST_WEIGHT) return `from ${count(from)} on`;
  return from === to ? `at ${count(from)}` : `from ${count(from)} to ${count(to)}`;
}

/** Draw into `host`; a table with the same facts stands behind it. */
export function lines(host, chart) {
  const { title, what, weight, asIs, reach, flips, series, winner, name, nodeOf, onWeight, view, kept } = chart;
  const x = (w) => PAD.left + (w / reach) * (WIDTH - PAD.left - PAD.right);
  const ends = series.flatMap(({ base, slope }) => [base, base + slope * reach]);
  const low = Math.min(...ends);
  const high = Math.max(...ends, low + 1);
  const y = (/** @type {number} */ total) =>
    HEIGHT - PAD.bottom - ((total - low) / (high - low)) * (HEIGHT - PAD.top - PAD.bottom);
  const spans = flips.filter(({ from }) => from <= reach);
  const open = host.querySelector("details")?.open;
  const tone = new Map(
    spans
      .map(({ winner: one }) => one)
      .filter((one, i, all) => all.indexOf(one) === i)
      .map((one, i) => [one, `line-${i % 6}`]),
  );
  const wins = spans.map(({ from, to, winner: one }) => `${name(one)} wins ${spanWords(from, to)}`);
  const summary = `Totals over the weight of ${what}, 0 to ${count(reach)}. ${wins.join("; ")}.`;
  const bands = spans.map(({ from, to, winner: one }, i) => {
    const left = x(i ? from - 0.5 : 0);
    const right = x(Math.min(reach, to + 0.5));
    const label =
      i < LABELLED && right - left > ROOM
        ? s(
            "text",
            { x: (left + right) / 2, y: 12, class: "band-name", "text-anchor": "middle" },
            ellipsis(name(one), Math.max(4, Math.floor((right - left) / 7))),
          )
        : null;
    return s(
      "g",
      { class: `band ${tone.get(one)}${one === winner ? " now" : ""}` },
      s("rect", {
        x: left,
        y: PAD.top - 4,
        width: Math.max(1, right - left),
        height: HEIGHT - PAD.top - PAD.bottom + 4,
      }),
      i ? s("line", { class: "flip", x1: left, x2: left, y1: PAD.top - 4, y2: HEIGHT - PAD.bottom }) : null,
      label,
    );
  });
  const drawn = series.map(({ id, node, base, slope }) => {
    const line = s(
      "line",
      {
        class: `total-line ${tone.get(id) ?? ""}${id === winner ? " now" : ""}`,
        x1: x(0),
        y1: y(base),
        x2: x(reach),
        y2: y(base + slope * reach),
      },
      s("title", {}, name(id)),
    );
    line.addEventListener("pointerenter", () => view.hover(node));
    line.addEventListener("pointerleave", () => view.hover(-1));
    return line;
  });
  const best = series.find(({ id }) => id === winner);
  const svg = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": summary, class: "weigh-lines" },
    ...bands,
    ...drawn,
    s("line", { class: "as-is", x1: x(asIs), x2: x(asIs), y1: PAD.top - 4, y2: HEIGHT - PAD.bottom }),
    s("line", { class: "at", x1: x(weight), x2: x(weight), y1: PAD.top - 4, y2: HEIGHT - PAD.bottom }),
    best ? s("circle", { class: "at-best", cx: x(weight), cy: y(best.base + best.slope * weight), r: 4 }) : null,
    s("text", { x: x(0), y: HEIGHT - 6, class: "axis" }, "0"),
    s("text", { x: x(reach), y: HEIGHT - 6, class: "axis", "text-anchor": "end" }, count(reach)),
    s(
      "text",
      {
        x: Math.max(x(0) + 24, Math.min(x(weight), x(reach) - 60)),
        y: HEIGHT - 6,
        class: "axis at-text",
        "text-anchor": "middle",
      },
      count(weight),
    ),
  );
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    onWeight(Math.max(0, Math.min(reach, Math.round(((at - PAD.left) / (WIDTH - PAD.left - PAD.right)) * reach))));
  });
  fill(
    host,
    h(
      "figcaption",
      null,
      h("b", { text: title }),
      h("span", { class: "dim", text: ": each node’s sum over its weight" }),
    ),
    svg,
    h(
      "details",
      { open: open || undefined },
      h("summary", { text: "As a table" }),
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: `Who wins by the weight of ${what}` }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              h("th", { scope: "col", text: "weight" }),
              h("th", { scope: "col", text: "node that wins" }),
              h("th", { scope: "col", class: "num", text: "sum at the first" }),
              h("th", { scope: "col", class: "num", text: "equal" }),
            ),
          ),
          h(
            "tbody",
            null,
            flips.map(({ from, to, winner: one, total, ties }) =>
              h(
                "tr",
                { class: from <= weight && weight <= to ? "won" : undefined, ...aboutNode(view, nodeOf(one)) },
                h("td", {
                  class: "num",
                  "data-value": from,
                  text:
                    to >= MOST_WEIGHT
                      ? `${count(from)} and more`
                      : from === to
                        ? count(from)
                        : `${count(from)} to ${count(to)}`,
                }),
                h("th", { scope: "row" }, nodeLink(view, nodeOf(one), 30)),
                h("td", { class: "num", text: count(total) }),
                h("td", { class: "num dim", text: ties > 1 ? count(ties) : "–" }),
              ),
            ),
          ),
        ),
        { head: h("h4", { text: "Who wins by weight" }), kept, name: "flips" },
      ),
    ),
  );
}

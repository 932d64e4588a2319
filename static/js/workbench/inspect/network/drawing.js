// The picture of one flow problem: classes at the left, machines and the aggregator at the right, arcs as wide as their
// flow. Each arc ends at a place of its own, beside its flow, capacity and cost.

import { count, short } from "../../../lib/quantity.js";
/** @import { NetworkPhase } from "../../../lib/protocol.js" */

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 400;
const LEFT = 112; // where classes end
const RIGHT = 288; // where machines begin
const ROW = 18;
const GAP = 10;
const MOST = 60; // arcs; of more only those with flow
const LETTERS = 15; // of a name
const AGGREGATOR = "pending";

/**
 * @param {NetworkPhase} phase
 * @param {{ of: string, node: string } | null} path
 */
export function drawn(phase, path) {
  const all = arcsOf(phase);
  const shown = all.length > MOST ? all.filter(({ flow }) => flow).slice(0, MOST) : all;
  if (!shown.length) return null;
  const targets = placed(shown);
  const bottom = Math.max(...targets.map(({ end }) => end)) + GAP;
  const names = phase.classes.map(({ name }) => name).filter((name) => shown.some(({ of }) => of === name));
  const centre = new Map(names.map((name, i) => [name, ((i + 0.5) * bottom) / names.length]));
  const most = Math.max(1, ...shown.map(({ flow }) => flow));
  const picture = element("svg", {
    class: "network-picture",
    viewBox: `0 0 ${WIDTH} ${bottom}`,
    role: "img",
    "aria-label": `${names.length} task classes, ${targets.length} ends of arcs; the tables below have all figures`,
  });
  for (const arc of shown) {
    const from = centre.get(arc.of) ?? 0;
    const marked = path && arc.of === path.of && arc.to === (path.node || AGGREGATOR);
    picture.append(
      element("path", {
        class: `arc ${arc.flow ? "flowing" : ""} ${arc.to === AGGREGATOR ? "aggregator" : ""} ${marked ? "now" : ""}`,
        d: `M${LEFT} ${from}C${LEFT + 50} ${from} ${RIGHT - 130} ${arc.y} ${RIGHT - 76} ${arc.y}`,
        "stroke-width": String(arc.flow ? 1.5 + (4.5 * arc.flow) / most : 1),
      }),
      text(RIGHT - 4, arc.y + 4, arc.label, "figure"),
    );
  }
  for (const { name, first, tasks } of phase.classes)
    if (centre.has(name)) box(picture, 0, LEFT, centre.get(name) ?? 0, labelled(first, tasks), "class", name);
  for (const { to, start, end } of targets)
    box(
      picture,
      RIGHT,
      WIDTH,
      (start + end) / 2,
      cut(to),
      to === AGGREGATOR ? "aggregator" : "machine",
      to,
      end - start,
    );
  const figure = document.createElement("figure");
  figure.className = "network-figure";
  figure.append(picture);
  const caption = document.createElement("figcaption");
  caption.className = "dim";
  const hidden = all.length - shown.length;
  const omitted = hidden ? `; ${count(hidden)} arcs are not drawn` : "";
  caption.textContent = `flow / capacity · cost of the cheapest${omitted}`;
  figure.append(caption);
  return figure;
}

/** @param {NetworkPhase} phase */
function arcsOf(phase) {
  const arcs = phase.classes.flatMap(({ name, arcs }) =>
    arcs.map(([to, machines, flow, capacity, cost]) => ({
      of: name,
      to: machines > 1 ? `${count(machines)} × ${to}` : to,
      flow,
      label: `${count(flow)}/${count(capacity)} · ${count(cost)}`,
      y: 0,
    })),
  );
  const pending = phase.classes.filter(({ unscheduled }) => unscheduled);
  return [
    ...arcs,
    ...pending.map(({ name, unscheduled }) => ({
      of: name,
      to: AGGREGATOR,
      flow: unscheduled,
      label: `${count(unscheduled)}`,
      y: 0,
    })),
  ];
}

/**
 * Give each arc the height of its end, machine by machine; the ends of the machines.
 *
 * @param {ReturnType<typeof arcsOf>} arcs
 */
function placed(arcs) {
  let y = GAP;
  return [...new Set(arcs.map(({ to }) => to))].map((to) => {
    const start = y;
    for (const arc of arcs.filter((one) => one.to === to)) {
      arc.y = y + ROW / 2;
      y += ROW;
    }
    const end = y;
    y += GAP;
    return { to, start, end };
  });
}

/**
 * @param {Element} picture
 * @param {number} left
 * @param {number} right
 * @param {number} y
 * @param {string} label
 * @param {string} kind
 * @param {string} name
 * @param {number} [height]
 */
function box(picture, left, right, y, label, kind, name, height = ROW + 4) {
  const group = element("g", { class: kind });
  const title = element("title", {});
  title.textContent = name;
  group.append(
    title,
    element("rect", { x: left + 0.5, y: y - height / 2, width: right - left - 1, height, rx: 4 }),
    text(left + 8, y + 4, label, "name"),
  );
  picture.append(group);
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} words
 * @param {string} kind
 */
function text(x, y, words, kind) {
  const made = element("text", { x, y, class: kind });
  made.textContent = words;
  return made;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 */
function element(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** @param {string} name */
const cut = (name) => (name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name);

/**
 * A class by its first pod.
 *
 * @param {string} first
 * @param {number} tasks
 */
function labelled(first, tasks) {
  const times = tasks > 1 ? ` ×${count(tasks)}` : "";
  const name = short(first);
  const room = LETTERS - times.length;
  return (name.length > room ? `${name.slice(0, room - 1)}…` : name) + times;
}

// A slider for the weight of a priority, and beside it where the winner flips.

import { h } from "../../../lib/dom.js";
import { count } from "../../../lib/quantity.js";
import { MOST_WEIGHT } from "../weights.js";

const FLIPS_SHOWN = 3; // beside a slider

/** The end of a slider: the weight twice, and the flips that are not far beyond. */
export function reachOf(flips, weight) {
  const marks = flips.slice(1).map(({ from }) => from);
  const above = marks.find((mark) => mark > weight) ?? 0;
  let reach = Math.max(10, 2 * weight, Math.ceil(above * 1.5));
  const far = marks.filter((mark) => mark <= 4 * reach).at(-1) ?? 0;
  reach = Math.max(reach, Math.ceil(far * 1.2));
  return Math.min(reach, MOST_WEIGHT);
}

/**
 * The slider of a priority up to `reach`, and a field for its weight: `{element, range, field, note, row}`.
 * `attempt(weight)` receives every weight, `choose()` when one turns to it, and `current()` is the weight that is
 * tried.
 */
export function weightSlider(row, r, { reach, attempt, choose, current }) {
  const id = `weigh-${r}`;
  const range = h("input", {
    type: "range",
    class: "weigh-slider",
    id,
    min: 0,
    max: reach,
    step: 1,
    value: row.weight,
    "data-weight": r,
    oninput: (event) => attempt(Number(event.target.value)),
    onfocus: () => choose(),
  });
  const field = h("input", {
    type: "number",
    class: "field num weigh-number",
    min: 0,
    max: MOST_WEIGHT,
    step: 1,
    value: row.weight,
    inputmode: "numeric",
    "aria-label": `Weight of ${row.name}`,
    oninput: (event) => {
      if (event.target.value !== "" && event.target.checkValidity()) attempt(Number(event.target.value));
    },
    onfocus: () => choose(),
    onchange: (event) => {
      if (event.target.value === "" || !event.target.checkValidity()) event.target.value = current();
    },
  });
  const note = h("span", { class: "weigh-flips dim num", id: `${id}-flips` });
  range.setAttribute("aria-describedby", note.id);
  const element = h(
    "li",
    { class: row.flat ? "same" : undefined },
    h("label", { for: id, title: row.name }, h("b", { text: row.label }), ` ${row.short}`),
    range,
    field,
    note,
  );
  return { element, range, field, note, row };
}

/** Show a weight, and where others win: `flips`; `name(position, most)` is what a node is called. */
export function showWeight({ element, range, field, note, row }, { weight, reach, flips, winner: best, drawn, name }) {
  if (Number(range.max) !== reach) range.max = String(reach);
  range.value = String(weight);
  if (document.activeElement !== field) field.value = String(weight);
  range.setAttribute("aria-valuetext", `${count(weight)}: ${name(best, 80)} wins`);
  element.classList.toggle("tried", weight !== row.weight);
  element.classList.toggle("shown", drawn);
  const marks = flips.slice(1);
  const around = Math.max(
    0,
    Math.min(
      marks.findIndex(({ from }) => from > weight),
      marks.length - FLIPS_SHOWN,
    ),
  );
  const shown = marks.slice(around, around + FLIPS_SHOWN);
  if (row.flat) note.textContent = "";
  else if (!marks.length) note.textContent = "no weight of it changes the winner";
  else {
    const wins = shown.map(({ from, winner }) => `${name(winner, 18)} wins from ${count(from)}`).join(", ");
    note.textContent = `${around > 0 ? "… " : ""}${wins}${around + shown.length < marks.length ? ", …" : ""}`;
  }
}

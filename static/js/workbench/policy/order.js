// A list whose rows can be moved: dragged by their handle, by Alt+↑ and Alt+↓, and by buttons; moves are announced.

import { $$, h, icon, announce, targetOf } from "../../lib/dom.js";

/** @typedef {ReturnType<typeof movers>} Movers */

/**
 * The handle and the two buttons of a row. `name` is what is moved, `at` its place from 0 of `size`.
 *
 * @param {string} name
 * @param {number} at
 * @param {number} size
 * @param {boolean} [disabled]
 */
export function movers(name, at, size, disabled = false) {
  const button = (by, label, sign) =>
    h("button", {
      type: "button",
      class: "mover",
      "aria-label": `${name}: ${label}`,
      title: `${label} (Alt ${sign})`,
      disabled: disabled || at + by < 0 || at + by >= size || undefined,
      "data-move": by,
      "data-control": `move:${name}:${by}`,
      text: sign,
    });
  return {
    handle: h(
      "span",
      {
        class: "grip",
        "aria-hidden": "true",
        title: disabled ? undefined : "Drag to another place",
        "data-grip": disabled ? undefined : "",
      },
      disabled ? null : icon("grip"),
    ),
    buttons: h("span", { class: "movers" }, button(-1, "earlier", "↑"), button(1, "later", "↓")),
  };
}

/**
 * Let the rows of `list`, which have `data-name`, be moved; `move(from, to)` puts it in force.
 *
 * @param {HTMLElement} list
 * @param {(from: number, to: number) => void} move
 */
export function movable(list, move) {
  const rows = () => $$(":scope > *", list);
  const go = (from, to, by) => {
    const all = rows();
    const row = all[from];
    if (!row || to < 0 || to >= all.length || from === to) return;
    list.dataset.moved = `${row.dataset.name}:${by}`;
    announce(`${row.dataset.name}, place ${to + 1} of ${all.length}.`);
    move(from, to);
  };
  list.addEventListener("click", (event) => {
    const by = Number(targetOf(event).closest("[data-move]")?.dataset.move);
    if (!by) return;
    const at = rows().indexOf(targetOf(event).closest("li"));
    go(at, at + by, by);
  });
  list.addEventListener("keydown", (event) => {
    const by = event.altKey && !event.ctrlKey && !event.metaKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : 0;
    const at = by ? rows().indexOf(targetOf(event).closest("li")) : -1;
    if (at < 0 || !list.querySelector("[data-grip]")) return;
    event.preventDefault();
    event.stopPropagation();
    go(at, at + by, by);
  });
  list.addEventListener("pointerdown", (event) => {
    const grip = targetOf(event).closest("[data-grip]");
    if (!grip || event.button !== 0) return;
    event.preventDefault();
    drag(list, rows(), grip.closest("li"), event.pointerId, go);
  });
  return list;
}

function drag(list, rows, row, pointer, go) {
  const from = rows.indexOf(row);
  let to = from;
  const mark = (place) => {
    to = place;
    rows.forEach((one, i) => {
      one.classList.toggle("drop-before", i === place && place < from);
      one.classList.toggle("drop-after", i === place && place > from);
    });
  };
  const over = (/** @type {PointerEvent} */ event) => {
    const boxes = rows.map((one) => one.getBoundingClientRect());
    const at = boxes.findIndex((box) => event.clientY < box.bottom);
    mark(at < 0 ? rows.length - 1 : at);
  };
  const end = (taken) => {
    row.classList.remove("dragged");
    mark(-1 === to ? from : to);
    rows.forEach((one) => one.classList.remove("drop-before", "drop-after"));
    removeEventListener("pointermove", over);
    removeEventListener("pointerup", up);
    removeEventListener("pointercancel", cancel);
    removeEventListener("keydown", escape, true);
    if (taken) go(from, to, 0);
  };
  const up = () => end(true);
  const cancel = () => end(false);
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      end(false);
    }
  };
  row.classList.add("dragged");
  list.setPointerCapture?.(pointer);
  addEventListener("pointermove", over);
  addEventListener("pointerup", up);
  addEventListener("pointercancel", cancel);
  addEventListener("keydown", escape, true);
}

/**
 * `list` with what stood at `from` at `to`.
 *
 * @template T
 * @param {T[]} list
 * @param {number} from
 * @param {number} to
 */
export function moved(list, from, to) {
  const made = [...list];
  made.splice(to, 0, ...made.splice(from, 1));
  return made;
}

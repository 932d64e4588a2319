// Rows about a node and links to one are connected with the stage: `data-of` rows, and `data-at` links.

import { targetOf } from "../../lib/dom.js";
/**
 * Connect everything in `body` that is about a node with that node, to light it, be lit by it and select it: `data-of`
 * rows, and `data-at` links.
 */
export function pointed(view, body) {
  const about = (/** @type {HTMLElement} */ target) =>
    target.closest("[data-points]") ? null : target.closest("[data-of]");
  const on = (/** @type {Event} */ event) => {
    const row = about(targetOf(event));
    if (row) view.hover(Number(row.dataset.of));
  };
  const off = (/** @type {PointerEvent | FocusEvent} */ event) => {
    const row = targetOf(event).closest("[data-of]");
    if (row && !row.contains(/** @type {Node | null} */ (event.relatedTarget))) view.hover(-1);
  };
  body.addEventListener("pointerover", on);
  body.addEventListener("pointerout", off);
  body.addEventListener("focusin", on);
  body.addEventListener("focusout", off);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("a, button, [role=button], input, select, summary, label")
      ? null
      : event.target.closest("[data-of]");
    if (row && !String(getSelection())) view.selectNode(Number(row.dataset.of));
  });
  const mark = (
    /** @type {string} */ selector,
    /** @type {string} */ key,
    /** @type {string} */ name,
    /** @type {number} */ node,
  ) => {
    for (const one of body.querySelectorAll(selector)) one.classList.toggle(name, Number(one.dataset[key]) === node);
  };
  view.on("hover", (node) => mark("[data-of]", "of", "is-hovered", node));
  const selected = () => {
    mark("[data-of]", "of", "is-selected", view.node);
    mark("[data-at]", "at", "selected", view.node);
  };
  view.on("selection", selected);
  return selected;
}

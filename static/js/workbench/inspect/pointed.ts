// Rows about a node and links to one are connected with the stage: `data-of` rows, and `data-at` links.

import { $$, targetOf } from "../../lib/dom.ts";
import { follow } from "../playback/store.ts";
import type { View } from "../view/view.ts";

/**
 * Connect everything in `body` that is about a node with that node: to light it, be lit by it and select it. What is
 * returned marks what is about the selected node.
 */
export function pointed(view: View, body: HTMLElement) {
  const off = (event: PointerEvent | FocusEvent) => {
    const row = targetOf(event).closest("[data-of]");
    if (row && !row.contains(event.relatedTarget as Node | null)) view.hover(-1);
  };
  const on = (event: Event) => {
    const target = targetOf(event);
    const row = target.closest("[data-points]") ? null : target.closest("[data-of]");
    if (row) view.hover(Number(row.dataset.of));
  };
  for (const name of ["pointerover", "focusin"] as const) body.addEventListener(name, on);
  for (const name of ["pointerout", "focusout"] as const) body.addEventListener(name, off);
  body.addEventListener("click", (event) => {
    const target = targetOf(event);
    const row = target.closest("a, button, [role=button], input, select, summary, label")
      ? null
      : target.closest("[data-of]");
    if (row && !String(getSelection())) view.selectNode(Number(row.dataset.of));
  });
  const mark = (key: "of" | "at", name: string, node: number) => {
    for (const one of $$(`[data-${key}]`, body)) one.classList.toggle(name, Number(one.dataset[key]) === node);
  };
  const selected = () => {
    mark("of", "is-selected", view.node);
    mark("at", "selected", view.node);
  };
  follow(view.store.hovered, (node) => mark("of", "is-hovered", node));
  follow(view.store.selection, selected);
  return selected;
}

// The highlighted cell of a matrix, by names, so that it is found on every screen however that one sorts.

import { $$, perFrame } from "../../lib/dom.ts";

const ARROW = / [↑↓]$/;

export type Cell = [table: string, row: string, column: string];

const textOf = (element: Element | null | undefined) => element?.textContent?.trim() ?? "";
const labelOf = (head: Element) => textOf(head).replace(ARROW, "");

/** The cell that an element is in, null where it is in none. */
export function cellAt(element: Element): Cell | null {
  const cell = element.closest("[data-column]");
  const table = cell?.closest("table.grid");
  if (!cell || !table || Number(cell.dataset.row) < 0) return null;
  const head = table.querySelector(`thead [data-column="${cell.dataset.column}"]`);
  const row = textOf(cell.closest("tr")?.querySelector("th"));
  return row && head ? [table.getAttribute("aria-label") ?? "", row, labelOf(head)] : null;
}

/** A cell as it came over the wire. */
export const cellOf = (given: unknown): Cell | null =>
  Array.isArray(given) && given.length === 3 && given.every((text) => typeof text === "string")
    ? [given[0], given[1], given[2]]
    : null;

/** Marks one cell of what is drawn in `host`, and marks it again whenever that is drawn again. */
export class CellMark {
  #cell: Cell | null = null;
  #spot = false;
  #revealed = false;

  constructor(readonly host: HTMLElement) {
    const again = perFrame(() => this.#mark());
    new MutationObserver(() => {
      if (this.#cell) again();
    }).observe(host, { childList: true, subtree: true });
  }

  get cell() {
    return this.#cell;
  }

  /** @param how `spot`: with a spotlight on it */
  show(cell: Cell | null, { spot = false, reveal = true }: { spot?: boolean; reveal?: boolean } = {}) {
    const same = JSON.stringify(cell) === JSON.stringify(this.#cell);
    this.#cell = cell;
    this.#spot = spot;
    if (!same) this.#revealed = !reveal;
    this.#mark();
  }

  #mark() {
    const found = this.#cell ? this.#find(this.#cell) : null;
    for (const one of $$(".room-cell", this.host)) if (one !== found) one.classList.remove("room-cell");
    for (const one of $$(".room-spot", this.host)) if (!this.#spot || !found) one.classList.remove("room-spot");
    if (!found) return;
    found.classList.add("room-cell");
    found.closest("table")?.classList.toggle("room-spot", this.#spot);
    if (this.#revealed) return;
    this.#revealed = true;
    found.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #find([label, name, column]: Cell) {
    for (const table of $$("table.grid", this.host)) {
      if (table.getAttribute("aria-label") !== label) continue;
      const head = $$("thead [data-column]", table).find((one) => labelOf(one) === column);
      const row = $$("tbody tr", table).find((one) => textOf(one.querySelector("th")) === name);
      if (head && row) return row.querySelector(`[data-column="${head.dataset.column}"]`);
    }
    return null;
  }
}

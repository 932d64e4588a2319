// A sortable table with one tab stop, arrow keys, and only the rows in view in the document once there are many.

import { h, $, $$, fill, copy, targetOf, toast } from "./dom.ts";
import { textScale } from "./theme.ts";

const ALL_ROWS = 40; // up to here every row is in the document
const ON_PAPER = 1000; // rows that are printed: paper does not scroll
const OVERSCAN = 10;
const paper = matchMedia("print");
const FEW = 30; // up to here the page scrolls, not the table

/** A column; the first one names the row. `paint` fills a cell, `text` is what is copied. Rows are ids. */
export type Column = {
  key: string;
  label: string;
  title?: string;
  className?: string;
  vertical?: boolean;
  downFirst?: boolean;
  compare?: (a: number, b: number) => number;
  text: (id: number) => string | number;
  paint?: (cell: HTMLElement, id: number) => void;
};
/**
 * `kept` is by what it is sorted, beyond this table's life; `signal` aborts when the table is no longer wanted.
 * `onHead` receives a header that was chosen (it sorts as well where its column can be compared), `onSort` that the
 * visitor sorted it, and `onUnknown` that it was to be sorted by a column that is not there. `element` holds it where
 * there is one already.
 */
export type GridOptions = {
  label: string;
  rowHeight?: number;
  className?: string;
  kept?: { sort: string; down: boolean };
  onHover?: (id: number) => void;
  onSelect?: (id: number, key: string) => void;
  onHead?: (key: string) => void;
  onSort?: () => void;
  onUnknown?: () => void;
  onCopy?: () => string;
  signal?: AbortSignal;
  element?: HTMLElement;
};

export class Grid {
  columns: Column[] = [];
  selected = -1;
  hovered = -1;
  least: number;
  rowHeight: number;
  onHover: ((id: number) => void) | undefined;
  onSelect: ((id: number, key: string) => void) | undefined;
  onHead: ((key: string) => void) | undefined;
  kept: { sort: string; down: boolean };
  onSort: (() => void) | undefined;
  onUnknown: (() => void) | undefined;
  onCopy: (() => string) | undefined;
  head: HTMLTableSectionElement;
  body: HTMLTableSectionElement;
  table: HTMLTableElement;
  none: HTMLParagraphElement;
  element: HTMLElement;
  #rows: number[] = [];
  #order: number[] = [];
  #first = -1;
  #last = -1;
  #active = { row: 0, column: 0 };
  #rowNodes: Map<number, Element> = new Map();
  // by narrow column: the characters of its longest text so far, so that no step moves the others
  #widest: Map<string, number> = new Map();

  set label(text: string) {
    this.table.setAttribute("aria-label", text);
  }

  constructor({
    label,
    rowHeight = 24,
    onHover,
    onSelect,
    onHead,
    className = "",
    kept = { sort: "", down: false },
    onSort,
    onUnknown,
    onCopy,
    signal,
    element,
  }: GridOptions) {
    this.least = rowHeight; // pixels of a row where text is smallest
    this.rowHeight = rowHeight;
    this.onHover = onHover;
    this.onSelect = onSelect;
    this.onHead = onHead;
    this.kept = kept;
    this.onSort = onSort;
    this.onUnknown = onUnknown;
    this.onCopy = onCopy; // what is copied where it is another text than the table's own
    this.head = h("thead");
    this.body = h("tbody");
    this.table = h("table", { class: "grid", role: "grid", "aria-label": label }, this.head, this.body);
    this.#measure();
    this.none = h("p", { class: "grid-none dim", role: "status", hidden: true });
    this.element = element ?? h("div", { class: `grid-scroll ${className}`.trim() });
    this.element.append(this.table, this.none);
    this.element.addEventListener("scroll", () => this.#render(false), { passive: true });
    this.table.addEventListener("keydown", (event) => this.#key(event));
    this.table.addEventListener("click", (event) => this.#click(event));
    this.body.addEventListener("pointerover", (event) => this.#hover(event));
    this.body.addEventListener("pointerleave", () => this.#hover(null));
    this.body.addEventListener("focusin", (event) => {
      if (targetOf(event).matches(":focus-visible")) this.#hover(event);
    });
    this.body.addEventListener("focusout", () => this.#hover(null));
    new ResizeObserver(() => {
      this.#measure();
      this.#render(false);
    }).observe(this.element);
    paper.addEventListener("change", () => this.#render(true), { signal }); // the paper outlives the table
  }

  get sortKey() {
    return this.kept.sort || null;
  }

  get sortDown() {
    return this.kept.down;
  }

  /**
   * Set columns and rows, and the text for when there is no row; keeps sorting and the active cell where they still
   * make sense.
   */
  show(columns: Column[], rows: number[], none = "No row has this name.") {
    this.table.hidden = rows.length === 0;
    this.none.hidden = rows.length > 0;
    this.none.textContent = rows.length ? "" : none;
    const same =
      columns.length === this.columns.length
      && columns.every(
        (column, i) =>
          column.key === this.columns[i].key
          && column.label === this.columns[i].label
          && column.className === this.columns[i].className,
      );
    this.columns = columns;
    this.#rows = rows;
    if (this.sortKey && !columns.some((column) => column.key === this.sortKey)) {
      this.onUnknown?.();
      Object.assign(this.kept, { sort: "", down: false });
    }
    if (!same) this.#paintHead();
    this.element.classList.toggle("few", rows.length <= FEW);
    this.#sort();
    this.#render(true);
  }

  sort(key: string, down = false) {
    Object.assign(this.kept, { sort: key, down });
    this.onSort?.();
    this.#sort();
    this.#paintHead();
    this.#render(true);
  }

  select(id: number) {
    this.selected = id;
    for (const [rowId, row] of this.#rowNodes) row.classList.toggle("is-selected", rowId === id);
  }

  hover(id: number) {
    if (this.hovered === id) return;
    this.#rowNodes.get(this.hovered)?.classList.remove("is-hovered");
    this.hovered = id;
    this.#rowNodes.get(id)?.classList.add("is-hovered");
  }

  /** Scroll a row into view. */
  reveal(id: number) {
    const at = this.#order.indexOf(id);
    if (at < 0) return;
    const top = at * this.rowHeight;
    const room = this.element.clientHeight - this.head.offsetHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + this.rowHeight > this.element.scrollTop + room) this.element.scrollTop = top + this.rowHeight - room;
  }

  /** Whether a row is in view. */
  inView(id: number) {
    const at = this.#order.indexOf(id);
    const top = at * this.rowHeight - this.element.scrollTop;
    return at >= 0 && top >= 0 && top + this.rowHeight <= this.element.clientHeight - this.head.offsetHeight;
  }

  get count() {
    return this.#order.length;
  }

  /** Header and all rows in their present order, tab separated. */
  tsv() {
    const lines = [this.columns.map((column) => column.label).join("\t")];
    for (const id of this.#order)
      lines.push(this.columns.map((column) => String(column.text(id)).replace(/[\t\n]/g, " ")).join("\t"));
    return lines.join("\n");
  }

  #sort() {
    this.#order = [...this.#rows];
    const { compare } = this.columns.find((one) => one.key === this.sortKey) ?? {};
    if (!compare) return;
    const sign = this.sortDown ? -1 : 1;
    this.#order.sort((a, b) => sign * compare(a, b));
  }

  #paintHead() {
    const cells = this.columns.map((column, i) => {
      const sorted = column.key === this.sortKey ? (this.sortDown ? "descending" : "ascending") : undefined;
      const arrow = sorted ? (this.sortDown ? " ↓" : " ↑") : "";
      return h(
        "th",
        {
          scope: "col",
          class:
            `${column.vertical ? "vertical" : ""} ${column.className ?? ""} ${i === 0 ? "name" : ""}`.trim()
            || undefined,
          title: column.title,
          "aria-sort": sorted,
          "data-column": i,
          "data-row": -1,
          tabindex: this.#isActive(-1, i) ? 0 : -1,
        },
        h("span", { text: column.label + arrow }),
      );
    });
    fill(this.head, h("tr", null, cells));
    this.table.setAttribute("aria-colcount", String(this.columns.length));
  }

  /** Rows are as high as their text wants on this screen; a CSS variable passes it to the style sheet. */
  #measure() {
    const height = Math.round(this.least * textScale());
    if (height === this.rowHeight && this.table.style.getPropertyValue("--row")) return;
    this.rowHeight = height;
    this.table.style.setProperty("--row", `${height}px`);
  }

  #render(force: boolean) {
    const total = this.#order.length;
    let first = 0;
    let last = total;
    if (paper.matches) last = Math.min(total, ON_PAPER);
    else if (total > ALL_ROWS) {
      const room = this.element.clientHeight || 400;
      first = Math.max(0, Math.floor(this.element.scrollTop / this.rowHeight) - OVERSCAN);
      last = Math.min(total, first + Math.ceil(room / this.rowHeight) + 2 * OVERSCAN);
    }
    if (!force && first === this.#first && last === this.#last) return;
    const focused = this.body.contains(document.activeElement);
    this.#first = first;
    this.#last = last;
    this.#rowNodes.clear();
    const rows = [];
    if (first > 0) rows.push(this.#spacer(first));
    for (let at = first; at < last; at += 1) rows.push(this.#row(at));
    if (last < total && !paper.matches) rows.push(this.#spacer(total - last));
    this.#put(rows);
    this.#steady();
    this.table.setAttribute("aria-rowcount", String(total + 1));
    if (!this.head.querySelector('[tabindex="0"]') && !this.body.querySelector('[tabindex="0"]')) {
      (this.body.querySelector("[data-column]") ?? this.head.querySelector("[data-column]"))?.setAttribute(
        "tabindex",
        "0",
      );
    }
    if (focused) this.#focus(false);
  }

  /** Put rows in the place of those there; one that would be the same stays, and is not laid out again. */
  #put(rows: HTMLElement[]) {
    const old = [...this.body.children];
    if (old.length !== rows.length) {
      this.body.replaceChildren(...rows);
      return;
    }
    rows.forEach((row, i) => {
      if (!row.isEqualNode(old[i])) old[i].replaceWith(row);
      else if (row.dataset.id) this.#rowNodes.set(Number(row.dataset.id), old[i]);
    });
  }

  /** Columns under upright heads keep the width of the longest text that they had. */
  #steady() {
    this.columns.forEach(({ key, vertical }, i) => {
      const head = vertical && this.head.querySelector(`[data-column="${i}"]`);
      if (head instanceof HTMLElement) head.style.minWidth = `${this.#widest.get(key) ?? 0}ch`;
    });
  }

  #spacer(rows: number) {
    return h(
      "tr",
      { "aria-hidden": "true", class: "spacer" },
      h("td", { colspan: this.columns.length, style: { height: `${rows * this.rowHeight}px` } }),
    );
  }

  #row(at: number) {
    const id = this.#order[at];
    const row = h("tr", {
      "aria-rowindex": at + 2,
      "data-id": id,
      class:
        `${id === this.selected ? "is-selected" : ""} ${id === this.hovered ? "is-hovered" : ""}`.trim() || undefined,
    });
    this.columns.forEach((column, i) => {
      const cell = document.createElement(i === 0 ? "th" : "td");
      if (i === 0) {
        cell.setAttribute("scope", "row");
        cell.className = "name";
      } else if (column.className) cell.className = column.className;
      cell.tabIndex = this.#isActive(at, i) ? 0 : -1;
      cell.dataset.row = String(at);
      cell.dataset.column = String(i);
      if (column.paint) column.paint(cell, id);
      else cell.textContent = String(column.text(id));
      if (column.vertical && cell.textContent.length > (this.#widest.get(column.key) ?? 0))
        this.#widest.set(column.key, cell.textContent.length);
      row.append(cell);
    });
    this.#rowNodes.set(id, row);
    return row;
  }

  #isActive(row: number, column: number) {
    return this.#active.row === row && this.#active.column === column;
  }

  #focus(scroll = true) {
    const { row, column } = this.#active;
    if (scroll && row >= 0) this.reveal(this.#order[row]);
    if (row >= 0 && (row < this.#first || row >= this.#last)) this.#render(true);
    const cell = $(`[data-row="${row}"][data-column="${column}"]`, this.table);
    if (!cell) return; // it is scrolled or filtered away: whichever cell is the tab stop now stays it
    for (const one of $$('[tabindex="0"]', this.table)) one.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus({ preventScroll: row >= 0 && !scroll });
  }

  #move(row: number, column: number) {
    this.#active = {
      row: Math.max(-1, Math.min(this.#order.length - 1, row)),
      column: Math.max(0, Math.min(this.columns.length - 1, column)),
    };
    this.#focus();
  }

  /** Put the table on the clipboard, as it is sorted and filtered; `tsv` where it is another than the table's own. */
  async copy(tsv: string = this.tsv()) {
    const rows = tsv.split("\n").length - 1;
    toast(
      (await copy(tsv)) ? `${rows} row${rows === 1 ? "" : "s"} copied` : "The browser denied access to the clipboard",
      {
        name: "copy",
      },
    );
  }

  #key(event: KeyboardEvent) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "c" && !String(getSelection())) {
      event.preventDefault();
      event.stopPropagation();
      this.copy(this.onCopy?.());
      return;
    }
    if (event.altKey || event.metaKey) return;
    const at = cellOf(event); // not the active cell where that one is scrolled away
    if (at) this.#active = { row: Number(at.dataset.row), column: Number(at.dataset.column) };
    const { row, column } = this.#active;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
    const moves: Record<string, [row: number, column: number]> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [Math.max(0, row - page), column],
      PageDown: [row + page, column],
      Home: event.ctrlKey ? [0, 0] : [row, 0],
      End: event.ctrlKey ? [this.#order.length - 1, this.columns.length - 1] : [row, this.columns.length - 1],
    };
    if (moves[event.key]) this.#move(...moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.#activate(row, column);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #click(event: Event) {
    const cell = cellOf(event);
    if (!cell) return;
    this.#active = { row: Number(cell.dataset.row), column: Number(cell.dataset.column) };
    this.#activate(this.#active.row, this.#active.column);
    this.#focus(false);
  }

  #activate(row: number, column: number) {
    if (row >= 0) {
      this.onSelect?.(this.#order[row], this.columns[column]?.key);
      return;
    }
    const one = this.columns[column];
    if (one) this.onHead?.(one.key);
    if (!one?.compare) return;
    if (this.sortKey !== one.key) this.sort(one.key, one.downFirst ?? false);
    else if (this.sortDown === (one.downFirst ?? false)) this.sort(one.key, !this.sortDown);
    else this.sort("");
    this.#focus(false);
  }

  #hover(event: Event | null) {
    const row = event && targetOf(event).closest("tr");
    const id = Number(row?.dataset.id ?? -1);
    if (id === this.hovered) return;
    this.hover(id);
    this.onHover?.(id);
  }
}

/** The cell that an event is about. */
const cellOf = (event: Event): HTMLElement | null => targetOf(event).closest("[data-column]");

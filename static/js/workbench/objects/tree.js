// A tree with one tab stop and the arrow keys of one. It is drawn again from top to bottom: `begin`, its rows, `end`.

import { targetOf, h, fill, icon } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";

const LISTED = 150; // children of one branch that are in the document
const TAIL = 9; // characters at the end of a name that stay when it is cut: real names differ there

export class Tree {
  #rows = [];
  #all = false; // every branch is open
  #opened;
  #focused = "";

  /** `opened` are the keys of the branches that are open at first; `onToggle(key)` is to draw it again. */
  constructor(label, opened, onToggle) {
    this.#opened = new Set(opened);
    this.onToggle = onToggle;
    this.element = h("div", { class: "tree", role: "tree", "aria-label": label });
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  /**
   * Whether somebody has opened a branch, or it is open from the start.
   *
   * @param {string} key
   */
  wasOpened(key) {
    return this.#opened.has(key);
  }

  /**
   * Whether a branch is drawn open.
   *
   * @param {string} key
   */
  isOpen(key) {
    return this.#all || this.#opened.has(key);
  }

  /** Begin to draw it; with `all` every branch is open. */
  begin(all) {
    this.#all = all;
    this.#rows = [];
  }

  add(row) {
    this.#rows.push(row);
  }

  /** Show what was drawn. */
  end() {
    fill(this.element, this.#rows);
    const items = this.items();
    (items.find((item) => item.dataset.key === this.#focused) ?? items[0])?.setAttribute("tabindex", "0");
  }

  /** Add a row of `make(item)` for each item, as far as they are listed. */
  leaves(items, make, level) {
    for (const item of items.slice(0, LISTED)) this.#rows.push(make(item));
    if (items.length > LISTED)
      this.#rows.push(
        h("div", { class: `more level-${level}`, text: `and ${count(items.length - LISTED)} more: type to find one` }),
      );
  }

  /** Add a branch; a click on its label is `act`, where there is one. */
  branch(key, label, number, level, { colour = "", act = null, title = label } = {}) {
    const open = this.isOpen(key);
    const row = this.row(key, level, label, number, { colour, title });
    row.setAttribute("aria-expanded", String(open));
    row.prepend(icon("right", "twist"));
    row.addEventListener("click", (event) => {
      if (act && !targetOf(event).closest(".twist")) act();
      if (!act || targetOf(event).closest(".twist") || !this.#opened.has(key)) this.#toggle(key);
    });
    this.#rows.push(row);
  }

  /** Make a row. */
  row(key, level, label, number, { colour = "", title = label } = {}) {
    const tail = label.length > 2 * TAIL ? TAIL : 0;
    return h(
      "div",
      {
        class: `item level-${level}`,
        role: "treeitem",
        "aria-level": level,
        "data-key": key,
        "data-name": label,
        tabindex: "-1",
      },
      colour ? h("i", { class: `dot ${colour}` }) : null,
      h(
        "span",
        { class: "label", title },
        tail
          ? [
              h("span", { class: "sr", text: label }),
              h("span", { class: "head", "aria-hidden": "true", text: label.slice(0, -tail) }),
              h("span", { "aria-hidden": "true", text: label.slice(-tail) }),
            ]
          : label,
      ),
      h("span", { class: "n num", text: number }),
    );
  }

  /** @param {string} key */
  #toggle(key) {
    if (!this.#opened.delete(key)) this.#opened.add(key);
    this.#focused = key;
    this.onToggle(key);
    this.focus();
  }

  /** Focus the row that has the tab stop. */
  focus() {
    this.items()
      .find((item) => item.dataset.key === this.#focused)
      ?.focus();
  }

  /** All rows. */
  drawn() {
    return [...this.element.querySelectorAll("[role=treeitem]")];
  }

  /** The rows that can be seen. */
  items() {
    return [...this.element.querySelectorAll("[role=treeitem]:not([hidden])")];
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const items = this.items();
    const at = items.indexOf(targetOf(event).closest("[role=treeitem]"));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const item = items[at];
    const level = Number(item.getAttribute("aria-level"));
    const open = item.getAttribute("aria-expanded");
    let to = -1;
    if (event.key === "ArrowDown") to = at + 1;
    else if (event.key === "ArrowUp") to = at - 1;
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = items.length - 1;
    else if (event.key === "ArrowRight") {
      if (open === "false") this.#toggle(item.dataset.key);
      else to = at + 1;
    } else if (event.key === "ArrowLeft") {
      if (open === "true") this.#toggle(item.dataset.key);
      else for (to = at; to >= 0 && Number(items[to].getAttribute("aria-level")) >= level; to -= 1);
    } else if (event.key === "Enter" || event.key === " ") item.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (to >= 0 && to < items.length) {
      item.tabIndex = -1;
      items[to].tabIndex = 0;
      this.#focused = items[to].dataset.key;
      items[to].focus();
    }
  }
}

// A button with a menu under it: arrows and letters choose, Escape closes, as everywhere.

import { targetOf, h, icon } from "../../lib/dom.js";

export class Menu {
  constructor(label, groups, choose, title) {
    this.choose = choose;
    this.button = h(
      "button",
      {
        type: "button",
        class: "btn small",
        "aria-haspopup": "menu",
        "aria-expanded": "false",
        title,
        onclick: () => (this.list.hidden ? this.#show() : this.#hide(true)),
      },
      icon("plus"),
      label,
    );
    this.list = h(
      "div",
      { class: "menu", role: "menu", "aria-label": title, hidden: true },
      groups.map(([heading, entries]) =>
        h(
          "div",
          { role: "group", "aria-label": heading },
          h("div", { class: "menu-head", "aria-hidden": "true", text: heading }),
          entries.map(([what, text, name]) =>
            h(
              "button",
              {
                type: "button",
                role: "menuitem",
                tabindex: "-1",
                onclick: () => {
                  this.#hide(true);
                  choose(what);
                },
              },
              name ? icon(name) : h("span", { class: "menu-blank" }),
              text,
            ),
          ),
        ),
      ),
    );
    this.element = h("div", { class: "menu-of" }, this.button, this.list);
    this.button.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") {
        event.preventDefault();
        this.#show();
      }
    });
    this.list.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("focusout", (event) => {
      if (!this.list.hidden && !this.element.contains(/** @type {Node | null} */ (event.relatedTarget)))
        this.#hide(false);
    });
    addEventListener("pointerdown", (event) => {
      if (!this.list.hidden && !this.element.contains(targetOf(event))) this.#hide(false);
    });
  }

  get #items() {
    return [...this.list.querySelectorAll("[role=menuitem]")];
  }

  #show() {
    this.list.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.#focus(this.#items[0]);
  }

  #focus(item) {
    if (!item) return;
    for (const other of this.#items) other.tabIndex = other === item ? 0 : -1;
    item.focus();
  }

  #hide(refocus) {
    this.list.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    if (refocus) this.button.focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const items = this.#items;
    const at = items.findIndex((one) => one === document.activeElement);
    let to = -1;
    if (event.key === "ArrowDown") to = (at + 1) % items.length;
    else if (event.key === "ArrowUp") to = (at - 1 + items.length) % items.length;
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = items.length - 1;
    else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.#hide(true);
      return;
    } else if (event.key === "Tab") {
      this.#hide(false);
      return;
    } else if (/^[a-z]$/i.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const begins = (item) => item.textContent.trim().toLowerCase().startsWith(event.key.toLowerCase());
      to = items.indexOf([...items.slice(at + 1), ...items.slice(0, at + 1)].find(begins));
    } else if (event.key !== "Enter" && event.key !== " ") return;
    event.stopPropagation(); // no key of the workbench while a menu is open
    if (event.key === "Enter" || event.key === " ") return;
    event.preventDefault();
    this.#focus(items[to]);
  }
}

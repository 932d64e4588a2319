// The row over the stage: what colours the pods, by what nodes are grouped, and what the colours mean. A colour that is
// clicked is a filter: its pods light up, and the nodes that run them.

import { $, h, fill, announce, perFrame } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { CLASSES, COLOURS } from "./colours.js";
import { choices } from "./grouping.js";
/** @import { View } from "../view.js" */

export class Legend {
  #drawn = "";
  #all = false; // every colour is shown, in as many lines as it takes
  #buttons = new Map(); // of a class: its button and number

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.amounts = new Uint32Array(CLASSES.length); // pods of each colour
    /** @type {Set<number>} */
    this.holders = new Set(); // the nodes with pods of the one that is lit up
    this.list = h("div", {
      class: "palette",
      role: "group",
      "aria-label": "Colours of pods: choose one to light up its pods",
    });
    this.selects = h("div", { class: "looks" });
    this.more = h("button", {
      type: "button",
      class: "link fine",
      "aria-expanded": "false",
      hidden: true,
      onclick: () => this.#unfold(),
    });
    this.row = h("div", { class: "palette-row" }, this.list, this.more);
    this.element = h("div", { class: "stage-looks" }, this.selects, this.row);
    this.fit = perFrame(() => this.#fit());
    new ResizeObserver(this.fit).observe(this.element);
    view.on("look", () => this.#choices());
  }

  open() {
    this.#drawn = "";
    this.#choices();
  }

  #choices() {
    const { view } = this;
    const select = (name, label, options, chosen) => {
      const field = h(
        "select",
        { class: "field", "aria-label": label, "data-look": name },
        options.map(([value, text]) => h("option", { value, text, selected: value === chosen || undefined })),
      );
      field.addEventListener("change", () => view.setLook({ [name]: field.value }));
      return h("label", { class: "measure" }, h("span", { text: label }), field);
    };
    const focused = $(":focus", this.selects)?.dataset.look;
    fill(
      this.selects,
      select("colour", "Colour", Object.entries(COLOURS), view.look.colour),
      select("group", "Group by", choices(view.playback.nodes), view.look.group),
    );
    if (focused) $(`[data-look="${focused}"]`, this.selects).focus();
  }

  update(amounts) {
    const { view } = this;
    const { entries } = view.colours;
    const drawn = entries.map(({ code, label }) => `${code}${label}`).join("|");
    if (drawn !== this.#drawn) {
      this.#drawn = drawn;
      this.#buttons.clear();
      fill(
        this.list,
        entries.map(({ code, label, title }) => {
          const number = h("em", { class: "num" });
          const button = h(
            "button",
            {
              type: "button",
              class: "swatch",
              title,
              "aria-pressed": "false",
              onclick: () => this.#toggle(code, label),
            },
            h("i", { class: `pod ${CLASSES[code]}` }),
            h("span", { text: label }),
            number,
          );
          this.#buttons.set(code, [button, number]);
          return button;
        }),
      );
    }
    this.fit();
    for (const [code, [button, number]] of this.#buttons) {
      const text = count(amounts[code]);
      if (number.textContent !== text) number.textContent = text;
      button.classList.toggle("none", amounts[code] === 0);
      button.setAttribute("aria-pressed", String(view.only === code));
    }
  }

  /** Say how many colours the row has no room for, in a button as wide for any number; unfolded it shows them all. */
  #fit() {
    if (this.#all) return;
    const { list, more } = this;
    const room =
      list.clientWidth + (more.hidden ? 0 : more.offsetWidth + parseFloat(getComputedStyle(this.row).columnGap || "0"));
    more.hidden = list.scrollWidth <= room;
    this.row.classList.toggle("cut", !more.hidden);
    if (more.hidden) return;
    const left = list.getBoundingClientRect().left - list.scrollLeft;
    const cut = [...list.children].filter((one) => one.getBoundingClientRect().right - left > list.clientWidth).length;
    const text = `+${count(cut)} more`;
    if (more.textContent !== text) more.textContent = text;
  }

  #unfold() {
    this.#all = !this.#all;
    this.row.classList.toggle("all", this.#all);
    this.row.classList.remove("cut");
    this.more.setAttribute("aria-expanded", String(this.#all));
    if (this.#all) this.more.textContent = "fewer";
    else this.#fit();
  }

  /**
   * @param {number} code
   * @param {string} label
   */
  #toggle(code, label) {
    const { view } = this;
    view.lightColour(view.only === code ? -1 : code);
    this.#buttons.get(code)?.[0].scrollIntoView({ block: "nearest", inline: "nearest" });
    announce(
      view.only < 0
        ? "All pods are shown alike."
        : `${label}: ${plural(this.amounts[code], "pod")} on ${plural(this.holders.size, "node")} lit up.`,
    );
  }
}

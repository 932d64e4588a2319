// What a scenario is about: the comment at the head of its text, which in an example is the lesson. Its first line is
// always visible; all of it is read above the stage while one steps, with its steps as links.

import { h, fill, icon } from "../lib/dom.js";
import { inline } from "../lib/inline.js";
import { indexOf } from "./goto.js";
/** @import { View } from "./view.js" */

const KEY = "podstep.about"; // whether it was open when it was last here
const ITEM = /^(\s*)(\S+(?: \S+){0,2}) {2,}(\S.*)$/; // a term, a gap, and its meaning
const PIECE = /`([^`]+)`|(\b[Ss]teps? )(\d+\.\d+)/g;

/**
 * The text as blocks: `{text}`, a paragraph, or `{items: [[term, text]…]}`, lines in columns.
 *
 * @param {string} text
 */
export function blocks(text) {
  const out = [];
  for (const chunk of text.split(/\n\s*\n/)) {
    let last = null;
    for (const line of chunk.split("\n")) {
      const item = ITEM.exec(line);
      if (item) {
        if (!last?.items) out.push((last = { items: [] }));
        last.items.push([item[2], item[3]]);
      } else if (last?.items && /^\s{2,}/.test(line)) last.items.at(-1)[1] += ` ${line.trim()}`;
      else if (last?.text !== undefined) last.text += ` ${line.trim()}`;
      else if (line.trim()) out.push((last = { text: line.trim() }));
    }
  }
  return out;
}

export class About {
  #text = null;
  #line = ""; // on one line

  /**
   * @param {HTMLElement} host
   * @param {View} view
   * @param {string} text
   */
  constructor(host, view, text) {
    this.host = host;
    this.view = view;
    this.lead = h("span");
    this.all = h("div", {
      class: "about-all",
      id: "about-all",
      tabindex: "0",
      role: "region",
      "aria-label": "About this scenario, whole",
    });
    this.button = h("button", {
      type: "button",
      class: "btn quiet small",
      "aria-controls": "about-all",
      onclick: () => this.#open(this.all.hidden, true),
    });
    fill(
      host,
      h("div", { class: "about-lead" }, icon("help"), this.lead, h("span", { class: "grow" }), this.button),
      this.all,
    );
    this.#show(text);
    this.#open(this.#kept(), false);
    view.playback.on("opened", ({ about }) => {
      if (about !== undefined) this.#show(about);
    });
  }

  /** @param {string} text */
  #show(text) {
    if (text === this.#text) return;
    this.#text = text;
    this.host.hidden = !text;
    const content = blocks(text);
    this.#line = content
      .flatMap(({ text: one, items }) => one ?? items.map((item) => item.join(": ")))
      .join(" ")
      .replaceAll("`", "");
    this.#head();
    fill(
      this.all,
      content.map(({ text: one, items }) =>
        items
          ? h(
              "dl",
              null,
              items.map(([term, meaning]) => [h("dt", null, this.#pieces(term)), h("dd", null, this.#pieces(meaning))]),
            )
          : h("p", null, this.#pieces(one)),
      ),
    );
  }

  #head() {
    this.lead.textContent = this.all.hidden ? this.#line : "About this scenario";
  }

  /**
   * Code as code, and steps as links to them.
   *
   * @param {string} text
   */
  #pieces(text) {
    const out = [];
    let from = 0;
    for (const match of text.matchAll(PIECE)) {
      out.push(text.slice(from, match.index));
      const [, code, word, step] = match;
      out.push(
        code ? h("code", { text: code }) : inline(() => this.#goto(step), { title: "go there" }, `${word}${step}`),
      );
      from = match.index + match[0].length;
    }
    return [...out, text.slice(from)];
  }

  async #goto(step) {
    const { playback } = this.view;
    if (!playback.nodes) return;
    this.view.emit("hold");
    try {
      const index = await indexOf(playback, step);
      if (index === null) playback.emit("later", { step, place: undefined });
      else if (index <= playback.last) playback.goto(index);
    } catch (error) {
      playback.emit("failed", error);
    }
  }

  #open(open, kept) {
    this.all.hidden = !open;
    this.host.classList.toggle("open", open);
    this.button.setAttribute("aria-expanded", String(open));
    this.#head();
    fill(this.button, h("span", { text: open ? "Read less" : "Read all" }));
    if (kept)
      try {
        localStorage.setItem(KEY, open ? "open" : "");
      } catch {
        /* for this visit only */
      }
  }

  #kept() {
    try {
      return localStorage.getItem(KEY) === "open";
    } catch {
      return false;
    }
  }
}

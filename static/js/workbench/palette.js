// The command palette: every command, and every step, node, pod and example, by a few letters. What was used last
// stands first.

import { $, $$, targetOf, h, fill, icon } from "../lib/dom.js";
import { short } from "../lib/quantity.js";
import { COMMANDS, available } from "./commands.js";
import { match } from "./fuzzy.js";
import { indexOf } from "./goto.js";
import { caps } from "./keys.js";

const RECENT = "podstep.recent";
const KEPT = 8; // commands that were used last
const EACH = 8; // nodes, pods and examples that are listed
const BONUS = 4; // for what was used lately
const STEP = /^(\d{1,9}(\.\d{1,9})?|end)$/i;

export class Palette {
  #items = [];
  #at = 0;
  #examples = null;

  constructor(context) {
    this.context = context;
  }

  open() {
    const { playback } = this.context;
    if (!playback.nodes || this.box?.open) return;
    const focused = document.activeElement; // what a command is about
    this.target = focused;
    this.input = h("input", {
      class: "palette-field",
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "palette-list",
      "aria-autocomplete": "list",
      "aria-label": "Command",
      autocomplete: "off",
      spellcheck: "false",
      enterkeyhint: "go",
      placeholder: "Command, step, node, pod, example",
      oninput: () => this.#search(),
      onkeydown: (event) => this.#key(event),
    });
    this.list = h("div", {
      id: "palette-list",
      role: "listbox",
      "aria-label": "Commands",
      onclick: (event) => {
        const option = event.target.closest("[role=option]");
        if (option) this.#run(Number(option.dataset.at));
      },
    });
    this.list.addEventListener("pointermove", (event) => {
      const option = targetOf(event).closest("[role=option]");
      if (option && Number(option.dataset.at) !== this.#at) this.#mark(Number(option.dataset.at), false);
    });
    this.state = h("p", { class: "sr", role: "status" });
    this.box = h(
      "dialog",
      { class: "command-palette", "aria-label": "Command palette" },
      h(
        "div",
        { class: "palette-head" },
        icon("search"),
        this.input,
        h(
          "button",
          { type: "button", class: "btn quiet square", "aria-label": "Close", onclick: () => this.box.close() },
          icon("close"),
        ),
      ),
      this.list,
      this.state,
    );
    this.box.addEventListener("close", () => this.box.remove());
    this.box.addEventListener("click", (event) => {
      if (event.target === this.box) this.box.close();
    });
    document.body.append(this.box);
    this.box.showModal();
    this.input.focus();
    this.#search();
    this.#loadExamples();
  }

  async #loadExamples() {
    if (this.#examples) return;
    try {
      const answer = await fetch("/examples.json");
      this.#examples = (await answer.json()).examples;
      if (!this.box.open || !this.input.value.trim()) return;
      const chosen = this.#items[this.#at]?.id; // somebody may have walked on meanwhile
      this.#search();
      this.#mark(this.#items.findIndex(({ id }) => id === chosen));
    } catch {
      this.#examples = null;
    } // asked for again next time
  }

  get #recent() {
    try {
      const kept = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
      return Array.isArray(kept) ? kept : [];
    } catch {
      return [];
    }
  }

  /** @param {string} id */
  #used(id) {
    try {
      localStorage.setItem(
        RECENT,
        JSON.stringify([id, ...this.#recent.filter((other) => other !== id)].slice(0, KEPT)),
      );
    } catch {
      /* for this visit only */
    }
  }

  // ---- what there is

  #commands() {
    return COMMANDS.filter((row) => !row.hidden && available(row, this.context)).map((row) => ({
      id: row.id,
      group: row.group,
      name: row.name,
      keys: row.keys,
      run: () => row.run(this.context, { since: performance.now(), target: this.target }),
    }));
  }

  #ranked(items, typed, most = Infinity) {
    const recent = this.#recent;
    const found = [];
    for (const item of items) {
      const hit = match(typed, item.name);
      if (hit) found.push({ ...item, at: hit.at, score: hit.score + (recent.includes(item.id) ? BONUS : 0) });
    }
    return found.sort((a, b) => b.score - a.score || a.name.length - b.name.length).slice(0, most);
  }

  /** @param {string} typed */
  #named(typed) {
    const { view, playback } = this.context;
    const { nodes, pods } = playback;
    const select = (/** @type {string} */ what, /** @type {number} */ i) => {
      view.emit("region", "stage");
      view[what](i);
    };
    const node = nodes.names.map((name, i) => ({
      id: `node ${name}`,
      group: "Nodes",
      name,
      run: () => select("selectNode", i),
    }));
    const pod = pods.keys.map((key, i) => ({
      id: `pod ${key}`,
      group: "Pods",
      name: short(key),
      run: () => select("selectPod", i),
    }));
    const examples = (this.#examples ?? []).map(({ slug, title }) => ({
      id: `example ${slug}`,
      group: "Examples",
      name: title,
      run: () => location.assign(`/examples/${slug}/`),
    }));
    return [node, pod, examples].flatMap((items) => this.#ranked(items, typed, EACH));
  }

  /** @param {string} text */
  #step(text) {
    if (!STEP.test(text)) return [];
    const { playback, deck } = this.context;
    const index = /^\d+$/.test(text) ? Number(text) : text.includes(".") ? null : playback.last;
    if (index !== null && index > playback.last && playback.complete !== false) return [];
    const end = text.toLowerCase() === "end" && playback.end;
    return [
      {
        id: "",
        group: "Steps",
        name: `Go to ${index === null ? `step ${text}` : end ? "the end" : `cycle ${index}`}`,
        at: [],
        run: async () => {
          try {
            const found = await indexOf(playback, text);
            if (found === null) playback.emit("later", { step: text, place: undefined });
            else if (found <= playback.last) {
              deck.pause();
              playback.goto(found);
            }
          } catch (error) {
            playback.emit("failed", error);
          }
        },
      },
    ];
  }

  #search() {
    const text = this.input.value.trim();
    const typed = text.toLowerCase().replaceAll(/\s+/g, "");
    const commands = this.#commands();
    if (!typed) {
      const recent = this.#recent
        .map((id) => commands.find((item) => item.id === id))
        .filter(Boolean)
        .map((item) => ({ ...item, group: "Recent" }));
      const used = new Set(recent.map(({ id }) => id));
      this.#items = [...recent, ...commands.filter(({ id }) => !used.has(id))].map((item) => ({ ...item, at: [] }));
    } else {
      const found = [
        this.#ranked(commands, typed).map((item) => ({ ...item, group: "Commands" })),
        this.#ranked(this.context.view.verbs?.named(text) ?? [], typed, EACH),
        this.#named(typed),
      ].flat();
      const best = new Map(); // groups by their best, so that a name typed whole stands first
      for (const { group, score } of found) best.set(group, Math.max(best.get(group) ?? -Infinity, score));
      found.sort(
        (a, b) =>
          best.get(b.group) - best.get(a.group)
          || (a.group === b.group ? b.score - a.score : a.group < b.group ? -1 : 1),
      );
      this.#items = [...this.#step(text), ...found];
    }
    this.#draw();
  }

  // ---- on screen

  #draw() {
    const groups = [];
    this.#items.forEach((item, i) => {
      if (groups.at(-1)?.group !== item.group) groups.push({ group: item.group, options: [] });
      groups
        .at(-1)
        .options.push(
          h(
            "div",
            { role: "option", id: `palette-${i}`, "data-at": String(i), "aria-selected": "false" },
            h("span", { class: "palette-name" }, marked(item.name, item.at)),
            item.keys ? h("span", { class: "palette-keys" }, caps(item.keys)) : null,
          ),
        );
    });
    fill(
      this.list,
      groups.map(({ group, options }, i) =>
        h(
          "div",
          { role: "group", "aria-labelledby": `palette-group-${i}` },
          h("div", { class: "palette-group", id: `palette-group-${i}`, text: group }),
          options,
        ),
      ),
      this.#items.length ? null : h("p", { class: "dim palette-none", text: "No matches." }),
    );
    this.state.textContent = this.#items.length ? `${this.#items.length} found` : "No matches.";
    this.#mark(0);
  }

  /**
   * @param {number} at
   * @param {boolean} [scroll]
   */
  #mark(at, scroll = true) {
    this.#at = Math.max(0, Math.min(this.#items.length - 1, at));
    for (const option of $$("[role=option]", this.list))
      option.setAttribute("aria-selected", String(Number(option.dataset.at) === this.#at));
    const option = $(`#palette-${this.#at}`, this.list);
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
    if (scroll) {
      if (this.#at) option?.scrollIntoView({ block: "nearest" });
      else this.list.scrollTop = 0;
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const last = this.#items.length - 1;
    const to = {
      ArrowDown: this.#at === last ? 0 : this.#at + 1,
      ArrowUp: this.#at ? this.#at - 1 : last,
      PageDown: Math.min(last, this.#at + EACH),
      PageUp: this.#at - EACH,
    }[event.key];
    if (to !== undefined) this.#mark(to);
    else if (event.key === "Enter" && !event.isComposing) this.#run(this.#at);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) this.box.close();
    else return;
    event.preventDefault();
  }

  /** @param {number} at */
  #run(at) {
    const item = this.#items[at];
    if (!item) return;
    this.box.close();
    if (COMMANDS.some(({ id }) => id === item.id)) this.#used(item.id);
    item.run();
  }
}

/**
 * A name with the letters that were found set off.
 *
 * @param {string} name
 * @param {number[]} at
 */
function marked(name, at) {
  if (!at.length) return name;
  const found = new Set(at);
  const parts = [];
  for (let i = 0; i < name.length; i += 1) {
    if (parts.at(-1)?.bold !== found.has(i)) parts.push({ bold: found.has(i), text: "" });
    parts.at(-1).text += name[i];
  }
  return parts.map(({ bold, text }) => (bold ? h("b", { text }) : text));
}

// Policy: what the scheduler runs, in order; on one's own draft with switches that rewrite one document of its text.

import { h, fill, icon, announce, toast } from "../lib/dom.js";
import { CACHE_SETTINGS } from "./cache_settings.js";
import { commentsLost } from "./comments.js";

const SETTINGS = [
  ["predicateOrder", "Static order of predicates", [["v1.11", "v1.11 (21)"], ["proposal", "proposal (16)"]]],
  ["quirks", "Quirks of v1.11", [["v1.11", "as in v1.11"], ["fixed", "fixed"]]],
];
const REFERENCE = "/reference/predicates/";
const CACHE_REFERENCE = "/reference/cache/";
const CONFIGURATION = ["Policy", "SimulationSettings"];
const MOST_WEIGHT = 2_147_483_647;

export class Policy {
  #catalogue = null;
  #profiles = new Map(); // by the number of changes that led to it
  #busy = false;
  #shown = "";
  #reveal = ""; // the part to bring into view once it is drawn

  constructor(view, options) {
    this.view = view;
    this.options = options; // {mine, canFork, onFork, text(), apply(text), dirty(), undo, onText()}
    this.status = h("p", { class: "policy-status", role: "status" });
    this.body = h("div", { class: "policy-body" });
    this.element = h("div", { class: "policy" }, this.body, this.status);
    view.playback.on("opened", () => { this.#profiles.clear(); this.#shown = ""; this.update(); });
    view.playback.on("step", () => this.update());
    view.on("edits", () => this.update());
  }

  get #number() { return this.view.playback.current?.policy ?? 0; }

  /** The profile in force at the shown cycle, null while it is on its way. */
  get #profile() {
    const number = this.#number;
    return number ? this.#profiles.get(number) ?? null : this.view.playback.policy;
  }

  async #load() {
    const { playback } = this.view;
    const { socket, source, index } = playback;
    const number = this.#number;
    this.#catalogue ??= await socket.call("policy.catalogue", {});
    if (number && !this.#profiles.has(number)) this.#profiles.set(number, (await socket.call("cycle.get", { source, step: String(index), parts: ["policy"] })).policy);
  }

  /** Draw what is in force at the shown cycle, if the tab is open and it is another than is drawn. */
  async update() {
    if (!this.element.isConnected || !this.view.playback.policy) return;
    const key = `${this.#number}/${this.#editable}/${this.options.undo.depth}/${this.options.undo.last}/${this.options.dirty()}`;
    if (key === this.#shown) return;
    if (!this.#catalogue || !this.#profile) {
      try {
        await this.#load();
      } catch (error) {
        if (error.code !== "request.superseded") fill(this.body, h("p", { class: "note error", text: `The policy could not be loaded: ${error.message}` }));
        return;
      }
      this.update();
      return;
    }
    this.#shown = key;
    this.#draw(this.#profile);
  }

  get #editable() { return this.options.mine && this.#number === 0 && !this.options.dirty(); }

  #draw(profile) {
    const focused = document.activeElement?.closest?.("[data-control]")?.dataset.control;
    const scrolled = this.element.parentElement?.scrollTop;
    fill(this.body, this.#head(profile), this.#settings(profile), this.#cache(profile), this.#predicates(profile), this.#priorities(profile));
    if (scrolled) this.element.parentElement.scrollTop = scrolled;
    if (this.#reveal) this.#show(this.#reveal);
    else if (focused) this.#focus(focused);
  }

  /** Bring a part into view, "cache" so far, and put the focus there, at once or when it is drawn. */
  reveal(part) {
    this.#reveal = part;
    if (this.#shown && this.#profile) this.#show(part);
  }

  #show(part) {
    const found = this.body.querySelector(`[data-part="${CSS.escape(part)}"]`);
    if (!found?.isConnected) return;
    this.#reveal = "";
    const box = this.element.parentElement; // alone: in a small frame the page itself would be scrolled too
    box.scrollTop += found.getBoundingClientRect().top - box.getBoundingClientRect().top;
    (found.querySelector("[data-control]:not(:disabled)") ?? found.querySelector("h3")).focus({ preventScroll: true });
  }

  /** What was switched off may have gone to a list that is closed: then the focus goes to its heading. */
  #focus(control) {
    const found = this.body.querySelector(`[data-control="${CSS.escape(control)}"]`);
    const closed = found?.closest("details:not([open])");
    (closed?.querySelector("summary") ?? found)?.focus({ preventScroll: true });
  }

  #head(profile) {
    const { mine, canFork, onFork, onText } = this.options;
    const written = this.view.playback.summary.Policy ? "This scenario's Policy." : "No Policy of its own: the DefaultProvider’s predicates and priorities.";
    const { last } = this.options.undo;
    const notes = [];
    if (this.#number) notes.push(h("div", { class: "note" }, icon("warn"), h("div", null, h("strong", { text: "The scheduler was restarted before this cycle." }), h("p", { text: "This is what it runs since. An operation of the scenario put it in force; to change it, edit the operation." }),
      h("button", { type: "button", class: "btn small", onclick: () => this.view.playback.goto(0) }, "To the policy at the start"))));
    else if (!mine) notes.push(h("div", { class: "note" }, h("span", { class: "grow", text: canFork ? "This scenario never changes. Fork it to change its policy." : "This scenario is read-only." }),
      canFork ? h("button", { type: "button", class: "btn", "data-policy-fork": true, onclick: onFork }, icon("fork"), "Fork to change") : null));
    else if (this.options.dirty()) notes.push(h("div", { class: "note" }, icon("warn"), h("div", null, h("p", { text: "The YAML has changes that are not applied. Apply or discard them first." }), h("button", { type: "button", class: "btn small", onclick: onText }, "To the YAML"))));
    return [
      h("div", { class: "policy-head" }, h("span", { class: "dim", text: this.#number ? "In force at this cycle" : written }), h("span", { class: "grow" }),
        mine ? h("button", { type: "button", class: "btn small", "data-control": "undo", disabled: !last || this.#busy || undefined, title: last ? `Undo: ${last}` : "Nothing to undo here", onclick: () => this.#back() }, icon("back"), "Undo") : null),
      notes,
      this.#editable ? this.#comments() : null,
      profile.warnings.map((text) => h("div", { class: "note warning" }, icon("warn"), h("span", { text }))),
    ];
  }

  /** Says before a change which comments it would cost. */
  #comments() {
    const note = h("div", { class: "note", hidden: true });
    this.options.text().then((text) => {
      const lost = commentsLost(text, CONFIGURATION);
      note.hidden = !lost;
      fill(note, lost ? [icon("warn"), h("span", { text: lost })] : null);
    }, () => {}); // a text that cannot be loaded says so where it is changed
    return note;
  }

  #settings(profile) {
    return h("section", { class: "policy-part", "aria-label": "Settings" },
      SETTINGS.map(([key, label, choices]) => h("label", { class: "policy-setting" }, h("span", { text: label }),
        h("select", { class: "field", "data-control": key, disabled: !this.#editable || undefined, onchange: (event) => this.#change("setting", key, event.target.value, `${label}: ${event.target.selectedOptions[0].text}`) },
          choices.map(([value, text]) => h("option", { value, text, selected: value === profile[key] || undefined }))))),
      this.#switch("alwaysCheckAllPredicates", "Check all predicates on every node", profile.alwaysCheckAllPredicates, (on) => this.#change("flag", "alwaysCheckAllPredicates", String(on), `check all predicates: ${on ? "on" : "off"}`), "policy-setting"),
      h("label", { class: "policy-setting", title: "hardPodAffinitySymmetricWeight: what a required affinity term of another pod weighs" }, h("span", { text: "Weight of required affinity" }),
        this.#count("hard", profile.hardPodAffinitySymmetricWeight, 1, 100, (value) => this.#change("number", "hardPodAffinitySymmetricWeight", value, `hardPodAffinitySymmetricWeight ${value}`))));
  }

  /** The equivalence cache: each setting with what its choice does, or why it does nothing. */
  #cache(profile) {
    return h("section", { class: "policy-part", "aria-labelledby": "policy-cache", "data-part": "cache" },
      h("h3", { id: "policy-cache", tabindex: "-1" }, "Equivalence cache ", h("a", { class: "fine", href: CACHE_REFERENCE, text: "what it is" })),
      CACHE_SETTINGS.map((setting) => this.#cacheSetting(setting, profile)));
  }

  #cacheSetting({ key, label, choices, idle }, profile) {
    const value = String(profile[key]);
    const without = idle(profile);
    const about = `policy-${key}-does`;
    const shared = { "data-control": key, "aria-describedby": about, disabled: !this.#editable || Boolean(without) || undefined };
    const change = (to) => this.#change("setting", key, to, `${label}: ${choices.find(([name]) => name === to)[1]}`);
    const control = choices[0][0] === "true"
      ? h("input", { type: "checkbox", role: "switch", class: "switch", checked: value === "true" || undefined, onchange: (event) => change(String(event.target.checked)), ...shared })
      : h("select", { class: "field", onchange: (event) => change(event.target.value), ...shared }, choices.map(([name, text]) => h("option", { value: name, text, selected: name === value || undefined })));
    return [h("label", { class: "policy-setting" }, h("span", { text: label }), control),
      h("p", { class: "policy-does dim", id: about, text: without || (choices.find(([name]) => name === value)?.[2] ?? "") })];
  }

  #predicates(profile) {
    const rows = new Map(this.#catalogue.predicates.map((row) => [row.key, row]));
    const off = this.#catalogue.predicates.filter(({ key }) => !profile.predicates.includes(key) && !profile.neverRun.includes(key));
    const bundled = (row) => row.bundle && profile.predicates.includes(row.bundle);
    return h("section", { class: "policy-part", "aria-labelledby": "policy-predicates" },
      h("h3", { id: "policy-predicates" }, "Predicates ", h("small", { class: "dim", text: `${profile.predicates.length} in this order` })),
      h("ol", { class: "policy-rows" }, profile.predicates.map((key, at) => this.#row(key, rows.get(key), String(at + 1), true, profile))),
      profile.neverRun.length ? h("ul", { class: "policy-rows" }, profile.neverRun.map((key) => this.#row(key, rows.get(key), "–", true, profile, h("span", { class: "pill fail", title: "Configured, but v1.11 never evaluates it", text: "never run" })))) : null,
      h("details", { open: this.offOpen || undefined, ontoggle: (event) => { this.offOpen = event.target.open; } }, h("summary", { "data-control": "unused:predicates", text: `Not in use: ${off.length}` }),
        h("ul", { class: "policy-rows" }, off.map((row) => this.#row(row.key, row, "", false, profile, bundled(row) ? h("span", { class: "pill", text: `in ${row.bundle}` }) : row.argument ? h("span", { class: "pill", title: row.argument, text: "needs an argument" }) : null)))));
  }

  #row(key, row, place, on, profile, mark = null) {
    const fixed = row?.mandatory || (!on && row?.argument);
    const alias = row?.alias && row.alias !== key ? row.alias : "";
    return h("li", { class: on ? "" : "off" }, h("span", { class: "place num", text: place }),
      h("div", { class: "what" }, h("a", { class: "name", href: `${REFERENCE}#${key}`, title: row?.text ?? "", text: key }),
        h("small", { class: "dim" }, [row?.members.length ? row.members.join(", ") : "", alias ? `also ${alias}` : "", profile.arguments[key] ? "with an argument" : ""].filter(Boolean).join(" · "))), mark,
      fixed ? (row.mandatory ? h("span", { class: "pill accent", title: "v1.11 adds it to every policy", text: "always" }) : null)
        : this.#switch(`predicate:${key}`, `${key}: ${on ? "in use" : "not in use"}`, on, (value) => this.#change("predicate", key, value ? "on" : "off", `${key} ${value ? "on" : "off"}`), "", true));
  }

  #priorities(profile) {
    const rows = new Map(this.#catalogue.priorities.map((row) => [row.name, row]));
    const used = new Set(profile.priorities.map(([name]) => name));
    const off = this.#catalogue.priorities.filter(({ name }) => !used.has(name));
    const row = (name, weight) => h("li", { class: weight ? "" : "off" },
      h("div", { class: "what" }, h("a", { class: "name", href: `${REFERENCE}#${name}`, title: rows.get(name)?.text ?? "", text: name }),
        h("small", { class: "dim", text: [rows.get(name)?.kind, profile.arguments[name] ? `with ${Object.keys(profile.arguments[name])[0]}` : ""].filter(Boolean).join(" · ") })),
      this.#count(`weight:${name}`, weight, 0, MOST_WEIGHT, (value) => this.#change("priority", name, value, `${name} ${value === "0" ? "off" : `weight ${value}`}`), `Weight of ${name}; 0 takes it out`));
    return h("section", { class: "policy-part", "aria-labelledby": "policy-priorities" },
      h("h3", { id: "policy-priorities" }, "Priorities ", h("small", { class: "dim", text: used.size ? "by weight; 0 takes one out" : "none: every node counts 1" })),
      h("ul", { class: "policy-rows weights" }, profile.priorities.map(([name, weight]) => row(name, weight))),
      h("details", { open: this.unusedOpen || undefined, ontoggle: (event) => { this.unusedOpen = event.target.open; } }, h("summary", { "data-control": "unused:priorities", text: `Not in use: ${off.length}` }), h("ul", { class: "policy-rows weights" }, off.map(({ name }) => row(name, 0)))));
  }

  /** A switch; `bare` shows no label, the row tells what it is for. */
  #switch(control, label, on, act, className = "", bare = false) {
    const box = h("input", { type: "checkbox", role: "switch", class: "switch", "data-control": control, checked: on || undefined, disabled: !this.#editable || undefined, "aria-label": bare ? label.split(":")[0] : undefined, onchange: (event) => act(event.target.checked) });
    return bare ? box : h("label", { class: className }, h("span", { text: label }), box);
  }

  #count(control, value, min, max, act, label) {
    return h("input", { type: "number", class: "field weight num", inputmode: "numeric", min, max, step: 1, value, "data-control": control, "aria-label": label, disabled: !this.#editable || undefined,
      onchange: (event) => {
        const field = event.target;
        if (field.checkValidity() && field.value !== "") { act(String(Number(field.value))); return; }
        this.#say(`${label ?? "The weight"}: a whole number from ${min} to ${max}.`, true);
        field.value = value;
      } });
  }

  // ---- changing

  async #change(what, key, value, words) {
    if (this.#busy) return;
    this.#lock(true);
    try {
      const before = await this.options.text();
      const { text, rewritten } = await this.view.playback.socket.call("bundle.configure", { text: before, what, key, value });
      if (text !== before) {
        await this.options.apply(text);
        this.options.undo.push(words, before);
        if (rewritten) toast("The documents could not be told apart, so the whole text was written anew; Undo brings the old one back.", { name: "warn", ms: 7000 });
      }
      this.#say(`Changed: ${words}. The simulation starts anew.`);
    } catch (error) {
      this.#say(error.body?.errors?.[0]?.message ?? error.message, true);
    }
    this.#lock(false);
  }

  async #back() {
    if (this.#busy) return;
    this.#lock(true);
    try {
      const undone = await this.options.undo.back();
      if (undone) this.#say(`Undone: ${undone}.`);
    } catch (error) {
      this.#say(error.message, true);
    }
    this.#lock(false);
  }

  #lock(busy) {
    this.#busy = busy;
    this.element.toggleAttribute("aria-busy", busy);
    this.element.classList.toggle("busy", busy);
    if (!busy) { this.#shown = ""; this.update(); }
  }

  #say(text, wrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("wrong", wrong);
    announce(text);
  }
}

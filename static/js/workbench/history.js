// Events of this scenario: what happens from outside, each with its moment; to go there, change it, move it here or take it out.

import { h, fill, icon, announce, toast } from "../lib/dom.js";
import { count } from "../lib/quantity.js";
import { GROUP, Group } from "./group.js";

const NONE = "\n"; // no event's id: none is left, so what is above the list takes the focus
const KINDS = ["Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "Service", "Policy", "SimulationSettings"];

export class History {
  #listed = null;
  #turn = 0;
  #focus = "";

  constructor(view, edit, mine) {
    this.view = view;
    this.edit = edit;
    this.mine = mine;
    if (edit && mine) this.group = new Group(view, edit);
    this.list = h("ol", { class: "history-rows" });
    this.head = h("div", { class: "history-head" });
    this.element = h("section", { class: "history", "aria-labelledby": "history-heading" }, this.head, this.list);
    const { playback } = view;
    playback.on("opened", () => this.load());
    playback.on("grew", () => { if (playback.complete && this.#listed?.operations.some(({ after, action }) => after === null && action !== "done")) this.load(); });
    playback.on("step", () => this.#mark());
    view.on("edits", () => this.#draw());
    this.list.addEventListener("keydown", (event) => this.#key(event));
  }

  async load() {
    const { playback } = this.view;
    const turn = ++this.#turn;
    try {
      const listed = await playback.socket.call("operations.list", { source: playback.source });
      if (turn !== this.#turn) return;
      this.#listed = listed;
      this.#draw();
      this.#focus = "";
    } catch (error) {
      if (turn === this.#turn && error.code !== "request.superseded") fill(this.list, h("li", { class: "note error", text: error.message }));
    }
  }

  #draw() {
    if (!this.#listed) return;
    const { operations, count: all } = this.#listed;
    const { edit, mine } = this;
    if (this.list.contains(document.activeElement)) this.#focus ||= document.activeElement.closest("[data-row]")?.dataset.row ?? "";
    const create = edit && h("select", { class: "field", "aria-label": "Create an object at this step", title: mine ? "Create an object at this step" : "Create an object at this step, in a copy", onchange: (event) => { const kind = event.target.value; event.target.value = ""; this.view.emit("edit", { create: kind }); } },
      h("option", { value: "", text: "Create…" }), h("option", { value: GROUP, text: "PodGroup and its workload" }), KINDS.map((kind) => h("option", { value: kind, text: kind })));
    fill(this.head, h("h3", { id: "history-heading" }, "Events ", h("small", { class: "dim", text: all ? count(all) : "" })), h("span", { class: "grow" }), create);
    fill(this.list, operations.map((row, i) => this.#row(row, i)),
      all > operations.length ? h("li", { class: "dim fine", text: `and ${count(all - operations.length)} more` }) : null,
      all ? null : h("li", { class: "dim fine", text: edit ? `Nothing happens from outside yet. Select a node or a pod and choose “${edit.label}”.` : "Nothing happens from outside." }));
    this.#mark();
    if (!this.#focus) return;
    const found = this.list.querySelector(`[data-event="${CSS.escape(this.#focus)}"]`) ?? (this.#focus === NONE ? this.head.querySelector("button:enabled") : null);
    if (found) { for (const other of this.list.querySelectorAll("button")) other.tabIndex = -1; found.tabIndex = 0; found.focus(); }
  }

  #row(row, i) {
    const { playback } = this.view;
    const { id, action, words, after, during, pinned } = row;
    const when = after === null ? (action === "done" ? "end" : playback.complete === false ? "…" : "no effect") : during ? `in ${count(after + 1)}` : after ? `after ${count(after)}` : "start";
    const title = after === null ? words : `${during ? `inside cycle ${after + 1}, between evaluating and writing` : after ? `after cycle ${after}` : "before the first cycle"}${pinned ? "" : ", when nothing was left to schedule"}`;
    const button = (name, label, act) => h("button", { type: "button", class: "btn quiet square tiny", "aria-label": `${label}: ${words}`, title: label, tabindex: "-1", onclick: act }, icon(name));
    const tools = this.mine && this.edit && action !== "done" ? h("span", { class: "history-tools" },
      button("edit", "Change what it does", () => this.edit.openOperation(row)), button("here", "Move it to the step on screen", () => this.#move(row)), button("cross", "Take it out", () => this.#remove(row))) : null;
    return h("li", { "data-row": id },
      h("button", { type: "button", class: "history-go", "data-event": id, tabindex: i ? "-1" : "0", title, disabled: after === null || undefined, onclick: () => playback.goto(after === null ? 0 : after + 1) },
        h("span", { class: `pill ${during ? "victim" : ""}`, text: when }), h("span", { class: "history-words", text: words })), tools);
  }

  /** Which event has just happened at the step on screen. */
  #mark() {
    const { index } = this.view.playback;
    for (const item of this.list.querySelectorAll("[data-row]")) {
      const row = this.#listed?.operations.find(({ id }) => id === item.dataset.row);
      const now = row && row.after !== null && row.after + 1 === index;
      item.classList.toggle("now", Boolean(now));
      item.classList.toggle("past", Boolean(row && row.after !== null && row.after + 1 < index));
    }
  }

  async #change(row, wish, said) {
    try {
      const answer = await this.edit.operate({ id: row.id, ...(row.step ? { landed: row.step } : {}), ...wish });
      this.edit.tell(`${said(answer)}.`);
    } catch (error) {
      const text = error.body?.errors?.[0]?.message ?? error.message;
      toast(text[0].toUpperCase() + text.slice(1), { name: "warn", ms: 8000 });
      announce(text);
    }
  }

  async #move(row) {
    const { playback } = this.view;
    const index = playback.wantedCycle;
    const step = index ? playback.light(index)?.step : "1.0";
    if (!step) { toast("The step on screen is not loaded yet."); return; }
    this.#focus = row.id;
    await this.#change(row, { action: "move", step, ...(row.during ? { during: "evaluation" } : {}) }, () => `Moved to ${index ? `after cycle ${count(index)}` : "before the first cycle"}: ${row.words}`);
  }

  async #remove(row) {
    const rows = this.#listed.operations;
    const at = rows.indexOf(row);
    this.#focus = (rows[at + 1] ?? rows[at - 1])?.id ?? NONE;
    await this.#change(row, { action: "remove" }, () => `Taken out: ${row.words}`);
  }

  /** Arrows go through the events and to what can be done with one; Delete takes it out, e changes it, m moves it here. */
  #key(event) {
    const item = event.target.closest("[data-row]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...this.list.querySelectorAll("[data-row]")];
    const at = rows.indexOf(item);
    const row = this.#listed.operations.find(({ id }) => id === item.dataset.row);
    const within = [...item.querySelectorAll("button")];
    const here = within.indexOf(event.target);
    const own = this.mine && this.edit && row.action !== "done";
    const focus = (button) => { if (!button) return; for (const other of this.list.querySelectorAll("button")) other.tabIndex = -1; button.tabIndex = 0; button.focus(); };
    const act = {
      ArrowDown: () => focus(rows[at + 1]?.querySelector("button")), ArrowUp: () => focus(rows[at - 1]?.querySelector("button")),
      ArrowRight: () => focus(within[here + 1]), ArrowLeft: () => focus(within[here - 1]),
      Home: () => focus(rows[0].querySelector("button")), End: () => focus(rows.at(-1).querySelector("button")),
      Delete: own && (() => this.#remove(row)), e: own && (() => this.edit.openOperation(row)), m: own && (() => this.#move(row)),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

}

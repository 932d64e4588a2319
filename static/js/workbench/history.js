// The events of this scenario: what happens from outside, each with its moment, on an axis of cycles or of virtual
// time; to add, move, change, repeat or remove, one or several at once.

import { $$, targetOf, h, fill, icon, toast } from "../lib/dom.js";
import { count, plural } from "../lib/quantity.js";
import { address } from "./add/when.js";
import { Branches } from "./branches/panel.tsx";
import { EventForm } from "./events/form.tsx";
import { Outcomes } from "./events/outcomes.js";
import { eventRow, showOutcome } from "./events/row.js";
import { Scale } from "./events/scale.js";
import { Ticks } from "./events/ticks.js";
import { GROUP, Group } from "./group.js";
/** @import { Edit } from "./edit.js" */
/** @import { View } from "./view.js" */

const NONE = "\n"; // no event's id: none is left, so what is above the list takes the focus
const KINDS = ["Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "Service", "Policy", "SimulationSettings"];

export class History {
  #listed = null;
  #turn = 0;
  #focus = "";
  #onHandle = false; // the focus was on the mark of that event, not on its words
  #chosen = new Set(); // ids

  /**
   * @param {View} view
   * @param {Edit | null} edit
   * @param {boolean} mine
   */
  constructor(view, edit, mine) {
    this.view = view;
    this.edit = edit;
    this.mine = mine;
    const { playback } = view;
    if (edit && mine) {
      this.group = new Group(view, edit);
      this.form = new EventForm(view, edit);
    }
    this.list = h("ol", { class: "history-rows" });
    this.head = h("div", { class: "history-head" });
    this.axis = h("div", { class: "event-axis", "aria-hidden": "true" });
    this.several = h("div", {
      class: "event-several",
      role: "group",
      "aria-label": "With the chosen events",
      hidden: true,
    });
    this.outcomes = new Outcomes(playback, (id) => this.#showOutcome(id));
    this.ticks = new Ticks(view);
    this.branches = new Branches(view, edit, mine);
    const events = h(
      "section",
      { class: "history", "aria-labelledby": "history-heading" },
      this.head,
      this.several,
      this.axis,
      this.list,
    );
    this.element = h("div", { class: "history-parts" }, events, this.branches.element);
    playback.on("opened", () => this.load());
    playback.on("grew", () => {
      if (!playback.complete || this.#complete) return;
      this.#complete = true;
      if (this.#listed) this.load();
    });
    playback.on("step", () => this.#mark());
    view.on("edits", () => this.#draw());
    this.list.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("focusin", (event) => {
      const id = targetOf(event).closest("[data-row]")?.dataset.row;
      if (id) this.outcomes.ask(id);
    });
  }

  #complete = false;

  async load() {
    const { playback } = this.view;
    const turn = ++this.#turn;
    this.#complete = playback.complete;
    try {
      const listed = await playback.socket.call("operations.list", { source: playback.source });
      if (turn !== this.#turn) return;
      this.#listed = listed;
      this.#chosen = new Set(listed.operations.map(({ id }) => id).filter((id) => this.#chosen.has(id)));
      this.#draw();
      this.#focus = "";
      if (playback.complete)
        this.outcomes.begin(listed.operations.filter(({ action }) => action !== "done").map(({ id }) => id));
    } catch (error) {
      if (turn === this.#turn && error.code !== "request.superseded")
        fill(this.list, h("li", { class: "note error", text: error.message }));
    }
  }

  get #own() {
    return Boolean(this.mine && this.edit);
  }

  #draw() {
    if (!this.#listed) return;
    const { operations, count: all } = this.#listed;
    const { edit, mine } = this;
    this.scale = new Scale(this.view.playback, operations);
    if (this.list.contains(document.activeElement)) {
      this.#focus ||= document.activeElement.closest("[data-row]")?.dataset.row ?? "";
      this.#onHandle = document.activeElement.hasAttribute("data-handle");
    }
    const create =
      edit
      && h(
        "select",
        {
          class: "field",
          "aria-label": "Create an object at this step",
          title: mine ? "Create an object at this step" : "Create an object at this step, in a copy",
          onchange: (event) => {
            const kind = event.target.value;
            event.target.value = "";
            this.view.emit("edit", { create: kind });
          },
        },
        h("option", { value: "", text: "Create…" }),
        h("option", { value: GROUP, text: "PodGroup and its workload" }),
        KINDS.map((kind) => h("option", { value: kind, text: kind })),
      );
    const add =
      this.form
      && h("button", { type: "button", class: "btn small", onclick: () => this.form.open() }, icon("plus"), "Event");
    fill(
      this.head,
      h("h3", { id: "history-heading" }, "Events ", h("small", { class: "dim", text: all ? count(all) : "" })),
      h("span", { class: "grow" }),
      add,
      create,
    );
    this.#drawAxis(operations);
    fill(
      this.list,
      operations.map((row, i) => this.#row(row, i === 0)),
      all > operations.length
        ? h("li", { class: "dim fine", text: `and ${count(all - operations.length)} more` })
        : null,
      all
        ? null
        : h("li", {
            class: "dim fine",
            text: edit ? this.#invitation(mine, edit.label) : "There are no operations.",
          }),
    );
    this.#drawSeveral();
    this.#mark();
    this.#refocus();
  }

  #refocus() {
    if (!this.#focus) return;
    const id = CSS.escape(this.#focus);
    const row = this.list.querySelector(`[data-row="${id}"]`);
    const found =
      (this.#onHandle ? row?.querySelector("[data-handle]") : null)
      ?? row?.querySelector("[data-event]")
      ?? (this.#focus === NONE ? this.head.querySelector("button:enabled") : null);
    this.#onHandle = false;
    if (found) this.#toFocus(found);
  }

  /**
   * One event's controls are in the order of Tab: its words, and its mark.
   *
   * @param {HTMLElement | null} target
   */
  #toFocus(target) {
    if (!target) return;
    for (const other of $$("button, [data-handle], input", this.list)) other.tabIndex = -1;
    const row = target.closest("[data-row]");
    for (const control of row?.querySelectorAll("[data-event]:enabled, [data-handle]") ?? []) control.tabIndex = 0;
    target.tabIndex = 0;
    target.focus();
  }

  #drawAxis(operations) {
    const { scale } = this;
    const shown = operations.filter(({ action }) => action !== "done");
    this.axis.hidden = !shown.length;
    if (!shown.length) return;
    this.now = h("i", { class: "event-now" });
    fill(
      this.axis,
      shown.map((row) =>
        h("i", {
          class: `event-tick ${row.during ? "inside" : ""}`,
          style: { left: `${scale.fraction(scale.of(row)) * 100}%` },
        }),
      ),
      this.now,
      h("span", { text: scale.timed ? "0" : "start" }),
      h("span", { class: "end", text: scale.timed ? `${count(scale.span)} s` : `cycle ${count(scale.span)}` }),
    );
  }

  /**
   * @param {boolean} mine
   * @param {string} label
   */
  #invitation(mine, label) {
    const how = mine ? "Add an event, or select" : "Select";
    return `There are no operations yet. ${how} a node or a pod and choose “${label}”.`;
  }

  #row(row, first) {
    return eventRow(row, {
      playback: this.view.playback,
      scale: this.scale,
      own: this.#own && row.action !== "done",
      first,
      chosen: this.#chosen.has(row.id),
      outcome: this.outcomes.of(row.id),
      acts: {
        edit: () => this.edit.openOperation(row),
        here: () => this.#here([row]),
        again: () => this.#again([row]),
        remove: () => this.#remove([row]),
        choose: (on) => {
          if (on) this.#chosen.add(row.id);
          else this.#chosen.delete(row.id);
          this.#drawSeveral();
        },
        moveTo: (value) => this.#moveTo(row, value),
      },
    });
  }

  /** @param {string} id */
  #showOutcome(id) {
    const place = this.list.querySelector(`[data-row="${CSS.escape(id)}"] [data-outcome]`);
    if (place) showOutcome(place, this.outcomes.of(id));
  }

  #drawSeveral() {
    const rows = (this.#listed?.operations ?? []).filter(({ id }) => this.#chosen.has(id));
    this.several.hidden = !rows.length;
    if (!rows.length) return;
    const button = (/** @type {string} */ name, /** @type {string} */ text, /** @type {() => void} */ act) =>
      h("button", { type: "button", class: "btn small", onclick: act }, icon(name), text);
    fill(
      this.several,
      h("span", { class: "dim fine", text: `${count(rows.length)} chosen` }),
      button("here", "Move here", () => this.#here(rows)),
      button("copy", "Once more", () => this.#again(rows)),
      button("cross", "Take out", () => this.#remove(rows)),
      h(
        "button",
        {
          type: "button",
          class: "btn quiet square",
          "aria-label": "Choose none",
          title: "Choose none",
          onclick: () => {
            this.#chosen.clear();
            this.#draw();
            this.#toFocus(this.list.querySelector("[data-event]"));
          },
        },
        icon("close"),
      ),
    );
  }

  /** Which event has just happened at the step on screen. */
  #mark() {
    const { index } = this.view.playback;
    if (this.now && this.scale) this.now.style.setProperty("left", `${this.scale.fraction(this.scale.now) * 100}%`);
    for (const item of this.list.querySelectorAll("[data-row]")) {
      const row = this.#listed?.operations.find(({ id }) => id === item.dataset.row);
      const now = row && row.after !== null && row.after + 1 === index;
      item.classList.toggle("now", Boolean(now));
      item.classList.toggle("past", Boolean(row && row.after !== null && row.after + 1 < index));
    }
  }

  // ---- changing

  /** Do a wish for each of the rows, as one change: the last first, so that those before stay what they were. */
  async #change(rows, wish, done) {
    const landed = (row) => ({ id: row.id, ...(row.step ? { landed: row.step } : {}) });
    try {
      if (rows.length === 1) {
        await this.edit.operate({ ...landed(rows[0]), ...wish(rows[0]) });
      } else {
        const all = async (before) => {
          let text = before;
          let step = null; // where the previous one was put: that counts from there
          for (const row of rows.toReversed()) {
            const asked = { ...landed(row), ...wish(row) };
            ({ text, step } = await this.view.playback.socket.call("bundle.operate", {
              text,
              ...asked,
              ...(step && asked.action === "move" && asked.step ? { step } : {}),
            }));
          }
          return { text };
        };
        await this.edit.change(all, { words: `${done.toLowerCase()}: ${plural(rows.length, "event")}` });
      }
      this.#chosen.clear();
      this.edit.notify(`${done}: ${rows.length === 1 ? rows[0].words : plural(rows.length, "event")}.`);
    } catch (error) {
      const text = error.body?.errors?.[0]?.message ?? error.message;
      toast(text[0].toUpperCase() + text.slice(1), { name: "warn", ms: 8000 });
      this.#draw();
    }
  }

  #ready() {
    if (!this.edit.options.dirty()) return true;
    toast("The YAML has changes that are not applied. Apply or discard them first.", { name: "warn", ms: 6000 });
    this.#draw();
    return false;
  }

  async #moveTo(row, value) {
    if (!this.#ready()) return;
    this.#focus = row.id;
    this.#onHandle = true;
    await this.#put([row], value, this.scale.timed);
  }

  /** To the step on screen: in virtual time one that goes by the clock comes at its second. */
  async #here(rows) {
    if (!this.#ready()) return;
    this.#focus = rows[0].id;
    const byClock = this.scale.timed && rows.every(({ seconds }) => seconds !== null);
    await this.#put(rows, byClock ? this.scale.now : this.view.playback.wantedCycle, byClock);
  }

  async #put(rows, value, byClock) {
    const { playback } = this.view;
    const words =
      this.scale.timed && !byClock
        ? value
          ? `after cycle ${count(value)}`
          : "before the first cycle"
        : this.scale.words(value);
    const done = `Moved to ${words}`;
    if (byClock) {
      await this.#change(rows, () => ({ action: "move", seconds: String(value) }), done);
      return;
    }
    const step = value ? await address(playback, value) : "1.0";
    if (!step) {
      toast("That cycle is not loaded yet.");
      this.#draw();
      return;
    }
    await this.#change(
      rows,
      (row) => ({ action: "move", step, ...(row.during ? { during: "evaluation" } : {}) }),
      done,
    );
  }

  async #again(rows) {
    if (!this.#ready()) return;
    this.#focus = rows[0].id;
    await this.#change(
      rows,
      (row) => ({
        action: "duplicate",
        ...(this.scale.timed && row.seconds !== null ? { seconds: String(row.seconds) } : {}),
        ...(row.during ? { during: "evaluation" } : {}),
      }),
      "Once more",
    );
  }

  async #remove(rows) {
    if (!this.#ready()) return;
    const all = this.#listed.operations;
    const at = all.indexOf(rows.at(-1));
    this.#focus =
      (all.slice(at + 1).find((row) => !rows.includes(row)) ?? all.slice(0, at).findLast((row) => !rows.includes(row)))
        ?.id ?? NONE;
    await this.#change(rows, () => ({ action: "remove" }), "Taken out");
  }

  /**
   * Arrow keys move through the events and their buttons; Delete removes one, e edits it, m moves it here, d repeats
   * it, x selects it.
   *
   * @param {KeyboardEvent} event
   */
  #key(event) {
    const item = targetOf(event).closest("[data-row]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...this.list.querySelectorAll("[data-row]")];
    const at = rows.indexOf(item);
    const row = this.#listed.operations.find(({ id }) => id === item.dataset.row);
    const within = [...item.querySelectorAll("[data-event], .history-tools button")];
    const here = within.findIndex((one) => one === event.target);
    const own = this.#own && row.action !== "done";
    const onHandle = targetOf(event).hasAttribute("data-handle");
    const beside = (other) =>
      this.#toFocus(other?.querySelector(onHandle ? "[data-handle]" : "[data-event]:enabled, [data-handle]"));
    const act = {
      ArrowDown: () => beside(rows[at + 1]),
      ArrowUp: () => beside(rows[at - 1]),
      ArrowRight: () => this.#toFocus(within[here + 1]),
      ArrowLeft: () => this.#toFocus(within[here - 1]),
      Home: () => beside(rows[0]),
      End: () => beside(rows.at(-1)),
      Delete: own && (() => this.#remove([row])),
      e: own && (() => this.edit.openOperation(row)),
      m: own && (() => this.#here([row])),
      d: own && (() => this.#again([row])),
      x: own && (() => item.querySelector("input[type=checkbox]").click()),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

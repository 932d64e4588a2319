// The bar over Build: add anything, and lead back or forth what was done. Undo and Redo are of everything in Build.

import { h, icon, toast, typing } from "../../lib/dom.js";
import { BulkChange } from "./bulk.js";
import { Generate } from "./generate.js";
import { ObjectForm } from "./form.js";
import { Menu } from "./menu.js";
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */

const ENTRIES = [
  [
    "Cluster",
    [
      ["+generate", "Generate a cluster…", "dice"],
      ["+NodePool", "Node pool", "server"],
      ["schedulers", "Scheduler beside others…", "people"],
    ],
  ],
  [
    "Workloads",
    [
      ["+Deployment", "Deployment"],
      ["+StatefulSet", "StatefulSet"],
      ["+DaemonSet", "DaemonSet"],
      ["+Job", "Job"],
      ["+Pod", "Pod"],
      ["PodGroup", "PodGroup and its workload"],
    ],
  ],
  [
    "Rules",
    [
      ["+PriorityClass", "PriorityClass"],
      ["+PodDisruptionBudget", "PodDisruptionBudget"],
      ["+Service", "Service"],
    ],
  ],
  [
    "Storage",
    [
      ["+PersistentVolume", "PersistentVolume"],
      ["+PersistentVolumeClaim", "PersistentVolumeClaim"],
      ["+StorageClass", "StorageClass"],
    ],
  ],
  ["Many at once", [["+bulk", "Change many nodes…", "edit"]]],
];

export class AddBar {
  #giveUp = () => {}; // ends the waiting for a server that is away

  /**
   * @param {View} view
   * @param {Edit | null} edit
   * @param {boolean} mine
   */
  constructor(view, edit, mine) {
    this.view = view;
    this.edit = edit;
    this.menu = new Menu(
      "Add",
      ENTRIES,
      (what) => (what === "schedulers" ? view.emit("policy", what) : view.emit("edit", { create: what })),
      mine ? "Add objects" : "Add objects, in a copy",
    );
    this.undo = this.#button("undo", "Undo", () => edit.back());
    this.redo = this.#button("redo", "Redo", () => edit.forth());
    this.element = h(
      "div",
      { class: "add-bar", role: "group", "aria-label": "Add and undo" },
      this.menu.element,
      h("span", { class: "grow" }),
      mine ? [this.undo, this.redo] : null,
    );
    if (!mine) return;
    const { generate, bulk } = { generate: new Generate(view, edit), bulk: new BulkChange(view, edit) };
    const form = new ObjectForm(view, edit);
    view.on("add", async (what) => {
      if (!(await this.#answers())) return;
      if (what === "generate") generate.open();
      else if (what === "bulk") bulk.open();
      else form.open(what);
    });
    view.on("edits", () => this.#update());
    addEventListener("keydown", (event) => this.#key(event));
    this.#update();
  }

  /** Whether the server answers, at once or when it is back; Escape and another wish end the waiting. */
  #answers() {
    const { socket } = this.view.playback;
    this.#giveUp();
    if (socket.connected) return true;
    const note = toast("The server is unreachable. The form opens once it responds.", { name: "warn", ms: 0 });
    return new Promise((resolve) => {
      const end = (answers) => {
        quiet();
        removeEventListener("keydown", key, true);
        note?.remove();
        this.#giveUp = () => {};
        resolve(answers);
      };
      const key = (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape") {
          event.preventDefault();
          event.stopPropagation();
          end(false);
        }
      };
      const quiet = socket.on("up", () => end(true));
      addEventListener("keydown", key, true);
      note?.append(
        h("button", {
          type: "button",
          class: "btn small",
          title: "Cancel (Escape)",
          "aria-keyshortcuts": "Escape",
          onclick: () => end(false),
          text: "Cancel",
        }),
      );
      this.#giveUp = () => end(false);
    });
  }

  /**
   * @param {string} name
   * @param {string} label
   * @param {() => void} act
   */
  #button(name, label, act) {
    return h("button", { type: "button", class: "btn quiet square", "aria-label": label, onclick: act }, icon(name));
  }

  #update() {
    const { last, next } = this.edit.options.undo;
    for (const [button, words, label, keys] of [
      [this.undo, last, "Undo", "Ctrl Z"],
      [this.redo, next, "Redo", "Ctrl Shift Z"],
    ]) {
      const held = document.activeElement === button && !words;
      button.disabled = !words;
      button.title = words ? `${label}: ${words}` : `Nothing to ${label.toLowerCase()}`;
      button.setAttribute("aria-keyshortcuts", keys.replaceAll(" ", "+").replace("Ctrl", "Control"));
      if (held) (button === this.undo ? this.redo : this.undo).focus();
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || typing(event) || document.querySelector("dialog[open]"))
      return;
    const key = event.key.toLowerCase();
    const act = key === "z" ? (event.shiftKey ? "forth" : "back") : key === "y" && !event.shiftKey ? "forth" : "";
    if (!act) return;
    event.preventDefault();
    this.edit[act]();
  }
}

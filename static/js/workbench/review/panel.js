// Comments on a shared scenario, over Inspect: threads about a step, a node, a pod or a rule, and a form for another.

import { $, h, fill, icon } from "../../lib/dom.js";
import { plural } from "../../lib/quantity.js";
import { refusalOf } from "../../lib/socket.js";
import { cellAt } from "../rooms/cells.js";
import { indexOf } from "../goto.js";
import { commentForm } from "./form.js";
import { Flags } from "./flags.js";
import { hereOf } from "./here.js";
import { anchored, threadItem } from "./thread.js";
import { Threads } from "./threads.js";
/** @import { Thread } from "../../lib/protocol.js" */
/** @import { Timeline } from "../timeline.js" */
/** @import { View } from "../view.js" */
/** @import { Anchor } from "./threads.js" */

const LINKED = /^#comment-([\w-]{1,32})$/;

export class Review {
  #rule = ""; // the column of the matrix cell that had the focus last
  #all = false; // resolved threads too
  #decided = ""; // how what they are about is decided here, as far as it is known

  /**
   * @param {View} view
   * @param {HTMLElement} root
   * @param {HTMLElement} button
   * @param {string} hash of the address that the page was opened with, which may name a comment
   * @param {Timeline} timeline
   */
  constructor(view, root, button, hash, timeline) {
    this.view = view;
    this.button = button;
    this.number = h("em", { class: "num" });
    button.append(this.number);
    this.threads = new Threads(view.playback.socket, view.playback.source);
    view.playback.on("veiled", () => {
      if (view.playback.veiled === null) this.threads.load().catch((error) => view.playback.emit("failed", error));
      else this.threads.hide();
    });
    this.about = h("select", { class: "field", "aria-label": "About" });
    const { form, field } = commentForm({
      label: "Write a comment",
      action: "Comment",
      above: this.about,
      send: (text, name) =>
        this.threads.write(this.#anchors()[this.about.selectedIndex] ?? this.#anchors()[0], text, name),
    });
    this.field = field;
    form.hidden = this.threads.readOnly;
    this.flags = new Flags(view, timeline, this.threads, (ids, index) => {
      view.emit("hold");
      view.playback.goto(index);
      this.#show(ids[0]);
    });
    this.page = h("a", { class: "btn small", text: "All" });
    this.origin = this.threads.readOnly
      ? h("p", {
          class: "dim",
          text: "Comments on the shared scenario that this is a branch of, and what became of their places here.",
        })
      : null;
    this.list = h("ul", { class: "threads" });
    this.filter = h("button", {
      type: "button",
      class: "btn small",
      onclick: () => {
        this.#all = !this.#all;
        this.#draw();
      },
    });
    this.element = h(
      "aside",
      { class: "review", hidden: true, "aria-label": "Comments" },
      h(
        "header",
        null,
        h("h2", { text: "Comments" }),
        h("span", { class: "grow" }),
        this.filter,
        this.page,
        h(
          "button",
          {
            type: "button",
            class: "btn quiet square",
            "aria-label": "Close the comments",
            onclick: () => this.toggle(),
          },
          icon("close"),
        ),
      ),
      h("div", { class: "review-body" }, this.origin, form, this.list),
    );
    root.append(this.element);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.toggle();
    });
    $("[data-inspect]", root).addEventListener("focusin", (event) => {
      const cell = event.target instanceof Element ? cellAt(event.target) : null;
      this.#rule = cell?.[2] ?? "";
      this.#offer();
    });
    button.addEventListener("click", () => this.toggle());
    this.threads.on("changed", () => this.#draw());
    view.playback.on("grew", () => {
      const decided = this.threads.all.map((thread) => hereOf(view.playback, thread).words).join("\n");
      if (decided !== this.#decided) this.#draw();
      this.#decided = decided;
    });
    view.on("selection", () => this.#offer());
    for (const name of ["step", "parts"]) view.playback.on(name, () => this.#offer());
    const [, linked] = LINKED.exec(hash) ?? [];
    this.threads.load().then(
      () => linked && this.#show(linked),
      (error) => fill(this.list, h("li", { class: "note error", text: refusalOf(error).message })),
    );
    this.#draw();
  }

  toggle() {
    const open = this.element.hidden;
    this.element.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) {
      this.#offer();
      this.#draw();
      (this.threads.readOnly ? this.page : this.field).focus();
    } else {
      this.threads.see();
      this.button.focus();
    }
  }

  /** What a comment can be about now, the narrowest last. */
  #anchors() {
    const { playback, node, pod } = this.view;
    const step = playback.wanted > playback.cycles ? "end" : String(playback.wanted);
    /** @type {Anchor[]} */
    const found = [{ step }];
    const name = playback.nodes?.names[node];
    if (name) found.push({ step, node: name });
    if (pod >= 0) found.push({ step, pod: playback.pods.keys[pod] });
    const rules = [...playback.policy.predicates, ...playback.policy.priorities.map(([one]) => one)];
    if (rules.includes(this.#rule)) found.push({ step, ...(name ? { node: name } : {}), rule: this.#rule });
    return found;
  }

  #offer() {
    if (this.element.hidden || !this.view.playback.nodes) return;
    const anchors = this.#anchors();
    fill(
      this.about,
      anchors.map((anchor) => h("option", { text: `About ${anchored(anchor)}` })),
    );
    this.about.selectedIndex = anchors.length - 1;
  }

  #draw() {
    const { threads } = this;
    this.number.textContent = threads.open ? String(threads.open) : "";
    this.button.classList.toggle("unread", threads.unread > 0);
    const unread = threads.unread ? `, ${threads.unread} new` : "";
    this.button.setAttribute("aria-label", `Comments: ${plural(threads.open, "open thread")}${unread}`);
    this.page.href = `/s/${threads.scenario}/review/`;
    if (this.element.hidden) return;
    const held = this.list.contains(document.activeElement) && document.activeElement?.closest("form");
    if (held) return; // somebody is writing an answer: what came is drawn once that is sent
    const resolved = threads.all.length - threads.open;
    this.filter.hidden = !resolved;
    this.filter.textContent = this.#all ? "Hide resolved" : `Show ${resolved} resolved`;
    const shown = threads.all.filter((thread) => this.#all || !thread.resolved);
    fill(
      this.list,
      shown.map((thread) => {
        const { words } = hereOf(this.view.playback, thread);
        return threadItem(thread, threads, (one) => this.#go(one), words);
      }),
      shown.length
        ? null
        : h("li", {
            class: "dim",
            text: "Nothing yet. Say what you think of this step, or select a node or pod first.",
          }),
    );
  }

  /**
   * Go to what a thread is about.
   *
   * @param {Thread} thread
   */
  async #go(thread) {
    const { step, node, pod } = thread;
    const { playback } = this.view;
    const { index: here } = hereOf(playback, thread);
    const index = here >= 0 ? here : await indexOf(playback, step);
    if (index !== null && index <= playback.last) playback.goto(index);
    else playback.emit("later", { step, place: undefined });
    this.view.selectNode(node ? (playback.nodeIndex.get(node) ?? -1) : -1);
    this.view.selectPod(pod ? (playback.podIndex.get(pod) ?? -1) : -1);
  }

  /**
   * Show the comment that an address names.
   *
   * @param {string} id
   */
  #show(id) {
    this.#all = this.threads.all.some(
      (thread) => thread.resolved && [thread, ...thread.replies].some((one) => one.id === id),
    );
    if (this.element.hidden) this.toggle();
    const found = document.getElementById(`comment-${id}`);
    found?.scrollIntoView({ block: "center" });
    found?.focus({ preventScroll: true });
  }
}

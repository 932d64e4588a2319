// Preemption: which nodes could have made room, the dry run on each, the criteria that picked one, and where nothing
// helps.

import { $, h, fill, icon, toast } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { before, later } from "./empty.js";
import { aboutNode, linked, nodeLink, podLink } from "./nouns.js";
import { NAME, criteria, hopeless } from "./preemption/criteria.js";
import { dryRun } from "./preemption/dryrun.js";
import { sentence } from "./sentence.js";
/** @import { View } from "../view.js" */

export class Preemption {
  #shown = null; // the part that is drawn
  #rows = []; // candidates that are loaded
  #open = new Set(); // nodes whose dry run is open
  #runs = new Map();
  #kept; // what is sorted and looked for

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("preemption");
    this.rows = h("div");
    this.more = h("button", { type: "button", class: "btn", onclick: () => this.#page() });
    this.element = h("div", { class: "preemption-tab" });
    // Where there is none, the next cycle with one may only be known now.
    view.playback.on(
      "grew",
      () => {
        if (this.#shown && !("candidates" in this.#shown) && this.element.isConnected) {
          this.#shown = null;
          this.update();
        }
      },
      view.panels,
    );
  }

  update() {
    const { view } = this;
    const light = view.playback.current;
    if (!light) {
      this.#shown = null;
      fill(this.element, before(view));
      return;
    }
    const part = view.playback.parts?.preemption;
    this.element.classList.toggle("waiting", !part);
    if (!part) return;
    if (part === this.#shown) return;
    const last = this.#shown;
    this.#shown = part;
    if (last) for (const one of Object.values(this.#kept)) one.typed = "";
    if (!("candidates" in part)) {
      fill(
        this.element,
        light.result === "undecided"
          ? later(view, "Preemption is not tried at this moment.", "It is tried if no node is feasible.")
          : this.#none(part.why),
      );
      return;
    }
    this.#rows = [...part.candidates.rows];
    this.#runs = new Map(part.run ? [[part.run.node, part.run]] : []);
    this.#open = new Set(this.#runs.keys());
    fill(
      this.element,
      h(
        "div",
        { class: "story outcome" },
        part.outcome.map((parts) => sentence(view, parts)),
      ),
      part.eligible && part.candidates.count ? this.#candidates() : null,
      part.criteria.length ? criteria(view, part) : null,
      part.hopeless.length ? hopeless(view, part) : null,
    );
    if (part.candidates.count) this.#paint();
  }

  #none(why) {
    const { playback } = this.view;
    const { seen } = this.view;
    const next = playback.marks.seek(playback.index, 1, "p");
    const last = playback.marks.seek(playback.index, -1, "p");
    if (seen.last < playback.cycles && !(next && seen.knows(next))) return this.#unseen(why, next, last);
    const to = next || last;
    return h(
      "div",
      { class: "empty" },
      h("b", { text: "No preemption in this cycle." }),
      h("span", null, linked(this.view, why)),
      to
        ? h(
            "button",
            { type: "button", class: "btn", onclick: (event) => playback.goto(to, event.timeStamp) },
            next ? "Next cycle with one: " : "Last cycle with one: ",
            h("b", { text: `#${count(to)}` }),
          )
        : h("span", {
            text: playback.complete
              ? "No other cycle has one: it needs a pod without a feasible node and pods of lower priority."
              : "",
          }),
    );
  }

  /** The same while it may not be shown whether a later cycle has one. */
  #unseen(why, next, last) {
    const { playback } = this.view;
    const look = (/** @type {Event} */ event) => {
      if (next) playback.goto(next, event.timeStamp);
      else toast(playback.complete ? "No later cycle has one." : "No later cycle that is computed has one.");
    };
    return h(
      "div",
      { class: "empty" },
      h("b", { text: "No preemption in this cycle." }),
      h("span", null, linked(this.view, why)),
      h("button", { type: "button", class: "btn", onclick: look, text: "Go to the next cycle with one" }),
      last
        ? h(
            "button",
            { type: "button", class: "btn quiet", onclick: (event) => playback.goto(last, event.timeStamp) },
            "Last cycle with one: ",
            h("b", { text: `#${count(last)}` }),
          )
        : null,
    );
  }

  #candidates() {
    return h("section", { class: "candidates" }, this.rows, this.more);
  }

  #by(row) {
    const part = this.#shown;
    if (row.node === part.node) return part.criteria.find((one) => one.decided)?.text ?? "the only one";
    return part.criteria[row.lost]?.text ?? (row.count ? "" : "no victims are needed");
  }

  #paint() {
    const part = this.#shown;
    const total = part.candidates.count;
    const head = (text, more) => h("th", { scope: "col", text, ...more });
    const title = h(
      "h3",
      null,
      "Candidate nodes ",
      h("small", {
        class: "dim num",
        text: `${count(total)} of ${plural(part.potential, "node")} where deletions might help`,
      }),
    );
    fill(
      this.rows,
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: "Candidate nodes, the chosen one first" }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              head("node"),
              head("victims"),
              head("PDBs", { title: "Victims that violate a PodDisruptionBudget" }),
              head("decided by"),
            ),
          ),
          h(
            "tbody",
            null,
            this.#rows.map((row) => this.#row(row, part)),
          ),
        ),
        { head: title, filter: "Filter candidate nodes by name or victim", kept: this.#kept, name: "candidates" },
      ),
    );
    const left = total - this.#rows.length;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show more of the ${count(left)} others`;
  }

  #row(row, part) {
    const { names } = this.view.playback.nodes;
    const chosen = row.node === part.node;
    const open = this.#open.has(row.node);
    const id = `dry-run-${row.node}`;
    const more = row.count - row.victims.length;
    const by = this.#by(row);
    return [
      h(
        "tr",
        { class: chosen ? "won" : undefined, ...aboutNode(this.view, row.node) },
        h(
          "th",
          { scope: "row" },
          h(
            "span",
            { class: "candidate" },
            h(
              "button",
              {
                type: "button",
                class: "expander",
                "aria-expanded": String(open),
                "aria-controls": id,
                "aria-label": `Dry run on ${names[row.node]}`,
                title: "The dry run, pod by pod",
                "data-run": row.node,
                onclick: () => this.#toggle(row.node),
              },
              icon("right"),
            ),
            nodeLink(this.view, row.node, NAME),
          ),
        ),
        h(
          "td",
          { "data-value": row.count },
          row.count
            ? h(
                "ul",
                { class: "victims" },
                row.victims.map(([key, priority, violates]) =>
                  h(
                    "li",
                    null,
                    podLink(this.view, key),
                    h("small", { class: "dim num", text: ` priority ${count(priority)}` }),
                    violates ? h("span", { class: "sr", text: ", violates a budget" }) : null,
                  ),
                ),
                more > 0 ? h("li", { class: "dim", text: `and ${count(more)} more` }) : null,
              )
            : h("span", { class: "dim", text: "none" }),
        ),
        h(
          "td",
          { "data-value": row.violations },
          row.violations
            ? h(
                "span",
                { class: "pill stale", title: plural(row.violations, "violation") },
                icon("warn"),
                count(row.violations),
              )
            : h("span", { class: "dim", text: "0" }),
        ),
        h(
          "td",
          null,
          chosen
            ? h("span", { class: "pill accent" }, icon("check"), "chosen")
            : h("span", { class: "gone" }, icon("cross"), h("span", { class: "sr", text: "dropped out: " })),
          h("span", { class: "by", text: ` ${by}` }),
        ),
      ),
      h(
        "tr",
        { class: "run-row follows", id, hidden: !open },
        h("td", { colspan: "4" }, open ? dryRun(this.view, this.#runs.get(row.node)) : null),
      ),
    ];
  }

  /** @param {number} node */
  #toggle(node) {
    if (this.#open.has(node)) this.#open.delete(node);
    else this.#open.add(node);
    this.#paint();
    $(`[data-run="${node}"]`, this.rows)?.focus();
    if (this.#open.has(node) && !this.#runs.has(node)) this.#load(node);
  }

  /** @param {number} node */
  async #load(node) {
    const { playback } = this.view;
    const part = this.#shown;
    try {
      const run = await playback.socket.call("preemption.run", {
        source: playback.source,
        cycle: playback.index,
        node,
      });
      if (part !== this.#shown) return;
      this.#runs.set(node, run);
      const at = this.rows.querySelector(`#dry-run-${node} > td`);
      if (at && this.#open.has(node)) fill(at, dryRun(this.view, this.#runs.get(node)));
    } catch (error) {
      if (error.code !== "request.superseded") playback.emit("failed", error);
    }
  }

  async #page() {
    const { playback } = this.view;
    const part = this.#shown;
    this.more.disabled = true;
    try {
      const { rows } = await playback.socket.call("preemption.candidates", {
        source: playback.source,
        cycle: playback.index,
        from: this.#rows.length,
        count: 50,
      });
      if (part !== this.#shown) return;
      this.#rows.push(...rows);
      this.#paint();
    } catch (error) {
      if (error.code !== "request.superseded") playback.emit("failed", error);
    } finally {
      this.more.disabled = false;
    }
  }
}

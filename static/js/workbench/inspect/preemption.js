// Preemption: which nodes could have made room, the dry run on each, the criteria that picked one, and where nothing
// helps.

import { h, fill, icon, toast } from "../../lib/dom.js";
import { count, plural, short } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { before, later } from "./empty.js";
import { aboutNode, linked, nodeLink, podLink } from "./nouns.js";
import { sentence } from "./sentence.js";

const NAME = 18; // characters of a node's name that fit its column
const LINKED = 12; // nodes of a reason that are named at once
const NOT_STARTED = -(2 ** 62); // in place of a start time, where a victim has not started
// Beside the value: what it is of.
const VALUES = {
  "no-victims": (value) => (value ? "has victims" : "no victim"),
  "pdb-violations": (value) => plural(value, "violation"),
  "victim-count": (value) => plural(value, "victim"),
  // Microseconds since 1970, negated: the latest is the lowest. A pod that has not started is later than all.
  "start-time": (value) =>
    value <= NOT_STARTED ? "not started" : `since ${new Date(-value / 1000).toISOString().replace(".000Z", "Z")}`,
  name: () => "",
};

export class Preemption {
  #shown = null; // the part that is drawn
  #rows = []; // candidates that are loaded
  #open = new Set(); // nodes whose dry run is open
  #runs = new Map();
  #kept; // what is sorted and looked for

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
        if (this.#shown?.why !== undefined && this.element.isConnected) {
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
    if (part.why !== undefined) {
      fill(
        this.element,
        light.result === "undecided"
          ? later(view, "Preemption is not tried at this moment.", "It is tried once no node is left.")
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
      part.criteria.length ? this.#criteria(part) : null,
      part.hopeless.length ? this.#hopeless(part) : null,
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
              ? "No other cycle has one: it takes a pod that fits nowhere and pods of lower priority to delete."
              : "",
          }),
    );
  }

  /** The same while it may not be told whether a later cycle has one. */
  #unseen(why, next, last) {
    const { playback } = this.view;
    const look = (event) => {
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

  #node(node, max = NAME) {
    return nodeLink(this.view, node, max);
  }

  #pod(key) {
    return podLink(this.view, key);
  }

  // --- candidates ------------------------------------------------------------------------

  #candidates() {
    return h("section", { class: "candidates" }, this.rows, this.more);
  }

  #by(row) {
    const part = this.#shown;
    if (row.node === part.node) return part.criteria.find((one) => one.decided)?.text ?? "the only one";
    return part.criteria[row.lost]?.text ?? (row.count ? "" : "no pod would have to go");
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
            this.#node(row.node),
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
                    this.#pod(key),
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
        h("td", { colspan: "4" }, open ? this.#run(row.node) : null),
      ),
    ];
  }

  #toggle(node) {
    if (this.#open.has(node)) this.#open.delete(node);
    else this.#open.add(node);
    this.#paint();
    this.rows.querySelector(`[data-run="${node}"]`)?.focus();
    if (this.#open.has(node) && !this.#runs.has(node)) this.#load(node);
  }

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
      if (at && this.#open.has(node)) fill(at, this.#run(node));
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

  /** All pods of lower priority out, then back one by one. */
  #run(node) {
    const run = this.#runs.get(node);
    if (!run) return h("p", { class: "dim", text: "Loading the dry run…" });
    const rest = (shown) =>
      run.count > shown ? h("li", { class: "dim", text: `and ${count(run.count - shown)} more` }) : null;
    return h(
      "div",
      { class: "dry-run" },
      h(
        "section",
        null,
        h("h4", null, "1. All of lower priority out ", h("small", { class: "dim num", text: count(run.count) })),
        h(
          "ol",
          { class: "chips", "aria-label": "Pods removed, in order" },
          run.removed.map((key) => h("li", { class: "chip out" }, this.#pod(key))),
          rest(run.removed.length),
        ),
      ),
      h(
        "section",
        null,
        h("h4", null, "2. Back one by one"),
        h(
          "ol",
          { class: "steps", "aria-label": "Pods put back, in order" },
          run.steps.map((step, i) => this.#step(step, i)),
          rest(run.steps.length),
        ),
      ),
    );
  }

  #step([key, priority, budgets, kept, reasons], i) {
    return h(
      "li",
      { class: kept ? "kept" : "victim" },
      h("span", { class: "num dim", text: String(i + 1) }),
      h(
        "span",
        { class: `pill ${kept ? "pass" : "victim"}` },
        icon(kept ? "check" : "cross"),
        kept ? "kept" : "victim",
      ),
      h(
        "span",
        { class: "what" },
        this.#pod(key),
        h("small", { class: "dim num", text: ` priority ${count(priority)}` }),
        budgets.map((budget) =>
          h(
            "span",
            { class: "pill stale", title: `Deleting it violates the PodDisruptionBudget ${budget}` },
            icon("warn"),
            `PDB ${short(budget)}`,
          ),
        ),
        reasons.length ? h("small", { class: "dim why-not", text: `with it here: ${reasons.join(", ")}` }) : null,
      ),
    );
  }

  // --- criteria and the rest -------------------------------------------------------------

  #criteria(part) {
    const value = (criterion, amount) => {
      const text = (VALUES[criterion.id] ?? count)(amount);
      return text ? h("small", { class: "dim num", text: ` ${text}` }) : null;
    };
    const more = (n, shown) => (n > shown ? ` and ${count(n - shown)} more` : null);
    // The best value is what all that stay have in common.
    const stays = (criterion) =>
      h(
        "li",
        { class: "stays" },
        icon("check"),
        h(
          "span",
          null,
          h("span", { class: "sr", text: "stays: " }),
          criterion.stay.map(([node], i) => [i ? ", " : "", this.#node(node)]),
          more(criterion.stayed, criterion.stay.length),
          value(criterion, criterion.stay[0][1]),
        ),
      );
    const goes = (criterion) => [
      criterion.out.map(([node, amount]) =>
        h(
          "li",
          { class: "goes" },
          icon("cross"),
          h(
            "span",
            null,
            h("span", { class: "sr", text: "out: " }),
            h("s", null, this.#node(node)),
            value(criterion, amount),
          ),
        ),
      ),
      criterion.dropped > criterion.out.length
        ? h("li", { class: "dim", text: `and ${count(criterion.dropped - criterion.out.length)} more are out` })
        : null,
    ];
    const rows = part.criteria.map((criterion, i) =>
      h(
        "tr",
        { class: criterion.decided ? "won" : undefined },
        h(
          "th",
          { scope: "row" },
          h("span", { class: "num dim", text: `${i + 1} ` }),
          criterion.text,
          criterion.decided ? h("span", { class: "pill accent" }, icon("check"), "decided") : null,
          criterion.note ? h("small", { class: "dim fine", text: criterion.note }) : null,
        ),
        h("td", null, h("ul", { class: "race" }, stays(criterion), goes(criterion))),
      ),
    );
    const title = h(
      "h3",
      null,
      "Criteria ",
      h(
        "small",
        { class: "dim" },
        "in turn, until one node is left · ",
        h("a", { class: "link", href: "/reference/predicates/#preemption", text: "reference" }),
      ),
    );
    return h(
      "section",
      { class: "criteria" },
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: "The criteria in turn, with the nodes that stay and those that are out" }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              h("th", { scope: "col", text: "criterion" }),
              h("th", { scope: "col", text: "nodes still competing" }),
            ),
          ),
          h("tbody", null, rows),
        ),
        { head: title, sorts: false },
      ),
    );
  }

  #hopeless(part) {
    const { view } = this;
    const label = (group) => `${group.text}${group.reasons.length ? ` (${group.reasons.join(", ")})` : ""}`;
    return h(
      "section",
      { class: "hopeless" },
      h(
        "h3",
        null,
        "Where it cannot help ",
        h("small", { class: "dim num", text: plural(part.hopelessCount, "node") }),
      ),
      h(
        "ul",
        null,
        part.hopeless.map((group) =>
          h(
            "li",
            null,
            h(
              "button",
              {
                type: "button",
                class: "link",
                title:
                  group.count > group.nodes.length
                    ? `light up the first ${group.nodes.length} on the stage`
                    : "light up on the stage",
                onclick: () => view.light(group.nodes, label(group)),
              },
              h("b", { class: "num", text: plural(group.count, "node") }),
            ),
            `: ${group.text}`,
            group.reasons.length
              ? [" (", h("span", { class: "fail-text", text: group.reasons.join(", ") }), ")"]
              : null,
            h(
              "div",
              { class: "chips" },
              group.nodes.slice(0, LINKED).map((node) => h("span", { class: "chip" }, this.#node(node))),
              group.count > LINKED
                ? h("span", { class: "dim", text: `and ${count(group.count - LINKED)} more` })
                : null,
            ),
          ),
        ),
      ),
    );
  }
}

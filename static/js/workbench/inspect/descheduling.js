// Descheduler: its passes until the shown step, ping-pong, and of the last pass each strategy: the thresholds as lines
// over the nodes' bars, and its candidates in order with the verdict on each.

import { h, fill } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { clock, count, plural, trim } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { before } from "./empty.js";
import { aboutNode, linked, nodeLink, podLink } from "./nouns.js";
/** @import { DeschedulerPart, DeschedulerPass, DeschedulerRun } from "../../lib/protocol.js" */
/** @import { DeschedulerStrategy, DeschedulerUtilization } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const PASSES = 5; // in the list before it is unfolded
/** @type {Record<string, string>} */
const OUTCOMES = { evicted: "victim", refused: "fail", limited: "fail" }; // the class of a verdict's pill
/** @type {Record<string, string>} */
const CATEGORIES = { overutilized: "over", underutilized: "under" };

export class Descheduling {
  /** @type {DeschedulerPart | null} */
  #part = null; // that is drawn

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.lists = view.lists.of("descheduler");
    this.element = h("div", { class: "descheduling-tab" });
  }

  update() {
    const { playback } = this.view;
    const found = playback.parts?.descheduler;
    if ((!playback.current && !playback.atEnd) || found?.why !== undefined) {
      this.#part = null;
      fill(
        this.element,
        found?.why === undefined ? before(this.view) : empty("No descheduler runs here.", String(found.why)),
      );
      return;
    }
    const part = /** @type {DeschedulerPart | undefined} */ (found);
    this.element.classList.toggle("waiting", !part);
    if (!part || part === this.#part) return;
    this.#part = part;
    if (part.last) fill(this.element, this.#passes(part), this.#returns(part), this.#run(part.last));
    else fill(this.element, this.#none());
  }

  #none() {
    const { interval } = this.view.playback.descheduler ?? { interval: 0 };
    return empty(
      "No pass of the descheduler yet.",
      `The first one is ${clock(interval)} after the start, or when the verb Deschedule asks for one.`,
    );
  }

  /** @param {DeschedulerPart} part */
  #passes(part) {
    const { edition = "", dryRun = false } = part.last ?? {};
    const rows = part.passes.map((one) => this.#pass(one));
    if (part.spread) rows.push(pass("end", "", null, null, null, part.spread));
    const earlier = part.passCount - part.passes.length;
    return h(
      "section",
      null,
      h(
        "h3",
        null,
        plural(part.passCount, "pass", "passes"),
        h("small", { class: "dim", text: `descheduler ${edition}${dryRun ? ", dry run" : ""}` }),
        h("a", { class: "ref", href: "/reference/descheduler/", text: "reference" }),
      ),
      h(
        "div",
        { class: rows.length > PASSES ? "descheduling-passes long" : "descheduling-passes", tabindex: "0" },
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: "Passes of the descheduler, with the cluster as each found it" }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              head("pass"),
              head("time"),
              head("evicted", "num"),
              head("refused", "num", "by a PodDisruptionBudget"),
              head("violations", "num", "pods that the deschedule strategies found"),
              head("cpu range", "num", "by how many percent points the requests of the nodes differed before it"),
              head("memory range", "num", "by how many percent points the requests of the nodes differed before it"),
            ),
          ),
          h("tbody", null, rows),
        ),
      ),
      earlier > 0 ? h("p", { class: "dim", text: `and ${count(earlier)} before` }) : null,
    );
  }

  /** @param {DeschedulerPass} one */
  #pass({ number, time, cause, evicted, refused, violations, spread }) {
    const { playback } = this.view;
    const when = inline(
      () => playback.goto(playback.marks.firstAt(time) || playback.last),
      { title: `${cause}; opens the first cycle after it` },
      clock(time),
    );
    return pass(String(number), when, evicted, refused, violations, spread);
  }

  /** @param {DeschedulerPart} part */
  #returns({ returns }) {
    if (!returns.length) return null;
    return h(
      "section",
      { class: "descheduling-returns", "aria-label": "Ping-pong" },
      h("h4", { text: "Ping-pong" }),
      h(
        "ul",
        null,
        returns.map(([workload, node, times]) =>
          h(
            "li",
            null,
            "Pods of ",
            h("b", { text: workload }),
            " came back to ",
            nodeLink(this.view, node),
            ` and were evicted again, ${plural(times, "time")}.`,
          ),
        ),
      ),
    );
  }

  /** @param {DeschedulerRun} run */
  #run(run) {
    const title = h(
      "h3",
      null,
      `Pass at ${clock(run.time)}`,
      h("small", { class: "dim", text: `${plural(run.nodeCount, "node")} ready and selected` }),
    );
    if (run.skipped) return h("section", null, title, h("p", { text: `It did nothing: ${run.skipped}.` }));
    return [title, ...run.strategies.map((one) => this.#strategy(one))];
  }

  /** @param {DeschedulerStrategy} one */
  #strategy(one) {
    const pills = Object.entries(one.outcomes).map(([outcome, number]) => [
      " ",
      h("span", { class: `pill ${OUTCOMES[outcome] ?? ""}`, text: `${count(number)} ${outcome}` }),
    ]);
    return h(
      "section",
      { class: "descheduling-strategy", "aria-label": one.name },
      h(
        "h4",
        null,
        h("span", { text: one.name }),
        h("small", { class: "dim", text: one.profile ? `${one.point} plugin, profile ${one.profile}` : one.point }),
        pills,
      ),
      one.stopped ? h("p", { class: "dim", text: `It ended: ${one.stopped}.` }) : null,
      one.utilization ? this.#utilization(one.utilization) : null,
      one.candidates.length ? this.#candidates(one) : h("p", { class: "dim", text: "No pod was a candidate." }),
    );
  }

  /** @param {DeschedulerUtilization} part */
  #utilization({ low, high, nodes, counts }) {
    const names = [...new Set([...Object.keys(low), ...Object.keys(high)])];
    const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
    const limits = names.map((name) =>
      [name in low ? `${name} low ${trim(low[name])}%` : "", name in high ? `${name} high ${trim(high[name])}%` : ""]
        .filter(Boolean)
        .map((text) => h("span", { text })),
    );
    return h(
      "div",
      { class: "descheduling-nodes" },
      h(
        "p",
        { class: "dim descheduling-legend" },
        limits,
        Object.entries(counts).map(([category, number]) =>
          h("span", { class: `descheduling-${CATEGORIES[category] ?? "fair"}`, text: `${count(number)} ${category}` }),
        ),
      ),
      h(
        "table",
        { class: "descheduling-bars" },
        h("caption", { class: "sr", text: "Nodes as the strategy saw them, in percent of their capacity" }),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            head("node"),
            names.map((name) => head(name)),
          ),
        ),
        h(
          "tbody",
          null,
          nodes.map(([node, category, usage, cordoned]) =>
            h(
              "tr",
              aboutNode(this.view, node),
              h(
                "th",
                { scope: "row" },
                nodeLink(this.view, node),
                cordoned ? h("small", { class: "dim", text: " cordoned" }) : null,
              ),
              names.map((name) => bar(usage[name] ?? 0, low[name], high[name], category)),
            ),
          ),
        ),
      ),
      all > nodes.length ? h("p", { class: "dim", text: `and ${plural(all - nodes.length, "node")} more` }) : null,
    );
  }

  /** @param {DeschedulerStrategy} one */
  #candidates(one) {
    const more = one.candidateCount - one.candidates.length;
    const rows = one.candidates.map(([pod, node, outcome, reason], place) =>
      h(
        "tr",
        null,
        h("td", { class: "num dim", text: place + 1 }),
        h("th", { scope: "row" }, podLink(this.view, pod, { dot: false }), " on ", nodeLink(this.view, node)),
        h(
          "td",
          { class: "descheduling-why" },
          h("span", { class: `pill ${OUTCOMES[outcome] ?? ""}`, text: outcome }),
          " ",
          linked(this.view, reason),
        ),
      ),
    );
    return [
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: `Candidates of ${one.name} in order` }),
          h("thead", null, h("tr", null, head("#", "num"), head("pod"), head("verdict"))),
          h("tbody", null, rows),
        ),
        { filter: "Filter candidates", kept: this.lists, name: `${one.profile}-${one.name}` },
      ),
      more > 0 ? h("p", { class: "dim", text: `and ${count(more)} more` }) : null,
    ];
  }
}

/**
 * A usage in percent with the thresholds as lines.
 *
 * @param {number} usage
 * @param {number | undefined} low
 * @param {number | undefined} high
 * @param {string} category
 */
function bar(usage, low, high, category) {
  const line = (/** @type {number | undefined} */ at, /** @type {string} */ kind) =>
    at === undefined ? null : h("i", { class: kind, style: { left: `${Math.min(at, 100)}%` } });
  return h(
    "td",
    null,
    h(
      "span",
      { class: "descheduling-bar" },
      h("i", {
        class: `used ${CATEGORIES[category] ?? "fair"}`,
        style: { width: `${Math.min(Math.max(usage, 0), 100)}%` },
      }),
      line(low, "low"),
      line(high, "high"),
    ),
    h("span", { class: "num", text: `${trim(usage)}%` }),
  );
}

/**
 * @param {string} name
 * @param {import("../../lib/dom.js").Child} when
 * @param {number | null} evicted
 * @param {number | null} refused
 * @param {number | null} violations
 * @param {Record<string, number>} spread
 */
function pass(name, when, evicted, refused, violations, spread) {
  const cell = (/** @type {number | null | undefined} */ value, unit = "") =>
    h("td", { class: "num", text: value === null || value === undefined ? "" : `${trim(value)}${unit}` });
  return h(
    "tr",
    null,
    h("th", { scope: "row", text: name }),
    h("td", { class: "num" }, when),
    cell(evicted),
    cell(refused),
    cell(violations),
    cell(spread.cpu, "%"),
    cell(spread.memory, "%"),
  );
}

/**
 * @param {string} text
 * @param {string} [kind]
 * @param {string} [title]
 */
const head = (text, kind, title) => h("th", { scope: "col", class: kind, title, text });

/**
 * @param {string} title
 * @param {string} text
 */
const empty = (title, text) => h("div", { class: "empty" }, h("b", { text: title }), h("span", { text }));

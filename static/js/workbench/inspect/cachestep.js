// The Cache tab, This step: where every predicate's answers came from, what was invalidated, and which hits were stale.

import { $, focusedNow, h, fill, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { count, plural } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { staleHits } from "./cachestale.js";
import { linked } from "./byhand.js";
import { LINKED, nodeLink, nodesLink, ruleLink, SOURCES, swatch } from "./cachewords.js";
/** @import { View } from "../view.js" */

const FIRST = 5; // invalidations that are shown at once
const HEADS = { hits: "hits", misses: "misses", bypassed: "bypassed", unreached: "not reached" };

export class CacheStep {
  #shown = null;
  #kept; // how its tables are sorted

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("cache");
    this.element = h("div", { class: "cache-step" });
    view.playback.on(
      "grew",
      () => {
        this.#shown = null;
        if (this.element.isConnected) this.update();
      },
      view.panels,
    );
  }

  update() {
    const part = this.view.playback.parts?.cache;
    if (!part || !("predicates" in part) || part === this.#shown) return;
    this.#shown = part;
    const within = this.element.contains(document.activeElement) ? focusedNow().dataset.stale : "";
    const batching = part.mode === "batching";
    fill(
      this.element,
      batching ? this.#batching(part) : staleHits(this.view, part),
      batching || !this.view.playback.reached.over ? null : this.#invalidations(part),
      part.predicates.length ? this.#answers(part) : null,
    );
    if (within) $(`[data-stale="${within}"]`, this.element)?.focus();
  }

  /** Whether the ranking of the pod before served this one, and why not. */
  #batching(part) {
    const { view } = this;
    const took =
      part.hint !== null
      && part.counts.hits > 0
      && (!view.playback.reached.over || view.playback.current.node === part.hint);
    const text =
      part.hint === null
        ? ["No node was offered", part.bypass ? `: ${part.bypass}.` : "."]
        : took
          ? [
              nodeLink(view, part.hint),
              ", the next best of the ranking kept from an earlier pod, was offered and accepted. "
                + "No other node was evaluated.",
            ]
          : [
              nodeLink(view, part.hint),
              ", the next best of the ranking kept from an earlier pod, was offered and rejected",
              part.bypass ? `: ${part.bypass}.` : ": the pod does not fit there.",
              " All nodes were evaluated again.",
            ];
    return h(
      "section",
      { class: `hint ${took ? "took" : ""}`.trim() },
      h(
        "h3",
        null,
        "Ranking of the pods before ",
        took
          ? h("span", { class: "pill pass" }, icon("check"), "used")
          : h("span", { class: "pill" }, icon("minus"), "not used"),
      ),
      h("p", null, text),
      h("p", {
        class: "dim fine",
        text:
          "Batching keeps the ranked list of nodes for the next pods with the same signature, as long as each fills "
          + "the node that it gets. Hits are the evaluations that this saved.",
      }),
    );
  }

  // --- answers ---------------------------------------------------------------------------

  #answers(part) {
    // Batching evaluates beside any cache; to whoever reads it is evaluated all the same.
    const predicates =
      part.mode === "batching"
        ? part.predicates.map(([name, hits, misses, bypassed, unreached]) => [
            name,
            hits,
            misses + bypassed,
            0,
            unreached,
          ])
        : part.predicates;
    const used = SOURCES.filter((_, i) => predicates.some((row) => row[i + 1] > 0));
    const at = (/** @type {string} */ key) => SOURCES.findIndex(([name]) => name === key) + 1;
    const widest = Math.max(1, ...predicates.map(([, ...numbers]) => numbers.reduce((sum, n) => sum + n, 0)));
    const bar = (row) =>
      h(
        "span",
        { class: "source-bar", "aria-hidden": "true" },
        SOURCES.map(([, name], i) =>
          row[i + 1] ? h("i", { class: name, style: { width: `${(row[i + 1] / widest) * 100}%` } }) : null,
        ),
      );
    const rows = predicates.map((row) =>
      h(
        "tr",
        null,
        h(
          "th",
          { scope: "row" },
          part.mode === "batching"
            ? row[0]
            : inline(
                () => this.view.setSub(`map/predicate/${encodeURIComponent(row[0])}`),
                { title: `${row[0]}: all that the cache holds of it`, class: "link plain" },
                row[0],
              ),
        ),
        h("td", { class: "bar-cell" }, bar(row)),
        used.map(([key]) => h("td", { class: `num ${row[at(key)] ? "" : "nil"}`.trim(), text: count(row[at(key)]) })),
      ),
    );
    const head = used.map(([key, name, words]) =>
      h(
        "th",
        { scope: "col", class: "num", title: words },
        swatch(name),
        h("span", { class: "word", text: part.mode === "batching" && key === "misses" ? "evaluated" : HEADS[key] }),
      ),
    );
    const title = h("h3", null, "Answers ", h("small", { class: "dim", text: "in nodes, predicate by predicate" }));
    return h(
      "section",
      { class: "answers" },
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: "Where each predicate's answers came from, in nodes" }),
          h("thead", null, h("tr", null, h("th", { scope: "col", text: "predicate" }), h("td"), head)),
          h("tbody", null, rows),
        ),
        { head: title, kept: this.#kept, name: "answers", filter: "Filter predicates" },
      ),
      h(
        "ul",
        { class: "key" },
        used.map(([, name, words]) =>
          h("li", null, swatch(name), part.mode === "batching" && name === "miss" ? "evaluated" : words),
        ),
      ),
    );
  }

  // --- invalidations ---------------------------------------------------------------------

  #invalidations(part) {
    const { invalidations: rows, invalidationsCount: total } = part;
    const title = h(
      "h3",
      null,
      "Invalidations ",
      h("small", {
        class: "dim num",
        text: total
          ? `${count(total)}, clearing ${plural(part.counts.invalidated, "entry", "entries")}`
          : "none in this cycle",
      }),
    );
    if (!rows.length)
      return h(
        "section",
        { class: "invalidations" },
        title,
        h("p", { class: "dim", text: "No event of this cycle triggered a row of the invalidation table." }),
      );
    return h("section", { class: "invalidations" }, title, this.#listed(rows, total), this.#byRule(part));
  }

  /** The first of them, those that landed during the evaluation before all; the others on demand. */
  #listed(rows, total) {
    const ordered = rows.map((row, i) => [row, i]).sort(([a], [b]) => b.during - a.during);
    const list = h(
      "ol",
      null,
      ordered.slice(0, FIRST).map(([row, i]) => this.#invalidation(row, i)),
    );
    const beyond =
      total > rows.length
        ? h("p", {
            class: "dim fine",
            hidden: rows.length > FIRST || undefined,
            text: `and ${count(total - rows.length)} more`,
          })
        : null;
    const more =
      rows.length > FIRST
        ? h("button", {
            type: "button",
            class: "btn small",
            text: `Show ${count(rows.length - FIRST)} more`,
            onclick: () => {
              const rest = ordered.slice(FIRST).map(([row, i]) => this.#invalidation(row, i));
              list.append(...rest);
              more.remove();
              if (beyond) beyond.hidden = false;
              rest[0].querySelector("a, button, [tabindex]")?.focus();
            },
          })
        : null;
    return [list, more, beyond];
  }

  #invalidation(row, i) {
    const { view } = this;
    const named = row.predicates?.slice(0, LINKED) ?? [];
    const more = (row.predicates?.length ?? 0) - named.length;
    return h(
      "li",
      { class: row.during ? "during" : undefined },
      h(
        "p",
        { class: "event" },
        swatch("cleared"),
        h("span", { class: "mono" }, linked(view, row.event)),
        row.during ? h("span", { class: "pill stale" }, icon("warn"), "landed during evaluation") : null,
      ),
      h(
        "p",
        { class: "words" },
        ruleLink(row.rule),
        " ",
        row.words,
        h("small", { class: "dim", text: ` ${row.source}` }),
      ),
      h(
        "p",
        { class: "what dim" },
        row.cleared
          ? h("b", { class: "num", text: plural(row.cleared, "entry", "entries") })
          : h("span", { text: "nothing was cached" }),
        row.cleared ? " cleared of " : " of ",
        row.predicates ? [named.join(", "), more > 0 ? ` and ${count(more)} more` : ""] : "every predicate",
        " on ",
        nodesLink(view, row.nodes, row.nodesCount, `invalidated by ${row.rule}, ${i + 1}`),
      ),
    );
  }

  /** What each row of the table has cleared over the run, the most first. */
  #byRule(part) {
    const rows = [...part.byRule].sort((a, b) => b[1] - a[1]);
    if (!rows.length) return null;
    const most = rows[0][1] || 1;
    return h(
      "details",
      {
        class: "by-rule",
        open: this.open || undefined,
        ontoggle: (event) => {
          this.open = /** @type {HTMLDetailsElement} */ (event.target).open;
        },
      },
      h("summary", null, "Over the run, by row ", h("span", { class: "num", text: `(${plural(rows.length, "row")})` })),
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: "Entries that each row of the invalidation table cleared over the run" }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              h("th", { scope: "col", text: "row" }),
              h("td"),
              h("th", { scope: "col", class: "num", text: "cleared" }),
            ),
          ),
          h(
            "tbody",
            null,
            rows.map(([rule, cleared]) =>
              h(
                "tr",
                null,
                h("th", { scope: "row" }, ruleLink(rule)),
                h(
                  "td",
                  { class: "bar-cell" },
                  h(
                    "span",
                    { class: "source-bar", "aria-hidden": "true" },
                    h("i", { class: "cleared", style: { width: `${(cleared / most) * 100}%` } }),
                  ),
                ),
                h("td", { class: "num", text: count(cleared) }),
              ),
            ),
          ),
        ),
        { kept: this.#kept, name: "rules", filter: "Filter rows of the invalidation table" },
      ),
    );
  }
}

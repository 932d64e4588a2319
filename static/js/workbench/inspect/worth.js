// The Cache tab, Worth it?: what no cache, a cache and batching cost on this very scenario, and where another mode
// decides otherwise.

import { h, fill, icon } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { CACHE_SETTINGS } from "../policy/cache_settings.js";
import { cycleLink } from "./cachebyhand.js";
import { parting } from "./worthother.js";
import { COLUMNS, looks, METRICS, verdict } from "./worthwords.js";
/** @import { View } from "../view.js" */

const GIVEN_UP = "request.superseded";
const REMEDIED = "generations";
const IDLE = new Set(["off", "batching"]); // modes that keep no results

export class Worth {
  #source = null; // what the answers are about
  #busy = null; // {progress, button} of what is being worked out

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.costs = h("div", { class: "worth-result" });
    this.other = h("div", { class: "worth-result" });
    this.measure = h(
      "button",
      { type: "button", class: "btn primary", onclick: () => this.#measure() },
      icon("chart"),
      "Measure",
    );
    this.form = this.#form();
    this.element = h(
      "div",
      { class: "worth" },
      h(
        "section",
        { "aria-labelledby": "worth-costs" },
        h("h3", { id: "worth-costs", text: "Was it worth it?" }),
        h(
          "p",
          { class: "dim" },
          "This scenario is run with no cache, with its own mode, with ",
          h("code", { text: "sound" }),
          " and with batching, and everything is counted.",
        ),
        h("div", { class: "worth-act" }, this.measure),
        this.costs,
      ),
      h(
        "section",
        { "aria-labelledby": "worth-other" },
        h("h3", { id: "worth-other", text: "Run it in another mode" }),
        h("p", {
          class: "dim",
          text:
            "Both runs are computed to the end, with every hit checked by the audit. The first cycle with a "
            + "different decision is shown with both.",
        }),
        this.form,
        this.other,
      ),
    );
    const { playback } = view;
    playback.socket.on("worth.progress", (frame) => this.#progress(frame), view.panels);
  }

  update() {
    const { playback } = this.view;
    if (this.#source === playback.nodes) return;
    this.#source = playback.nodes; // made again whenever a source is opened
    fill(this.costs);
    fill(this.other);
    const own = playback.policy?.cache ?? "off";
    const { cache, equivalenceClass, staleWrites } = this.fields;
    const remedy = playback.policy?.staleWrites ?? REMEDIED;
    // The most instructive comparison: with the bugs, or without.
    cache.value = own === "sound" && remedy === REMEDIED ? "v1.11" : "sound";
    equivalenceClass.value = playback.policy?.equivalenceClass ?? "controller";
    staleWrites.value = REMEDIED;
    this.own.textContent = `It runs with cache ${own} here.`;
    this.#idle();
  }

  // ---- asking

  #form() {
    const field = ({ key, label, choices }) => {
      this.fields[key] = h(
        "select",
        { class: "field", name: key, onchange: () => this.#idle() },
        choices.map(([value, text]) => h("option", { value, text })),
      );
      return h("label", null, h("span", { text: label }), this.fields[key]);
    };
    this.fields = {};
    this.run = h("button", { class: "btn primary" }, icon("play"), "Run both");
    this.own = h("p", { class: "dim fine" });
    this.does = h("p", { class: "dim fine", id: "worth-does" });
    return h(
      "form",
      {
        class: "worth-form",
        onsubmit: (event) => {
          event.preventDefault();
          this.#compare();
        },
      },
      h("div", { class: "worth-fields" }, CACHE_SETTINGS.filter(({ key }) => key !== "audit").map(field)),
      this.does,
      h("div", { class: "worth-act" }, this.run, this.own),
    );
  }

  /** Settings that have no effect under a mode cannot be chosen; the mode shows what it does. */
  #idle() {
    const { cache, equivalenceClass, staleWrites } = this.fields;
    const idle = IDLE.has(cache.value);
    equivalenceClass.disabled = idle;
    staleWrites.disabled = idle;
    const row = CACHE_SETTINGS.find(({ key }) => key === "cache");
    fill(this.does, row.choices.find(([value]) => value === cache.value)?.[2] ?? "");
    cache.setAttribute("aria-describedby", this.does.id);
  }

  get #chosen() {
    const { cache, equivalenceClass, staleWrites } = this.fields;
    return {
      cache: cache.value,
      ...(IDLE.has(cache.value) ? {} : { equivalenceClass: equivalenceClass.value, staleWrites: staleWrites.value }),
    };
  }

  #measure() {
    return this.#ask("worth.cost", {}, this.costs, ({ rows }) => this.#costs(rows));
  }

  #compare() {
    const chosen = this.#chosen;
    return this.#ask("worth.other", chosen, this.other, (answer) => parting(this.view, answer, chosen));
  }

  async #ask(command, payload, host, draw) {
    if (this.#busy) return;
    const { playback } = this.view;
    const asked = playback.nodes;
    const lost = () => !document.activeElement || document.activeElement === document.body;
    const bar = h("progress", { "aria-label": "Progress" });
    const status = h("span", { class: "num dim", role: "status", text: "Waiting…" });
    const stop = h(
      "button",
      {
        type: "button",
        class: "btn",
        onclick: () => {
          stop.disabled = true;
          playback.socket.call("worth.cancel", {}).catch(() => {});
        },
      },
      icon("close"),
      "Cancel",
    );
    // Neither can be pressed meanwhile, so Cancel gets the focus.
    const asker = [this.measure, this.run].find((button) => button === document.activeElement);
    this.#busy = { bar, status };
    this.#lock(true);
    fill(host, h("div", { class: "worth-progress" }, bar, status, stop));
    if (asker) stop.focus({ preventScroll: true });
    try {
      const answer = await playback.socket.call(command, { source: playback.source, ...payload });
      if (asked === playback.nodes) fill(host, draw(answer));
    } catch (error) {
      const givenUp = error.code === GIVEN_UP;
      if (asked === playback.nodes)
        fill(
          host,
          h(
            "p",
            { class: givenUp ? "dim" : "worth-wrong", role: "status" },
            givenUp ? null : icon("warn"),
            givenUp ? "Given up." : error.message,
          ),
        );
    }
    this.#busy = null;
    this.#lock(false);
    if (asker && lost()) asker.focus({ preventScroll: true });
  }

  #lock(busy) {
    for (const button of [this.measure, this.run]) button.disabled = busy;
    this.element.toggleAttribute("aria-busy", busy);
  }

  #progress({ source, done, total, strategy }) {
    if (!this.#busy || JSON.stringify(source) !== JSON.stringify(this.view.playback.source)) return;
    const { bar, status } = this.#busy;
    bar.max = Math.max(total, 1);
    bar.value = Math.min(done, total);
    status.textContent = `${count(done)} of about ${plural(total, "cycle")} · ${strategy}`;
  }

  // ---- what it costs

  #costs(rows) {
    const names = rows.map(({ strategy }) => looks(strategy).label);
    return [
      verdict(rows).map((parts) =>
        h(
          "p",
          { class: "story worth-verdict" },
          parts.map((part) =>
            part.cycle ? cycleLink(this.view, part.cycle) : part.strong ? h("strong", { text: part.strong }) : part,
          ),
        ),
      ),
      h(
        "div",
        {
          class: "worth-bars",
          role: "group",
          "aria-label": "Strategies side by side; the table below has the numbers",
        },
        METRICS.map((metric) => bars(metric, rows)),
      ),
      tabled(
        h(
          "table",
          { class: "list tight worth-table" },
          h("caption", { class: "sr", text: "Evaluations, memory and time of each strategy" }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              h("td"),
              names.map((text) => h("th", { scope: "col", class: "num", text })),
            ),
          ),
          h(
            "tbody",
            null,
            COLUMNS.map(({ label, hint, text, sub }) =>
              h(
                "tr",
                null,
                h("th", { scope: "row", title: hint, class: sub ? "sub" : undefined, text: label }),
                rows.map((row, i) => h("td", { class: "num" }, text(row, i, this.view))),
              ),
            ),
          ),
        ),
        { sorts: false, head: h("h4", { text: "In numbers" }) },
      ),
      h("p", {
        class: "dim fine",
        text:
          "Evaluations are pairs of predicate and node. Time is the processor’s, of this simulator: it evaluates a "
          + "predicate on all nodes in one go, so an evaluation costs it far less than a scheduler that goes from "
          + "node to node. Of batching, a lookup is a pod that asks for a kept ranking.",
      }),
    ];
  }
}

/** One metric as lying bars, a strategy a bar. */
function bars({ label, value, text }, rows) {
  const most = Math.max(...rows.map(value), 0);
  return h(
    "figure",
    { class: "worth-metric" },
    h("figcaption", { text: label }),
    rows.map((row) => {
      const { label: name, mark } = looks(row.strategy);
      const share = most ? value(row) / most : 0;
      return h(
        "div",
        { class: "worth-bar" },
        h("span", { class: "name", text: name }),
        h(
          "span",
          { class: "track", "aria-hidden": "true" },
          h("i", { class: mark, style: { width: `${value(row) ? Math.max(share * 100, 0.5) : 0}%` } }),
        ),
        h("span", { class: "num", text: text(value(row)) }),
      );
    }),
  );
}

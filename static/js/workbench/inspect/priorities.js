// Priorities: what every feasible node scored, as raw, reduced or weighted, the sum, and how a tie was broken.

import { h, fill } from "../../lib/dom.js";
import { Grid } from "../../lib/grid.js";
import { count, ellipsis, plural } from "../../lib/quantity.js";
import { before } from "./inspect.js";
import { copyButton, filterField, segmented } from "./matrix.js";

const TIES_LISTED = 12;

export class Priorities {
  #mode = "weighted";
  #text = "";
  #shown = "";

  constructor(view) {
    this.view = view;
    this.summary = h("div", { class: "priority-summary" });
    this.note = h("small", { class: "dim num", role: "status" });
    this.grid = new Grid({ label: "Node by priority", className: "matrix scores", onHover: (node) => view.hover(node), onSelect: (node) => view.selectNode(node) });
    this.grid.sortKey = "total";
    this.grid.sortDown = true;
    this.section = h("section", { class: "matrix-section" },
      h("h3", null, "Node × priority ", this.note),
      h("div", { class: "matrix-tools" }, filterField("Filter nodes by name", (text) => { this.#text = text; this.#matrix(); }),
        segmented("Values", [["raw", "Raw"], ["score", "Reduced"], ["weighted", "Weighted"]], "weighted", (mode) => { this.#mode = mode; this.#matrix(); }), copyButton(this.grid)),
      this.grid.element);
    this.element = h("div", { class: "priorities-tab" });
    view.on("hover", (node) => this.grid.hover(node));
    view.on("selection", () => { this.grid.select(view.node); if (view.node >= 0 && this.element.isConnected) this.grid.reveal(view.node); });
  }

  update() {
    const { view } = this;
    const light = view.playback.current;
    if (!light) { this.#show("before", () => before(view)); return; }
    const parts = view.playback.parts;
    if (!parts) { this.section.classList.add("waiting"); return; }
    this.section.classList.remove("waiting");
    const ranked = parts.priorities;
    if (!ranked?.totals) { this.#shown = ""; fill(this.element, this.#nothing(light, ranked?.why)); return; }
    this.#show("matrix", () => [this.summary, this.section]);
    this.#winner(light, ranked);
    this.#matrix();
  }

  #show(what, make) {
    if (this.#shown === what) return;
    this.#shown = what;
    fill(this.element, make());
  }

  #nothing(light, why) {
    const { view } = this;
    const none = light.feasible === 0;
    return h("div", { class: "empty" }, h("b", { text: none ? "There was nothing to rank." : light.feasible === 1 ? "One node was left, so none was ranked." : "No node was ranked in this cycle." }), h("span", { text: why ?? "" }),
      h("button", { type: "button", class: "btn", onclick: () => view.setTab("predicates"), text: none ? "See what removed the nodes" : "See what removed the others" }));
  }

  #winner(light, ranked) {
    const { view } = this;
    const { names } = view.playback.nodes;
    const node = ranked.winner ?? light.node;
    const link = (one) => h("button", { type: "button", class: "link", onclick: () => view.selectNode(one), text: names[one] });
    const { ties, counter } = ranked;
    const tie = ties.length > 1;
    const place = counter % Math.max(1, ties.length);
    const from = Math.max(0, Math.min(place - Math.floor(TIES_LISTED / 2), ties.length - TIES_LISTED));
    const listed = ties.slice(from, from + TIES_LISTED);
    fill(this.summary,
      h("p", { class: "story" }, node === null ? "No node was chosen." : [link(node), " is chosen with ", h("strong", { text: count(view.facts.best) }), ", the highest total of ", plural(ranked.nodes.length, "feasible node"), "."]),
      tie ? h("div", { class: "tie" },
        h("p", null, `${plural(ties.length, "node")} share that total. Equal totals are ordered by node name, last first. The round-robin counter stands at `, h("strong", { text: count(counter) }), ": ", h("code", { text: `${counter} mod ${ties.length} = ${place}` }), `, so the ${ordinal(place + 1)} of them is taken.`),
        h("ol", { class: "ties", start: from + 1 }, from > 0 ? h("li", { class: "dim plain", text: "…" }) : null,
          listed.map((one, i) => h("li", { class: from + i === place ? "won" : undefined }, h("span", { class: "dim num", text: String(from + i) }), link(one))), from + listed.length < ties.length ? h("li", { class: "dim plain", text: `… ${count(ties.length - from - listed.length)} more` }) : null)) : null);
  }

  #matrix() {
    const { view } = this;
    const ranked = view.playback.parts?.priorities;
    if (!ranked?.totals) return;
    const { names } = view.playback.nodes;
    const at = new Map(ranked.nodes.map((node, i) => [node, i]));
    const ties = new Map(ranked.ties.length > 1 ? ranked.ties.map((node, i) => [node, i]) : []);
    const place = (node) => ties.get(node) ?? Infinity;
    const rows = ranked.nodes.filter((node) => !this.#text || names[node].toLowerCase().includes(this.#text));
    this.note.textContent = rows.length === ranked.nodes.length ? plural(rows.length, "feasible node") : `${count(rows.length)} of ${plural(ranked.nodes.length, "feasible node")}`;
    const value = (row, node) => {
      const i = at.get(node);
      return this.#mode === "raw" ? row.raw?.[i] ?? null : this.#mode === "score" ? row.score[i] : row.score[i] * row.weight;
    };
    const columns = [{
      key: "node", label: "node", title: "Sort by name", text: (node) => names[node], compare: (a, b) => names[a].localeCompare(names[b], "en", { numeric: true }),
      paint: (td, node) => { td.textContent = ellipsis(names[node], 22); td.title = names[node]; if (node === ranked.winner) td.classList.add("chosen"); },
    }, {
      key: "total", label: "sum", title: "Sum of the weighted scores", className: "total num", downFirst: true, text: (node) => String(ranked.totals[at.get(node)]),
      compare: (a, b) => ranked.totals[at.get(a)] - ranked.totals[at.get(b)] || (ties.has(a) ? place(b) - place(a) : names[a] > names[b] ? 1 : -1),
      paint: (td, node) => { td.textContent = count(ranked.totals[at.get(node)]); td.className = `total num${node === ranked.winner ? " won" : ties.has(node) ? " tied" : ""}`; if (node === ranked.winner) td.setAttribute("aria-label", `${td.textContent}, chosen`); else if (ties.has(node)) td.setAttribute("aria-label", `${td.textContent}, tie`); },
    }, ranked.ties.length > 1 && {
      key: "tie", label: "tie", title: "Place among the equal best: the round-robin counter modulo their number picks one. Equal totals are ordered by node name, last first", className: "num tie-place",
      text: (node) => (ties.has(node) ? String(ties.get(node)) : ""), compare: (a, b) => place(a) - place(b) || 0,
    }, ...ranked.rows.map((row, r) => {
      const values = ranked.nodes.map((node) => value(row, node)).filter((one) => one !== null);
      const low = Math.min(0, ...spread(values));
      const high = Math.max(...spread(values), low + 1);
      const flat = values.length > 0 && values.every((one) => one === values[0]);
      return {
        key: `r${r}`, label: `${row.name.replace(/Priority$/, "")}${row.weight !== 1 ? ` ×${count(row.weight)}` : ""}`, title: `${row.name}, weight ${row.weight}`, vertical: true, downFirst: true, className: "num",
        text: (node) => { const one = value(row, node); return one === null ? "" : String(one); },
        compare: (a, b) => (value(row, a) ?? -1) - (value(row, b) ?? -1),
        paint: (td, node) => {
          const one = value(row, node);
          td.className = `score-cell num${flat ? " flat" : ""}`;
          td.textContent = one === null ? "–" : compact(one);
          td.title = `${row.name}: ${one === null ? "computed in one go, no raw value" : `raw ${row.raw ? row.raw[at.get(node)] : "–"}, reduced ${row.score[at.get(node)]}, × ${row.weight} = ${row.score[at.get(node)] * row.weight}`}`;
          if (one !== null && !flat) td.style.setProperty("--level", String((one - low) / (high - low)));
        },
      };
    })].filter(Boolean);
    this.grid.hovered = view.hovered;
    this.grid.selected = view.node;
    this.grid.show(columns, rows);
  }
}

/** At most as many values as a call may have arguments; the ends of what is sorted decide anyway. */
const spread = (values) => (values.length < 10_000 ? values : [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)]);
const compact = (value) => (Math.abs(value) >= 10_000 ? `${Math.round(value / 100) / 10}k` : String(value));

function ordinal(n) {
  const tail = n % 100 > 10 && n % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][n % 10] ?? "th";
  return `${n}${tail}`;
}

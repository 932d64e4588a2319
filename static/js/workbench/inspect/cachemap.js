// The Cache tab, Map: node, predicate and class, browsed from any of the three, a page at a time.

import { h, fill, icon, debounce } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { count, ellipsis, plural } from "../../lib/quantity.js";
import { answer, cycleLink, nodeLink, pager, refocus } from "./cachewords.js";
import { segmented } from "./matrix.js";

const BY = [["node", "Nodes"], ["predicate", "Predicates"], ["class", "Classes"]];
const AT_ONCE = 50;
const ALL = { node: "all nodes", predicate: "all predicates", class: "all classes" };
const ONE = { node: "node", predicate: "predicate", class: "class" };
const FIND = { node: "Filter nodes", predicate: "Filter predicates", class: "Filter classes" };

export class CacheMap {
  #shown = "";
  #from = 0;
  #turned = ""; // the button that turned the page
  #names = new Map(); // of classes, by hash

  constructor(view) {
    this.view = view;
    this.find = h("input", { type: "search", class: "field filter", autocomplete: "off", spellcheck: "false", oninput: debounce(() => { this.#from = 0; this.update(); }, 150) });
    this.by = h("span", { class: "by" });
    this.crumbs = h("nav", { class: "cache-crumbs", "aria-label": "Where in the map" });
    this.pages = h("span");
    this.table = h("div", { class: "cache-rows" });
    this.element = h("div", { class: "cache-map" },
      h("div", { class: "matrix-tools" }, this.by, this.find), h("div", { class: "crumb-row" }, this.crumbs, h("span", { class: "grow" }), this.pages), this.table,
      h("p", { class: "dim fine", text: "node → predicate → class: what a pod of the class would be answered, as it stands after this cycle." }));
    view.on("sub", () => { this.#from = 0; this.find.value = ""; });
  }

  /** What the address says: `map/by/key`. */
  get #where() {
    const [, by, ...key] = this.view.sub.split("/");
    return { by: ONE[by] ? by : "node", key: key.join("/") };
  }

  update() {
    const { by, key } = this.#where;
    const { playback } = this.view;
    const wish = `${playback.index}/${playback.source.draft ?? ""}/${by}/${key}/${this.#from}/${this.find.value}`;
    if (wish === this.#shown) return;
    if (playback.parts.cache.mode === "batching") {
      this.#shown = wish;
      fill(this.element, h("div", { class: "empty" }, h("b", { text: "Batching keeps no map." }), h("span", { text: "It keeps one ranked list of nodes; This step says whether it was used." })));
      return;
    }
    this.#shown = wish;
    this.#crumb(by, key);
    this.#load({ source: playback.source, cycle: playback.index, by, from: this.#from, count: AT_ONCE, ...(key ? { key } : {}), ...(this.find.value.trim() ? { find: this.find.value.trim() } : {}) }, wish);
  }

  #crumb(by, key) {
    const { view } = this;
    if (this.by.dataset.by !== by) {
      this.by.dataset.by = by;
      fill(this.by, segmented("Browse by", BY, by, (to) => view.setSub(`map/${to}`)));
    }
    const inside = { node: "predicates and classes", predicate: "nodes and classes", class: "nodes and predicates" }[by];
    const label = key ? `Filter ${inside}` : FIND[by];
    this.find.placeholder = key ? "Filter" : label;
    this.find.setAttribute("aria-label", label);
    fill(this.crumbs, key
      ? [inline(() => view.setSub(`map/${by}`), { "data-crumb": true }, ALL[by]), h("span", { class: "dim", "aria-hidden": "true", text: " › " }), h("b", { class: by === "class" ? undefined : "mono", "aria-current": "location", title: key, text: by === "class" ? this.#names.get(key) ?? key : ellipsis(key, 34) })]
      : h("b", { "aria-current": "location", text: ALL[by] }));
  }

  async #load(ask, wish) {
    const { playback } = this.view;
    this.table.classList.add("waiting");
    try {
      const found = await playback.socket.call("cache.map", ask);
      if (wish !== this.#shown) return;
      if (!found.rows.length && this.#from) { this.#from = 0; this.update(); return; }
      this.#paint(found, ask);
    } catch (error) {
      if (error.code === "request.superseded" || wish !== this.#shown) return;
      this.#shown = "";
      fill(this.table, h("p", { class: "note error", text: error.message }));
      this.table.classList.remove("waiting");
    }
  }

  #paint(found, { by, key, find }) {
    this.table.classList.remove("waiting");
    if (by === "class") for (const row of found.rows) this.#names.set(row.hash ?? row.key, row.label ?? row.class);
    for (const row of found.rows) if (row.hash) this.#names.set(row.hash, row.class);
    fill(this.pages, pager({ from: found.from, total: found.count, size: AT_ONCE, shown: found.rows.length, what: "the map" }, (to) => {
      this.#turned = document.activeElement?.dataset.turn ?? "";
      this.#from = to;
      this.update();
    }));
    refocus(this.pages, this.#turned);
    this.#turned = "";
    if (key && by === "class") this.#crumb(by, key);
    if (!found.rows.length) {
      fill(this.table, h("p", { class: "grid-none dim", role: "status", text: find ? `Nothing here is called ${find}.` : key ? "The cache holds nothing valid here after this cycle." : "The cache is empty after this cycle." }));
      return;
    }
    fill(this.table, key ? this.#entries(found, by) : this.#groups(found, by));
  }

  /** The first level: how much there is of each. */
  #groups(found, by) {
    const { view } = this;
    const most = Math.max(1, ...found.rows.map((row) => row.entries));
    const name = (row) => inline(() => view.setSub(`map/${by}/${row.key}`), { title: by === "class" ? `class ${row.key}` : row.key, "data-drill": row.key, ...(row.label.length > 34 ? { "aria-label": row.label } : {}),
      ...(by === "node" ? { onpointerenter: () => view.hover(view.playback.nodeIndex.get(row.key) ?? -1), onpointerleave: () => view.hover(-1) } : {}) }, ellipsis(row.label, 34));
    return h("table", { class: "list tight" }, h("caption", { class: "sr", text: `Valid entries of the cache by ${ONE[by]}` }),
      h("thead", null, h("tr", null, h("th", { scope: "col", text: ONE[by] }), h("td"), ["fit", "fail", "entries"].map((text) => h("th", { scope: "col", class: "num", text })))),
      h("tbody", null, found.rows.map((row) => h("tr", null,
        h("th", { scope: "row", class: by === "class" ? undefined : "mono" }, name(row)),
        h("td", { class: "bar-cell" }, h("span", { class: "source-bar", "aria-hidden": "true" }, h("i", { class: "fits", style: { width: `${(row.fits / most) * 100}%` } }), h("i", { class: "fails", style: { width: `${(row.fails / most) * 100}%` } }))),
        h("td", { class: `num ${row.fits ? "" : "nil"}`.trim(), text: count(row.fits) }), h("td", { class: `num ${row.fails ? "fail-text" : "nil"}`, text: count(row.fails) }), h("td", { class: "num", text: count(row.entries) })))));
  }

  /** The entries themselves; what repeats from row to row is said once. */
  #entries(found, by) {
    const { view } = this;
    const { names } = view.playback.nodes;
    const cells = {
      node: ["node", (row) => row.node, (row) => nodeLink(view, row.node), (row) => names[row.node]],
      predicate: ["predicate", (row) => row.predicate, (row) => inline(() => view.setSub(`map/predicate/${row.predicate}`), { title: "all nodes of this predicate" }, row.predicate), (row) => row.predicate],
      class: ["class", (row) => row.hash, (row) => inline(() => view.setSub(`map/class/${row.hash}`), { title: `class ${row.hash}: its entries` }, row.class || row.hash), (row) => row.class || row.hash],
    };
    const [outer, inner] = Object.keys(cells).filter((key) => key !== by).map((key) => cells[key]);
    let last = null;
    const rows = found.rows.map((row) => {
      const same = outer[1](row) === last;
      last = outer[1](row);
      return h("tr", { class: same ? "same" : undefined }, h("th", { scope: "row" }, same ? h("span", { class: "sr", text: outer[3](row) }) : outer[2](row)),
        h("td", null, inner[2](row)), h("td", { class: "answer-cell" }, answer(row.reasons, row.fit)), h("td", { class: "num" }, cycleLink(view, row.written)));
    });
    return h("table", { class: "list tight entries" }, h("caption", { class: "sr", text: "Valid entries of the cache" }),
      h("thead", null, h("tr", null, [outer[0], inner[0], "answer"].map((text) => h("th", { scope: "col", text })), h("th", { scope: "col", class: "num", text: "written" }))), h("tbody", null, rows));
  }
}

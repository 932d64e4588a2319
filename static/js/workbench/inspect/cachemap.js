// The Cache tab, Map: node, predicate and class, browsed from any of the three, a page at a time.

import { h, fill, debounce, focusedNow } from "../../lib/dom.js";
import { decoded } from "../../lib/encoded.js";
import { inline } from "../../lib/inline.js";
import { keeping, tabled } from "../../lib/tables.js";
import { count, ellipsis } from "../../lib/quantity.js";
import { answer, cycleLink, loading, nodeLink, pager, refocus } from "./cachebyhand.js";
import { sorting } from "./cachewords.js";
import { segmented } from "./matrix.js";
import { aboutNode } from "./byhand.js";
/** @import { View } from "../view.js" */

const BY = [
  ["node", "Nodes"],
  ["predicate", "Predicates"],
  ["class", "Classes"],
];
const AT_ONCE = 50;
const ALL = { node: "all nodes", predicate: "all predicates", class: "all classes" };
// In the order of the rows.
const WITHIN = { node: ["predicate", "class"], predicate: ["class", "node"], class: ["predicate", "node"] };

export class CacheMap {
  #shown = "";
  #path = ""; // where its rows are from
  #list; // {typed, page} of what is browsed
  #turned = ""; // the button that turned the page
  #names = new Map(); // of classes, by hash
  #kept; // how each level is sorted
  #paged = false; // whether a level has more than one page: then the server sorts

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("cache");
    this.#list = view.lists.list("cache", "map");
    this.#path = view.sub;
    this.find = h("input", {
      value: this.#list.typed,
      type: "search",
      class: "field filter",
      autocomplete: "off",
      spellcheck: "false",
      oninput: debounce(() => {
        this.#narrow({ typed: this.find.value, page: 0 });
        this.update();
      }, 150),
    });
    this.by = h("span", { class: "by" });
    this.crumbs = h("nav", { class: "cache-crumbs", "aria-label": "Where in the map" });
    this.pages = h("span");
    this.table = h("div", { class: "cache-rows" });
    this.element = h(
      "div",
      { class: "cache-map" },
      h("div", { class: "matrix-tools" }, this.by, this.find),
      this.table,
      h("p", {
        class: "dim fine",
        text: "node → predicate → class: the cached answer for a pod of the class after this cycle.",
      }),
    );
  }

  /** What the address asks for: `map/by/key/inner`. */
  get #where() {
    const [, by, key = "", inner = ""] = this.view.sub.split("/").map(decoded);
    return { by: Object.hasOwn(WITHIN, by) ? by : "node", key, inner };
  }

  /** @param {...string} path */
  #go(...path) {
    this.view.setSub(["map", ...path].map(encodeURIComponent).join("/"));
  }

  update() {
    const { by, key, inner } = this.#where;
    const { playback } = this.view;
    if (this.view.sub !== this.#path) {
      this.#path = this.view.sub;
      this.#narrow({ typed: "", page: 0 });
      this.find.value = "";
    }
    const find = inner ? "" : this.find.value.trim();
    const wish = `${playback.asOf}/${by}/${key}/${inner}/${this.#from}/${find}/${key ? "" : this.#sort(by)}`;
    if (wish === this.#shown) return;
    this.#shown = wish;
    this.#crumb(by, key, inner);
    // Of a predicate and a class the entries are asked for by class: a class is not found by its hash.
    const asked = inner
      ? by === "predicate"
        ? { by: "class", key: inner, find: key }
        : { by, key, find: inner }
      : { by, ...(key ? { key } : {}), ...(find ? { find } : {}) };
    const sort = key ? "" : this.#sort(by);
    this.#load(
      {
        source: playback.source,
        cycle: playback.asOf,
        from: this.#from,
        count: AT_ONCE,
        ...asked,
        ...(sort ? { sort } : {}),
      },
      wish,
    );
  }

  /** By what the server is to sort a level, "" by none. */
  #sort(by) {
    return sorting(this.#paged && this.#kept[`${by}/`], {
      [by]: "name",
      fit: "fits",
      fail: "fails",
      entries: "entries",
    });
  }

  /** Browse other rows; the address has them. */
  #narrow(change) {
    Object.assign(this.#list, change);
    this.view.lists.changed();
  }

  get #from() {
    return this.#list.page * AT_ONCE;
  }

  #sorted() {
    this.#narrow({ page: 0 });
    this.update();
  }

  /**
   * @param {string} level
   * @param {string} key
   */
  #name(level, key) {
    return level === "class" ? this.#names.get(key) || key : key;
  }

  #crumb(by, key, inner) {
    if (this.by.dataset.by !== by) {
      this.by.dataset.by = by;
      fill(
        this.by,
        segmented("Browse by", BY, by, (to) => this.#go(to)),
      );
    }
    const label = key ? `Filter by ${WITHIN[by].join(" or ")}` : `Filter ${ALL[by].slice(4)}`;
    this.find.placeholder = key ? "Filter" : label;
    this.find.setAttribute("aria-label", label);
    this.find.hidden = Boolean(inner);
    const path = [
      [ALL[by], [by]],
      ...(key ? [[this.#name(by, key), [by, key]]] : []),
      ...(inner ? [[this.#name(WITHIN[by][0], inner), [by, key, inner]]] : []),
    ];
    fill(
      this.crumbs,
      path.map(([text, to], i) => [
        i ? h("span", { class: "dim", "aria-hidden": "true", text: " › " }) : null,
        i === path.length - 1
          ? h("b", { "aria-current": "location", title: text, text: ellipsis(text, 40) })
          : inline(() => this.#go(...to), { title: text }, ellipsis(text, 40)),
      ]),
    );
  }

  async #load(ask, wish) {
    const { playback } = this.view;
    loading(this.table);
    try {
      const found = await playback.socket.call("cache.map", ask);
      if (wish !== this.#shown) return;
      if (!found.rows.length && this.#from) {
        this.view.emit("wrong", `page.map=${this.#list.page}`);
        this.#narrow({ page: 0 });
        this.update();
        return;
      }
      this.#paint(found, ask);
    } catch (error) {
      if (error.code === "request.superseded" || wish !== this.#shown) return;
      this.#shown = "";
      fill(this.table, h("p", { class: "note error", text: error.message }));
      this.table.classList.remove("waiting");
    }
  }

  #paint(found, { find }) {
    const { by, key, inner } = this.#where;
    this.table.classList.remove("waiting");
    for (const row of found.rows) this.#names.set(row.hash ?? row.key, row.class ?? row.label);
    fill(
      this.pages,
      pager(
        { from: found.from, total: found.count, size: AT_ONCE, shown: found.rows.length, what: "the map" },
        (to) => {
          this.#turned = focusedNow()?.dataset.turn ?? "";
          this.#narrow({ page: Math.floor(to / AT_ONCE) });
          this.update();
        },
      ),
    );
    this.#crumb(by, key, inner);
    if (!found.rows.length) {
      fill(
        this.table,
        this.crumbs,
        h("p", {
          class: "grid-none dim",
          role: "status",
          text:
            find && !inner
              ? `No matches for ${find}.`
              : key
                ? "The cache holds nothing valid here after this cycle."
                : "The cache is empty after this cycle.",
        }),
      );
      return;
    }
    this.#paged = !key && found.count > found.rows.length;
    keeping(this.table, () =>
      fill(
        this.table,
        tabled(key ? this.#entries(found.rows, by, key, inner) : this.#groups(found, by), {
          kept: this.#kept,
          name: `${by}/${key ? "entries" : ""}`,
          head: [this.crumbs, h("span", { class: "grow" }), this.pages],
          elsewhere: this.#paged ? () => this.#sorted() : null,
        }),
      ),
    );
    refocus(this.pages, this.#turned);
    this.#turned = "";
  }

  /** The first level: how much there is of each. */
  #groups(found, by) {
    const { view } = this;
    const most = Math.max(1, ...found.rows.map((row) => row.entries));
    const name = (row) =>
      inline(
        () => this.#go(by, row.key),
        {
          title: by === "class" ? `class ${row.key}` : row.key,
          ...(row.label.length > 34 ? { "aria-label": row.label } : {}),
        },
        ellipsis(row.label || row.key, 34),
      );
    return h(
      "table",
      { class: "list tight" },
      h("caption", { class: "sr", text: `Valid entries of the cache by ${by}` }),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col", text: by }),
          h("td"),
          ["fit", "fail", "entries"].map((text) => h("th", { scope: "col", class: "num", text })),
        ),
      ),
      h(
        "tbody",
        null,
        found.rows.map((row) =>
          h(
            "tr",
            by === "node" ? aboutNode(view, row.key) : null,
            h("th", { scope: "row", class: by === "class" ? undefined : "mono" }, name(row)),
            h(
              "td",
              { class: "bar-cell" },
              h(
                "span",
                { class: "source-bar", "aria-hidden": "true" },
                h("i", { class: "fits", style: { width: `${(row.fits / most) * 100}%` } }),
                h("i", { class: "fails", style: { width: `${(row.fails / most) * 100}%` } }),
              ),
            ),
            h("td", { class: `num ${row.fits ? "" : "nil"}`.trim(), text: count(row.fits) }),
            h("td", { class: `num ${row.fails ? "fail-text" : "nil"}`, text: count(row.fails) }),
            h("td", { class: "num", text: count(row.entries) }),
          ),
        ),
      ),
    );
  }

  /** The entries themselves; what repeats from row to row is written once. */
  #entries(rows, by, key, inner) {
    const { view } = this;
    const { names } = view.playback.nodes;
    const cells = {
      node: { of: (row) => names[row.node], show: (row) => nodeLink(view, row.node) },
      predicate: {
        of: (row) => row.predicate,
        show: (row) =>
          inline(
            () => this.#go(by, key, row.predicate),
            { title: `${row.predicate} only`, class: "link nowrap" },
            row.predicate,
          ),
      },
      class: {
        of: (row) => row.hash,
        show: (row) =>
          inline(
            () => (by === "predicate" ? this.#go(by, key, row.hash) : this.#go("class", row.hash)),
            { title: `class ${row.hash}` },
            ellipsis(row.class || row.hash, 44),
          ),
      },
    };
    const columns = WITHIN[by].slice(inner ? 1 : 0);
    let last = null;
    const shown = rows
      .filter((row) => !inner || row.predicate === (by === "predicate" ? key : inner))
      .map((row) => {
        const [outer, ...more] = columns.map((name) => cells[name]);
        const same = more.length > 0 && outer.of(row) === last;
        last = outer.of(row);
        return h(
          "tr",
          { class: same ? "again" : undefined, ...aboutNode(view, row.node) },
          h("th", { scope: "row" }, outer.show(row)),
          more.map(({ show }) => h("td", null, show(row))),
          h("td", { class: "answer-cell" }, answer(row.reasons, row.fit)),
          h("td", { class: "num" }, cycleLink(view, row.written)),
        );
      });
    return h(
      "table",
      { class: `list tight ${inner ? "" : "entries"}`.trim() },
      h("caption", { class: "sr", text: "Valid entries of the cache" }),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          [...columns, "answer"].map((text) => h("th", { scope: "col", text })),
          h("th", { scope: "col", class: "num", text: "written" }),
        ),
      ),
      h("tbody", null, shown),
    );
  }
}

// The Cache tab, Classes: every class with its members, and whether two pods are of one.

import { $, h, fill, icon, debounce, focusedNow } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { count, ellipsis, plural } from "../../lib/quantity.js";
import { keeping, tabled } from "../../lib/tables.js";
import { CacheEqual } from "./cacheequal.js";
import { aboutNode } from "./byhand.js";
import { loading, nodeLink, pager, podLink, refocus } from "./cachebyhand.js";
import { sorting } from "./cachewords.js";
/** @import { View } from "../view.js" */

const AT_ONCE = 25;
const MEMBERS = 50;
const WHERE = { "-1": "pending", "-2": "deleted or not created yet" };

export class CacheClasses {
  #shown = "";
  #list; // {typed, page} of the classes
  #turned = "";
  #rows = null; // the page that is drawn
  #members = null; // of the class that is open
  #kept; // how it is sorted
  #paged = false; // whether there are more than one page: then the server sorts

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("cache");
    this.#list = view.lists.list("cache", "classes");
    this.find = h("input", {
      value: this.#list.typed,
      type: "search",
      class: "field filter",
      placeholder: "Filter classes",
      "aria-label": "Filter classes by name",
      autocomplete: "off",
      spellcheck: "false",
      oninput: debounce(() => {
        this.#narrow({ typed: this.find.value, page: 0 });
        this.update();
      }, 150),
    });
    this.pages = h("span");
    this.note = h("small", { class: "dim num", role: "status" });
    this.head = h("h3", null, "Classes ", this.note);
    this.list = h("div", { class: "cache-rows" });
    this.equal = new CacheEqual(view);
    this.element = h("div", { class: "cache-classes" }, h("section", null, this.list), this.equal.element);
  }

  /** Show other rows; the address has them. */
  #narrow(change) {
    Object.assign(this.#list, change);
    this.view.lists.changed();
  }

  get #from() {
    return this.#list.page * AT_ONCE;
  }

  /** Open a class, or none; the pods that are compared stay. */
  #show(hash) {
    this.#memberPage.page = 0;
    const [, , ...pods] = this.view.sub.split("/");
    this.view.setSub(pods.length === 2 ? ["classes", hash, ...pods].join("/") : hash ? `classes/${hash}` : "classes");
  }

  /** The class that is open, as the address asks. */
  get #open() {
    const [view, hash = ""] = this.view.sub.split("/");
    return view === "classes" ? hash : "";
  }

  update() {
    const { playback } = this.view;
    this.equal.update();
    const find = this.find.value.trim();
    const sort = sorting(this.#paged && this.#kept.classes, { class: "name", pods: "members", entries: "entries" });
    const wish = `${playback.asOf}/${this.#from}/${find}/${sort}`;
    const open = this.#open;
    if (open && (this.#members?.hash !== open || this.#members.cycle !== playback.asOf))
      this.#loadMembers(open, this.#memberPage.page * MEMBERS);
    if (wish !== this.#shown) {
      this.#shown = wish;
      this.#load(
        {
          source: playback.source,
          cycle: playback.asOf,
          from: this.#from,
          count: AT_ONCE,
          ...(find ? { find } : {}),
          ...(sort ? { sort } : {}),
        },
        wish,
      );
    } else if (this.#rows) this.#paint();
  }

  async #load(ask, wish) {
    loading(this.list);
    try {
      const found = await this.view.playback.socket.call("cache.classes", ask);
      if (wish !== this.#shown) return;
      this.#rows = found;
      this.#paint();
    } catch (error) {
      if (error.code === "request.superseded" || wish !== this.#shown) return;
      this.#shown = "";
      fill(this.list, h("p", { class: "note error", text: error.message }));
    }
    this.list.classList.remove("waiting");
  }

  get #memberPage() {
    return this.view.lists.list("cache", "members");
  }

  /** @param {number} to */
  #turnMembers(to) {
    this.#memberPage.page = Math.floor(to / MEMBERS);
    this.view.lists.changed();
    this.#loadMembers(this.#members.hash, to);
  }

  async #loadMembers(hash, from) {
    const { playback } = this.view;
    const cycle = playback.asOf;
    const before = this.#members?.hash === hash ? this.#members : null;
    this.#members = before ? { ...before, cycle } : { hash, cycle, rows: null };
    try {
      const found = await playback.socket.call("cache.members", {
        source: playback.source,
        cycle,
        hash,
        from,
        count: MEMBERS,
      });
      if (this.#open !== hash || playback.asOf !== cycle) return;
      this.#members = { ...found, cycle };
      if (this.#rows) this.#paint();
    } catch (error) {
      if (error.code !== "request.superseded") playback.emit("failed", error);
    }
  }

  #paint() {
    const found = this.#rows;
    const open = this.#open;
    const held = this.list.contains(document.activeElement) ? focusedNow().dataset.class : "";
    const typing = document.activeElement === this.find;
    this.#paged = found.count > found.rows.length;
    const without = found.without ? `, and ${plural(found.without, "pod")} without one` : "";
    this.note.textContent = plural(found.count, "class", "classes") + without;
    fill(
      this.pages,
      pager(
        { from: found.from, total: found.count, size: AT_ONCE, shown: found.rows.length, what: "classes" },
        (to) => {
          this.#turned = focusedNow()?.dataset.turn ?? "";
          this.#narrow({ page: Math.floor(to / AT_ONCE) });
          this.update();
        },
      ),
    );
    const { cache } = this.view.playback.parts ?? {};
    const here = cache && "class" in cache ? cache.class?.hash : undefined;
    const listed = found.rows.some((row) => row.hash === open);
    const apart =
      open && !listed && this.#members?.rows
        ? [{ hash: open, name: this.#members.name, members: this.#members.count, entries: null }]
        : [];
    if (!found.rows.length && !apart.length) {
      fill(
        this.list,
        h("div", { class: "tabled-tools" }, this.head, this.find),
        h("p", {
          class: "grid-none dim",
          role: "status",
          text: this.find.value.trim()
            ? `No class matches ${this.find.value.trim()}.`
            : "No pod of this cluster has a class: pods without a controller take the normal path.",
        }),
      );
      if (typing) this.find.focus({ preventScroll: true });
      return;
    }
    keeping(this.list, () =>
      fill(
        this.list,
        tabled(
          h(
            "table",
            { class: "list tight classes" },
            h("caption", { class: "sr", text: "Equivalence classes, most members first" }),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                h("th", { scope: "col", text: "class" }),
                h("th", { scope: "col", class: "num", text: "pods" }),
                h("th", {
                  scope: "col",
                  class: "num",
                  title: "Valid entries of the cache after this cycle",
                  text: "entries",
                }),
              ),
            ),
            h(
              "tbody",
              null,
              [...apart, ...found.rows].map((row) => this.#row(row, row.hash === open, row.hash === here)),
            ),
          ),
          {
            kept: this.#kept,
            name: "classes",
            head: [this.head, this.pages],
            tools: this.find,
            elsewhere: this.#paged
              ? () => {
                  this.#narrow({ page: 0 });
                  this.update();
                }
              : null,
          },
        ),
      ),
    );
    if (typing) this.find.focus({ preventScroll: true });
    refocus(this.pages, this.#turned);
    this.#turned = "";
    if (held) $(`[data-class="${held}"]`, this.list)?.focus();
  }

  #row(row, open, here) {
    const { view } = this;
    const id = `class-${row.hash}`;
    return [
      h(
        "tr",
        { class: open ? "won" : undefined },
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
                "aria-label": `Members of ${row.name}`,
                "data-class": row.hash,
                onclick: () => this.#show(open ? "" : row.hash),
              },
              icon("right"),
            ),
            h(
              "span",
              { class: "class-name" },
              h("span", { text: ellipsis(row.name, 44), title: row.name }),
              " ",
              h("small", { class: "mono dim", text: row.hash }),
              here ? [" ", h("span", { class: "pill accent", text: "this cycle" })] : null,
            ),
          ),
        ),
        h("td", { class: "num", text: count(row.members) }),
        h(
          "td",
          { class: "num", "data-value": row.entries ?? "" },
          row.entries
            ? inline(
                () => view.setSub(`map/class/${row.hash}`),
                { title: "browse them in the map", class: "link num" },
                count(row.entries),
              )
            : h("span", { class: "nil", text: row.entries === null ? "" : "0" }),
        ),
      ),
      h("tr", { class: "run-row follows", id, hidden: !open }, h("td", { colspan: "3" }, open ? this.#people() : null)),
    ];
  }

  #people() {
    const { view } = this;
    const members = this.#members;
    if (!members?.rows) return h("p", { class: "dim", text: "Loading its members…" });
    return h(
      "div",
      { class: "members" },
      h(
        "ul",
        null,
        members.rows.map(([key, node]) =>
          h(
            "li",
            aboutNode(view, node),
            podLink(view, key),
            node >= 0
              ? h("small", null, h("span", { class: "dim", text: "on " }), nodeLink(view, node, 18))
              : h("small", { class: "dim", text: WHERE[node] ?? "" }),
          ),
        ),
      ),
      pager(
        { from: members.from, total: members.count, size: MEMBERS, shown: members.rows.length, what: "members" },
        (to) => this.#turnMembers(to),
      ),
    );
  }
}

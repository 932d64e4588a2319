// Priorities, under v1.37 Score: what every feasible node scored, as map, reduced or weighted, and the sum, in either
// orientation; and how a tie was broken.

import { $, h, fill, focusedNow, icon, targetOf } from "../../lib/dom.js";
import { Grid } from "../../lib/grid.js";
import { count, plural } from "../../lib/quantity.js";
import { Column } from "./column.js";
import { before, later } from "./byhand.js";
import { copyButton, filterField, segmented } from "./matrix.js";
import { capital, termsIn } from "../terms.js";
import { rankedIn } from "../playback/records.js";
import { rankedOf } from "./ranked.js";
import { Weighing } from "./weighing.js";
import { sentence } from "./byhand.js";
import { winner } from "./winner.js";
import { columnsIn, nodeRows, priorityIds, priorityRows, priorityTsv } from "./scores.js";
/** @import { Light, NodeIndex, Terms } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const MODES = [
  ["raw", "Map"],
  ["score", "Reduced"],
  ["weighted", "Weighted"],
  ["sum", "Combine"],
];
const USUAL = "weighted";
/** @type {Record<string, (terms: Terms) => [head: string, ask: string]>} */
const NONE = {
  unschedulable: () => ["There was nothing to rank.", "See what removed the nodes"],
  scheduled: ({ scorers }) => [
    `${capital(scorers)} were not run, because only one node fits.`,
    "See what removed the others",
  ],
  error: () => ["No node was ranked in this cycle.", ""],
};

export class Priorities {
  #mode = USUAL;
  #across = false; // nodes as columns
  #list; // {find, sort, cell, page}: the priority that was picked, by its name, and the page of nodes as columns
  #shown = "";
  #drawn = 0; // nodes of the page that is drawn

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.summary = h("div", { class: "priority-summary" });
    this.note = h("small", { class: "dim num", role: "status" });
    this.title = h("span");
    const list = (this.#list = view.lists.list("priorities", "matrix", { sort: "total", down: true }));
    const options = { signal: view.panels.signal, label: "", className: "matrix scores" };
    this.byNode = new Grid({
      ...options,
      kept: list,
      onSort: () => view.lists.changed(),
      onUnknown: () => view.lists.unknown(list, "matrix"),
      onHover: (node) => view.hover(node),
      onSelect: (node, key) => this.#cell(node, key),
      onHead: (key) => this.#head(key),
    });
    this.byPriority = new Grid({
      ...options,
      className: "matrix scores across",
      onSelect: (id, key) => {
        this.#head(key);
        this.#pick(id);
      },
      onHead: (key) => this.#head(key),
      onCopy: () => this.#tsv(),
    });

    const column = (/** @type {Event} */ event) => {
      const key =
        this.byPriority.columns[Number(targetOf(event).closest("[data-column]")?.dataset.column ?? 0)]?.key ?? "";
      view.hover(/^n\d+$/.test(key) ? Number(key.slice(1)) : -1);
    };
    this.byPriority.element.addEventListener("pointerover", column);
    this.byPriority.element.addEventListener("focusin", column);
    this.byPriority.element.addEventListener("pointerleave", () => view.hover(-1));
    this.byPriority.element.addEventListener("focusout", () => view.hover(-1));
    this.pager = h("span", { class: "pager", role: "group", "aria-label": "Nodes shown" });
    this.column = new Column(view, (index) => this.#pick(index));
    this.weighing = new Weighing(view, { apply: (...tried) => view.settings.weigh(...tried) });
    this.holder = h("div", { class: "score-holder" });
    this.values = segmented("Values", MODES, USUAL, (mode) => this.#choose(mode, this.#across));
    this.rows = segmented(
      "Rows are",
      [
        ["nodes", "Nodes"],
        ["priorities", "Priorities"],
      ],
      "nodes",
      (rows) => this.#choose(this.#mode, rows === "priorities"),
    );
    this.section = h(
      "section",
      { class: "matrix-section" },
      h("h3", null, this.title, this.note),
      h(
        "div",
        { class: "matrix-tools" },
        filterField(
          "Filter nodes by name",
          (find) => {
            list.find = find;
            this.#turn();
            view.lists.changed();
            this.#matrix();
          },
          list,
        ),
        this.values,
        h(
          "span",
          { class: "rows-are" },
          h("span", { class: "dim fine", "aria-hidden": "true", text: "rows" }),
          this.rows,
        ),
        copyButton({
          tsv: () => this.#tsv(),
          get count() {
            return rankedIn(view.playback.parts)?.nodes.length ?? 0;
          },
        }),
      ),
      this.pager,
      this.holder,
    );
    this.element = h("div", { class: "priorities-tab" });
    view.on(
      "hover",
      (node) => {
        this.byNode.hover(node);
        this.#column(node);
      },
      view.panels,
    );
    view.on(
      "selection",
      () => {
        if (this.element.isConnected) this.#selected();
      },
      view.panels,
    );
    view.on(
      "sub",
      () => {
        if (this.element.isConnected) this.update();
      },
      view.panels,
    );
    new ResizeObserver(() => {
      if (this.#across && this.element.isConnected && this.#size !== this.#drawn) {
        this.#turn();
        this.#matrix();
      }
    }).observe(this.holder);
  }

  /**
   * Show other values, or the other way round; the address has it as the tab's view, `sum` or `raw/priorities`.
   *
   * @param {string} mode
   * @param {boolean} across
   */
  #choose(mode, across) {
    this.view.setSub(mode === USUAL && !across ? "" : across ? `${mode}/priorities` : mode);
  }

  /** Take over what the address asks for. */
  #read() {
    const [mode, rows] = this.view.sub.split("/");
    this.#mode = MODES.some(([key]) => key === mode) ? mode : USUAL;
    this.#across = rows === "priorities";
    this.values.choose(this.#mode);
    this.rows.choose(this.#across ? "priorities" : "nodes");
  }

  update() {
    const { view } = this;
    this.#read();
    const light = view.playback.current;
    if (!light) {
      this.#show("before", () => before(view));
      return;
    }
    const parts = view.playback.parts;
    if (!parts) {
      this.section.classList.add("waiting");
      return;
    }
    this.section.classList.remove("waiting");
    const ranked = rankedIn(parts);
    this.#call();
    if (!ranked) {
      this.#shown = "";
      fill(
        this.element,
        this.#nothing(light, parts.priorities && "why" in parts.priorities ? parts.priorities.why : ""),
      );
      return;
    }
    this.#show("matrix", () => [this.summary, this.weighing.element, this.section, this.column.element]);
    fill(
      this.summary,
      winner(view, light, ranked),
      ranked.said?.length
        ? h(
            "div",
            { class: "story surprises" },
            ranked.said.map((parts) => sentence(view, parts, { priority: (name) => this.#pickNamed(name) })),
          )
        : null,
    );
    // It shows at once who wins, and needs to know how ties are broken.
    const known = !ranked.release || Boolean(ranked.turns);
    this.weighing.element.hidden = !known || (ranked.winner === null && !view.playback.reached.over);
    if (!this.weighing.element.hidden) this.weighing.show(ranked);
    this.#turn();
    this.#matrix();
  }

  /** Call everything as the release that decided calls it. */
  #call() {
    const { column, columns, raw, score } = termsIn(this.view.playback);
    this.title.textContent = this.#across ? `${capital(column)} × node ` : `Node × ${column} `;
    this.byNode.label = `Node by ${column}`;
    this.byPriority.label = `${capital(column)} by node`;
    this.values.label("raw", raw);
    this.values.label("score", score);
    this.rows.label("priorities", capital(columns));
  }

  #show(what, make) {
    if (this.#shown === what) return;
    this.#shown = what;
    fill(this.element, make());
  }

  /** @param {Light} light */
  #nothing(light, why) {
    const { view } = this;
    if (light.result === "undecided") return later(view, "No node is ranked at this moment.");
    const [head, ask] = (NONE[light.result] ?? NONE.error)(termsIn(view.playback));
    return h(
      "div",
      { class: "empty" },
      h("b", { text: head }),
      h("span", { text: String(why) }),
      ask ? h("button", { type: "button", class: "btn", onclick: () => view.setTab("predicates"), text: ask }) : null,
    );
  }

  // --- the matrix -------------------------------------------------------------------------

  get #ranked() {
    return rankedIn(this.view.playback.parts);
  }

  get #made() {
    return rankedOf(this.#ranked, this.view.playback.nodes.names);
  }

  get #at() {
    return this.#made.rows.findIndex((row) => row.name === this.#list.cell);
  }

  get #size() {
    return columnsIn(this.holder.clientWidth || 360);
  }

  /** The nodes that the filter leaves, best first. */
  #nodes() {
    const { names } = this.view.playback.nodes;
    const made = this.#made;
    return made.order
      .map((i) => made.nodes[i])
      .filter((node) => !this.#list.find || names[node].toLowerCase().includes(this.#list.find));
  }

  #matrix() {
    const { view } = this;
    const ranked = this.#ranked;
    if (!ranked) return;
    const made = this.#made;
    const { names } = view.playback.nodes;
    const nodes = this.#nodes();
    this.note.textContent =
      nodes.length === made.nodes.length
        ? plural(nodes.length, "feasible node")
        : `${count(nodes.length)} of ${plural(made.nodes.length, "feasible node")}`;
    const grid = this.#across ? this.byPriority : this.byNode;
    if (this.holder.firstChild !== grid.element) fill(this.holder, grid.element);
    if (this.#across) this.#pageOf(nodes);
    else {
      fill(this.pager);
      grid.hovered = view.hovered;
      grid.selected = view.node;
      grid.show(nodeRows(ranked, made, names, this.#mode, this.#at), nodes);
    }
    this.column.show(ranked, made, this.#at);
  }

  /**
   * Nodes as columns: the hovered one's is lit.
   *
   * @param {number} node
   */
  #column(node) {
    if (!this.#across || !this.byPriority.element.isConnected) return;
    for (const cell of this.byPriority.element.querySelectorAll(".lit-column")) cell.classList.remove("lit-column");
    const at = node < 0 ? -1 : this.byPriority.columns.findIndex(({ key }) => key === `n${node}`);
    if (at > 0)
      for (const cell of this.byPriority.element.querySelectorAll(`[data-column="${at}"]`))
        cell.classList.add("lit-column");
  }

  /** @param {NodeIndex[]} nodes */
  #pageOf(nodes) {
    const { names } = this.view.playback.nodes;
    const made = this.#made;
    const size = this.#size;
    this.#drawn = size;
    const pages = Math.max(1, Math.ceil(nodes.length / size));
    this.#list.page = Math.min(this.#list.page, pages - 1);
    const shown = nodes.slice(this.#list.page * size, (this.#list.page + 1) * size);
    const columns = priorityRows(this.#ranked, made, names, this.#mode, shown, this.view.node);
    this.byPriority.selected = this.#at;
    this.byPriority.show(columns, shown.length ? priorityIds(made, this.#mode) : []);
    const turn = (by, label, name) =>
      h(
        "button",
        {
          type: "button",
          class: "btn quiet square",
          "aria-label": label,
          title: label,
          disabled: this.#list.page + by < 0 || this.#list.page + by >= pages,
          "data-turn": by,
          onclick: () => {
            this.#list.page += by;
            this.#matrix();
            (
              this.pager.querySelector(`[data-turn="${by}"]:not([disabled])`)
              ?? this.pager.querySelector("button:not([disabled])")
            )?.focus();
            this.view.lists.changed();
          },
        },
        icon(name),
      );
    fill(
      this.pager,
      pages > 1
        ? [
            turn(-1, "Better nodes", "left"),
            h("span", {
              class: "num",
              role: "status",
              text:
                `${count(this.#list.page * size + 1)} to ${count(this.#list.page * size + shown.length)} `
                + `of ${plural(nodes.length, "node")}, best first`,
            }),
            turn(1, "Further nodes", "right"),
          ]
        : null,
    );
  }

  #tsv() {
    if (!this.#across) return this.byNode.tsv();
    return priorityTsv(this.#ranked, this.#made, this.view.playback.nodes.names, this.#mode, this.#nodes());
  }

  // --- choosing ---------------------------------------------------------------------------

  /**
   * @param {number} node
   * @param {string} key
   */
  #cell(node, key) {
    this.view.selectNode(node);
    this.#head(key);
  }

  /**
   * A column was chosen: a priority by `r3`, a node by `n17`.
   *
   * @param {string} key
   */
  #head(key) {
    const number = Number(key?.slice(1));
    if (/^r\d+$/.test(key)) this.#pick(number);
    else if (/^n\d+$/.test(key)) this.view.selectNode(number);
  }

  /** @param {number} index */
  #pick(index) {
    const name = this.#made.rows[index]?.name;
    if (!name) return;
    this.#list.cell = name;
    this.view.lists.changed();
    const focused = focusedNow()?.dataset.priority;
    this.#matrix();
    this.column.reveal();
    if (focused !== undefined) $(`[data-priority="${index}"]`, this.column.element)?.focus();
  }

  /** @param {string} name */
  #pickNamed(name) {
    this.#pick(this.#made.rows.findIndex((row) => row.name === name));
  }

  #selected() {
    const { view } = this;
    const ranked = this.#ranked;
    this.byNode.select(view.node);
    if (view.node >= 0 && !this.#across) this.byNode.reveal(view.node);
    if (!ranked) return;
    if (this.#across) {
      this.#turn();
      this.#matrix();
    } else this.column.show(ranked, this.#made, this.#at);
  }

  /** Turn to the page of nodes as columns that shows the selected node, or else the chosen one. */
  #turn() {
    const ranked = this.#ranked;
    this.#list.page = 0;
    if (!ranked || !this.#across) return;
    const { node } = this.view;
    const at = this.#nodes().indexOf(this.#made.at.has(node) ? node : ranked.winner);
    if (at >= 0) this.#list.page = Math.floor(at / this.#size);
  }
}

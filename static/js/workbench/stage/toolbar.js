// What stands over the stage: how many nodes and pods there are, what the marks mean, and how the nodes are shown.

import { $, fill, h, icon, set } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { MEASURES } from "./shading.js";
import { UNREACHED } from "../verdict.js";
import { isDouble, viewsOf } from "./windows.js";
/** @import { View } from "../view.js" */

export class Toolbar {
  #marksText = "";

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.element = h("div", { class: "stage-tools" });
  }

  /** Draw it for a picture: `heat` is the heat map, null where the nodes are cards; `rooms`: their pods are blocks. */
  draw(heat, rooms) {
    const { view } = this;
    const asTable = view.shown.stage === "table";
    this.note = h("span", { class: "lit-note", role: "status" });
    const axes = rooms && h("span", { class: "dim axes", text: "Blocks: width is cpu, height is memory" });
    this.count = h("span", { class: "dim num stage-count" });
    const table = h(
      "button",
      {
        type: "button",
        class: "btn quiet small",
        "aria-pressed": String(asTable),
        "data-stage-table": true,
        "aria-label": "Nodes as a table",
        title: "Nodes as a table (t)",
      },
      icon("table"),
      h("span", { class: "long", text: "Nodes as a table" }),
      h("span", { class: "brief", text: "Table" }),
    );
    table.addEventListener("click", () => {
      view.setShown({ stage: view.shown.stage === "table" ? "" : "table" });
      $("[data-stage-table]", this.element)?.focus({ preventScroll: true });
    });
    const measures =
      heat
      && h(
        "label",
        { class: "measure" },
        h("span", { text: "shade by" }),
        set(
          h(
            "select",
            { class: "field", "aria-label": "Shade nodes by" },
            Object.entries(MEASURES).map(([value, text]) =>
              h("option", { value, text, selected: value === heat.measure || undefined }),
            ),
          ),
          {
            onchange: (event) => {
              heat.measure = event.target.value;
              this.element.classList.toggle("plain", heat.measure === "colour");
              heat.update();
              view.setShown({ shade: heat.measure });
            },
          },
        ),
        h("span", { class: "ramp", "aria-hidden": "true" }),
        h("span", { class: "ramp-ends", text: "0 to 100 %" }),
      );
    const zoom =
      heat
      && h(
        "span",
        { class: "zoomers" },
        h(
          "button",
          { type: "button", class: "btn quiet square", "aria-label": "Zoom out", onclick: () => heat.zoom(1 / 1.6) },
          icon("minus"),
        ),
        h(
          "button",
          { type: "button", class: "btn quiet square", "aria-label": "Zoom in", onclick: () => heat.zoom(1.6) },
          icon("plus"),
        ),
        h(
          "button",
          { type: "button", class: "btn quiet square", "aria-label": "Show all nodes", onclick: () => heat.fit() },
          icon("fit"),
        ),
      );
    this.element.classList.toggle("plain", heat?.measure === "colour");
    this.element.classList.toggle("overview", Boolean(heat));
    this.ghosts = h("ul", { class: "ghosts pods", "aria-label": "Marks on the nodes" });
    fill(
      this.element,
      this.count,
      asTable ? null : axes,
      this.ghosts,
      this.note,
      h("span", { class: "grow" }),
      measures,
      zoom,
      table,
    );
  }

  /** How many nodes there are, and pods on them; those that are being deleted there count for themselves. */
  showCount() {
    const { playback } = this.view;
    const { nodes, cluster } = playback;
    const present =
      nodes.since || nodes.until ? nodes.names.filter((_, node) => this.view.exists(node)).length : nodes.names.length;
    const leaving = [...playback.terminating].filter((pod) => cluster.placement[pod] >= 0).length;
    const [placed, pods] = [cluster.placed - leaving, cluster.present - leaving];
    const words = [plural(present, "node"), `${count(placed)} of ${plural(pods, "pod")} placed`];
    if (leaving) words.push(`${count(leaving)} Terminating`);
    this.count.textContent = words.join(" · ");
  }

  /** What the marks on the nodes mean, as far as there are any: the overview has no room for words beside them. */
  showMarks(heat) {
    const { view } = this;
    const { waiting, nominated } = view.facts;
    const { nodes } = view.playback;
    const double = heat ? (viewsOf(view)?.windows.filter(isDouble).length ?? 0) : 0;
    let [failed, unreached, ill] = [0, 0, 0];
    if (heat) {
      for (let node = 0; node < nodes.names.length; node += 1) {
        if (!view.exists(node)) continue;
        const state = view.verdictOf(node);
        if (state === "failed") failed += 1;
        else if (state === "unreached") unreached += 1;
        if (nodes.unschedulable[node] || nodes.conditions[node].length) ill += 1;
      }
    }
    /** @type {[there: boolean, className: string, text: string][]} */
    const all = [
      [nominated >= 0, "pod ghost", "nominated"],
      [waiting.size > 0, "pod waiting", `${count(waiting.size)} waiting at Permit`],
      [failed > 0, "cell-mark no", `${count(failed)} ${failed === 1 ? "does" : "do"} not fit`],
      [unreached > 0, "cell-mark dim", `${count(unreached)} ${UNREACHED}`],
      [double > 0, "cell-mark double", `${count(double)} double-booked`],
      [ill > 0, "cell-mark ill", `${count(ill)} cordoned or not ready`],
    ];
    const marks = all.filter(([there]) => there);
    const drawn = marks.map(([, , text]) => text).join("|");
    if (drawn === this.#marksText && this.ghosts.childElementCount === marks.length) return;
    this.#marksText = drawn;
    fill(
      this.ghosts,
      marks.map(([, className, text]) => h("li", null, h("i", { class: className }), text)),
    );
  }

  /** Which nodes are lit up. */
  showLit() {
    const { lit } = this.view;
    fill(
      this.note,
      lit
        ? [
            h("span", { class: "pill fail" }, `${plural(lit.nodes.size, "node")}: ${lit.label}`),
            h(
              "button",
              {
                type: "button",
                class: "btn quiet square tiny",
                "aria-label": "Stop highlighting",
                onclick: () => this.view.light(null),
              },
              icon("close"),
            ),
          ]
        : null,
    );
  }
}

// A KubeSchedulerConfiguration: its profiles, and at each extension point the plugins that run, in order, on and off,
// with weights and arguments.

import { h } from "../../lib/dom.js";
import { plural } from "../../lib/quantity.js";
import { movable, moved, movers } from "./order.js";
import { takesArguments } from "./arguments.js";
import { pluginForm } from "./forms.js";
import { profileBar } from "./profile_bar.js";
import { weightControl } from "./weight.js";
/** @import { Catalogue, Framework } from "../../lib/protocol.js" */

const OPEN = new Set(["filter", "score"]); // points that are open at first
const REORDER = new Set(["filter", "score", "preFilter", "preScore"]);

export class Profiles {
  #at = 0;
  #open = new Set(OPEN);

  /** `options`: `{change(what, key, value, words), ask(what, key, value, words), redraw()}`. */
  constructor(options) {
    this.options = options;
  }

  /**
   * @param {Framework} framework
   * @param {Catalogue} catalogue
   * @param {boolean} editable
   */
  draw(framework, catalogue, editable) {
    const { profiles, version } = framework;
    this.#at = Math.min(this.#at, profiles.length - 1);
    const profile = profiles[this.#at];
    const known = catalogue.plugins.filter(({ versions }) => versions.includes(version));
    return h(
      "section",
      { class: "policy-part profiles", "aria-labelledby": "policy-profiles" },
      h(
        "h3",
        { id: "policy-profiles" },
        "Profiles ",
        h("small", { class: "dim", text: `${version}, ${plural(profiles.length, "profile")}` }),
      ),
      profileBar({
        profiles,
        at: this.#at,
        editable,
        change: this.options.change,
        select: (to) => {
          this.#at = to;
          this.options.redraw();
        },
      }),
      framework.points.includes("multiPoint") ? this.#everywhere(profile, known, editable) : null,
      framework.points
        .filter((point) => point !== "multiPoint")
        .map((point) => this.#point(point, profile, known, editable)),
    );
  }

  /** multiPoint: a plugin wherever it works. */
  #everywhere(profile, known, editable) {
    const runs = (plugin) =>
      plugin.points.filter((point) => profile.points[point]?.some(([name]) => name === plugin.name));
    return this.#details(
      "multiPoint",
      "wherever a plugin works",
      h(
        "ul",
        { class: "policy-rows" },
        known.map((plugin) => {
          const on = runs(plugin);
          return h(
            "li",
            { class: on.length ? "" : "off" },
            h(
              "div",
              { class: "what" },
              h("span", { class: "name", text: plugin.name }),
              h("small", {
                class: "dim",
                text:
                  on.length && on.length < plugin.points.length ? `only at ${on.join(", ")}` : plugin.points.join(", "),
              }),
            ),
            this.#switch(`0:multiPoint:${plugin.name}`, plugin.name, on.length > 0, editable, (value) =>
              this.options.change(
                "plugin",
                `${this.#at}/multiPoint/${plugin.name}`,
                value ? "on" : "off",
                `${plugin.name} ${value ? "on" : "off"} at all its points`,
              ),
            ),
          );
        }),
      ),
    );
  }

  #details(point, hint, ...body) {
    return h(
      "details",
      {
        class: "point",
        open: this.#open.has(point) || undefined,
        ontoggle: (event) => {
          if (event.target.open) this.#open.add(point);
          else this.#open.delete(point);
        },
      },
      h(
        "summary",
        { "data-control": `point:${point}` },
        h("b", { text: point }),
        h("span", { class: "dim", text: ` ${hint}` }),
      ),
      body,
    );
  }

  #switch(control, label, on, editable, act) {
    return h("input", {
      type: "checkbox",
      role: "switch",
      class: "switch",
      "data-control": control,
      checked: on || undefined,
      disabled: !editable || undefined,
      "aria-label": label,
      onchange: (event) => act(event.target.checked),
    });
  }

  #point(point, profile, known, editable) {
    const running = profile.points[point] ?? [];
    const off = known.filter(
      (plugin) => plugin.points.includes(point) && !running.some(([name]) => name === plugin.name),
    );
    const orders = editable && REORDER.has(point) && running.length > 1;
    const { change } = this.options;
    const act = (/** @type {string} */ name) => (value) =>
      change(
        "plugin",
        `${this.#at}/${point}/${name}`,
        value ? "on" : "off",
        `${name} ${value ? "on" : "off"} at ${point}`,
      );
    const list = h(
      "ol",
      { class: "policy-rows" },
      running.map(([name, weight], i) =>
        this.#row({
          point,
          name,
          weight,
          at: i,
          size: running.length,
          profile,
          known,
          editable,
          orders,
          act: act(name),
        }),
      ),
    );
    if (orders)
      movable(list, (from, to) =>
        change(
          "plugins",
          `${this.#at}/${point}`,
          JSON.stringify(
            moved(
              running.map(([name]) => name),
              from,
              to,
            ),
          ),
          `${running[from][0]} at place ${to + 1} of ${point}`,
        ),
      );
    const written = profile.written[point];
    const listed = written?.disabled.includes("*")
      ? "all plugins of this point"
      : written
        ? ["enabled", "disabled"]
            .filter((which) => written[which].length)
            .map((which) => `${which}: ${written[which].join(", ")}`)
            .join("; ")
        : "";
    return this.#details(
      point,
      running.length ? plural(running.length, "plugin") : "nothing runs",
      listed ? h("p", { class: "dim fine", text: `Written here: ${listed}.` }) : null,
      point === "filter"
        ? h("p", { class: "dim fine", text: "They run in this order, and evaluation stops at a node’s first failure." })
        : null,
      running.length ? list : null,
      off.length
        ? h(
            "ul",
            { class: "policy-rows" },
            off.map((plugin) =>
              h(
                "li",
                { class: "off" },
                h("div", { class: "what" }, h("span", { class: "name", text: plugin.name })),
                this.#switch(
                  `${point}:${plugin.name}`,
                  `${plugin.name} at ${point}`,
                  false,
                  editable,
                  act(plugin.name),
                ),
              ),
            ),
          )
        : null,
    );
  }

  #row({ point, name, weight, at, size, profile, known, editable, orders, act }) {
    const plugin = known.find((one) => one.name === name);
    const move = orders ? movers(name, at, size) : null;
    const rule = point === "filter" ? plugin?.predicates.join(", ") : point === "score" ? plugin?.priority : "";
    const written = profile.arguments[name];
    return h(
      "li",
      { "data-name": name },
      move?.handle ?? null,
      h("span", { class: "place num", text: String(at + 1) }),
      h(
        "div",
        { class: "what" },
        h("span", { class: "name", title: plugin?.differs.join("; "), text: name }),
        h("small", {
          class: "dim",
          text: rule || (point === "filter" || point === "score" ? "nothing is evaluated" : ""),
        }),
        takesArguments(name) && editable && (point === "filter" || point === "score" || plugin?.points[0] === point)
          ? h("button", {
              type: "button",
              class: "link fine",
              "data-control": `arguments:${point}:${name}`,
              "aria-label": `Arguments of ${name}`,
              onclick: () =>
                pluginForm(name, written, (value) =>
                  this.options.ask("arguments", `${this.#at}/${name}`, value, `arguments of ${name}`),
                ),
              text: written ? "arguments (given)" : "arguments",
            })
          : written
            ? h("small", { class: "dim", text: "with arguments" })
            : null,
        point === "score"
          ? weightControl({
              control: `weight:${name}`,
              name,
              weight,
              editable,
              act: (value) =>
                this.options.change(
                  "weight",
                  `${this.#at}/${name}`,
                  value,
                  `${name} ${value === "0" ? "off" : `weight ${value}`}`,
                ),
            })
          : null,
      ),
      move?.buttons ?? null,
      this.#switch(`${point}:${name}`, `${name} at ${point}`, true, editable, act),
    );
  }
}

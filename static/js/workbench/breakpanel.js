// The panel of breakpoints: the selection is offered first, any other condition can be put together, and those that are
// set are listed.

import { $, $$, h, fill, icon, copy, dialog, toast } from "../lib/dom.js";
import { plural } from "../lib/quantity.js";
import { FULL } from "./breakpoints.js";
import { KINDS, condition, named, parse, words } from "./conditions.js";
/** @import { Breakpoints } from "./breakpoints.js" */
/** @import { Stops } from "./stops.js" */
/** @import { View } from "./view.js" */

/** @typedef {{ pod?: number, node?: number, predicate?: string, cycle?: number }} About what a condition is about */

const ALWAYS = ["preemption", "unschedulable", "stale", "group", "operation"];
const SUGGESTED = 300; // names in a list of suggestions

export class Points {
  #box = null;

  /**
   * @param {View} view
   * @param {{ breakpoints: Breakpoints, stops: Stops, href: () => string }} parts
   */
  constructor(view, { breakpoints, stops, href }) {
    this.view = view;
    this.breakpoints = breakpoints;
    this.stops = stops;
    this.href = href;
    breakpoints.on("changed", () => {
      for (const button of $$("[data-break]"))
        button.setAttribute("aria-pressed", String(breakpoints.has(button.dataset.break)));
      if (this.#box?.open) this.#draw();
    });
  }

  /**
   * The condition of a wish: `{pod}`, `{node}` or `{cycle}` by index, `{predicate}` by name with or without a node.
   *
   * @param {About} about
   */
  condition({ pod, node, predicate, cycle }) {
    const { nodes, pods } = this.view.playback;
    if (predicate !== undefined) return condition("predicate", predicate, node >= 0 ? nodes.names[node] : "");
    if (pod >= 0) return condition("pod", pods.keys[pod]);
    if (node >= 0) return condition("node", nodes.names[node]);
    return cycle ? condition("cycle", String(cycle)) : "";
  }

  /**
   * What to offer: what has the focus or is selected, then this cycle's own, then what needs no name.
   *
   * @param {About} about
   */
  #offers({ pod, node }) {
    const { view } = this;
    const { playback } = view;
    const { index } = playback;
    const light = playback.current;
    const found = [];
    const on = node ?? view.node;
    const about = pod ?? (view.pod >= 0 ? view.pod : -1);
    if (about >= 0) found.push(this.condition({ pod: about }), condition("unschedulable", playback.pods.keys[about]));
    if (on >= 0) {
      found.push(this.condition({ node: on }));
      const { verdict } = view.facts;
      if (verdict?.reached(on) && !verdict.fits(on))
        found.push(this.condition({ predicate: verdict.order[verdict.first[on]], node: on }));
      found.push(condition("predicate", "", playback.nodes.names[on]));
    }
    if (light) {
      if (about < 0 && view.facts.pod >= 0) found.push(this.condition({ pod: light.pod }));
      const stopped = light.ladder.find(([, into, out]) => into !== out);
      if (stopped) found.push(condition("predicate", stopped[0]));
      found.push(this.condition({ cycle: index }));
    }
    const { marks } = playback;
    const there = { stale: marks.cached, group: marks.groups.size > 0, operation: marks.operations > 0 };
    return [...new Set([...found, ...ALWAYS.filter((kind) => there[kind] ?? true)])].filter(
      (text) => !this.breakpoints.has(text),
    );
  }

  /** @param {About} [about] */
  open(about = {}) {
    if (!this.view.playback.nodes) return;
    this.view.emit("hold");
    this.about = about;
    this.list = h("div", { class: "point-list" });
    this.offers = h("div", { class: "point-offers", role: "group", "aria-label": "Stop when" });
    this.#box = dialog("Breakpoints", this.offers, this.#form(), this.list);
    this.#box.classList.add("points-dialog");
    this.#draw();
    this.offers.querySelector("button")?.focus();
  }

  #draw() {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.point;
    this.#offer();
    this.#listed();
    if (focused) ($(`[data-point="${CSS.escape(focused)}"]`, this.#box) ?? $("[data-point]", this.#box))?.focus();
  }

  #offer() {
    fill(
      this.offers,
      h("h3", { text: "Stop when" }),
      h(
        "div",
        { class: "chips" },
        this.#offers(this.about).map((text) =>
          h(
            "button",
            { type: "button", class: "btn small", "data-point": `+${text}`, onclick: () => this.#add(text) },
            icon("plus"),
            words(text),
          ),
        ),
      ),
    );
  }

  /** @param {string} text */
  #add(text) {
    if (this.breakpoints.add(text)) return true;
    toast(FULL, { name: "warn" });
    return false;
  }

  #form() {
    const { playback } = this.view;
    const id = `names-${Math.random().toString(36).slice(2, 8)}`;
    const kind = h(
      "select",
      { class: "field", "aria-label": "Stop when", onchange: () => ask() },
      Object.entries(KINDS).map(([value, { title }]) => h("option", { value, text: title })),
    );
    const names = h("datalist", { id });
    const places = h("datalist", { id: `${id}-within` });
    const about = h("input", { class: "field", list: id, autocomplete: "off", spellcheck: "false" });
    const within = h("input", { class: "field", list: `${id}-within`, autocomplete: "off", spellcheck: "false" });
    const wrong = h("p", { class: "stale-text", role: "alert" });
    const { nodes, pods, marks } = playback;
    const groups = () => [...new Set([...marks.groups.values()].flat().map(([, group]) => group))];
    const known = {
      predicate: () => named(playback.parts?.predicates?.order ?? playback.policy.predicates),
      node: () => nodes.names,
      pod: () => pods.keys,
      group: groups,
      cycle: () => [],
    };
    const phases = () => [
      ...new Set([
        "rejected",
        "timeout",
        ...[...marks.groups.values()]
          .flat()
          .map(([, , phase]) => phase)
          .filter(Boolean),
      ]),
    ];
    const options = (list, all) =>
      fill(
        list,
        all.slice(0, SUGGESTED).map((value) => h("option", { value })),
      );
    const ask = () => {
      const row = KINDS[kind.value];
      about.hidden = !row.about;
      within.hidden = !row.within;
      about.setAttribute("aria-label", row.about ?? "");
      about.placeholder = row.about ? `${row.about}${row.needs ? "" : ", or any"}` : "";
      within.setAttribute("aria-label", row.within ?? "");
      within.placeholder = row.within ? `${row.within}, or any` : "";
      options(names, row.about ? known[row.about]() : []);
      options(places, row.within === "node" ? nodes.names : row.within ? phases() : []);
    };
    ask();
    return h(
      "form",
      {
        class: "point-form",
        method: "dialog",
        onsubmit: (event) => {
          event.preventDefault();
          const row = KINDS[kind.value];
          const name = about.value.trim();
          // Without a namespace it is in "default", as for kubectl.
          const pod = row.about === "pod" && name && !name.includes("/") ? `default/${name}` : name;
          const text = condition(kind.value, row.about ? pod : "", row.within ? within.value.trim() : "");
          const unknown =
            row.about === "node" && name && !playback.nodeIndex.has(name)
              ? `There is no node ${name}.`
              : row.about === "pod" && name && !playback.timed && !playback.podIndex.has(pod)
                ? `There is no pod ${pod}.`
                : "";
          wrong.textContent = parse(text)
            ? unknown
            : row.about === "cycle"
              ? "Which cycle? A number from 1."
              : `Which ${row.about}?`;
          if (wrong.textContent || !this.#add(text)) return;
          about.value = within.value = "";
        },
      },
      kind,
      about,
      within,
      h("button", { class: "btn primary", "aria-label": "Set this breakpoint" }, icon("plus"), "Set"),
      names,
      places,
      wrong,
    );
  }

  #listed() {
    const { breakpoints, stops } = this;
    if (!breakpoints.list.length) {
      fill(
        this.list,
        h("p", {
          class: "dim",
          text: "No breakpoint is set. Play and “run to the next break” stop where a condition holds.",
        }),
      );
      return;
    }
    const run = (/** @type {number} */ direction) => {
      this.#box.close();
      stops.run("break", direction);
    };
    fill(
      this.list,
      h("h3", { text: "Set" }),
      h(
        "ul",
        null,
        breakpoints.list.map(({ text, on }) => {
          const known = breakpoints.count(text);
          return h(
            "li",
            { class: on ? undefined : "off" },
            h(
              "label",
              null,
              h("input", {
                type: "checkbox",
                checked: on || undefined,
                "data-point": `=${text}`,
                onchange: (event) => breakpoints.enable(text, event.target.checked),
              }),
              h("span", { text: words(text) }),
            ),
            h("small", {
              class: "dim num",
              text: known
                ? plural(known, "cycle")
                : KINDS[parse(text).kind].marked
                  ? this.view.seen.last < this.view.playback.cycles
                    ? "nowhere so far"
                    : "nowhere"
                  : "to be searched",
            }),
            h(
              "button",
              {
                type: "button",
                class: "btn quiet square small",
                "aria-label": `Remove: ${words(text)}`,
                "data-point": `-${text}`,
                onclick: () => breakpoints.remove(text),
              },
              icon("close"),
            ),
          );
        }),
      ),
      h(
        "div",
        { class: "point-run" },
        h(
          "button",
          { type: "button", class: "btn", title: "Shift r", onclick: () => run(-1) },
          icon("left"),
          "Back to the previous break",
        ),
        h(
          "button",
          { type: "button", class: "btn primary", title: "r", onclick: () => run(1) },
          "Run to the next break",
          icon("right"),
        ),
        h("span", { class: "grow" }),
        h(
          "button",
          { type: "button", class: "btn quiet", onclick: () => this.#link() },
          icon("copy"),
          "Copy a link with them",
        ),
        h("button", { type: "button", class: "btn quiet danger", onclick: () => breakpoints.clear() }, "Remove all"),
      ),
    );
  }

  async #link() {
    const href = location.origin + this.href();
    const { link } = this.breakpoints;
    toast(
      (await copy(link ? `${href}${href.includes("?") ? "&" : "?"}${link}` : href))
        ? "The link is copied."
        : "The link could not be copied.",
    );
  }
}

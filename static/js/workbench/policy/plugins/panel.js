// What kube-scheduler v1.37 runs, as controls: profiles, its plugins as they are declared, their order, feature gates.

import { h } from "../../../lib/dom.js";
import { plural } from "../../../lib/quantity.js";
import { profileBar } from "../profile_bar.js";
import { gatesPart } from "./gates.js";
import { nodesToScore } from "./nodes.js";
import { orderPart } from "./order.js";
import { pluginRow } from "./row.js";
/** @import { Catalogue, PluginForm, PluginRow, ProfileForm } from "../../../lib/protocol.js" */

/**
 * How changes are made: `make` puts one in force and returns what is wrong, or ""; `attempt` does so and returns the
 * errors with their fields.
 *
 * @typedef {{
 *   make: (what: string, key: string, value: string, words: string) => Promise<string>,
 *   attempt: (what: string, key: string, value: string, words: string) => Promise<Refusal | null>,
 *   redraw: () => void,
 * }} Making
 */
/** @typedef {{ message: string, errors: { path: string, message: string }[] }} Refusal */
/**
 * What the parts draw from and act by: `act` makes a change of the control named first, and shows what is wrong with it
 * there.
 *
 * @typedef {{
 *   form: PluginForm,
 *   catalogue: Catalogue,
 *   profile: ProfileForm,
 *   at: number,
 *   editable: boolean,
 *   settable: boolean,
 *   open: Set<string>,
 *   wrong: (control: string) => HTMLElement | null,
 *   act: (control: string, what: string, key: string, value: string, words: string) => void,
 *   refuse: (control: string, text: string) => void,
 *   attempt: Making["attempt"],
 * }} Panel
 */

/** @type {[title: string, hint: string, holds: (row: PluginRow) => boolean][]} */
const GROUPS = [
  ["Score plugins", "0 takes one out", ({ weight }) => weight > 0],
  ["Filter plugins", "which nodes fit", ({ weight, points }) => !weight && points.includes("filter")],
  ["Other plugins", "queue, preemption, binding", ({ weight, points }) => !weight && !points.includes("filter")],
];

export class Plugins {
  #at = 0;
  /** @type {Set<string>} */
  #open = new Set();
  #wrong = { control: "", text: "" };

  /** @param {Making} making */
  constructor(making) {
    this.making = making;
  }

  /**
   * @param {PluginForm} form
   * @param {Catalogue} catalogue
   * @param {{ editable: boolean, settable: boolean }} able
   */
  draw(form, catalogue, { editable, settable }) {
    this.#at = Math.min(this.#at, form.profiles.length - 1);
    /** @type {Panel} */
    const panel = {
      form,
      catalogue,
      profile: form.profiles[this.#at],
      at: this.#at,
      editable,
      settable,
      open: this.#open,
      wrong: (control) => this.#errorAt(control),
      act: (...change) => this.#act(...change),
      refuse: (control, text) => this.#refuse(control, text),
      attempt: this.making.attempt,
    };
    return [
      this.#profiles(panel),
      GROUPS.map(([title, hint, holds], i) => group(panel, `policy-plugins-${i}`, title, hint, holds)),
      orderPart(panel),
      gatesPart(panel),
    ];
  }

  /** @param {Panel} panel */
  #profiles(panel) {
    const { form, editable } = panel;
    return h(
      "section",
      { class: "policy-part", "aria-labelledby": "policy-profiles" },
      h(
        "h3",
        { id: "policy-profiles" },
        "Profiles ",
        h("small", { class: "dim", text: plural(form.profiles.length, "profile") }),
      ),
      profileBar({
        profiles: form.profiles,
        at: this.#at,
        editable,
        change: (...change) => this.#act("profile", ...change),
        select: (to) => {
          this.#at = to;
          this.making.redraw();
        },
      }),
      this.#errorAt("profile"),
      nodesToScore(panel),
    );
  }

  /** @param {string} control */
  #errorAt(control) {
    const { control: at, text } = this.#wrong;
    return at === control ? h("p", { class: "stale-text field-error", role: "alert", text }) : null;
  }

  /**
   * @param {string} control
   * @param {string} text
   */
  #refuse(control, text) {
    this.#wrong = { control, text };
    this.making.redraw();
  }

  /**
   * @param {string} control
   * @param {[what: string, key: string, value: string, words: string]} change
   */
  async #act(control, ...change) {
    this.#wrong = { control: "", text: "" };
    const text = await this.making.make(...change);
    if (text) this.#refuse(control, text);
  }
}

/**
 * @param {Panel} panel
 * @param {string} id
 * @param {string} title
 * @param {string} hint
 * @param {(row: PluginRow) => boolean} holds
 */
function group(panel, id, title, hint, holds) {
  const rows = panel.catalogue.v1_37.plugins.filter(holds);
  return h(
    "section",
    { class: "policy-part plugins", "aria-labelledby": id },
    h("h3", { id }, `${title} `, h("small", { class: "dim", text: hint })),
    h(
      "ul",
      { class: "plugin-rows" },
      rows.map((row) => pluginRow(panel, row)),
    ),
  );
}

// The descheduler in the Policy tab: when it runs, and the plugins of each profile of its policy with their arguments.

import { h } from "../../lib/dom.js";
import { byWord, number } from "./controls.js";
import { argumentsForm } from "./plugins/dialog.js";
import { isWritten, shown, valueAt } from "./plugins/values.js";
/** @import { Descheduler, DeschedulerPlugin, DeschedulerProfile } from "../../lib/protocol.js" */
/** @import { PolicyForm } from "./controls.js" */
/** @import { Refusal } from "./plugins/panel.js" */

const MOST_PASSES = 1000;
const REFERENCE = "/reference/descheduler/";
const ALWAYS = "filter"; // the point of what runs in any case

/**
 * @typedef {PolicyForm & {
 *   attempt: (what: string, key: string, value: string, words: string) => Promise<Refusal | null>,
 * }} DeschedulerForm
 */

/**
 * Its controls, or where the scenario has no descheduler what adds one. `landing`: changes land at a step, where they
 * have no effect.
 *
 * @param {DeschedulerForm} given
 * @param {Descheduler | null} descheduler
 * @param {boolean} landing
 */
export function deschedulerPart(given, descheduler, landing) {
  const form = { ...given, editable: given.settable && !landing };
  if (!descheduler) return form.editable ? part(adding(form)) : null;
  const { interval, passes, dryRun, profiles } = descheduler;
  return part(
    landing
      ? h("p", { class: "dim fine", text: "It is settled from the start: choose that changes land at the start." })
      : null,
    h(
      "label",
      { class: "policy-setting" },
      h("span", { text: "Seconds between passes" }),
      number(
        form,
        "descheduler-interval",
        interval,
        1,
        86_400,
        (value) => form.change("descheduler", "interval", `${value}s`, `a pass every ${value} s`),
        "Seconds between passes",
      ),
    ),
    h(
      "label",
      { class: "policy-setting" },
      h("span", { text: "Passes at most" }),
      number(
        form,
        "descheduler-passes",
        passes,
        1,
        MOST_PASSES,
        (value) => form.change("descheduler", "passes", value, `at most ${value} passes`),
        "Passes at most",
      ),
    ),
    h(
      "label",
      { class: "policy-setting" },
      h("span", { text: "Dry run: evict nothing" }),
      box(form, "descheduler-dryRun", dryRun, (on) =>
        form.change("descheduler", "dryRun", String(on), `dry run ${on ? "on" : "off"}`),
      ),
    ),
    profiles.length
      ? profiles.map((one, at) => profile(form, profiles, one, at))
      : h("p", { class: "dim fine", text: "A policy of v1alpha1 is edited in the YAML." }),
    form.editable ? acts(form, profiles) : null,
  );
}

/** @param {import("../../lib/dom.js").Child[]} children */
const part = (...children) =>
  h(
    "section",
    { class: "policy-part", "aria-labelledby": "policy-descheduler", "data-part": "descheduler" },
    h(
      "h3",
      { id: "policy-descheduler", tabindex: "-1" },
      "Descheduler ",
      h("a", { class: "fine", href: REFERENCE, text: "what it does" }),
    ),
    ...children,
  );

/** @param {DeschedulerForm} form */
const adding = (form) => [
  h("p", {
    class: "dim fine",
    text:
      "None runs. One evicts pods at an interval from where they should no longer be, "
      + "and their controllers create replacements.",
  }),
  h("button", {
    type: "button",
    class: "btn small",
    "data-control": "descheduling",
    onclick: () => form.change("descheduling", "", "on", "a descheduler with LowNodeUtilization, every 5 minutes"),
    text: "Add a descheduler",
  }),
];

/**
 * @param {DeschedulerForm} form
 * @param {DeschedulerProfile[]} profiles
 */
function acts(form, profiles) {
  const names = new Set(profiles.map(({ name }) => name));
  let next = `profile-${profiles.length + 1}`;
  while (names.has(next)) next += "-2";
  return h(
    "div",
    { class: "descheduler-acts" },
    profiles.length
      ? h("button", {
          type: "button",
          class: "btn small",
          "data-control": "descheduler-profile",
          onclick: () => form.change("descheduler-profile", "+", next, `the profile ${next}`),
          text: "Add a profile",
        })
      : null,
    h("button", {
      type: "button",
      class: "btn small quiet",
      "data-control": "descheduling-off",
      onclick: () => form.change("descheduling", "", "", "no descheduler"),
      text: "Remove the descheduler",
    }),
  );
}

/**
 * @param {DeschedulerForm} form
 * @param {DeschedulerProfile[]} profiles
 * @param {DeschedulerProfile} given
 * @param {number} at
 */
function profile(form, profiles, given, at) {
  const title = profiles.length > 1 ? `Profile ${given.name || at + 1}` : "Plugins";
  return h(
    "section",
    { class: "descheduler-profile", "aria-label": title },
    h(
      "h4",
      null,
      title,
      form.editable && profiles.length > 1
        ? h("button", {
            type: "button",
            class: "link fine",
            "aria-label": `Remove the profile ${given.name || at + 1}`,
            onclick: () => form.change("descheduler-profile", String(at), "", `without the profile ${given.name}`),
            text: "remove",
          })
        : null,
    ),
    h(
      "ul",
      { class: "descheduler-plugins", "aria-label": `${title} of the descheduler` },
      form.catalogue.descheduler.map((row) => plugin(form, row, given, at)),
    ),
  );
}

/**
 * @param {DeschedulerForm} form
 * @param {DeschedulerPlugin} row
 * @param {DeschedulerProfile} given
 * @param {number} at
 */
function plugin(form, row, given, at) {
  const { name, point, words } = row;
  const always = point === ALWAYS;
  const on = always || given.enabled.includes(name);
  const key = `${at}/${name}`;
  const args = given.arguments[name] ?? {};
  const wrong = h("p", { class: "wrong fine", role: "alert" });
  const toggled = async (/** @type {boolean} */ enabled) => {
    wrong.textContent = await form.ask("strategy", key, enabled ? "on" : "", `${name} ${enabled ? "on" : "off"}`);
  };
  return h(
    "li",
    { "data-name": name },
    h(
      "label",
      { class: "policy-setting" },
      h("span", null, h("b", null, byWord(name)), h("small", { class: "dim", text: ` ${point}: ${words}` })),
      always ? null : box(form, `descheduler-${key}`, on, toggled, `Enable ${name}`),
    ),
    on ? written(form, row, args, key) : null,
    wrong,
  );
}

/**
 * The arguments that are written, and a button for all of them.
 *
 * @param {DeschedulerForm} form
 * @param {DeschedulerPlugin} row
 * @param {Record<string, any>} args
 * @param {string} key
 */
function written(form, row, args, key) {
  const change = async (/** @type {string} */ value) =>
    relative(await form.attempt("strategy", key, value || "{}", `the arguments of ${row.name}`));
  const listed = row.arguments.filter((one) => isWritten(one, args));
  return h(
    "div",
    { class: "descheduler-arguments" },
    h(
      "dl",
      null,
      listed.flatMap((one) => [
        h("dt", { text: one.path }),
        h("dd", { text: shown(one, valueAt(args, one.path)) || "none" }),
      ]),
    ),
    form.editable
      ? h("button", {
          type: "button",
          class: "link fine",
          "data-control": `descheduler-args-${key}`,
          "aria-label": `Arguments of ${row.name}`,
          onclick: () => argumentsForm(row, args, change),
          text: "Arguments…",
        })
      : null,
  );
}

/**
 * A refusal with paths within the arguments.
 *
 * @param {Refusal | null} refusal
 */
const relative = (refusal) =>
  refusal && {
    ...refusal,
    errors: refusal.errors.map((one) => ({ ...one, path: one.path.replace(/^.*?\.args\.?/, "") })),
  };

/**
 * @param {PolicyForm} form
 * @param {string} control
 * @param {boolean} on
 * @param {(on: boolean) => void} act
 * @param {string} [label]
 */
const box = (form, control, on, act, label) =>
  h("input", {
    type: "checkbox",
    role: "switch",
    class: "switch",
    "data-control": control,
    "aria-label": label,
    checked: on || undefined,
    disabled: !form.editable || undefined,
    onchange: (event) => act(event.target.checked),
  });

// The descheduler in the Policy tab: when it runs, and the plugins of its policy with their arguments.

import { h } from "../../lib/dom.js";
import { number } from "./controls.js";
/** @import { Descheduler } from "../../lib/protocol.js" */
/** @import { PolicyForm } from "./controls.js" */

const MOST_PASSES = 1000;
const REFERENCE = "/reference/descheduler/";

/**
 * Its controls; null where the scenario has no descheduler. `landing`: changes land at a step, where they have no
 * effect.
 *
 * @param {PolicyForm} given
 * @param {Descheduler | null} descheduler
 * @param {boolean} landing
 */
export function deschedulerPart(given, descheduler, landing) {
  if (!descheduler) return null;
  const form = { ...given, editable: given.settable && !landing };
  const { interval, passes, dryRun, plugins } = descheduler;
  return h(
    "section",
    { class: "policy-part", "aria-labelledby": "policy-descheduler", "data-part": "descheduler" },
    h(
      "h3",
      { id: "policy-descheduler", tabindex: "-1" },
      "Descheduler ",
      h("a", { class: "fine", href: REFERENCE, text: "what it does" }),
    ),
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
    plugins.length
      ? h(
          "ul",
          { class: "descheduler-plugins", "aria-label": "Plugins of the descheduler" },
          plugins.map((one) => plugin(form, one)),
        )
      : h("p", { class: "dim fine", text: "A policy of v1alpha1 is edited in the YAML." }),
  );
}

/**
 * @param {PolicyForm} form
 * @param {Descheduler["plugins"][number]} given
 */
function plugin(form, [name, point, words, on, args]) {
  const wrong = h("p", { class: "wrong fine", role: "alert" });
  const field = h("textarea", {
    class: "field mono",
    rows: 3,
    spellcheck: "false",
    "aria-label": `args of ${name}, as JSON`,
    "data-control": `descheduler-args-${name}`,
    disabled: !form.editable || undefined,
    onchange: async (event) => {
      wrong.textContent = await form.ask("strategy", name, event.target.value.trim() || "{}", `the args of ${name}`);
    },
  });
  field.value = args;
  const toggled = async (/** @type {boolean} */ enabled) => {
    wrong.textContent = await form.ask(
      "strategy",
      name,
      enabled ? (STARTING[name] ?? "{}") : "",
      `${name} ${enabled ? "on" : "off"}`,
    );
  };
  return h(
    "li",
    null,
    h(
      "label",
      { class: "policy-setting" },
      h("span", null, h("b", { text: name }), h("small", { class: "dim", text: ` ${point}: ${words}` })),
      box(form, `descheduler-${name}`, on, toggled, `Enable ${name}`),
    ),
    on ? field : null,
    wrong,
  );
}

/**
 * The arguments that a plugin cannot do without, when it is switched on.
 *
 * @type {Record<string, string>}
 */
const STARTING = {
  LowNodeUtilization: '{"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}',
  HighNodeUtilization: '{"thresholds": {"cpu": 20}}',
  RemovePodsViolatingNodeAffinity: '{"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]}',
  PodLifeTime: '{"maxPodLifeTimeSeconds": 86400}',
  RemovePodsHavingTooManyRestarts: '{"podRestartThreshold": 100}',
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

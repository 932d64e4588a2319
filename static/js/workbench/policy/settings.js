// The settings of the simulation in the Policy tab, and among them those of the equivalence cache.

import { h } from "../../lib/dom.js";
import { CACHE_SETTINGS } from "./cache_settings.js";
import { number, toggle } from "./controls.js";
/** @import { Policy } from "../../lib/protocol.js" */
/** @import { CacheSetting } from "./cache_settings.js" */
/** @import { PolicyForm } from "./controls.js" */

/** @type {[key: "predicateOrder" | "quirks", label: string, choices: [value: string, text: string][]][]} */
const SETTINGS = [
  [
    "predicateOrder",
    "Static order of predicates",
    [
      ["v1.11", "v1.11 (21)"],
      ["proposal", "proposal (16)"],
    ],
  ],
  [
    "quirks",
    "Quirks of v1.11",
    [
      ["v1.11", "as in v1.11"],
      ["fixed", "fixed"],
    ],
  ],
];
const REFERENCE = "/reference/cache/";

/**
 * @param {PolicyForm} form
 * @param {Policy} profile
 */
export function settingsPart(form, profile) {
  return h(
    "section",
    { class: "policy-part", "aria-label": "Settings" },
    SETTINGS.map(([key, label, choices]) =>
      h(
        "label",
        { class: "policy-setting" },
        h("span", { text: label }),
        h(
          "select",
          {
            class: "field",
            "data-control": key,
            disabled: !form.settable || undefined,
            onchange: (event) =>
              form.change("setting", key, event.target.value, `${label}: ${event.target.selectedOptions[0].text}`),
          },
          choices.map(([value, text]) => h("option", { value, text, selected: value === profile[key] || undefined })),
        ),
      ),
    ),
    toggle(
      form,
      "alwaysCheckAllPredicates",
      "Check all predicates on every node",
      profile.alwaysCheckAllPredicates,
      (on) => form.change("flag", "alwaysCheckAllPredicates", String(on), `check all predicates: ${on ? "on" : "off"}`),
      "policy-setting",
    ),
    h(
      "label",
      {
        class: "policy-setting",
        title: "hardPodAffinitySymmetricWeight: the weight of a required affinity term of another pod",
      },
      h("span", { text: "Weight of required affinity" }),
      number(form, "hard", profile.hardPodAffinitySymmetricWeight, 1, 100, (value) =>
        form.change("number", "hardPodAffinitySymmetricWeight", value, `hardPodAffinitySymmetricWeight ${value}`),
      ),
    ),
  );
}

/**
 * The equivalence cache: each setting with what its choice does, or why it does nothing.
 *
 * @param {PolicyForm} form
 * @param {Policy} profile
 */
export function cachePart(form, profile) {
  return h(
    "section",
    { class: "policy-part", "aria-labelledby": "policy-cache", "data-part": "cache" },
    h(
      "h3",
      { id: "policy-cache", tabindex: "-1" },
      "Equivalence cache ",
      h("a", { class: "fine", href: REFERENCE, text: "what it is" }),
    ),
    CACHE_SETTINGS.map((setting) => cacheSetting(form, setting, profile)),
  );
}

/**
 * @param {PolicyForm} form
 * @param {CacheSetting} setting
 * @param {Policy} profile
 */
function cacheSetting(form, { key, label, choices, idle }, profile) {
  const value = String(profile[key]);
  const without = idle(profile);
  const about = `policy-${key}-does`;
  const shared = {
    "data-control": key,
    "aria-describedby": about,
    disabled: !form.settable || Boolean(without) || undefined,
  };
  const change = (/** @type {string} */ to) =>
    form.change("setting", key, to, `${label}: ${choices.find(([name]) => name === to)[1]}`);
  const control =
    choices[0][0] === "true"
      ? h("input", {
          type: "checkbox",
          role: "switch",
          class: "switch",
          checked: value === "true" || undefined,
          onchange: (event) => change(String(event.target.checked)),
          ...shared,
        })
      : h(
          "select",
          { class: "field", onchange: (event) => change(event.target.value), ...shared },
          choices.map(([name, text]) => h("option", { value: name, text, selected: name === value || undefined })),
        );
  return [
    h("label", { class: "policy-setting" }, h("span", { text: label }), control),
    h("p", {
      class: "policy-does dim",
      id: about,
      text: without || (choices.find(([name]) => name === value)?.[2] ?? ""),
    }),
  ];
}

// The priorities of the Policy tab, with their weights.

import { h } from "../../lib/dom.js";
import { CUSTOM } from "./arguments.js";
import { REFERENCE, adder, argumentButton, brief, byWord, unused } from "./controls.js";
import { weightControl } from "./weight.js";
/** @import { Policy } from "../../lib/protocol.js" */
/** @import { PolicyForm } from "./controls.js" */

/**
 * @param {PolicyForm} form
 * @param {Policy} profile
 */
export function prioritiesPart(form, profile) {
  const rows = new Map(form.catalogue.priorities.map((row) => [row.name, row]));
  const used = new Set(profile.priorities.map(([name]) => name));
  const off = form.catalogue.priorities.filter(({ name }) => !used.has(name));
  const row = (/** @type {string} */ name, /** @type {number} */ weight) => {
    const argument = profile.arguments[name];
    return h(
      "li",
      { class: weight ? "" : "off" },
      h(
        "div",
        { class: "what" },
        h("a", { class: "name", href: `${REFERENCE}#${name}`, title: rows.get(name)?.text ?? "" }, byWord(name)),
        h("small", { class: "dim", text: rows.get(name)?.kind ?? "" }),
        argument
          ? h(
              "small",
              { class: "dim argued" },
              `${brief(argument)} `,
              CUSTOM.some(({ kind }) => kind in argument)
                ? argumentButton(form, { list: "priorities", name, argument, weight }, "Change")
                : null,
            )
          : null,
      ),
      weightControl({
        control: `weight:${name}`,
        name,
        weight,
        editable: form.editable,
        wrong: (text) => form.say(text, true),
        act: (value) => form.change("priority", name, value, `${name} ${value === "0" ? "off" : `weight ${value}`}`),
      }),
    );
  };
  const provider = h(
    "select",
    {
      class: "field",
      "aria-label": "Take a provider’s",
      "data-control": "provider",
      disabled: !form.editable || Boolean(form.framework) || undefined,
      onchange: (event) => {
        if (event.target.value) form.change("provider", "", event.target.value, `the ${event.target.value}`);
      },
    },
    h("option", { value: "", text: "Take a provider’s…" }),
    form.catalogue.providers.map((name) => h("option", { value: name, text: name })),
  );
  return h(
    "section",
    { class: "policy-part", "aria-labelledby": "policy-priorities" },
    h(
      "h3",
      { id: "policy-priorities" },
      "Priorities ",
      h("small", { class: "dim", text: used.size ? "by weight; 0 takes one out" : "none: every node counts 1" }),
    ),
    form.framework
      ? null
      : h(
          "div",
          { class: "policy-setting" },
          h("span", { class: "dim", text: "Predicates and priorities of" }),
          provider,
        ),
    h(
      "ul",
      { class: "policy-rows weights" },
      profile.priorities.map(([name, weight]) => row(name, weight)),
    ),
    adder(form, "priorities"),
    unused(
      form,
      "priorities",
      "policy-rows weights",
      off.map(({ name }) => row(name, 0)),
    ),
  );
}

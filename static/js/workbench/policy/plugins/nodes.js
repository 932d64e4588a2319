// percentageOfNodesToScore: of all profiles, and of one.

import { h } from "../../../lib/dom.js";
import { byWord } from "../controls.js";
/** @import { Panel } from "./panel.js" */

const FIELD = "percentageOfNodesToScore";
const DOES =
  "Filtering stops when this share of all nodes fits. Default and 0: adaptive, from 50 % down to 5 % as the cluster "
  + "grows. At least 100 nodes are looked for in any case.";

/** @param {Panel} panel */
export function nodesToScore(panel) {
  const { form, profile, at } = panel;
  const several = form.profiles.length > 1 || profile.percentage !== null;
  return [
    setting(panel, "nodes", several ? `${FIELD}, all profiles` : FIELD, "", form.percentage),
    several ? setting(panel, "own-nodes", `${FIELD}, ${profile.name}`, String(at), profile.percentage) : null,
    h("p", { class: "policy-does dim", id: "policy-nodes-does", text: DOES }),
  ];
}

/**
 * @param {Panel} panel
 * @param {string} control
 * @param {string} label
 * @param {string} key
 * @param {number | null} value
 */
function setting({ editable, act, wrong }, control, label, key, value) {
  const set = (/** @type {string} */ to) =>
    act(control, "percentage", key, to, to === "" ? `${label}: the default` : `${label} ${to}`);
  const refused = wrong(control);
  return [
    h(
      "div",
      { class: "policy-setting" },
      h("label", { for: `policy-${control}` }, byWord(label)),
      h(
        "span",
        { class: "with-default" },
        value === null
          ? h("small", { class: "dim", text: "default" })
          : h("button", {
              type: "button",
              class: "link fine",
              "data-control": `${control}:default`,
              "aria-label": `Default of ${label}`,
              disabled: !editable || undefined,
              onclick: () => set(""),
              text: "default",
            }),
        h("input", {
          class: "field weight num",
          id: `policy-${control}`,
          inputmode: "numeric",
          placeholder: key ? "as above" : "0",
          value: value ?? "",
          "data-control": control,
          "aria-describedby": "policy-nodes-does",
          "aria-invalid": refused ? "true" : undefined,
          disabled: !editable || undefined,
          onchange: (event) => set(event.target.value.trim()),
        }),
      ),
    ),
    refused,
  ];
}

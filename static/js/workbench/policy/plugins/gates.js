// The feature gates of kube-scheduler v1.37 in the settings: those that are simulated, and the others by name.

import { h } from "../../../lib/dom.js";
import { byWord } from "../controls.js";
/** @import { FeatureGate } from "../../../lib/protocol.js" */
/** @import { Panel } from "./panel.js" */

/** @param {Panel} panel */
export function gatesPart(panel) {
  const { gates } = panel.catalogue.v1_37;
  const others = gates.filter(({ does }) => !does);
  const set = others.filter(({ name }) => name in panel.form.gates).length;
  return h(
    "section",
    { class: "policy-part", "aria-labelledby": "policy-gates" },
    h("h3", { id: "policy-gates", text: "Feature gates" }),
    h(
      "ul",
      { class: "plugin-rows" },
      gates.filter(({ does }) => does).map((gate) => gateRow(panel, gate)),
    ),
    h(
      "details",
      {
        open: panel.open.has("gates") || undefined,
        ontoggle: (event) => {
          if (event.target.open) panel.open.add("gates");
          else panel.open.delete("gates");
        },
      },
      h("summary", { "data-control": "gates", text: `Not simulated: ${others.length}${set ? `, ${set} set` : ""}` }),
      h("p", {
        class: "dim fine",
        text: "One that is set otherwise than by default is a warning: it changes nothing.",
      }),
      h(
        "ul",
        { class: "plugin-rows" },
        others.map((gate) => gateRow(panel, gate)),
      ),
    ),
  );
}

/**
 * @param {Panel} panel
 * @param {FeatureGate} gate
 */
function gateRow({ form, settable, act, wrong }, { name, default: usual, locked, needs, does }) {
  const on = form.gates[name] ?? usual;
  const notes = [
    does,
    needs.length ? `needs ${needs.join(", ")}` : "",
    locked ? "locked to true" : on === usual ? "default" : `default: ${usual ? "on" : "off"}`,
  ];
  return h(
    "li",
    { "data-name": name, class: on ? "" : "off" },
    h(
      "div",
      { class: "plugin-head" },
      h("span", { class: "name" }, byWord(name)),
      h("input", {
        type: "checkbox",
        role: "switch",
        class: "switch",
        "data-control": `gate:${name}`,
        "aria-label": name,
        checked: on || undefined,
        disabled: !settable || locked || undefined,
        onchange: (event) =>
          act(`gate:${name}`, "gate", name, String(event.target.checked), `${name}: ${event.target.checked}`),
      }),
    ),
    h("p", { class: "dim fine", text: notes.filter(Boolean).join("; ") }),
    wrong(`gate:${name}`),
  );
}

// Common changes of an object: each rewrites its YAML, which is then applied.

import { announce, fill, h } from "../../lib/dom.js";
import { problemList } from "../../lib/editor.js";
import { releaseOf } from "../../lib/releases.js";
/** @import { View } from "../view.js" */

const TIMED = new Set(["fails", "recovers"]); // changes that only controllers know

// What the form of common changes offers: label, name of the first field ("": none), suggestions, name of the second
// one.
const FORMS = {
  label: ["Set a label", "label", "value", () => ["topology.kubernetes.io/zone", "app", "disk"]],
  unlabel: ["Take a label away", "label", "", () => []],
  taint: [
    "Add a taint",
    "key=value:effect",
    "",
    () => ["dedicated=batch:NoSchedule", "maintenance:NoExecute", "slow:PreferNoSchedule"],
  ],
  untaint: [
    "Take a taint away",
    "key=value:effect",
    "",
    (view, node) => (node === undefined ? [] : view.playback.nodes.taints[node]),
  ],
  allocatable: [
    "Set allocatable",
    "resource",
    "quantity",
    (view) => ["cpu", "memory", "pods", ...Object.keys(view.playback.nodes.extended ?? {})],
  ],
  condition: [
    "Set a condition",
    "type",
    "True or False",
    () => ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"],
  ],
  fails: ["Fail this node at", "", "seconds of virtual time", () => []],
  recovers: ["Recover at", "", "seconds of virtual time", () => []],
  replicas: ["Scale", "", "replicas", () => []],
};

/**
 * Cordon and the like: each rewrites the YAML below, so that one sees what it does before it is applied.
 *
 * @param {View} view
 */
export function commonChanges(view, revisions, { editor, problems, node }) {
  if (!revisions.length) return null;
  const revise = async (
    /** @type {string} */ what,
    /** @type {string} */ key = "",
    /** @type {string} */ value = "",
  ) => {
    try {
      const { object } = await view.playback.socket.call("object.revise", {
        object: editor.value,
        what,
        key,
        value,
      });
      const first = object.split("\n").findIndex((line, i) => line !== editor.value.split("\n")[i]);
      editor.value = object;
      fill(problems);
      if (first >= 0) editor.show(first + 1);
      paint();
      announce("The YAML is changed. Apply it to put it into the scenario.");
    } catch (error) {
      const errors = error.body?.errors;
      fill(problems, errors ? problemList(errors, editor) : h("p", { class: "stale-text", text: error.message }));
    }
  };
  const cordon = h("button", { type: "button", class: "btn", "data-quick": true });
  const paint = () => {
    const on = /^\s+"?unschedulable"?:\s*true/m.test(editor.value);
    cordon.textContent = on ? "Uncordon" : "Cordon";
    cordon.onclick = () => revise(on ? "uncordon" : "cordon");
  };
  paint();
  const controlled = releaseOf(view.playback.release).hasControllers;
  const offered = revisions.filter((what) => FORMS[what] && (controlled || !TIMED.has(what)));
  const what = h(
    "select",
    {
      class: "field",
      "aria-label": "Common change",
      ...(revisions.includes("cordon") ? {} : { "data-quick": true }),
      onchange: () => form(),
    },
    offered.map((name) => h("option", { value: name, text: FORMS[name][0] })),
  );
  const key = h("input", { class: "field mono", list: "edit-keys", autocomplete: "off", spellcheck: "false" });
  const value = h("input", { class: "field mono", autocomplete: "off", spellcheck: "false" });
  const known = h("datalist", { id: "edit-keys" });
  const form = () => {
    const [, first, second, suggest] = FORMS[what.value];
    key.hidden = !first;
    value.hidden = !second;
    for (const [field, text] of [
      [key, first],
      [value, second],
    ]) {
      field.placeholder = text;
      field.setAttribute("aria-label", text || "unused");
      field.value = "";
    }
    fill(
      known,
      suggest(view, node).map((text) => h("option", { value: text })),
    );
  };
  form();
  return h(
    "form",
    {
      class: "edit-common",
      onsubmit: (event) => {
        event.preventDefault();
        revise(what.value, key.value, value.value);
      },
    },
    revisions.includes("cordon") ? cordon : null,
    what,
    key,
    value,
    known,
    h("button", { class: "btn", text: "Put into the YAML" }),
  );
}

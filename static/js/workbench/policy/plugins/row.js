// A plugin of kube-scheduler v1.37: on or off, at which extension points, with which weight and arguments.

import { h } from "../../../lib/dom.js";
import { byWord } from "../controls.js";
import { weightControl } from "../weight.js";
import { argumentsForm } from "./dialog.js";
import { applies, inForce, isWritten, lastName, shown } from "./values.js";
/** @import { PluginRow } from "../../../lib/protocol.js" */
/** @import { Panel } from "./panel.js" */

const REFERENCE = "/reference/plugins/";

/**
 * @param {Panel} panel
 * @param {PluginRow} row
 */
export function pluginRow(panel, row) {
  const { name } = row;
  const { profile, at, editable } = panel;
  const runs = row.points.filter((point) => profile.points[point]?.includes(name));
  const locked = row.gate && !panel.form.gates[row.gate];
  return h(
    "li",
    { "data-name": name, class: runs.length ? "" : "off" },
    h(
      "div",
      { class: "plugin-head" },
      h("a", { class: "name", href: `${REFERENCE}#${name}`, title: row.otherwise }, byWord(name)),
      h("input", {
        type: "checkbox",
        role: "switch",
        class: "switch",
        "data-control": `plugin:${name}`,
        "aria-label": name,
        checked: runs.length > 0 || undefined,
        disabled: !editable || Boolean(locked) || undefined,
        onchange: (event) => {
          const value = event.target.checked ? "on" : "off";
          panel.act(`plugin:${name}`, "plugin", `${at}/multiPoint/${name}`, value, `${name} ${value}`);
        },
      }),
    ),
    h("p", {
      class: "dim fine",
      text: locked ? `needs the feature gate ${row.gate}` : row.prefers || row.filters || row.otherwise,
    }),
    row.weight && !locked ? weight(panel, row) : null,
    locked ? null : points(panel, row, runs),
    row.arguments.length ? argumentList(panel, row) : null,
    panel.wrong(`plugin:${name}`),
  );
}

/**
 * @param {Panel} panel
 * @param {PluginRow} row
 */
function weight({ profile, at, editable, act, refuse }, { name, weight: usual }) {
  const value = profile.weights[name] ?? 0;
  const set = (/** @type {string} */ to, /** @type {string} */ words) =>
    act(`plugin:${name}`, "weight", `${at}/${name}`, to, `${name} ${words}`);
  return h(
    "div",
    { class: "plugin-weight" },
    weightControl({
      control: `weight:${name}`,
      name,
      weight: value,
      editable,
      wrong: (text) => refuse(`plugin:${name}`, text),
      act: (to) => set(to, to === "0" ? "off at score" : `weight ${to}`),
    }),
    value === usual
      ? h("small", { class: "dim", text: "default" })
      : editable
        ? h("button", {
            type: "button",
            class: "link fine",
            "data-control": `weight:${name}:default`,
            "aria-label": `Default weight of ${name}`,
            onclick: () => set("", `weight ${usual}, the default`),
            text: `default ${usual}`,
          })
        : h("small", { class: "dim", text: `default ${usual}` }),
  );
}

/**
 * The extension points that it implements, each switched on or off.
 *
 * @param {Panel} panel
 * @param {PluginRow} row
 * @param {string[]} runs
 */
function points({ at, editable, open, act }, { name, points: all }, runs) {
  const off = all.filter((point) => !runs.includes(point));
  const summary = !runs.length
    ? "off"
    : off.length
      ? [h("span", { text: `at ${runs.join(", ")}; ` }), h("b", { text: `off at ${off.join(", ")}` })]
      : `at ${all.join(", ")}`;
  return h(
    "details",
    {
      class: "plugin-points",
      open: open.has(name) || undefined,
      ontoggle: (event) => {
        if (event.target.open) open.add(name);
        else open.delete(name);
      },
    },
    h("summary", { "data-control": `points:${name}` }, summary),
    h(
      "div",
      { class: "point-switches" },
      all.map((point) => {
        const on = runs.includes(point);
        return h(
          "label",
          null,
          h("span", { class: "mono", text: point }),
          h("input", {
            type: "checkbox",
            role: "switch",
            class: "switch",
            "data-control": `${point}:${name}`,
            "aria-label": `${name} at ${point}`,
            checked: on || undefined,
            disabled: !editable || undefined,
            onchange: () => {
              const value = on ? "off" : "on";
              act(`plugin:${name}`, "plugin", `${at}/${point}/${name}`, value, `${name} ${value} at ${point}`);
            },
          }),
        );
      }),
    ),
  );
}

/**
 * Its arguments with the values in force, and the form for them.
 *
 * @param {Panel} panel
 * @param {PluginRow} row
 */
function argumentList({ profile, at, editable, attempt }, row) {
  const given = profile.arguments[row.name] ?? {};
  const listed = row.arguments.filter((one) => applies(row.arguments, one, given) && shown(one, inForce(one, given)));
  return h(
    "div",
    { class: "plugin-arguments" },
    h(
      "dl",
      null,
      listed.map((one) => [
        h("dt", null, byWord(lastName(one))),
        h(
          "dd",
          null,
          h("span", { class: "mono", text: shown(one, inForce(one, given)) }),
          isWritten(one, given) ? null : h("small", { class: "dim", text: " default" }),
        ),
      ]),
    ),
    editable
      ? h("button", {
          type: "button",
          class: "link fine",
          "data-control": `arguments:${row.name}`,
          "aria-label": `Arguments of ${row.name}`,
          onclick: () =>
            argumentsForm(row, given, (value) =>
              attempt("arguments", `${at}/${row.name}`, value, `arguments of ${row.name}`),
            ),
          text: "Change arguments…",
        })
      : null,
  );
}

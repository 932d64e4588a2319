// The head of the Policy tab: whose policy it is, where changes land, and why there can be none.

import { h, icon } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";
import { segmented } from "../../kit/segmented.tsx";
/** @import { PolicyOptions } from "../policy.js" */
/** @import { Policy } from "../../lib/protocol.js" */

/**
 * Where changes land: the shown cycle, how many changes led to what is in force there, the step after which a change
 * lands ("" the start, null where none can be made), whether that is the shown cycle, the kind of the document that is
 * written, whether v1.37 runs its default plugins, whether an operation put it in force, and ways elsewhere.
 *
 * @typedef {{
 *   index: number,
 *   number: number,
 *   moment: string | null,
 *   here: boolean,
 *   kind: string | undefined,
 *   defaults: boolean,
 *   restarted: boolean,
 *   land: (here: boolean) => void,
 *   toStart: () => void,
 * }} Landing
 */

/**
 * Draw it.
 *
 * @param {Policy} profile
 * @param {Landing} place
 * @param {PolicyOptions} options
 */
export function head(profile, place, options) {
  const { index, moment } = place;
  const here = place.here && moment;
  const written = place.kind
    ? `This scenario's ${place.kind}.`
    : place.defaults
      ? "No configuration of its own: the default plugins of kube-scheduler v1.37."
      : "No Policy of its own: the DefaultProvider’s predicates and priorities.";
  return [
    h(
      "div",
      { class: "policy-head" },
      h("span", {
        class: "dim",
        text: here ? `After cycle ${count(index)}` : place.number ? "In force at this cycle" : written,
      }),
    ),
    options.mine && index > 0
      ? h(
          "div",
          { class: "policy-when" },
          h("span", { class: "dim", text: "Changes land" }),
          segmented(
            "Changes land",
            [
              ["start", "at the start"],
              ["here", `after cycle ${count(index)}`],
            ],
            place.here ? "here" : "start",
            (when) => place.land(when === "here"),
          ),
        )
      : null,
    here
      ? h("p", {
          class: "dim fine",
          text:
            "An operation restarts the scheduler: its queue is rebuilt, its caches are empty, "
            + "its tie-break counter is 0.",
        })
      : null,
    hindrance(place, options),
    profile.warnings.map((text) => h("div", { class: "note warning" }, icon("warn"), h("span", { text }))),
  ];
}

/**
 * Why nothing can be changed here, and what can be done; null where it can.
 *
 * @param {Landing} place
 * @param {PolicyOptions} options
 */
function hindrance(place, { mine, canFork, onFork, onText, dirty }) {
  if (place.restarted)
    return h(
      "div",
      { class: "note" },
      icon("warn"),
      h(
        "div",
        null,
        h("strong", { text: "The scheduler was restarted before this cycle." }),
        h("p", {
          text:
            "It runs this since then, by an operation of the scenario; to change it, edit the operation, or apply "
            + "changes after this cycle.",
        }),
        h(
          "button",
          { type: "button", class: "btn small", onclick: () => place.toStart() },
          "To the policy at the start",
        ),
      ),
    );
  if (!mine)
    return h(
      "div",
      { class: "note" },
      h("span", {
        class: "grow",
        text: canFork ? "This scenario never changes. Fork it to change its policy." : "This scenario is read-only.",
      }),
      canFork
        ? h(
            "button",
            { type: "button", class: "btn", "data-policy-fork": true, onclick: onFork },
            icon("fork"),
            "Fork to change",
          )
        : null,
    );
  if (dirty())
    return h(
      "div",
      { class: "note" },
      icon("warn"),
      h(
        "div",
        null,
        h("p", { text: "The YAML has changes that are not applied. Apply or discard them first." }),
        h("button", { type: "button", class: "btn small", onclick: onText }, "To the YAML"),
      ),
    );
  return null;
}

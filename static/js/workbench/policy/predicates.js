// The predicates of the Policy tab, in the order in which they run.

import { h, icon } from "../../lib/dom.js";
import { CUSTOM } from "./arguments.js";
import { REFERENCE, adder, argumentButton, brief, byWord, toggle, unused } from "./controls.js";
import { movable, moved, movers } from "./order.js";
/** @import { Child } from "../../lib/dom.js" */
/** @import { CataloguePredicate } from "../../lib/protocol.js" */
/** @import { Movers } from "./order.js" */
/** @import { Policy } from "../../lib/protocol.js" */
/** @import { PolicyForm } from "./controls.js" */

const NEVER =
  "Configured, but v1.11 never evaluates it: its name is not in the static order. With a place it is evaluated";

/**
 * @param {PolicyForm} form
 * @param {Policy} profile
 */
export function predicatesPart(form, profile) {
  const rows = new Map(form.catalogue.predicates.map((row) => [row.key, row]));
  const off = form.catalogue.predicates.filter(
    ({ key }) => !profile.predicates.includes(key) && !profile.neverRun.includes(key),
  );
  const bundled = (row) => row.bundle && profile.predicates.includes(row.bundle);
  const orders = form.editable && !form.framework;
  const order = (keys, words) => form.change("order", profile.predicateOrder, JSON.stringify(keys), words);
  const list = h(
    "ol",
    { class: "policy-rows" },
    profile.predicates.map((key, at) =>
      predicateRow(
        form,
        key,
        rows.get(key),
        String(at + 1),
        true,
        profile,
        null,
        orders ? movers(key, at, profile.predicates.length) : null,
      ),
    ),
  );
  if (orders)
    movable(list, (from, to) =>
      order(moved(profile.predicates, from, to), `${profile.predicates[from]} at place ${to + 1}`),
    );
  const never = (/** @type {string} */ key) => [
    h("span", { class: "pill fail", title: NEVER, text: "never run" }),
    orders
      ? h("button", {
          type: "button",
          class: "btn small",
          title: NEVER,
          "data-control": `run:${key}`,
          onclick: () => order([...profile.predicates, key], `${key} runs last`),
          text: "Run it",
        })
      : null,
  ];
  return h(
    "section",
    { class: "policy-part", "aria-labelledby": "policy-predicates" },
    h(
      "h3",
      { id: "policy-predicates" },
      "Predicates ",
      h("small", { class: "dim", text: `${profile.predicates.length} in this order` }),
    ),
    orderNote(form, profile, orders, order),
    list,
    profile.neverRun.length
      ? h(
          "ul",
          { class: "policy-rows" },
          profile.neverRun.map((key) => predicateRow(form, key, rows.get(key), "–", true, profile, never(key))),
        )
      : null,
    adder(form, "predicates"),
    unused(
      form,
      "predicates",
      "policy-rows",
      off.map((row) =>
        predicateRow(
          form,
          row.key,
          row,
          "",
          false,
          profile,
          bundled(row)
            ? h("span", { class: "pill", text: `in ${row.bundle}` })
            : row.argument
              ? (argumentButton(form, { list: "predicates", name: row.key }, "Add…")
                ?? h("span", { class: "pill", title: row.argument, text: "needs an argument" }))
              : null,
        ),
      ),
    ),
  );
}

/**
 * What the order does, and what it does not.
 *
 * @param {PolicyForm} form
 * @param {Policy} profile
 * @param {boolean} orders
 * @param {(keys: string[], words: string) => void} order
 */
function orderNote(form, profile, orders, order) {
  const effect = profile.alwaysCheckAllPredicates
    ? "Every predicate is checked on every node, so the order decides only in which order reasons are listed."
    : "Evaluation stops at a node’s first failure: the order decides which checks are saved and which reasons are "
      + "counted, not which nodes fit.";
  const where =
    " A predicate with an order comes first, ascending; the others follow in the static order that is chosen above.";
  const asStatic = staticOrder(form, profile);
  if (form.framework) return orderOfPlugins(form, effect);
  return [
    h("p", { class: "dim fine", text: effect + where }),
    orders && asStatic.join() !== profile.predicates.join()
      ? h(
          "button",
          {
            type: "button",
            class: "btn small",
            "data-control": "static",
            onclick: () => order(asStatic, "the static order"),
          },
          "Back to the static order",
        )
      : null,
  ];
}

/**
 * Why predicates cannot be moved here, and what can be done.
 *
 * @param {PolicyForm} form
 * @param {string} effect
 */
function orderOfPlugins(form, effect) {
  return [
    h("p", { class: "dim fine", text: effect }),
    h(
      "div",
      { class: "note" },
      icon("help"),
      h(
        "div",
        null,
        h("p", {
          text:
            "A KubeSchedulerConfiguration orders plugins, and a predicate runs where its plugin stands at filter: "
            + "move the plugins above, or write it as a Policy, which gives each predicate an order of its own.",
        }),
        form.editable
          ? h("button", {
              type: "button",
              class: "btn small",
              "data-control": "to-policy",
              onclick: () => form.change("form", "Policy", "", "written as a Policy"),
              text: "Order them in a Policy",
            })
          : null,
      ),
    ),
  ];
}

/**
 * The predicates as the static order has them; what it does not have stays behind.
 *
 * @param {PolicyForm} form
 * @param {Policy} profile
 */
function staticOrder(form, { predicates, predicateOrder }) {
  const rows = new Map(form.catalogue.predicates.map((row) => [row.key, row]));
  const place = (/** @type {string} */ key) =>
    (predicateOrder === "proposal" ? rows.get(key)?.runs : rows.get(key)?.place) ?? Infinity;
  return [...predicates].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

/**
 * @param {PolicyForm} form
 * @param {string} key
 * @param {CataloguePredicate | undefined} row
 * @param {string} place
 * @param {boolean} on
 * @param {Policy} profile
 * @param {Child} [mark]
 * @param {Movers | null} [move]
 */
function predicateRow(form, key, row, place, on, profile, mark = null, move = null) {
  const argument = profile.arguments[key];
  const fixed = row?.mandatory || (!on && row?.argument);
  const alias = row?.alias && row.alias !== key ? row.alias : "";
  return h(
    "li",
    { class: on ? "" : "off", "data-name": key },
    move?.handle ?? null,
    h("span", { class: "place num", text: place }),
    h(
      "div",
      { class: "what" },
      h("a", { class: "name", href: `${REFERENCE}#${key}`, title: row?.text ?? "" }, byWord(key)),
      h(
        "small",
        { class: "dim" },
        byWord(
          [row?.members.length ? row.members.join(", ") : "", alias ? `also ${alias}` : ""].filter(Boolean).join(" · "),
        ),
      ),
      argument
        ? h(
            "small",
            { class: "dim argued" },
            `${brief(argument)} `,
            CUSTOM.some(({ kind }) => kind in argument)
              ? argumentButton(form, { list: "predicates", name: key, argument }, "Change")
              : null,
          )
        : null,
    ),
    mark,
    move?.buttons ?? null,
    fixed
      ? row.mandatory
        ? h("span", { class: "pill accent", title: "v1.11 adds it to every policy", text: "always" })
        : null
      : toggle(
          form,
          `predicate:${key}`,
          `${key}: ${on ? "in use" : "not in use"}`,
          on,
          (value) => form.change("predicate", key, value ? "on" : "off", `${key} ${value ? "on" : "off"}`),
          "",
          true,
        ),
  );
}

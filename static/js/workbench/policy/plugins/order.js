// The order in which plugins run at each extension point.

import { h } from "../../../lib/dom.js";
import { plural } from "../../../lib/quantity.js";
import { movable, moved, movers } from "../order.js";
/** @import { Panel } from "./panel.js" */

/** @param {Panel} panel */
export function orderPart(panel) {
  const points = Object.entries(panel.profile.points).filter(([, names]) => names.length > 1);
  return h(
    "section",
    { class: "policy-part", "aria-labelledby": "policy-order" },
    h(
      "h3",
      { id: "policy-order" },
      "Order ",
      h("small", { class: "dim", text: "at filter, evaluation of a node stops at its first failure" }),
    ),
    points.map(([point, names]) => pointOrder(panel, point, names)),
  );
}

/**
 * @param {Panel} panel
 * @param {string} point
 * @param {string[]} names
 */
function pointOrder(panel, point, names) {
  const { form, at, editable, open, act, wrong } = panel;
  const usual = form.default[point].filter((name) => names.includes(name));
  const put = (/** @type {string[]} */ order, /** @type {string} */ words) =>
    act(`order:${point}`, "plugins", `${at}/${point}`, JSON.stringify(order), words);
  const list = h(
    "ol",
    { class: "policy-rows" },
    names.map((name, i) => {
      const { handle, buttons } = movers(name, i, names.length, !editable);
      return h(
        "li",
        { "data-name": name },
        handle,
        h("span", { class: "place num", text: String(i + 1) }),
        h("div", { class: "what" }, h("span", { class: "name", text: name })),
        buttons,
      );
    }),
  );
  if (editable)
    movable(list, (from, to) => put(moved(names, from, to), `${names[from]} at place ${to + 1} of ${point}`));
  const key = `order:${point}`;
  return h(
    "details",
    {
      class: "point",
      open: open.has(key) || undefined,
      ontoggle: (event) => {
        if (event.target.open) open.add(key);
        else open.delete(key);
      },
    },
    h(
      "summary",
      { "data-control": key },
      h("b", { text: point }),
      h("span", { class: "dim", text: ` ${plural(names.length, "plugin")}` }),
    ),
    list,
    editable && usual.length === names.length && usual.join() !== names.join()
      ? h("button", {
          type: "button",
          class: "btn small",
          "data-control": `${key}:default`,
          onclick: () => put(usual, `the default order of ${point}`),
          text: "Default order",
        })
      : null,
    wrong(key),
  );
}

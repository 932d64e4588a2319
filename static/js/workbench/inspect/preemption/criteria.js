// How preemption chose among its candidates, and where it could not help.

import { h, icon } from "../../../lib/dom.js";
import { count, plural } from "../../../lib/quantity.js";
import { tabled } from "../../../lib/tables.js";
import { nodeLink } from "../nouns.js";
/** @import { View } from "../../view.js" */

export const NAME = 18; // characters of a node's name that fit its column
const LINKED = 12; // nodes of a reason that are named at once
const NOT_STARTED = -(2 ** 62); // in place of a start time, where a victim has not started
// Beside the value: what it is of.
const VALUES = {
  "no-victims": (value) => (value ? "has victims" : "no victim"),
  "pdb-violations": (value) => plural(value, "violation"),
  "victim-count": (value) => plural(value, "victim"),
  // Microseconds since 1970, negated: the latest is the lowest. A pod that has not started is later than all.
  "start-time": (value) =>
    value <= NOT_STARTED ? "not started" : `since ${new Date(-value / 1000).toISOString().replace(".000Z", "Z")}`,
  name: () => "",
};

/**
 * The criteria in turn, with the nodes that stay and those that are out.
 *
 * @param {View} view
 */
export function criteria(view, part) {
  const value = (criterion, amount) => {
    const text = (VALUES[criterion.id] ?? count)(amount);
    return text ? h("small", { class: "dim num", text: ` ${text}` }) : null;
  };
  const more = (n, shown) => (n > shown ? ` and ${count(n - shown)} more` : null);
  // The best value is what all that stay have in common.
  const stays = (criterion) =>
    h(
      "li",
      { class: "stays" },
      icon("check"),
      h(
        "span",
        null,
        h("span", { class: "sr", text: "stays: " }),
        criterion.stay.map(([node], i) => [i ? ", " : "", nodeLink(view, node, NAME)]),
        more(criterion.stayed, criterion.stay.length),
        value(criterion, criterion.stay[0][1]),
      ),
    );
  const goes = (criterion) => [
    criterion.out.map(([node, amount]) =>
      h(
        "li",
        { class: "goes" },
        icon("cross"),
        h(
          "span",
          null,
          h("span", { class: "sr", text: "out: " }),
          h("s", null, nodeLink(view, node, NAME)),
          value(criterion, amount),
        ),
      ),
    ),
    criterion.dropped > criterion.out.length
      ? h("li", { class: "dim", text: `and ${count(criterion.dropped - criterion.out.length)} more are out` })
      : null,
  ];
  const rows = part.criteria.map((criterion, i) =>
    h(
      "tr",
      { class: criterion.decided ? "won" : undefined },
      h(
        "th",
        { scope: "row" },
        h("span", { class: "num dim", text: `${i + 1} ` }),
        criterion.text,
        criterion.decided ? h("span", { class: "pill accent" }, icon("check"), "decided") : null,
        criterion.note ? h("small", { class: "dim fine", text: criterion.note }) : null,
      ),
      h("td", null, h("ul", { class: "race" }, stays(criterion), goes(criterion))),
    ),
  );
  const title = h(
    "h3",
    null,
    "Criteria ",
    h(
      "small",
      { class: "dim" },
      "in turn, until one node is left · ",
      h("a", { class: "link", href: "/reference/predicates/#preemption", text: "reference" }),
    ),
  );
  return h(
    "section",
    { class: "criteria" },
    tabled(
      h(
        "table",
        { class: "list tight" },
        h("caption", { class: "sr", text: "The criteria in turn, with the nodes that stay and those that are out" }),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col", text: "criterion" }),
            h("th", { scope: "col", text: "nodes still competing" }),
          ),
        ),
        h("tbody", null, rows),
      ),
      { head: title, sorts: false },
    ),
  );
}

/**
 * The nodes on which no deletion helps, by why.
 *
 * @param {View} view
 */
export function hopeless(view, part) {
  const label = (group) => `${group.text}${group.reasons.length ? ` (${group.reasons.join(", ")})` : ""}`;
  return h(
    "section",
    { class: "hopeless" },
    h("h3", null, "Where it cannot help ", h("small", { class: "dim num", text: plural(part.hopelessCount, "node") })),
    h(
      "ul",
      null,
      part.hopeless.map((group) =>
        h(
          "li",
          null,
          h(
            "button",
            {
              type: "button",
              class: "link",
              title:
                group.count > group.nodes.length
                  ? `light up the first ${group.nodes.length} on the stage`
                  : "light up on the stage",
              onclick: () => view.light(group.nodes, label(group)),
            },
            h("b", { class: "num", text: plural(group.count, "node") }),
          ),
          `: ${group.text}`,
          group.reasons.length ? [" (", h("span", { class: "fail-text", text: group.reasons.join(", ") }), ")"] : null,
          h(
            "div",
            { class: "chips" },
            group.nodes.slice(0, LINKED).map((node) => h("span", { class: "chip" }, nodeLink(view, node, NAME))),
            group.count > LINKED ? h("span", { class: "dim", text: `and ${count(group.count - LINKED)} more` }) : null,
          ),
        ),
      ),
    ),
  );
}

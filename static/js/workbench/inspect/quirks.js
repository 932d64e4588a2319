// Notices of the quirks of v1.11 that changed something in a cycle.

import { h, icon } from "../../lib/dom.js";
/** @import { Light } from "../../lib/protocol.js" */

const PARTS = {
  predicates: "verdicts of predicates",
  priorities: "scores",
  preemption: "what preemption tried",
  decision: "the decision",
};

/** @param {string[]} names */
function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/**
 * A notice for each quirk that changed `part` of the cycle (any part without one), or null.
 *
 * @param {Light} light
 * @param {string} [part]
 */
export function quirkNotes(light, part = "") {
  const quirks = light.quirks.filter(([, changed]) => !part || changed.includes(part));
  if (!quirks.length) return null;
  return h(
    "div",
    { class: "quirk-notes", role: "group", "aria-label": "Quirks of v1.11 in this cycle" },
    quirks.map(([id, changed, text]) =>
      h(
        "div",
        { class: "note warning quirk" },
        icon("warn"),
        h(
          "div",
          null,
          h("strong", { text: `A quirk of v1.11 changed ${listed(changed.map((name) => PARTS[name]))}` }),
          h("p", { text }),
          h(
            "a",
            { href: `/reference/predicates/#quirk-${encodeURIComponent(id)}`, target: "_blank", rel: "noopener" },
            id,
            h("span", { class: "sr", text: ", opens the reference in another page" }),
          ),
        ),
      ),
    ),
  );
}

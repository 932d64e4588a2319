// The condition that the scheduler of a dumped cluster recorded for a pending pod, beside the answer here.

import { h, icon } from "../lib/dom.js";
/** @import { RecordedAnswer } from "../lib/protocol.js" */

/** The recorded condition, what differs here, and the likely causes. */
export function recordedWords(/** @type {RecordedAnswer} */ { reason, message, agrees, differences, causes }) {
  return [
    h("q", { class: "recorded-message", text: message || reason }),
    agrees
      ? h("p", { class: "pass-text" }, icon("check"), " The simulation gives the same reasons.")
      : h("p", null, h("b", { text: "Differs: " }), differences.join("; "), "."),
    causes.map((text) => h("p", { class: "dim" }, h("b", { text: "Likely cause: " }), text, ".")),
  ];
}

/** The same as a quotation of its own; nothing where nothing is recorded. */
export function recordedFigure(/** @type {RecordedAnswer | null | undefined} */ answer) {
  return answer
    ? h(
        "figure",
        { class: "describe recorded" },
        h("figcaption", { text: "Recorded by the cluster that was dumped" }),
        recordedWords(answer),
      )
    : null;
}

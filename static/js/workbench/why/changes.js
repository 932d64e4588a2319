// The changes in an answer of Why?: each was tried out, and can be applied in a copy.

import { announce, copy, fill, h, icon } from "../../lib/dom.js";
import { plural } from "../../lib/quantity.js";

const COST =
  "Cost is the sum of what a change takes: 0 is a corrected name, 1 a label, a toleration or an uncordon, 2 a request "
  + "or a taint, 3 an affinity or more capacity, 4 a victim or a volume, 5 a pod that preemption would not evict, "
  + "6 another node; and 3 more for each disruption budget that it breaks and each replacement that finds no node.";

/** The section of changes; `fits`: it fits already, `apply` makes a copy with a change, null: no copy can be made. */
export function changesPart(answer, { fits, apply }) {
  if (!answer.changes.length) {
    const asks = answer.state === "pending" || answer.asked;
    const fitting = fits || answer.groups.some((group) => !group.failures.length);
    if (!asks || fitting || answer.node === answer.asked) return null;
    return h(
      "section",
      null,
      h("h3", { text: "What would make it fit" }),
      h("p", { class: "dim", text: "No change was found with which it fits." }),
    );
  }
  return h(
    "section",
    { class: "why-changes" },
    h(
      "h3",
      null,
      "What would make it fit ",
      h("small", { class: "dim", text: "the smallest change first, each tried out" }),
    ),
    h(
      "ol",
      null,
      answer.changes.map((change, i) => changeItem(answer, change, i, apply)),
    ),
    h("p", { class: "dim fine why-cost", text: COST }),
  );
}

function changeItem(answer, change, i, apply) {
  const others = change.fitsCount - 1;
  const goes =
    answer.state === "pending" || answer.state === "other" ? "would then be scheduled to" : "would then be put on";
  const verified = change.chosen
    ? [`verified: it ${goes} `, h("b", { text: change.chosen })]
    : ["verified: it fits on ", h("b", { text: change.node })];
  const also = change.chosen && change.chosen !== change.node ? `it fits on ${change.node} too` : "";
  const more = others > 1 || (others > 0 && !also) ? `it fits on ${plural(change.fitsCount, "node")} in all` : also;
  const title = `why-change-${i}`;
  const copied = h(
    "button",
    {
      type: "button",
      class: "btn quiet square tiny",
      "aria-label": "Copy this patch",
      title: "Copy this patch",
      onclick: async () => {
        const done = await copy(change.yaml);
        fill(copied, icon(done ? "check" : "warn"));
        announce(done ? "The patch is copied." : "The browser denied access to the clipboard.");
      },
    },
    icon("copy"),
  );
  return h(
    "li",
    { "aria-labelledby": title },
    h(
      "div",
      { class: "why-words", id: title },
      change.words.map((text, place) => h("p", { text: place ? text : text[0].toUpperCase() + text.slice(1) })),
    ),
    h(
      "p",
      { class: "why-row" },
      h("span", { class: "pill pass why-verified" }, icon("check"), h("span", null, verified)),
      more ? h("span", { class: "dim fine", text: more }) : null,
      h("span", { class: "grow" }),
      h("span", { class: "dim fine num", text: `cost ${change.effort}` }),
    ),
    change.notes.map((text) => h("p", { class: "dim fine", text })),
    h(
      "details",
      { open: i === 0 },
      h("summary", {
        text: change.patches.every(({ action }) => action === "delete") ? "What is deleted" : "The patch",
      }),
      h(
        "div",
        { class: "why-patch" },
        h("pre", { tabindex: "0", "aria-label": "Patch as YAML" }, h("code", { text: change.yaml.trim() })),
        copied,
      ),
    ),
    applyButton(answer, change, i, apply),
  );
}

function applyButton(answer, change, i, apply) {
  if (!apply) return null;
  if (!answer.applicable)
    return h("p", {
      class: "dim fine",
      text:
        answer.state === "bound"
          ? "A copy would show nothing: the manifest binds the pod, so no cycle decides about it."
          : "A copy would show nothing: another scheduler decides about this pod.",
    });
  const label = h("span", { text: "Apply in a copy" });
  const button = h(
    "button",
    {
      type: "button",
      class: `btn ${i ? "" : "primary"}`,
      onclick: async () => {
        if (button.getAttribute("aria-disabled")) return;
        button.setAttribute("aria-disabled", "true");
        label.textContent = "Running the copy…";
        try {
          await apply(change);
        } catch (error) {
          button.removeAttribute("aria-disabled");
          label.textContent = "Apply in a copy";
          fill(problem, h("span", { class: "stale-text", text: error.message }));
        }
      },
    },
    icon("fork"),
    label,
  );
  const problem = h("span", { role: "alert" });
  return h("div", { class: "why-row" }, button, problem);
}

// A branch and its parent beside each other.

import { dialog, h, icon, toast } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";
import { parting } from "./words.js";

/** Both beside each other, with all that was changed. */
export function showBeside(branch, found) {
  if (found.error) {
    toast(found.error, { name: "warn", ms: 6000 });
    return;
  }
  const { here, parent, words, first } = found;
  const line = (/** @type {string} */ name, /** @type {string} */ key) =>
    h(
      "tr",
      null,
      h("th", { scope: "row", text: name }),
      h("td", { class: "num", text: count(here[key]) }),
      h("td", { class: "num", text: parent ? count(parent[key]) : "–" }),
    );
  const at =
    first && first.step
      ? h(
          "a",
          { class: "btn", href: `/p/${branch.draft}/?step=${first.index}` },
          icon("right"),
          `Cycle ${count(first.index)} of the branch`,
        )
      : null;
  const [kind, id] = branch.parent.split(":");
  const there =
    first && parent && first.index <= parent.cycles && kind !== "run"
      ? h(
          "a",
          { class: "btn", href: `/${kind === "draft" ? "p" : "s"}/${id}/?step=${first.index}` },
          icon("right"),
          `Cycle ${count(first.index)} of the parent`,
        )
      : null;
  const sides = id
    ? h(
        "a",
        { class: "btn primary", href: `/compare/?left=${kind}%3A${id}&right=draft%3A${branch.draft}` },
        icon("table"),
        "Step through both",
      )
    : null;
  dialog(
    `${branch.title || "Untitled"}, beside its parent`,
    h(
      "div",
      { class: "branch-compare" },
      h(
        "table",
        { class: "plain" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col", text: "" }),
            h("th", { scope: "col", class: "num", text: "branch" }),
            h("th", { scope: "col", class: "num", text: "parent" }),
          ),
        ),
        h("tbody", null, line("cycles", "cycles"), line("pods placed", "placed"), line("pods pending", "pending")),
      ),
      h("h3", { text: "What was changed" }),
      words.length
        ? h(
            "ul",
            null,
            words.map((text) => h("li", { text })),
          )
        : h("p", { class: "dim", text: "Nothing yet." }),
      h("p", { text: parting(found) }),
      h("div", { class: "edit-bar" }, sides, at, there),
    ),
  );
}

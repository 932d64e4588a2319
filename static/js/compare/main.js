// The page of a comparison: the tables that the server drew, and over them both runs to step through.

import { $, $$, copy, fill, h, icon } from "../lib/dom.js";
import { choosing } from "./choose.js";
import { discussion } from "./discussion.tsx";
import { Stepper } from "./stepper.js";
import { tables } from "./tables.js";
import { computing, waiting } from "./waiting.js";

const answer = $("#comparison");
choosing($("form[data-choose]"));
copying();
computing();
waiting();
if (answer) {
  const found = JSON.parse(answer.textContent ?? "");
  tables();
  step($("[data-stepper]"), found);
}

/** The link of a stored comparison, with a button that copies it. */
function copying() {
  const field = /** @type {HTMLInputElement | null} */ ($("[data-address]"));
  const button = $("[data-copy]");
  if (!field || !button) return;
  button.hidden = false;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    fill(button, icon((await copy(field.value)) ? "check" : "warn"), "Copied");
  });
}

/**
 * @param {HTMLElement} host
 * @param {import("../lib/protocol.js").Comparison} found
 */
function step(host, found) {
  const stepper = new Stepper(host, found);
  window.podstep = { ...window.podstep, compare: stepper };
  const query = new URLSearchParams(location.search);
  stepper.open(Number(query.get("row")) || 0, query.get("tab") ?? "").then(() => {
    discussion($("[data-discussion]"), stepper);
    stepper.onMove = () => {
      query.delete("ready");
      query.set("row", String(stepper.row));
      query.set("tab", stepper.tab);
      history.replaceState(null, "", `?${query}${location.hash}`);
    };
  });
  for (const row of $$("tr[data-pair]")) {
    const [left, right] = (row.dataset.pair ?? "").split("/").map(Number);
    const cell = $("th", row);
    const onclick = () => {
      stepper.goto(stepper.rows.of("left", left) || stepper.rows.of("right", right));
      host.scrollIntoView({ block: "start" });
      $("[role=slider]", host).focus({ preventScroll: true });
    };
    fill(cell, h("button", { type: "button", class: "link", text: cell.textContent ?? "", onclick }));
  }
}

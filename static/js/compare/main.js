// The page of a comparison: the tables that the server drew, and over them both runs to step through.

import { $, $$, toast } from "../lib/dom.js";
import { choosing } from "./choose.js";
import { discussion } from "./discussion.js";
import { Stepper } from "./stepper.js";
import { tables } from "./tables.js";

const answer = $("#comparison");
choosing($("form[data-choose]"));
if (answer) {
  const found = JSON.parse(answer.textContent ?? "");
  tables();
  const host = $("[data-stepper]");
  const under = [found.left, found.right].find(({ scheduler }) => scheduler);
  if (under) {
    // A page plays what a scenario asks for; under another scheduler only the comparison was computed.
    toast(`Its steps are not shown: one side is under ${under.scheduler}.`, { name: "warn", ms: 8000 });
  } else step(host, found);
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
      query.set("row", String(stepper.row));
      query.set("tab", stepper.tab);
      history.replaceState(null, "", `?${query}${location.hash}`);
    };
  });
  for (const row of $$("tr[data-pair]")) {
    const [left, right] = (row.dataset.pair ?? "").split("/").map(Number);
    const cell = $("th", row);
    const go = document.createElement("button");
    go.type = "button";
    go.className = "link";
    go.textContent = cell.textContent;
    go.addEventListener("click", () => {
      stepper.goto(stepper.rows.of("left", left) || stepper.rows.of("right", right));
      host.scrollIntoView({ block: "start" });
      $("[role=slider]", host).focus({ preventScroll: true });
    });
    cell.replaceChildren(go);
  }
}

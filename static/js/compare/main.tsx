// The page of a comparison: the tables that the server drew, and over them both runs to step through.

import { $, copy, fill, icon } from "../lib/dom.ts";
import type { Comparison } from "../lib/protocol.js";
import { choosing } from "./choose.ts";
import { discussion } from "./discussion.tsx";
import { Stepper } from "./stepper.tsx";
import { tables } from "./tables.tsx";

const answer = $("#comparison");
choosing($("form[data-choose]"));
copying();
if ($("[data-computing], [data-waiting]"))
  void import("./waiting.tsx").then(({ computing, waiting }) => {
    computing();
    waiting();
  });
if (answer) step($("[data-stepper]"), JSON.parse(answer.textContent ?? ""));

/** The link of a stored comparison, with a button that copies it. */
function copying() {
  const field = $("input[data-address]");
  const button = $("[data-copy]");
  if (!field || !button) return;
  button.hidden = false;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    fill(button, icon((await copy(field.value)) ? "check" : "warn"), "Copied");
  });
}

function step(host: HTMLElement, found: Comparison) {
  const stepper = new Stepper(host, found);
  tables(stepper);
  window.podstep = { ...window.podstep, compare: stepper };
  const query = new URLSearchParams(location.search);
  void stepper.open(Number(query.get("row")) || 0, query.get("tab") ?? "").then(() => {
    void discussion($("[data-discussion]"), stepper);
    stepper.onMove = () => {
      query.delete("ready");
      query.set("row", String(stepper.row));
      query.set("tab", stepper.tab);
      history.replaceState(null, "", `?${query}${location.hash}`);
    };
  });
}

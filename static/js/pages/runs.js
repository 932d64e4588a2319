// The list of runs: the rows of unfinished ones follow them.

import { $, $$ } from "../lib/dom.ts";
import { age, count, inQueue } from "../lib/quantity.ts";
import { link } from "./link.ts";

const ENDED = new Set(["done", "cancelled", "failed"]);
const TONES = { done: "pass", failed: "stale", running: "accent", cancelled: "fail", cancelling: "fail" };
for (const number of $$("[data-number]")) number.textContent = count(Number(number.textContent));
const rows = new Map($$("[data-row]").map((row) => [row.dataset.row, row]));
const watched = [...rows].filter(([, row]) => !ENDED.has(row.dataset.runState)).map(([id]) => id);

function show(run) {
  const row = rows.get(run.run);
  if (!row) return;
  const cell = (/** @type {string} */ name) => $(`[data-cell="${name}"]`, row);
  cell("state").textContent = run.state;
  cell("state").className = `pill ${TONES[run.state] ?? ""}`;
  cell("position").textContent = inQueue(run.position);
  cell("done").textContent =
    run.total && run.state !== "done" ? `${count(run.done)} of ${count(run.total)}` : count(run.done);
  cell("placed").textContent = count(run.placed);
  cell("unschedulable").textContent = count(run.unschedulable);
  cell("seconds").textContent = age(run.seconds);
}

if (watched.length) {
  const socket = link();
  socket.on("run.changed", show);
  socket.on("up", () => {
    for (const run of watched)
      socket.call("run.watch", { run }).then(show, () => {
        /* the row stays as it was */
      });
  });
}

// A comparison that takes a while: how far it is, and a way to give it up. Either both sides are computed for this
// page, or it waits for the runs that compute them.

import { $, $$, announce, fill, h } from "../lib/dom.js";
import { Progress } from "../lib/progress.js";
import { count } from "../lib/quantity.js";
import { refusalOf, Socket } from "../lib/socket.js";
/** @import { Report, Run } from "../lib/protocol.js" */

const FINISHED = new Set(["done", "failed", "cancelled"]);

/** Let the server compare, and open the comparison when it has. */
export async function computing() {
  const host = $("[data-computing]");
  if (!host) return;
  const giveUp = new AbortController();
  const progress = new Progress("Comparing", { onCancel: () => giveUp.abort() });
  const body = $("[data-progress]", host);
  fill(body, progress.element);
  try {
    await new Socket().call("compare.get", JSON.parse($("#computing").textContent ?? ""), {
      signal: giveUp.signal,
      progress: (report) => progress.set(...progressOf(report)),
    });
    location.replace(host.dataset.ready ?? "");
  } catch (error) {
    const { message } = refusalOf(error);
    const { aborted } = giveUp.signal;
    const again = h("button", {
      type: "button",
      class: "btn",
      text: "Compare again",
      onclick: () => location.reload(),
    });
    fill(body, h("p", { class: aborted ? "dim" : "note", role: "status", text: message }), aborted ? again : null);
    $("[data-runs]", host).hidden = aborted;
  }
}

/**
 * @param {Report} report
 * @returns {[share: number | null, words: string]}
 */
function progressOf({ stage, done, of }) {
  if (stage !== "comparing") return [null, "Reading both sides"];
  return [of ? done / of : null, `${count(done)} of ${count(of)} cycles compared`];
}

/** Show how far the runs of both sides are, and open the comparison when they are done. */
export function waiting() {
  const host = $("[data-waiting]");
  if (!host) return;
  const socket = new Socket();
  const rows = $$("[data-run]", host).map((row) => {
    const progress = new Progress("Cycles done");
    fill($("[data-progress]", row), progress.element);
    const show = (/** @type {Run} */ run) => {
      row.dataset.state = run.state;
      progress.set(run.total ? run.done / run.total : null, stateOf(run));
      settle();
    };
    return { id: row.dataset.run ?? "", row, show };
  });
  const settle = () => {
    if (!rows.every(({ row }) => FINISHED.has(row.dataset.state ?? ""))) return;
    announce("Both runs have ended");
    location.reload();
  };
  socket.on("run.changed", (run) => rows.find(({ id }) => id === run.run)?.show(run));
  socket.on("up", () => {
    for (const { id, show } of rows) socket.call("run.watch", { run: id }).then(show, () => {});
  });
}

/** @param {Run} run */
function stateOf(run) {
  if (run.state === "queued") return run.position ? `waits for a worker, number ${run.position}` : "waits for a worker";
  if (run.state !== "running") return run.state;
  return `${count(run.done)}${run.total ? ` of ${count(run.total)}` : ""} cycles`;
}

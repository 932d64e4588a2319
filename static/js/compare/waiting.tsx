// A comparison that takes a while: how far it is, and a way to give it up. Either both sides are computed for this
// page, or it waits for the runs that compute them.

import { Asked } from "../kit/asked.tsx";
import { place } from "../kit/place.ts";
import { ProgressBar, type Far } from "../kit/progress.tsx";
import { $, $$, announce } from "../lib/dom.ts";
import type { Report, Run } from "../lib/protocol.js";
import { count } from "../lib/quantity.ts";
import { Socket } from "../lib/socket.ts";

const READING = "Reading both sides";
const FINISHED = new Set(["done", "failed", "cancelled"]);

/** Let the server compare, and open the comparison when it has. */
export function computing() {
  const host = $("[data-computing]");
  if (!host) return;
  const body = $("[data-progress]", host);
  const refused = (message: string, stopped: boolean) => {
    place(
      <>
        <p class={stopped ? "dim" : "note"} role="status">
          {message}
        </p>
        {stopped ? (
          <button type="button" class="btn" onClick={() => location.reload()}>
            Compare again
          </button>
        ) : null}
      </>,
      body,
    );
    $("[data-runs]", host).hidden = stopped;
  };
  place(
    <Asked
      label="Comparing"
      begins={READING}
      ask={(socket, options) => socket.call("compare.get", JSON.parse($("#computing").textContent ?? ""), options)}
      farOf={farOf}
      onAnswer={() => location.replace(host.dataset.ready ?? "")}
      onRefused={refused}
    />,
    body,
  );
}

const farOf = ({ stage, done, of }: Report): Far =>
  stage === "comparing" ? [of ? done / of : null, `${count(done)} of ${count(of)} cycles compared`] : [null, READING];

/** Show how far the runs of both sides are, and open the comparison when they are done. */
export function waiting() {
  const host = $("[data-waiting]");
  if (!host) return;
  const socket = new Socket();
  const rows = $$("[data-run]", host);
  const show = (run: Run) => {
    const row = rows.find(({ dataset }) => dataset.run === run.run);
    if (!row) return;
    row.dataset.state = run.state;
    const far: Far = [run.total ? run.done / run.total : null, stateOf(run)];
    place(<ProgressBar label="Cycles done" far={far} />, $("[data-progress]", row));
    if (!rows.every(({ dataset }) => FINISHED.has(dataset.state ?? ""))) return;
    announce("Both runs have ended");
    location.reload();
  };
  socket.on("run.changed", show);
  socket.on("up", () => {
    for (const { dataset } of rows) socket.call("run.watch", { run: dataset.run ?? "" }).then(show, () => {});
  });
}

function stateOf(run: Run) {
  if (run.state === "queued") return run.position ? `waits for a worker, number ${run.position}` : "waits for a worker";
  if (run.state !== "running") return run.state;
  return `${count(run.done)}${run.total ? ` of ${count(run.total)}` : ""} cycles`;
}

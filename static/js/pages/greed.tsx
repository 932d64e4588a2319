// The price of greed: while the server searches, how far it is and a way to give it up. Leaving the page closes its
// socket, which stops the search.

import { useState } from "preact/hooks";
import { Asked } from "../kit/asked.tsx";
import { place } from "../kit/place.ts";
import type { Far } from "../kit/progress.tsx";
import { $, announce } from "../lib/dom.ts";
import { progressOf } from "../lib/progress.ts";
import type { Report } from "../lib/protocol.js";
import { count } from "../lib/quantity.ts";

const PLACING = "placing:";

const host = $("[data-searching]");
if (host) {
  const lost = "lost" in host.dataset ? "The answer was found, but is no longer stored." : "";
  place(<Search lost={lost} ready={host.dataset.ready ?? ""} />, $("[data-progress]", host));
} else settle();

/** Take what only the way here needs out of the address, so that it can be reloaded and shared. */
function settle() {
  const query = new URLSearchParams(location.search);
  if (!query.has("ready")) return;
  query.delete("ready");
  history.replaceState(null, "", `?${query}${location.hash}`);
}

/** The search, or why there is no answer, with a button that searches. */
function Search({ lost, ready }: { lost: string; ready: string }) {
  const [said, setSaid] = useState(lost);
  return said ? (
    <>
      <p class="note" role="status">
        {said}
      </p>
      <button type="button" class="btn" onClick={() => setSaid("")}>
        Search again
      </button>
    </>
  ) : (
    <Asked
      label="Searching"
      ask={(socket, options) => socket.call("optimum.get", JSON.parse($("#computing").textContent ?? ""), options)}
      farOf={farOf}
      onAnswer={() => {
        announce("The search has ended");
        location.replace(ready);
      }}
      onRefused={(message, stopped) => setSaid(stopped ? "The search was stopped." : message)}
    />
  );
}

function farOf(report: Report): Far {
  const { stage, done, of } = report;
  const share = of ? done / of : null;
  if (stage === "stepping") return [share, `Cycle ${count(done)} of ${count(of)}`];
  if (stage === "searching") return [share, `Searching: ${Math.round(done / 1000)} of at most ${count(of / 1000)} s`];
  if (stage.startsWith(PLACING)) return [share, `${stage.slice(PLACING.length)} places the same pods`];
  return of > 1 ? progressOf(report) : [null, "Waiting for a process"];
}

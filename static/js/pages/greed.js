// The price of greed: while the server searches, how far it is and a way to give it up. Leaving the page closes its
// socket, which stops the search.

import { $, announce, fill, h } from "../lib/dom.js";
import { Progress, progressOf } from "../lib/progress.js";
import { count } from "../lib/quantity.js";
import { refusalOf, Socket } from "../lib/socket.js";
/** @import { Report } from "../lib/protocol.js" */

const PLACING = "placing:";

const host = $("[data-searching]");
if (host) {
  if ("lost" in host.dataset) offer(host, "The answer was found, and is not kept any more.");
  else search(host);
} else settle();

/** Take what only the way here needs out of the address, so that it can be reloaded and shared. */
function settle() {
  const query = new URLSearchParams(location.search);
  if (!query.has("ready")) return;
  query.delete("ready");
  history.replaceState(null, "", `?${query}${location.hash}`);
}

/** @param {HTMLElement} host */
async function search(host) {
  const giveUp = new AbortController();
  const progress = new Progress("Searching", { onCancel: () => giveUp.abort() });
  fill($("[data-progress]", host), progress.element);
  try {
    await new Socket().call("optimum.get", JSON.parse($("#computing").textContent ?? ""), {
      signal: giveUp.signal,
      progress: (report) => progress.set(...wordsOf(report)),
    });
    announce("The search has ended");
    location.replace(host.dataset.ready ?? "");
  } catch (error) {
    offer(host, giveUp.signal.aborted ? "The search was stopped." : refusalOf(error).message);
  }
}

/**
 * Say why there is no answer, with a button that searches.
 *
 * @param {HTMLElement} host
 * @param {string} text
 */
function offer(host, text) {
  const onclick = () => search(host);
  fill(
    $("[data-progress]", host),
    h("p", { class: "note", role: "status", text }),
    h("button", { type: "button", class: "btn", text: "Search again", onclick }),
  );
}

/**
 * @param {Report} report
 * @returns {[share: number | null, words: string]}
 */
function wordsOf(report) {
  const { stage, done, of } = report;
  const share = of ? done / of : null;
  if (stage === "stepping") return [share, `Cycle ${count(done)} of ${count(of)}`];
  if (stage === "searching") return [share, `Searching: ${Math.round(done / 1000)} of at most ${count(of / 1000)} s`];
  if (stage.startsWith(PLACING)) return [share, `${stage.slice(PLACING.length)} places the same pods`];
  return of > 1 ? progressOf(report) : [null, "Waiting for a process"];
}

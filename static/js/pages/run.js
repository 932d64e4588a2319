// A run: progress over the connection, charts from its figures, any cycle a click away. Reloading changes nothing.

import { $, $$, announce, fill, h, icon, toast } from "../lib/dom.js";
import { age, count, inQueue, plural } from "../lib/quantity.js";
import { nodesOf } from "../kit/node.tsx";
import { because } from "../workbench/inspect/cacheparts.tsx";
import { percent } from "../workbench/inspect/cachewords.ts";
import { recordedWords } from "../workbench/recorded.tsx";
import { Charts } from "./charts.tsx";
import { link } from "./link.js";

const ENDED = new Set(["done", "cancelled", "failed"]);
const TONES = { done: "pass", cancelled: "fail", failed: "stale", running: "accent", cancelling: "fail" };
const SIGNS = { done: "check", cancelled: "close", failed: "warn" };
const FIGURES_EVERY = 700; // milliseconds between two fetches of the figures while it runs
const RATE_OVER = 8000; // milliseconds that the rate is measured over
const EMPTY = {
  queued: [
    "It starts automatically",
    "All workers are busy or not started yet. You may close this page: the run keeps its position in the queue.",
  ],
  running: ["Reading the cluster", "Charts appear with the first cycles."],
  cancelled: [
    "Cancelled before its first cycle",
    "Nothing was computed. Start it again from the workbench or the start page.",
  ],
  failed: ["Nothing was computed", "See the message above."],
  done: [
    "There was nothing to schedule",
    "No pod of this cluster is pending: delete a pod's nodeName and run it again.",
  ],
};

const root = $("[data-run]");
const id = root.dataset.run;
/** @param {string} name */
const part = (name) => $(`[data-${name}]`, root);
const field = $("input#cycle", root);
const charts = new Charts(root, root.dataset.plotly, (cycle) => {
  field.value = String(cycle);
  field.dataset.touched = "yes";
});

let run = JSON.parse($("#run", root).textContent);
let scheduled = null; // cycles that placed their pod, and the most pods that ran at once: of the figures
let peak = null;
let terminating = 0; // pods on nodes that are being deleted
let first = Number(root.dataset.first) || 0; // the first unschedulable cycle
let seen = []; // [time, cycles done] of the last changes, for the rate
let fetched = { at: -Infinity, done: -1, state: "" };
let fetching = false;
let timer = 0;
let lost = null;

for (const number of $$("[data-number]", root)) number.textContent = count(Number(number.textContent));

const socket = link();
window.podstep = {
  socket,
  get run() {
    return run;
  },
};
socket.on("run.changed", (changed) => {
  if (changed.run === id) update(changed);
});
socket.on("up", () => {
  lost?.remove();
  lost = null;
  socket.call("run.watch", { run: id }).then(update, (error) => toast(error.message, { name: "warn" }));
});
socket.on("down", () => {
  lost ??= toast("Connection lost. The run continues; reconnecting.", { name: "warn", ms: 0 });
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    tick();
    figures();
  }
});
setInterval(tick, 1000);
update(run);

function update(next) {
  const before = run.state;
  run = next;
  const { state } = run;
  const pill = part("state");
  pill.className = `pill ${TONES[state] ?? ""}`;
  fill(pill, SIGNS[state] ? icon(SIGNS[state]) : null, state);
  const cancel = part("cancel-form");
  if (cancel) cancel.hidden = !run.mine || !["queued", "running"].includes(state);
  progress();
  stats();
  failure();
  cycles();
  caching();
  if (before !== state) announce(`The run is ${state}.`);
  const standing = state === "queued" ? "queued · " : `${Math.floor(share() * 100)} % · `;
  document.title = `${ENDED.has(state) ? "" : standing}${run.title || "Run"} · podstep`;
  charts.extend(run);
  figures();
}

function share() {
  if (run.state === "done") return 1;
  return run.total ? Math.min(run.done / run.total, ENDED.has(run.state) ? 1 : 0.99) : 0;
}

/** How the bar looks: by the state, and stopped alike whether it was cancelled or interrupted. */
function lookOf(state) {
  if (["done", "failed", "queued"].includes(state)) return state;
  return ENDED.has(state) || state === "cancelling" ? "stopped" : "";
}

function progress() {
  const { state, done } = run;
  const bar = part("progress");
  $("i", bar).style.setProperty("width", `${share() * 100}%`);
  bar.className = `progress ${lookOf(state)}`;
  bar.setAttribute("aria-valuenow", String(Math.floor(share() * 100)));
  part("progress-text").textContent = words();
  bar.setAttribute("aria-valuetext", words());
  const now = performance.now();
  if (!seen.length || seen.at(-1)[1] !== done) seen.push([now, done]);
  while (seen.length > 2 && now - seen[0][0] > RATE_OVER) seen.shift();
  part("rate").textContent = pace();
}

function words() {
  const { state, done, total } = run;
  const of = total && done <= total ? `${count(done)} of ${count(total)} cycles` : plural(done, "cycle");
  return {
    queued: [inQueue(run.position) || "Waiting for a worker", done ? `after ${plural(done, "cycle")}` : ""]
      .filter(Boolean)
      .join(", "),
    running: `Scheduling: ${of}${total ? `, ${Math.floor(share() * 100)} %` : ""}`,
    cancelling: `Stopping after this slice: ${of}`,
    done: outcome(),
    cancelled: `Cancelled after ${of}`,
    failed: `Failed after ${of}`,
  }[state];
}

/** The result of a finished run. Pods that ended are not lost: they were scheduled and are gone. */
function outcome() {
  if (scheduled === null || fetched.state !== "done") return `Done: all ${plural(run.done, "cycle")}`;
  const cycles = scheduled === run.done ? "" : `${plural(run.done, "cycle")}, `;
  const ended = terminating ? ` · ${count(terminating)} Terminating` : "";
  return `Done: ${cycles}${count(scheduled)} scheduled · ${count(run.placed)} running at the end${ended}`;
}

/** How fast it goes and how long it will take, in words. */
function pace() {
  if (ENDED.has(run.state))
    return run.seconds > 0 && run.done ? `${count(Math.round(run.done / run.seconds))} cycles a second` : "";
  if (run.state !== "running" || seen.length < 2) return "";
  const rate = (seen.at(-1)[1] - seen[0][1]) / ((seen.at(-1)[0] - seen[0][0]) / 1000);
  if (!(rate > 0)) return "";
  const left = run.total > run.done ? `about ${age(Math.ceil((run.total - run.done) / rate))} left` : "";
  return [`${count(Math.round(rate))} cycles a second`, left].filter(Boolean).join(" · ");
}

function stats() {
  part("running-label").textContent = ENDED.has(run.state) ? "running at the end" : "running now";
  const peaked = part("peak");
  peaked.hidden = !(peak?.[0] > run.placed);
  if (!peaked.hidden) {
    peaked.textContent = `peak ${count(peak[0])}`;
    peaked.title = `Most pods at once: ${count(peak[0])}, after cycle ${count(peak[1])}`;
  }
  const texts = {
    scheduled: scheduled === null ? "–" : count(scheduled),
    placed: count(run.placed),
    pending: count(run.pending),
    unschedulable: count(run.unschedulable),
    seconds: run.seconds ? age(run.seconds) : "–",
    peakMib: run.peakMib ? `${count(Math.round(run.peakMib))} MiB` : "–",
  };
  for (const [name, text] of Object.entries(texts)) $(`[data-stat="${name}"]`, root).textContent = text;
  tick();
}

/** What the cache did, and why answers of it were stale; nothing of a run without one. */
function caching() {
  const { cache } = run;
  part("cache-card").hidden = !cache;
  if (!cache) return;
  const texts = {
    hitRate: percent(cache.hitRate),
    hits: count(cache.hits),
    evaluations: count(cache.evaluations),
    invalidated: count(cache.invalidated),
    stale: cache.stale ? count(cache.stale) : "none",
  };
  for (const [name, text] of Object.entries(texts)) $(`[data-cache="${name}"]`, root).textContent = text;
  $('[data-cache="stale"]', root).classList.toggle("stale-text", cache.stale > 0);
  $("a[data-cache-open]", root).href = `/runs/${id}/at/${run.done}/?tab=cache&view=time`;
  const list = part("cache-causes");
  list.hidden = !cache.causes.length;
  fill(
    list,
    cache.causes.map(([cause, n]) =>
      h("li", null, h("b", { class: "num stale-text", text: count(n) }), h("span", null, nodesOf(because(cause)))),
    ),
  );
}

function tick() {
  if (document.hidden) return;
  const from = Date.parse(run.started ?? "");
  const to = run.finished ? Date.parse(run.finished) : Date.now();
  $('[data-stat="elapsed"]', root).textContent = Number.isNaN(from)
    ? "–"
    : age(Math.max(0, Math.round((to - from) / 100) / 10));
  if (!run.finished && !Number.isNaN(from))
    $('[data-stat="elapsed"]', root).textContent = age(Math.max(0, Math.floor((to - from) / 1000)));
}

function failure() {
  part("error").hidden = !run.error;
  if (!run.error) return;
  part("error-text").textContent = run.error;
  part("error-advice").textContent = run.done
    ? `The ${plural(run.done, "cycle")} before it can be opened below.`
    : run.mine
      ? "Fix the cluster in the workbench or choose other files, and start the run again."
      : "";
}

function cycles() {
  const { done, state } = run;
  field.max = String(done);
  if (document.activeElement !== field && !field.dataset.touched) field.value = done ? String(done) : "";
  part("open-hint").textContent = done ? `1 to ${count(done)}` : "none is computed yet";
  part("trace").hidden = state !== "done";
  const last = $("a[data-last]", root);
  last.hidden = !done || !ENDED.has(state);
  last.href = `/runs/${id}/at/${done}/`;
  const failed = $("a[data-first-unschedulable]", root);
  failed.hidden = !first;
  failed.href = `/runs/${id}/at/${first}/`;
  $("span", failed).textContent = `First unschedulable: cycle ${count(first)}`;
  part("open-card").hidden = !done;
  part("charts").hidden = !done;
  part("empty").hidden = done > 0;
  const [title, text] = EMPTY[state] ?? EMPTY.running;
  part("empty-title").textContent = title;
  part("empty-text").textContent = text;
}

/** What the dump lacks, and what its cluster recorded about pending pods beside the answers of the run. */
function dump({ incomplete, answers }) {
  part("dump").hidden = !incomplete.length && !answers.length;
  fill(
    part("dump-list"),
    incomplete.map((text) => h("li", null, h("b", { text: "Incomplete:" }), ` ${text}`)),
    answers.map((answer) => h("li", null, h("span", { class: "mono", text: answer.pod }), " ", recordedWords(answer))),
  );
}

/** The pods that wait after a failed try, by reason; what is open stays open while the run goes on. */
function unplaced(reasons) {
  part("unplaced").hidden = !reasons.length;
  const list = part("unplaced-list");
  const shape = (/** @type {string} */ message) => message.replace(/\d+(–\d+)?/g, "#"); // numbers move during a run
  const open = new Map($$("details", list).map((one) => [shape($(".unplaced-message", one).textContent), one.open]));
  fill(
    list,
    reasons.map(({ message, count: pods, pods: named }, i) =>
      h(
        "details",
        { open: open.get(shape(message)) ?? (!open.size && !i) },
        h(
          "summary",
          null,
          h("b", { class: "num", text: count(pods) }),
          " ",
          h("span", { class: "unplaced-message", text: message }),
        ),
        h(
          "ul",
          null,
          named.map(([key, cycle]) =>
            h(
              "li",
              null,
              h("a", {
                class: "mono",
                href: `/runs/${id}/at/${cycle}/?pod=${encodeURIComponent(key).replaceAll("%2F", "/")}`,
                text: key,
              }),
            ),
          ),
          pods > named.length ? h("li", { class: "dim", text: `and ${count(pods - named.length)} more` }) : null,
        ),
      ),
    ),
  );
}

/** Fetch and draw the figures: at most once a second while it runs, and once more at the end. */
async function figures() {
  clearTimeout(timer);
  if (!run.done || fetching || document.hidden) return;
  const ended = ENDED.has(run.state);
  if (fetched.done === run.done && fetched.state === run.state) return;
  const wait = ended ? 0 : fetched.at + FIGURES_EVERY - performance.now();
  if (wait > 0) {
    timer = setTimeout(figures, wait);
    return;
  }
  fetching = true;
  try {
    const answer = await fetch(root.dataset.figures, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
    const data = await answer.json();
    fetched = { at: performance.now(), done: data.cycles, state: data.state };
    first = data.firstUnschedulable ?? 0;
    dump(data.dump);
    unplaced(data.unplaced);
    scheduled = data.figures.outcomes.data[0]?.y[0] ?? 0;
    ({ peak = null, terminating = 0 } = data.figures.pods.layout.meta ?? {});
    cycles();
    stats();
    part("progress-text").textContent = words();
    await charts.show(data, ENDED.has(data.state) ? data.cycles : Math.max(run.total ?? 0, run.done));
  } catch {
    fetched.at = performance.now() + 2000; // the tables stand; a little later again
  } finally {
    fetching = false;
  }
  if (fetched.done < run.done || fetched.state !== run.state)
    timer = setTimeout(figures, Math.max(FIGURES_EVERY, fetched.at - performance.now()));
}

part("cancel-form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = part("cancel");
  button.setAttribute("aria-disabled", "true");
  try {
    update(await socket.call("run.cancel", { run: id }));
    toast(
      run.state === "cancelled" ? "The run is cancelled." : "Stopping: the worker finishes its current slice first.",
    );
    $("h1", root).tabIndex = -1;
    $("h1", root).focus();
  } catch (error) {
    toast(error.message, { name: "warn" });
  }
  button.removeAttribute("aria-disabled");
});

field.addEventListener("input", () => {
  field.dataset.touched = "yes";
});
part("open-cycle").addEventListener("submit", (event) => {
  event.preventDefault();
  const cycle = Number(field.value);
  if (Number.isInteger(cycle) && cycle >= 1 && cycle <= run.done) {
    location.assign(`/runs/${id}/at/${cycle}/`);
    return;
  }
  toast(run.done ? `This run has cycles 1 to ${count(run.done)}.` : "No cycle is computed yet.", { name: "warn" });
  field.focus();
});

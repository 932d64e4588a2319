// A run: progress over the socket, charts from its figures, any cycle a click away. Reloading changes nothing.

import { $, $$, h, fill, announce, toast } from "./lib/dom.js";
import { age, count } from "./lib/quantity.js";
import { Socket } from "./lib/socket.js";
import { token } from "./lib/theme.js";

const root = $("[data-run]");
const id = root.dataset.run;
const ENDED = new Set(["done", "cancelled", "failed"]);
const PILL = { done: "pass", cancelled: "fail", failed: "stale", queued: "", running: "accent", cancelling: "fail" };
const DRAW_EVERY = 2500; // milliseconds between drawings while it runs
const COLOUR = { pending: "--wait", placed: "--pass", unschedulable: "--fail", scheduled: "--pass", preempting: "--victim", error: "--stale", cpu: "--g0", memory: "--g3", pods: "--g5" };
const DASH = { pending: "dot", placed: "solid", unschedulable: "dash", cpu: "solid", memory: "dash", pods: "dot" };
const OTHERS = ["--g1", "--g2", "--g4", "--g6", "--g7"];

let run = JSON.parse($("#run", root).textContent);
let seen = []; // [time, done] of the last changes, for the rate
let data = null;
let drawn = 0;
let drawing = false;

const socket = new Socket();
socket.on("run.changed", (changed) => { if (changed.run === id) update(changed); });
socket.on("up", () => socket.call("run.watch", { run: id }).then(update, (error) => toast(error.message, { name: "warn" })));
let lost = null;
socket.on("down", () => { lost ??= toast("Connection lost. The run goes on; trying again.", { name: "warn", ms: 0 }); });
socket.on("up", () => { lost?.remove(); lost = null; });
update(run);
window.podstep = { socket, get run() { return run; } };

function update(next) {
  const before = run.state;
  run = next;
  const ended = ENDED.has(run.state);
  const state = $("[data-state]", root);
  state.textContent = run.state;
  state.className = `pill ${PILL[run.state] ?? ""}`;
  const cancel = $("[data-cancel-form]", root);
  if (cancel) cancel.hidden = !run.mine || !["queued", "running"].includes(run.state);
  progress(ended);
  for (const [name, text] of Object.entries({ placed: count(run.placed ?? 0), pending: count(run.pending ?? 0), unschedulable: count(run.unschedulable ?? 0), seconds: age(Math.round((run.seconds ?? 0) * 10) / 10), peakMib: run.peakMib ? `${count(Math.round(run.peakMib))} MiB` : "–" })) $(`[data-stat="${name}"]`, root).textContent = text;
  const error = $("[data-error]", root);
  error.hidden = !run.error;
  error.textContent = run.error ?? "";
  const field = $("#cycle");
  field.max = run.done;
  if (document.activeElement !== field && (!field.dataset.touched)) field.value = run.done || 1;
  $("[data-open-hint]", root).textContent = run.done ? `1 to ${count(run.done)}` : "none is computed yet";
  const trace = $("[data-trace]", root);
  if (trace) trace.hidden = run.state !== "done";
  if (before !== run.state) { announce(`The run is ${run.state}.`); if (ended) draw(true); }
  draw();
}

function progress(ended) {
  const share = run.state === "done" ? 1 : run.total ? Math.min(1, run.done / run.total) : 0;
  const bar = $("[data-progress]", root);
  bar.firstElementChild.style.setProperty("width", `${share * 100}%`);
  bar.setAttribute("aria-valuenow", Math.round(share * 100));
  bar.className = `progress ${run.state === "done" ? "done" : ended ? "stopped" : ""}`;
  $("[data-progress-text]", root).textContent = run.state === "queued" ? "Waiting for a worker" : run.state === "done" || !run.total ? `${count(run.done)} cycles` : `${count(run.done)} of ${count(run.total)} cycles · ${Math.floor(share * 100)} %`;
  const now = performance.now();
  if (seen.length === 0 || seen.at(-1)[1] !== run.done) seen = [...seen, [now, run.done]].slice(-12);
  let text = "";
  if (ended) text = run.seconds ? `${count(Math.round(run.done / run.seconds))} cycles a second` : "";
  else if (seen.length > 1) {
    const [then, done] = seen[0];
    const rate = (run.done - done) / ((now - then) / 1000);
    const left = run.total && rate > 0 ? (run.total - run.done) / rate : null;
    text = `${count(Math.round(rate))} cycles a second${left !== null ? ` · about ${age(Math.ceil(left))} left` : ""}`;
  }
  $("[data-rate]", root).textContent = text;
}

async function draw(force = false) {
  if (drawing || (!force && performance.now() - drawn < DRAW_EVERY && drawn)) return;
  if (!force && data && ENDED.has(run.state) && data.state === run.state && data.cycles === run.done) return;
  drawing = true;
  try {
    data = await (await fetch(root.dataset.figures, { headers: { Accept: "application/json" } })).json();
    for (const table of data.tables) fillTable(table);
    await plotly();
    for (const [name, figure] of Object.entries(data.figures)) chart(name, figure);
    drawn = performance.now();
    root.dataset.drawn = data.state;
  } catch { /* the tables stand; the next change draws again */ } finally { drawing = false; }
  if (ENDED.has(run.state) && data && data.state !== run.state) setTimeout(() => draw(true), 700);
}

let loading = null;
function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = h("script", { src: root.dataset.plotly });
    script.onload = resolve;
    script.onerror = () => { loading = null; reject(new Error("plotly")); };
    document.head.append(script);
  });
  return loading;
}

function chart(name, figure) {
  const host = $(`[data-figure="${name}"] [data-chart]`, root);
  if (!host) return;
  const axis = (own) => ({ ...own, gridcolor: token("--line"), linecolor: token("--line-strong"), zerolinecolor: token("--line"), tickfont: { color: token("--dim"), size: 11 }, title: { ...own?.title, font: { color: token("--dim"), size: 12 } }, automargin: true });
  let other = 0;
  const colour = (series) => token(COLOUR[series] ?? OTHERS[other++ % OTHERS.length]);
  const traces = figure.data.map((trace) => {
    const series = trace.meta?.series ?? trace.name;
    if (trace.type === "bar") return { ...trace, marker: { color: trace.x.map(colour) }, text: trace.y.map((y) => count(y)), textposition: "outside", textfont: { color: token("--ink") }, cliponaxis: false };
    return { ...trace, line: { color: colour(series), width: 2, dash: DASH[series] ?? "dashdot" } };
  });
  const { title, ...layout } = figure.layout;
  if (!host.dataset.ready) { fill(host); host.dataset.ready = "yes"; }
  window.Plotly.react(host, traces, {
    ...layout, margin: { l: 48, r: 14, t: 10, b: 40 }, height: 280, xaxis: axis(layout.xaxis), yaxis: axis(layout.yaxis), font: { family: token("--font"), color: token("--ink"), size: 12 },
    legend: { ...layout.legend, font: { color: token("--dim") } }, hoverlabel: { bgcolor: token("--raise-2"), bordercolor: token("--line-strong"), font: { color: token("--ink") } },
  }, { displayModeBar: false, responsive: true });
}

function fillTable(table) {
  const host = $(`[data-figure="${table.name}"] [data-table]`, root);
  if (!host) return;
  fill(host, h("thead", null, h("tr", null, table.columns.map((text) => h("th", { scope: "col", text })))), h("tbody", null, table.rows.map((row) => h("tr", null, row.map((text) => h("td", { class: "num", text }))))));
}

addEventListener("podstep:theme", () => { if (data && window.Plotly) for (const [name, figure] of Object.entries(data.figures)) chart(name, figure); });

$("[data-cancel-form]", root)?.addEventListener("submit", async (event) => {
  event.preventDefault();
  try { update(await socket.call("run.cancel", { run: id })); } catch (error) { toast(error.message, { name: "warn" }); }
});

for (const form of $$("[data-open-cycle]", root)) {
  $("#cycle").addEventListener("input", (event) => { event.target.dataset.touched = "yes"; });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const cycle = Number($("#cycle").value);
    if (cycle >= 1 && cycle <= run.done) location.assign(`/runs/${id}/at/${cycle}/`);
    else toast(run.done ? `This run has cycles 1 to ${count(run.done)}.` : "No cycle is computed yet.", { name: "warn" });
  });
}

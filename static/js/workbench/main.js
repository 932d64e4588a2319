// The workbench: wires the parts together and opens the source that the page names.

import { $, h, fill, icon, toast } from "../lib/dom.ts";
import { Socket } from "../lib/socket.ts";
import { isRecording, openLive } from "../lib/recorded.ts";
import { plural } from "../lib/quantity.ts";
import { about } from "./about.tsx";
import { askByPointer, pointing } from "./authoring.tsx";
import { Address } from "./address.ts";
import { Breakpoints } from "./breakpoints.ts";
import { Points } from "./breakpanel.tsx";
import { Build } from "./build.ts";
import { Computing } from "./computing.tsx";
import { Controls } from "./controls.tsx";
import { cycleBar } from "./cyclebar.tsx";
import { Deck } from "./deck.ts";
import { differ } from "./differ.tsx";
import { embedded } from "./embedded.ts";
import { Finder } from "./finder.ts";
import { inspect } from "./inspect/inspect.tsx";
import { Interesting } from "./interesting.ts";
import { keys } from "./keys.tsx";
import { moreMenu } from "./more.ts";
import { Layout } from "./layout.ts";
import { Palette } from "./palette.tsx";
import { Playback } from "./playback.ts";
import { Presenting } from "./presenting.tsx";
import { present } from "./rooms/open.tsx";
import { checkPinned } from "./share/pinned.tsx";
import { settings } from "./settings.ts";
import { showRelease } from "./release.tsx";
import { share } from "./share.tsx";
import { Stage } from "./stage.ts";
import { Stops } from "./stops.tsx";
import { Timings } from "./timings.ts";
import { title } from "./title.ts";
import { View } from "./view.ts";
import { Why } from "./why.tsx";
import { showApplied } from "./why/applied.ts";
import { follow } from "./store.ts";

const root = $("[data-workbench]");
const source = JSON.parse($("#source", root).textContent);
const mine = "mine" in root.dataset && Boolean(source.draft);
const socket = new Socket();
const playback = new Playback(socket, source);
playback.locked = "locked" in root.dataset;
playback.fresh = "projector" in root.dataset;
if (root.dataset.veil) playback.veiled = Number(root.dataset.veil);
const view = new View(playback);
const layout = new Layout(root, view);
about($("[data-about]"), view, JSON.parse($("#about").textContent));
const timings = new Timings(playback);
const stage = new Stage($("[data-stage]", root), view);
cycleBar($("[data-cycle-bar]", root), view, layout);
const finder = new Finder(playback);
const breakpoints = (view.breakpoints = new Breakpoints(view, finder));
const deck = new Deck($("[data-deck]", root), view);
const computing = new Computing($("[data-stage]", root), $("[data-deck]", root), view, startRun);
const stops = new Stops($("[data-deck]", root), view, {
  deck,
  finder,
  breakpoints,
  interesting: new Interesting(view, finder),
});
inspect($("#region-inspect", root), view);
if (!("locked" in root.dataset) && !root.dataset.room && !document.body.classList.contains("embedded"))
  askByPointer(view, $("#region-inspect", root));
const controls = new Controls(root, view);
const presenting = new Presenting($("#main", root), view, layout);
const address = new Address(view);
view.why = new Why(view, { canApply: Boolean($("[data-fork]")) });

const fork = async () => {
  if (isRecording()) return openLive();
  try {
    const { url } = await socket.call("scenario.fork", { source });
    location.assign(address.href(new URL(url, location.origin).pathname));
  } catch (error) {
    toast(`It could not be forked: ${error.message}`, { name: "warn", ms: 6000 });
  }
};
/** Go on in a copy at the same step, with the editor open on what was wished for. */
const forkToEdit = async (wish) => {
  if (isRecording()) return openLive();
  try {
    const { url } = await socket.call("scenario.fork", { source });
    const path = address.href(new URL(url, location.origin).pathname);
    const asked = new URLSearchParams(wish.create ? { create: wish.create } : { edit: wish.target });
    location.assign(`${path}${path.includes("?") ? "&" : "?"}${asked}`);
  } catch (error) {
    toast(`It could not be copied: ${error.message}`, { name: "warn", ms: 6000 });
  }
};
const build = new Build($("#region-build", root), view, {
  mine,
  draft: source.draft,
  bundleUrl: root.dataset.bundleUrl,
  canFork: Boolean($("[data-fork]")),
  onFork: fork,
  onForkToEdit: forkToEdit,
  onApplied: reopen,
});
view.library = root.dataset.plotly;
view.reveal = (line) => build.reveal(line);
differ($("[data-cycle-bar]", root), view);
view.settings = settings({ view, options: build.policy.options, mine, canFork: Boolean($("[data-fork]")), fork });
showRelease(view);
const sharing = { playback, view, address, build, mine, bundleUrl: root.dataset.bundleUrl };
const onShare = () => share(sharing);
const points = new Points(view, { breakpoints, stops, href: () => address.href() });
deck.listen({ stops, breakpoints, points });
const locked = "locked" in root.dataset;
const context = {
  playback,
  deck,
  view,
  build,
  layout,
  controls,
  stage,
  stops,
  points,
  presenting,
  onShare,
  mine,
  locked,
};
context.palette = new Palette(context);
keys(context);

$("[data-share]")?.addEventListener("click", onShare);
$("[data-present]")?.addEventListener("click", () => present(sharing));
$("[data-presenting]")?.addEventListener("click", () => presenting.toggle());
moreMenu($("[data-controls]"), context);
$("[data-help]").addEventListener("click", () => context.help());
$("[data-palette]")?.addEventListener("click", () => context.palette.open());
const forkButton = $("[data-fork]");
if (forkButton) {
  forkButton.hidden = mine || isRecording();
  forkButton.addEventListener("click", fork);
}
$("[data-kind]").textContent = root.dataset.room
  ? "room"
  : mine
    ? "draft"
    : source.run
      ? "run"
      : isRecording()
        ? "recording"
        : source.side
          ? "compared, read-only"
          : "shared, read-only";
if (mine) title(build.draft);
const named = $("input[data-title]"); // cut on a narrow screen: the tooltip has all of it
named?.addEventListener("pointerenter", () => (named.title = named.value));
runAll();
notices();
const asked = Object.fromEntries(
  ["edit", "create"].map((name) => [name, new URLSearchParams(location.search).get(name) ?? ""]),
);
view.on("address", openHere);
if (document.body.classList.contains("embedded")) {
  embedded(root, { view, layout, playback });
  if (parent !== window && root.dataset.views === undefined && !root.dataset.embedView) pointing(view);
}
const { hash } = location; // the address is soon rewritten without it
if (root.dataset.room) history.replaceState(null, "", presented()); // the room says where it is
open(Address.read(root.dataset.step));
if (root.dataset.room) enterRoom(root.dataset.room);
comments($("[data-comments]"));
checkPinned(playback);

/** For the page of a lesson that frames this one, for the browser tests, and for looking at it in a console. */
window.podstep = {
  href: () => address.href("/"),
  timings,
  playback,
  view,
  socket,
  ready: false,
  play: () => deck.toggle(),
};

/** @param {HTMLElement | null} button */
async function comments(button) {
  if (!button) return;
  const { Review } = await import("./review/panel.tsx");
  new Review(view, root, button, hash, deck.timeline);
}

/** The address of a room: of its query only the mode belongs to the page, which of a projector's is given. */
function presented() {
  const large = playback.fresh || new URLSearchParams(location.search).get("present") === "1";
  return location.pathname + (large ? "?present=1" : "");
}

/** @param {string} id */
async function enterRoom(id) {
  const { enter } = await import("./rooms/rooms.ts");
  window.podstep.room = enter({ id, hash, view, address, layout, root });
}

/** Out of a frame one goes on with the same view. */
function openHere() {
  const out = $("a[data-open-here]");
  if (out) out.href = address.href(`/s/${source.scenario}/`);
}

async function open(wish) {
  try {
    const { index } = await playback.open(wish.step, (report) => computing.loading(report));
    address.select(wish);
    if (wish.tab && layout.single) layout.show("inspect");
    const place = Address.place(wish);
    if (index === null) startBefore(wish.step, place);
    else start(index, place);
    if (index !== null && wish.step === "end") playback.awaitEnd();
    if (playback.complete && index !== null && Math.floor(Number(wish.step)) > index && !root.dataset.room)
      toast(`There is no step ${wish.step}; this is the last.`, { name: "warn", ms: 6000 });
    showApplied(source.draft);
    if (wish.why) address.ask(wish);
    if (mine && (asked.edit || asked.create))
      view.emit("edit", asked.create ? { create: asked.create } : { target: asked.edit });
  } catch (error) {
    if (wish.step && (error.code === "step.out-of-range" || error.body?.field === "step")) {
      toast(`There is no step ${wish.step.slice(0, 20)}; this is the start.`, { name: "warn", ms: 6000 });
      open({ ...wish, step: "" });
      return;
    }
    computing.loaded();
    refused(error);
  }
}

/** Simulate the draft again and stay at the same step, or at its end if it has become shorter. */
async function reopen() {
  const { pending } = view;
  const at = playback.wantedCycle;
  const step = pending?.step ?? (at ? String(at) : "");
  try {
    const { index } = await playback.open(step, (report) => computing.loading(report));
    if (index === null) {
      startBefore(step, pending?.place);
      return;
    }
    if (pending) {
      start(index, pending.place);
      return;
    }
  } catch (error) {
    computing.loaded();
    if (error.code !== "step.out-of-range") throw error;
    await playback.open();
  }
  start(Math.min(at, playback.cycles));
}

/** Start at the beginning, on the way to a step that is not computed yet. */
function startBefore(step, place) {
  view.store.pending.value = { step, place }; // what the address asks of it is not looked for at the start
  start(0);
  playback.emit("later", { step, place });
}

function start(index, place) {
  playback.goto(index, undefined, place);
  window.podstep.ready = true;
  const runAll = $("[data-run-all]");
  if (runAll) runAll.hidden = Boolean(source.run);
}

function refused(error) {
  fill($("[data-inspect]", root));
  root.classList.add("refused");
  fill(
    $("[data-stage]", root),
    h(
      "div",
      { class: "empty" },
      icon("warn"),
      h("b", { text: "It cannot be opened." }),
      h("span", { text: error.message }),
      h("a", { class: "btn", href: "/", text: "To the start page" }),
    ),
  );
}

async function startRun() {
  try {
    const { url } = await socket.call("run.start", { source });
    location.assign(url);
  } catch (error) {
    toast(`The run could not be started: ${error.message}`, { name: "warn", ms: 6000 });
  }
}

function runAll() {
  $("[data-run-all]")?.addEventListener("click", startRun);
}

/** What the visitor must know of the connection and of steps that failed to load. */
function notices() {
  let note = null;
  socket.on("down", () => {
    note ??= toast("Connection lost. Reconnecting; loaded cycles remain available.", { name: "warn", ms: 0 });
  });
  socket.on("up", (first) => {
    note?.remove();
    note = null;
    if (!first) toast("Connected again.");
  });
  let away = null;
  let saving = false;
  socket.on("unavailable", ({ command, message }) => {
    if (away && (saving || command !== "draft.save")) return;
    away?.remove();
    saving = command === "draft.save";
    const why = message.split(". ")[0] || "The database does not respond";
    const meanwhile = saving
      ? "Your change is not saved yet; trying again. It is kept meanwhile."
      : "Trying again; loaded cycles remain available.";
    away = toast(`${why}. ${meanwhile}`, { name: "warn", ms: 0 });
  });
  socket.on("available", () => {
    away?.remove();
    away = null;
    saving = false;
    toast("The server is reachable again.");
  });
  playback.on("failed", (error) => error.code === "draft.stale" || toast(error.message, { name: "warn", ms: 6000 }));
  // Warnings are no news that covers the stage: the YAML tab counts them, and on a phone the region that it is in.
  follow(playback.store.scenario, () => {
    const { length } = playback.warnings;
    const build = $('[data-view-tab="build"]');
    if (!build) return;
    build.classList.toggle("warned", length > 0);
    build.title = length ? `${plural(length, "warning")} about the input: see the YAML tab` : "";
  });
}

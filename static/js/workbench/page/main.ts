// The workbench: wires the parts together and opens the source that the page names.

import "../../base.js";
import { $, announce, toast } from "../../lib/dom.ts";
import type { Source } from "../../lib/protocol.js";
import { isRecording } from "../../lib/recorded.ts";
import { refusalOf, Socket } from "../../lib/socket.ts";
import { about } from "./about.tsx";
import { Address } from "../address/address.ts";
import { askByPointer, pointing } from "../inspect/authoring.tsx";
import { Points } from "../breakpoints/breakpanel.tsx";
import { Breakpoints } from "../breakpoints/breakpoints.ts";
import { Build } from "../build/build.ts";
import { Computing } from "./computing.tsx";
import type { Context } from "../commands/context.ts";
import { Controls } from "../layout/controls.tsx";
import { cycleBar } from "../layout/cyclebar.tsx";
import { drawDeck } from "../deck/transport.tsx";
import { Deck } from "../deck/deck.ts";
import { differ } from "../dump/differ.tsx";
import { embedded } from "../address/embedded.ts";
import { Finder } from "../breakpoints/finder.ts";
import { forked } from "./fork.ts";
import { inspect } from "../inspect/inspect.tsx";
import { Interesting } from "../breakpoints/interesting.ts";
import { help, keys } from "../commands/keys.tsx";
import { Layout } from "../layout/layout.ts";
import { moreMenu } from "../commands/more.ts";
import { notices } from "./notices.ts";
import { Opening } from "./opening.ts";
import { Palette } from "../commands/palette.tsx";
import { Playback } from "../playback/playback.ts";
import { Presenting } from "../layout/presenting.tsx";
import { showRelease } from "../build/release.tsx";
import { present } from "../rooms/open.tsx";
import { settings } from "../draft/settings.ts";
import { share } from "../share/share.tsx";
import { checkPinned } from "../share/pinned.tsx";
import { Stage } from "../stage/stage.ts";
import { Stops } from "../breakpoints/stops.tsx";
import { Timings } from "../playback/timings.ts";
import { title } from "../build/title.ts";
import { View } from "../view/view.ts";
import { Why } from "../why/why.tsx";

const root = $("[data-workbench]");
const { dataset } = root;
const source: Source & { side?: string } = JSON.parse($("#source", root).textContent ?? "");
const mine = "mine" in dataset && Boolean(source.draft);
const locked = "locked" in dataset;
const framed = document.body.classList.contains("embedded");
const optional = (selector: string): HTMLElement | null => document.querySelector(selector);
const forkButton = optional("[data-fork]");
const canFork = Boolean(forkButton);
const bundleUrl = dataset.bundleUrl ?? "";
const { hash } = location; // the address is soon rewritten without it
const query = new URLSearchParams(location.search);

// ---- what is played, and what of it is on screen

const playback = new Playback(new Socket(), source);
playback.locked = locked;
playback.fresh = "projector" in dataset;
if (dataset.veil) playback.veiled = Number(dataset.veil);
const view = new View(playback);
view.library = dataset.plotly ?? "";
const layout = new Layout(root, view);
const timings = new Timings(playback);

// ---- its parts

about($("[data-about]"), view, JSON.parse($("#about").textContent ?? ""));
const stage = new Stage($("[data-stage]", root), view);
cycleBar($("[data-cycle-bar]", root), view, layout);
const finder = new Finder(playback);
const breakpoints = new Breakpoints(view, finder);
const deck = new Deck(view);
drawDeck($("[data-deck]", root), deck);
const computing = new Computing($("[data-stage]", root), $("[data-deck]", root), view, startRun);
const interesting = new Interesting(view, finder);
const stops = new Stops($("[data-deck]", root), view, { deck, finder, breakpoints, interesting });
inspect($("#region-inspect", root), view);
if (!locked && !dataset.room && !framed) askByPointer(view, $("#region-inspect", root));
const controls = new Controls(root, view);
const presenting = new Presenting($("#main", root), view, layout);
const address = new Address(view);
new Why(view, { canApply: canFork });
const opening = new Opening(root, view, layout, address, computing);
const fork = () => forked(playback, address);
const build = new Build($("#region-build", root), view, {
  mine,
  draft: source.draft ?? "",
  bundleUrl,
  canFork,
  onFork: fork,
  onForkToEdit: (wish) => forked(playback, address, wish),
  onApplied: () => opening.again(),
});
differ($("[data-cycle-bar]", root), view);
const notify = (text: string) => (build.edit ? build.edit.notify(text) : announce(text));
view.settings = settings({ playback, options: build.policy.options, notify, mine, canFork, fork });
showRelease(view);
const sharing = { playback, view, address, build, mine, bundleUrl };
const points = new Points(view, { breakpoints, stops, href: () => address.href() });
deck.listen({ stops, breakpoints, points });
const context: Context = {
  ...{ playback, view, deck, build, layout, controls, stage, stops, points, presenting, mine, locked },
  palette: { open: () => palette.open() },
  help: () => help(context),
  onShare: () => share(sharing),
};
const palette = new Palette(context);
keys(context);
moreMenu($("[data-controls]"), context);

// ---- the head of the page

const press = (selector: string, act: () => unknown) => optional(selector)?.addEventListener("click", () => act());
press("[data-share]", context.onShare);
press("[data-present]", () => present(sharing));
press("[data-presenting]", () => presenting.toggle());
press("[data-help]", context.help);
press("[data-palette]", context.palette.open);
press("[data-run-all]", startRun);
press("[data-fork]", fork);
if (forkButton) forkButton.hidden = mine || isRecording();
$("[data-kind]").textContent = kind();
if (mine) title(build.draft);
const named = document.querySelector("input[data-title]"); // cut on a narrow screen: the tooltip has all of it
named?.addEventListener("pointerenter", () => (named.title = named.value));
notices(playback);
// Out of a frame one goes on with the same view.
view.actions.address.on(() => {
  const out = document.querySelector("a[data-open-here]");
  if (out) out.href = address.href(`/s/${source.scenario}/`);
});
if (framed) {
  embedded(root, { view, layout, playback });
  if (parent !== window && dataset.views === undefined && !dataset.embedView) pointing(view);
}
if (dataset.room) history.replaceState(null, "", presented()); // the room says where it is

/** For the page of a lesson that frames this one, for the browser tests, and for looking at it in a console. */
window.podstep = {
  href: () => address.href("/"),
  timings,
  playback,
  view,
  breakpoints,
  socket: playback.socket,
  get ready() {
    return opening.ready;
  },
  play: () => deck.toggle(),
};

void opening.open(Address.read(dataset.step)).then((opened) => {
  const [create, target] = [query.get("create"), query.get("edit")];
  if (opened && mine && (create || target)) view.actions.edit(create ? { create } : { target: target ?? "" });
});
if (dataset.room) void enterRoom(dataset.room);
void comments(optional("[data-comments]"));
void checkPinned(playback);

async function comments(button: HTMLElement | null) {
  if (!button) return;
  const { Review } = await import("../review/panel.tsx");
  new Review(view, root, button, hash, deck.timeline);
}

/** The address of a room: of its query only the mode belongs to the page, which of a projector's is given. */
function presented() {
  return location.pathname + (playback.fresh || query.get("present") === "1" ? "?present=1" : "");
}

async function enterRoom(id: string) {
  const { enter } = await import("../rooms/rooms.ts");
  if (window.podstep) window.podstep.room = enter({ id, hash, view, address, layout, root });
}

async function startRun() {
  try {
    const { url } = await playback.socket.call("run.start", { source });
    location.assign(url);
  } catch (error) {
    toast(`The run could not be started: ${refusalOf(error).message}`, { name: "warn", ms: 6000 });
  }
}

/** What is open, in a word or two. */
function kind() {
  if (dataset.room) return "room";
  if (mine) return "draft";
  if (source.run) return "run";
  if (isRecording()) return "recording";
  return source.side ? "compared, read-only" : "shared, read-only";
}

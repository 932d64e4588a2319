// Every command, once: its name, its keys, when it is available and what it does. The keyboard, the help and the
// palette are made from this table.

import { $, toast } from "../../lib/dom.ts";
import { isRecording, openLive } from "../../lib/recorded.ts";
import { refusalOf } from "../../lib/socket.ts";
import { addView, askHere } from "../inspect/authoring.tsx";
import { exportDeck, exportStage, exportView } from "../film/exporting.tsx";
import { askStep } from "../deck/goto.tsx";
import { TABS } from "../inspect/tabs.tsx";
import type { Context } from "./context.ts";
import type { Playback } from "../playback/playback.ts";
import type { View } from "../view/view.ts";

/** What a key is about: the pod or node that has the focus, else the node that is selected. */
function about(target: HTMLElement | null, view: View) {
  const key = target?.closest?.("[data-key]")?.dataset.key ?? "";
  const [kind, index] = key.split(":");
  if (kind === "pod") return { pod: Number(index) };
  if (kind === "object") return { target: key.slice("object:".length) };
  const node = Number((kind === "node" ? index : target?.closest?.("[data-node]")?.dataset.node) ?? view.node);
  return node >= 0 ? { node } : {};
}

const DIGITS = 9; // the first tabs have a number key; 0 shows the whole stage

/** When a command was asked for, at which element, and by which key. */
export type How = { since: number; target: any; key?: string };

const go =
  (index: (playback: Playback) => number) =>
  ({ playback, deck }: Context, { since }: How) => {
    deck.pause();
    playback.goto(index(playback), since);
  };
/** In a frame or a room nobody writes a lesson. */
const teaches = ({ locked }: Context) =>
  !locked && !isRecording() && !document.body.classList.contains("embedded") && !$("[data-workbench]")?.dataset.room;
const shownFork = () => {
  const button = $("[data-fork]");
  return button && !button.hidden ? button : null;
};
const opened =
  (tab: string) =>
  ({ view, build }: Context) => {
    view.actions.region("build");
    build.open(tab);
  };
const undo =
  (way: "back" | "forth", done: string) =>
  async ({ build }: Context) => {
    try {
      const words = await build.undo[way]();
      if (words) toast(`${done}: ${words}.`);
    } catch (error) {
      toast(refusalOf(error).message, { name: "warn", ms: 6000 });
    }
  };

// `keys` as keys.tsx writes them; `help` is the help's text for two that belong together, `many` leaves one out of it,
// `span` stands for all keys of a row; `elsewhere`: the part itself listens for the keys; `when`: without it always.
export type Row = {
  id: string;
  group: string;
  name: string;
  help?: string;
  keys?: string[];
  many?: boolean;
  span?: [from: string, to: string];
  elsewhere?: boolean;
  hidden?: boolean;
  /** It asks a server for a page or a file. */
  served?: boolean;
  when?: (context: Context) => boolean;
  run: (context: Context, how: How) => unknown;
};

export const COMMANDS: Row[] = [
  {
    id: "step",
    group: "Time",
    name: "Next cycle",
    help: "Next cycle, or the rest of the shown one",
    keys: ["ArrowRight"],
    run: ({ deck }, { since }) => deck.onward(since),
  },
  {
    id: "back",
    group: "Time",
    name: "Previous cycle",
    keys: ["ArrowLeft"],
    run: go((playback) => playback.wanted - 1),
  },
  {
    id: "phase",
    group: "Time",
    name: "Next phase",
    keys: ["Shift+ArrowRight"],
    run: ({ deck }, { since }) => deck.phase(1, since),
  },
  {
    id: "phase-back",
    group: "Time",
    name: "Previous phase",
    keys: ["Shift+ArrowLeft"],
    run: ({ deck }, { since }) => deck.phase(-1, since),
  },
  { id: "play", group: "Time", name: "Play or pause", keys: [" "], run: ({ deck }) => deck.toggle() },
  { id: "start", group: "Time", name: "To the start", keys: ["Home"], run: go(() => 0) },
  { id: "end", group: "Time", name: "To the end", keys: ["End"], run: go((playback) => playback.last) },
  { id: "goto", group: "Time", name: "Go to a step…", keys: ["g"], run: ({ playback }) => askStep(playback) },
  {
    id: "next",
    group: "Time",
    name: "Next by the chosen unit",
    help: "Next event, second, failure …, as chosen beside the step buttons",
    keys: ["."],
    run: ({ deck }, { since }) => deck.step(1, since),
  },
  {
    id: "previous",
    group: "Time",
    name: "Previous by the chosen unit",
    help: "Previous event, second, failure …, as chosen beside the step buttons",
    keys: [","],
    run: ({ deck }, { since }) => deck.step(-1, since),
  },
  {
    id: "interesting",
    group: "Run to",
    name: "Next interesting cycle",
    keys: ["n"],
    run: ({ stops }, { since }) => stops.run("interesting", 1, since),
  },
  {
    id: "interesting-back",
    group: "Run to",
    name: "Previous interesting cycle",
    keys: ["Shift+n"],
    run: ({ stops }, { since }) => stops.run("interesting", -1, since),
  },
  {
    id: "run",
    group: "Run to",
    name: "Run to the next break",
    keys: ["r"],
    run: ({ stops }, { since }) => stops.run("break", 1, since),
  },
  {
    id: "run-back",
    group: "Run to",
    name: "Run back to the previous break",
    keys: ["Shift+r"],
    run: ({ stops }, { since }) => stops.run("break", -1, since),
  },
  {
    id: "ahead",
    group: "Time",
    name: "Show or hide outcomes ahead",
    help: "Show or hide outcomes ahead, on the timeline",
    keys: ["o"],
    run: ({ view, deck }) => {
      view.seen.reveal(!view.seen.ahead);
      deck.announceAhead();
    },
  },
  {
    id: "break",
    group: "Run to",
    name: "Breakpoints…",
    help: "Breakpoints: set, switch and remove them",
    keys: ["b"],
    run: ({ points, view }, { target }) => points.open(about(target, view)),
  },
  {
    id: "find",
    group: "Look",
    name: "Find a node or pod",
    keys: ["/"],
    run: ({ view, build }) => {
      view.actions.region("build");
      build.focusSearch();
    },
  },
  {
    id: "why",
    group: "Look",
    name: "Why? The reasons, and what would help",
    keys: ["w"],
    run: ({ view }, { target }) => view.actions.why(about(target, view)),
  },
  ...TABS.map(
    ({ key, title }, i) =>
      ({
        id: `tab-${key}`,
        group: "Look",
        name: `Tab ${title}`,
        help: "The tabs of Inspect",
        span: ["1", String(Math.min(TABS.length, DIGITS))],
        many: i > 0,
        keys: i < DIGITS ? [String(i + 1)] : undefined,
        run: ({ view }) => view.setTab(key),
      }) as Row,
  ),
  {
    id: "table",
    group: "Look",
    name: "Nodes as a table, or as a picture",
    keys: ["t"],
    run: () => $("[data-stage-table]")?.click(),
  },
  {
    id: "controls",
    group: "Look",
    name: "Basic controls, or all",
    help: "Basic controls, or all of them",
    keys: ["m"],
    when: () => Boolean($("[data-controls]")),
    run: ({ controls }) => controls.choose(!controls.few),
  },
  {
    id: "build",
    group: "Look",
    name: "Hide or show Build",
    keys: ["["],
    run: ({ layout, controls }) => (controls.few ? controls.choose(false) : layout.toggle("build")),
  },
  {
    id: "inspect",
    group: "Look",
    name: "Hide or show Inspect",
    keys: ["]"],
    run: ({ layout }) => layout.toggle("inspect"),
  },
  {
    id: "presentation",
    group: "Look",
    name: "Presentation mode",
    help: "Presentation mode: large type, the stage and the open tab; Esc leaves it",
    keys: ["p"],
    run: ({ presenting }) => presenting.toggle(),
  },
  {
    id: "remote",
    group: "Time",
    name: "Next cycle, by a presenter's remote",
    help: "Next cycle in presentation mode, by a presenter's remote",
    keys: ["PageDown"],
    hidden: true,
    when: ({ presenting }) => presenting.on,
    run: go((playback) => playback.wanted + 1),
  },
  {
    id: "remote-back",
    group: "Time",
    name: "Previous cycle, by a presenter's remote",
    help: "Previous cycle, by the same",
    keys: ["PageUp"],
    hidden: true,
    when: ({ presenting }) => presenting.on,
    run: go((playback) => playback.wanted - 1),
  },
  {
    id: "close",
    group: "Look",
    name: "Unselect",
    help: "Close, unselect, leave presentation mode",
    keys: ["Escape"],
    run: ({ view, stops, presenting }) => {
      if (presenting.on && view.node < 0 && view.pod < 0 && !view.lit) {
        presenting.toggle(false);
        return;
      }
      stops.hide();
      view.light(null);
      view.selectNode(-1);
      view.selectPod(-1);
    },
  },
  { id: "theme", group: "Look", name: "Switch between dark and light", run: () => $("[data-theme-toggle]")?.click() },
  {
    id: "edit",
    group: "Change",
    name: "Edit a node, a pod or another object at this step",
    keys: ["e"],
    when: ({ view }) => Boolean(view.editing),
    run: ({ view }, { target }) => view.actions.edit(about(target, view)),
  },
  {
    id: "act",
    group: "Change",
    name: "Operate: drain, cordon, evict, scale …",
    help: "Operate a node, a pod or its workload: drain, cordon, evict, scale …",
    keys: ["a"],
    when: ({ view }) => Boolean(view.editing),
    run: ({ view }, { target }) => {
      const card = target?.closest?.("[data-key], [data-node]");
      const { pod } = view;
      const [kind, group] = (card?.dataset.key ?? "").split(":");
      const wish = kind === "group" ? { workload: Number(group) } : card || pod < 0 ? about(target, view) : { pod };
      view.actions.act({ ...wish, place: card ?? undefined });
    },
  },
  {
    id: "yaml",
    group: "Change",
    name: "The YAML",
    run: opened("yaml"),
  },
  {
    id: "policy",
    group: "Change",
    name: "The Policy",
    run: opened("policy"),
  },
  {
    id: "undo",
    group: "Change",
    name: "Undo a change of Build",
    keys: ["Mod+z"],
    elsewhere: true,
    when: ({ build, mine }) => mine && Boolean(build.undo.last),
    run: undo("back", "Undone"),
  },
  {
    id: "redo",
    group: "Change",
    name: "Redo",
    keys: ["Mod+Shift+z"],
    elsewhere: true,
    when: ({ build, mine }) => mine && Boolean(build.undo.next),
    run: undo("forth", "Redone"),
  },
  {
    id: "stop-add",
    group: "Teach",
    name: "Add this view as a stop of a lesson…",
    when: teaches,
    run: ({ view }) => addView(view),
  },
  {
    id: "ask-here",
    group: "Teach",
    name: "Ask here: a question for a lesson…",
    help: "Ask here, in a lesson: about a cell, a node, a pod, an event or the cycle",
    keys: ["q"],
    when: teaches,
    run: ({ view }, { target }) => askHere(view, target),
  },
  {
    id: "authored",
    served: true,
    group: "Teach",
    name: "Your lessons: write one, export or import a .zip",
    run: () => location.assign("/learn/author/"),
  },
  { id: "share", served: true, group: "Change", name: "Share", keys: ["s"], run: ({ onShare }) => onShare() },
  {
    id: "present",
    group: "Change",
    name: "Present: open a room that others follow",
    when: () => Boolean($("[data-present]")),
    run: () => $("[data-present]")?.click(),
  },
  {
    id: "compare",
    served: true,
    group: "Change",
    name: "Compare with…",
    run: ({ playback }) => {
      const { revision: _, ...source } = playback.source;
      const [[kind, id]] = Object.entries(source);
      location.assign(`/compare/?left=${kind}%3A${id}`);
    },
  },
  {
    id: "report",
    served: true,
    group: "Change",
    name: "Review: comments, verdict, report",
    help: "Review: comments, a verdict and a report; a draft is shared first",
    run: ({ playback, onShare }) => {
      const { scenario } = playback.source;
      if (scenario) location.assign(`/s/${scenario}/review/`);
      else onShare();
    },
  },
  {
    id: "download",
    group: "Change",
    name: "Download the YAML",
    help: "Download the YAML of the cluster, its configuration and operations",
    when: () => Boolean($("[data-workbench]")?.dataset.bundleUrl),
    run: () => {
      const link = document.createElement("a");
      link.href = $("[data-workbench]")?.dataset.bundleUrl ?? "";
      link.download = "scenario.yaml";
      link.click();
    },
  },
  {
    id: "greed",
    served: true,
    group: "Change",
    name: "The price of greed: the best placement from this step on",
    run: ({ playback }) => {
      const { revision: _, ...source } = playback.source;
      const [[kind, id]] = Object.entries(source);
      location.assign(`/greed/?of=${kind}%3A${id}&step=${Math.min(Math.max(playback.index, 0), playback.cycles)}`);
    },
  },
  {
    id: "sweep",
    served: true,
    group: "Change",
    name: "Sweep: many policies, releases or clusters at once",
    run: ({ playback }) => {
      const { revision: _, ...source } = playback.source;
      const [[kind, id]] = Object.entries(source);
      location.assign(`/sweeps/new/?of=${kind}%3A${id}`);
    },
  },
  {
    id: "export-svg",
    served: true,
    group: "Change",
    name: "Export the stage as SVG",
    run: ({ playback }) => exportStage(playback, "svg"),
  },
  {
    id: "export-png",
    served: true,
    group: "Change",
    name: "Export the stage as PNG",
    run: ({ playback }) => exportStage(playback, "png"),
  },
  {
    id: "export-view",
    served: true,
    group: "Change",
    name: "Export a matrix, the ladder or a chart…",
    run: ({ view, playback }) => exportView(playback, view.tab),
  },
  {
    id: "export-deck",
    served: true,
    group: "Change",
    name: "Export steps as a slide deck…",
    run: ({ playback }) => exportDeck(playback),
  },
  {
    id: "export-film",
    served: true,
    group: "Change",
    name: "Export steps as a video or GIF…",
    run: async ({ playback }) => (await import("../film/dialog.ts")).exportFilm(playback),
  },
  {
    id: "fork",
    group: "Change",
    name: "Fork: create your own copy",
    when: () => Boolean(shownFork()),
    run: () => shownFork()?.click(),
  },
  {
    id: "live",
    group: "Change",
    name: "Open live: edit, branch and ask on a podstep",
    when: isRecording,
    run: openLive,
  },
  {
    id: "worker",
    group: "Change",
    name: "Run to the end in a worker",
    when: () => $("[data-run-all]")?.hidden === false,
    run: () => $("[data-run-all]")?.click(),
  },
  {
    id: "palette",
    group: "Help",
    name: "Command palette",
    keys: ["Mod+k"],
    hidden: true,
    run: ({ palette }) => palette.open(),
  },
  { id: "help", group: "Help", name: "Keys", help: "This help", keys: ["?"], run: ({ help }) => help() },
  { id: "docs", served: true, group: "Help", name: "Documentation", run: () => location.assign("/docs/") },
  {
    id: "words",
    served: true,
    group: "Help",
    name: "Glossary: the words of these pages",
    run: () => location.assign("/docs/words.md"),
  },
  { id: "home", served: true, group: "Help", name: "To the start page", run: () => location.assign("/") },
  {
    id: "upload",
    served: true,
    group: "Change",
    name: "Open other files: YAML, JSON, a .zip or .tgz of manifests",
    run: () => location.assign("/#paste"),
  },
  { id: "learn", served: true, group: "Help", name: "To the lessons", run: () => location.assign("/learn/") },
  {
    id: "reference",
    served: true,
    group: "Help",
    name: "The reference of predicates, priorities and phases",
    run: () => location.assign("/reference/"),
  },
];

const STEPPING = new Set(["Time", "Run to"]); // groups of commands that lead to another step

/** Whether a command can be had now: where the step is locked, none that leaves it. */
export const available = (row: Row, context: Context) =>
  Boolean(context.playback.nodes)
  && !(context.locked && STEPPING.has(row.group))
  && !(row.served && isRecording())
  && (row.when?.(context) ?? true);

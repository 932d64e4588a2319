// What if: a verb in a branch of the scenario, run to its end, and what it did beside the parent.

import { announce, dialog, fill, h, icon, toast } from "../../lib/dom.js";
import { Progress } from "../../lib/progress.js";
import { clock, count, plural, short } from "../../lib/quantity.js";
import { parting } from "../branches/words.js";
import { chart, lowest } from "./chart.js";
/** @import { ComparedOutcome, OverTimeOutcome } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const SHORT = 0.05; // seconds that scheduling takes anyway
const BEFORE = 0.1; // of the time until calm, that is shown before it

/** @typedef {ComparedOutcome} Found */

export class WhatIf {
  /**
   * `apply(wish)` puts the same into the draft, null where it is none of the visitor's.
   *
   * @param {View} view
   * @param {((wish: any) => Promise<any>) | null} apply
   */
  constructor(view, apply) {
    this.view = view;
    this.apply = apply;
  }

  /**
   * Branch, run and show.
   *
   * @param {any} wish
   * @param {string} words
   */
  async open(wish, words) {
    const { playback } = this.view;
    const end = new AbortController();
    const progress = new Progress("Making the branch", { onCancel: () => box.close() });
    const body = h("div", { class: "what-if" }, progress.element);
    const box = dialog(`What if: ${words}`, body);
    box.classList.add("edit-panel", "what-if-panel");
    box.addEventListener("close", () => end.abort());
    let draft = "";
    try {
      const made = await playback.socket.call("branch.try", { source: playback.source, ...wish, title: words });
      draft = made.draft;
      progress.set(null, "Running the branch to its end");
      const found = await playback.socket.call(
        "branch.outcome",
        { draft },
        {
          signal: end.signal,
          progress: ({ done, of }) =>
            progress.set(of ? Math.min(0.98, done / (of + done)) : null, `Running the branch: cycle ${count(done)}`),
        },
      );
      fill(body, this.#shown(found, made, { wish, box }));
      announce(
        `${made.title}. ${summary(found)
          .map(([name, value]) => `${name} ${value}`)
          .join(", ")}`,
      );
      this.view.emit("branched");
    } catch (error) {
      if (error.code === "request.superseded") {
        if (draft) await this.#drop(draft, "The branch was given up.");
        return;
      }
      fill(body, h("p", { class: "stale-text", role: "alert", text: error.message }));
    }
  }

  /**
   * @param {string} draft
   * @param {string} words
   */
  async #drop(draft, words) {
    try {
      await this.view.playback.socket.call("draft.delete", { draft });
      toast(words);
      this.view.emit("branched");
    } catch (error) {
      toast(`It could not be deleted: ${error.message}`, { name: "warn", ms: 6000 });
    }
  }

  /**
   * @param {Found} found
   * @param {{ draft: string, url: string }} made
   * @param {{ wish: any, box: HTMLDialogElement }} context
   */
  #shown(found, { draft, url }, { wish, box }) {
    const { overTime } = found;
    const [[kind, id]] = Object.entries(this.view.playback.source).filter(([name]) => name !== "revision");
    return [
      h(
        "dl",
        { class: "what-if-figures" },
        summary(found).map(([name, value, bad]) =>
          h("div", null, h("dt", { text: name }), h("dd", { class: bad ? "num fail-text" : "num", text: value })),
        ),
      ),
      overTime ? workloads(overTime) : null,
      overTime?.pending.length ? pending(overTime) : null,
      overTime?.nodes.length ? nodes(overTime) : null,
      h("p", { class: "dim", text: parting(found) }),
      found.here.stopped
        ? h("p", { class: "stale-text", text: "Not all of it was computed here: run the branch in a worker." })
        : null,
      h(
        "div",
        { class: "edit-bar" },
        h("a", { class: "btn primary", href: url }, icon("fork"), "Open the branch"),
        h(
          "a",
          { class: "btn", href: `/compare/?left=${kind}%3A${id}&right=draft%3A${draft}` },
          icon("table"),
          "Step through both",
        ),
        found.here.stopped ? this.#worker(draft) : null,
        this.apply
          ? button("check", "Apply it here", async () => {
              await this.apply?.(wish);
              box.close();
            })
          : null,
        button("undo", "Delete the branch", async () => {
          box.close();
          await this.#drop(draft, "The branch is deleted.");
        }),
      ),
    ];
  }

  /** @param {string} draft */
  #worker(draft) {
    return button("play", "Run it in a worker", async () => {
      const { url } = await this.view.playback.socket.call("run.start", { source: { draft } });
      location.assign(url);
    });
  }
}

/**
 * A button that reports a failure in a toast.
 *
 * @param {string} name
 * @param {string} text
 * @param {() => Promise<void>} act
 */
const button = (name, text, act) =>
  h(
    "button",
    {
      type: "button",
      class: "btn",
      onclick: () => act().catch((error) => toast(error.message, { name: "warn", ms: 6000 })),
    },
    icon(name),
    text,
  );

/**
 * The figures: name, value, whether it is worse than in the parent.
 *
 * @param {Found} found
 * @returns {[name: string, value: string, bad?: boolean][]}
 */
function summary({ here, parent, elsewhere, overTime }) {
  const more = here.pending - (parent?.pending ?? 0);
  /** @type {[string, string, boolean?][]} */
  const rows = [
    [
      "pods pending",
      `${count(here.pending)}${more ? ` (${more > 0 ? "+" : "−"}${count(Math.abs(more))})` : ""}`,
      more > 0,
    ],
  ];
  if (!overTime?.total) return [...rows, ["pods elsewhere", count(elsewhere)]];
  const { evicted, refused, preempted } = overTime.total;
  const shares = overTime.workloads.map(({ branch }) => {
    const { before, ready } = branch ? lowest(branch, overTime.at) : { before: 0, ready: 0 };
    return before ? Math.min(1, ready / before) : 1;
  });
  const least = Math.min(1, ...shares);
  return [
    ["pods evicted", count(evicted)],
    ["evictions refused", count(refused), refused > 0],
    ...(preempted ? [/** @type {[string, string]} */ (["preempted", count(preempted)])] : []),
    ...rows,
    ["calm after", clock(Math.round((overTime.calm ?? 0) * 10) / 10)],
    ["fewest ready", least < 1 ? `${Math.round(least * 100)}% of before` : "as before", least < 1],
  ];
}

/** @param {OverTimeOutcome} overTime */
function workloads({ workloads: listed, at, calm, until, leftOut }) {
  if (!listed.length) return h("p", { text: "Every workload is as ready as in the parent, all the time." });
  const length = Math.max(calm ?? 0, 10);
  const from = Math.max(0, at - length * BEFORE);
  const to = Math.min(Math.max(until ?? 0, at + 1), at + length * (1 + BEFORE));
  return [
    h(
      "h3",
      null,
      "Ready pods over time ",
      h(
        "small",
        { class: "what-if-key" },
        h("i", { class: "line-branch" }),
        "branch",
        h("i", { class: "line-parent" }),
        "parent",
      ),
    ),
    listed.map((one) => {
      const text = words(one, at);
      return h(
        "figure",
        { class: "what-if-workload" },
        h("figcaption", null, h("b", { text: nameOf(one) }), " ", text),
        chart(one, { from, to, at }, `${nameOf(one)}, ready pods over time: ${text}`),
      );
    }),
    leftOut ? h("p", { class: "dim", text: `and ${plural(leftOut, "more workload")}` }) : null,
  ];
}

const nameOf = ({ kind, key }) => (kind ? `${kind} ${short(key)}` : "Pods without a controller");

/**
 * @param {OverTimeOutcome["workloads"][number]} one
 * @param {number} at
 */
function words({ branch, parent }, at) {
  if (!branch) return "is not there in the branch";
  const { before, ready, desired, since } = lowest(branch, at);
  const last = branch.moments.at(-1);
  const ends = last ? `${count(last[2])} of ${count(last[1])} ready at the end` : "";
  const [evicted, refused] = [branch.evicted - (parent?.evicted ?? 0), branch.refused - (parent?.refused ?? 0)];
  const usual = parent && parent.below > SHORT ? `, ${clock(round(parent.below))} in the parent` : "";
  const below =
    branch.below > SHORT && (parent || before >= desired)
      ? `${clock(round(branch.below))} below what is desired${usual}`
      : "";
  const lost = [evicted > 0 ? `${count(evicted)} evicted` : "", refused > 0 ? `${count(refused)} refused` : ""].filter(
    Boolean,
  );
  const fewest = ready < before ? `fewest ${count(ready)} of ${count(desired)} at ${clock(round(since))}` : "";
  return [fewest, below, [...lost, ends].join(", ")].filter(Boolean).join("; ");
}

/** @param {number} seconds */
const round = (seconds) => Math.round(seconds * 10) / 10;

/** @param {OverTimeOutcome} overTime */
const pending = ({ pending: listed }) => [
  h("h3", { text: "Pods that find no node, and why" }),
  h(
    "ul",
    { class: "what-if-pending" },
    listed.map((one) =>
      h("li", null, h("b", { text: `${count(one.pods)} of ${nameOf(one)}` }), one.message ? `: ${one.message}` : ""),
    ),
  ),
];

/** @param {OverTimeOutcome} overTime */
const nodes = ({ nodes: listed }) => [
  h("h3", { text: "Pods by node at the end" }),
  h(
    "div",
    { class: "chips" },
    listed.map(([name, before, after]) =>
      h("span", { class: "chip", text: `${name}: ${count(before)} → ${count(after)}` }),
    ),
  ),
];

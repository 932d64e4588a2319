// Over the nodes, where several schedulers have views of their own: a lane for each. What it does, how long its
// decisions stay unknown to others, what it believes of the nodes beside what is true; and who noticed.

import { h, fill } from "../../lib/dom.js";
import { amount, count, exact, plural, short, span } from "../../lib/quantity.js";
import { nodeLink, podLink } from "../inspect/byhand.js";
import { NOTICED, isDouble, viewsOf, wentWrong } from "./windows.js";
/** @import { BelievedNode, SchedulerLane, ViewsPart } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const LEAST_ROOM = 400; // pixels of the stage: on a lower one the lanes are folded at first
const LEAST_WIDTH = 480; // and on a narrower one
/** @type {Record<string, string>} */
const DESIGNS = {
  "side-by-side": "side by side",
  "node-pools": "node pools",
  "one-scheduler": "one scheduler",
  arbitrated: "with an arbiter",
};

export class Lanes {
  /** @type {ViewsPart | null} */
  #part = null; // that is drawn
  #state = ""; // what is drawn instead
  /** @type {string[]} */
  #names = []; // the lanes that there are, in order: no step takes one away

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.summary = h("span", { class: "sched-summary" });
    this.list = h("div", {
      class: "sched-list",
      role: "group",
      "aria-label": "Lanes of the schedulers",
      tabindex: "0",
    });
    this.noticed = h("p", { class: "sched-noticed" });
    this.element = h(
      "details",
      { class: "sched", hidden: true },
      h("summary", null, this.summary),
      this.list,
      this.noticed,
    );
  }

  /**
   * Another source is on the stage.
   *
   * @param {HTMLElement} host
   */
  open(host) {
    const { schedulers } = this.view.playback;
    const shown = Boolean(schedulers?.views);
    if (shown && this.element.hidden)
      this.element.open = host.clientHeight >= LEAST_ROOM && host.clientWidth >= LEAST_WIDTH;
    this.element.hidden = !shown;
    this.#part = null;
    this.#state = "";
    this.#names = shown ? processes(schedulers) : [];
  }

  update() {
    if (this.element.hidden) return;
    const { playback } = this.view;
    const part = viewsOf(this.view);
    const why = playback.parts?.views?.why;
    this.element.classList.toggle("waiting", !part && why === undefined && playback.index > 0);
    if (part) {
      if (part !== this.#part) this.#draw(part);
      return;
    }
    if (why === undefined && playback.index > 0) return; // it is on its way: the previous one stays until then
    const state =
      playback.index === 0 ? "nothing is decided yet" : playback.atEnd ? "the run is over" : "not decided yet";
    if (this.#part || state !== this.#state) this.#rest(state);
  }

  /** @param {string} state */
  #rest(state) {
    this.#part = null;
    this.#state = state;
    fill(this.summary, this.#head(), h("span", { class: "sched-badges dim", text: state }));
    fill(
      this.list,
      this.#names.map((name) =>
        h("section", { class: "sched-lane", "aria-label": `Lane of ${name}` }, this.#who(name, false, "")),
      ),
    );
    fill(this.noticed);
  }

  #head() {
    const { design } = this.view.playback.schedulers;
    return h("b", { text: `${plural(this.#names.length, "scheduler")}, ${DESIGNS[design] ?? design}` });
  }

  /**
   * @param {string} name
   * @param {boolean} now
   * @param {string} runs
   */
  #who(name, now, runs) {
    const listed = this.view.playback.schedulers.listed.find((one) => one.name === name.replace(/ #\d+$/, ""));
    const late = listed?.watchDelay ?? 0;
    return h(
      "h4",
      { class: "sched-who", title: `${name}${listed ? `: ${delays(listed)}` : ": not listed, no delays"}` },
      h("b", { text: name, class: now ? "now" : "" }),
      runs && runs !== name ? h("small", { class: "dim", text: `${runs}, ` }) : null,
      h("small", { class: "dim num", text: late ? `sees ${span(late)} late` : "sees at once" }),
    );
  }

  /** @param {ViewsPart} part */
  #draw(part) {
    this.#part = part;
    this.#state = "";
    const lanes = new Map(part.lanes.map((lane) => [lane.scheduler, lane]));
    for (const name of lanes.keys()) if (!this.#names.includes(name)) this.#names.push(name);
    const scale = scaleOf(part);
    const double = part.windows.filter(isDouble);
    const wrong = part.outcomes.filter(wentWrong);
    const [first] = wrong;
    const others = wrong.length > 1 ? ` and ${count(wrong.length - 1)} more` : "";
    fill(
      this.summary,
      this.#head(),
      h(
        "span",
        { class: "sched-badges" },
        double.length
          ? h("span", { class: "badge ill", text: `${plural(double.length, "node")} double-booked` })
          : part.windowsCount
            ? h("span", { class: "badge belief", text: `views of ${plural(part.windowsCount, "node")} differ` })
            : null,
        first
          ? h("span", {
              class: "badge ill",
              text: `${short(first.pod)}: ${first.reason || NOTICED[first.noticed]}${others}`,
            })
          : null,
        first || part.windowsCount ? null : h("span", { class: "dim", text: "all know what is true of the nodes" }),
      ),
    );
    fill(
      this.list,
      this.#names.map((name) => this.#lane(name, lanes.get(name), part, scale)),
    );
    this.#showNoticed(part);
  }

  /**
   * @param {string} name
   * @param {SchedulerLane | undefined} lane
   * @param {ViewsPart} part
   * @param {[from: number, to: number]} scale
   */
  #lane(name, lane, part, scale) {
    const now = name === part.scheduler;
    return h(
      "section",
      { class: now ? "sched-lane now" : "sched-lane", "aria-label": `Lane of ${name}` },
      this.#who(name, now, lane?.runs ?? ""),
      h("div", { class: "sched-does" }, lane ? this.#does(lane, now, part) : h("span", { class: "dim", text: "idle" })),
      lane ? track(lane, now, part, scale) : h("div", { class: "sched-track" }),
      h("div", { class: "sched-believes" }, lane ? this.#believes(lane) : null),
    );
  }

  /**
   * @param {SchedulerLane} lane
   * @param {boolean} now
   * @param {ViewsPart} part
   */
  #does(lane, now, part) {
    const { view } = this;
    /** @type {any[]} */
    const content = [];
    const [first, ...others] = lane.inFlight;
    const more = lane.inFlightCount - (first ? 1 : 0);
    if (now) {
      const [placed] = part.placements;
      const also = part.placementsCount - 1;
      content.push(h("span", { class: "pill accent", text: "decides" }));
      if (placed)
        content.push(
          podLink(view, placed[0]),
          ` → `,
          nodeLink(view, placed[1]),
          also > 0 ? ` and ${count(also)} more` : "",
          part.lands === null ? ", held at Permit" : `, bound at ${exact(part.lands)}`,
        );
      else content.push(lane.pod ? podLink(view, lane.pod) : "", h("span", { class: "dim", text: " finds no node" }));
    } else if (lane.deciding !== null)
      content.push(
        h("span", { class: "pill", text: "deciding" }),
        lane.pod ? podLink(view, lane.pod) : "a session",
        lane.until === null ? "" : ` until ${exact(lane.until)}`,
      );
    else
      content.push(
        h("span", {
          class: "dim",
          text: lane.pending ? `waits, ${plural(lane.pending, "pod")} pending` : "idle",
        }),
      );
    if (first)
      content.push(
        h(
          "span",
          {
            class: "sched-flight",
            title: [first, ...others]
              .map(({ pod, node, lands }) => `${short(pod)} on ${node}, ${when(lands)}`)
              .join("\n"),
          },
          h("span", { class: "dim", text: now ? "; also binding " : "; binding " }),
          podLink(view, first.pod),
          ` → ${first.node}, ${when(first.lands)}`,
          more ? ` and ${count(more)} more` : "",
        ),
      );
    return content;
  }

  /** @param {SchedulerLane} lane */
  #believes(lane) {
    const [worst] = [...lane.nodes].sort((a, b) => overstated(b) - overstated(a));
    if (!worst) return h("span", { class: "dim", text: "what it believes is true" });
    const more = lane.nodesCount - 1;
    return [
      "believes ",
      nodeLink(this.view, worst.node),
      h("span", {
        class: overstated(worst) > 0 ? "stale-text" : "",
        title: lane.nodes.map((one) => `${one.node}: ${why(one)}`).join("\n"),
        text: ` has ${free(worst.believed)} free, ${free(worst.true)} is`,
      }),
      more > 0 ? h("span", { class: "dim", text: ` (and ${plural(more, "node")} more)` }) : null,
    ];
  }

  /** @param {ViewsPart} part */
  #showNoticed(part) {
    const wrong = part.outcomes.filter(wentWrong);
    const unnoticed = part.outcomes.length - wrong.length;
    const [first] = wrong;
    this.noticed.classList.toggle("wrong", wrong.length > 0);
    fill(
      this.noticed,
      h("b", { text: "Who noticed " }),
      first
        ? [
            podLink(this.view, first.pod),
            " on ",
            nodeLink(this.view, first.node),
            h("span", {
              class: "stale-text",
              text: ` ${NOTICED[first.noticed]}${first.reason ? `: ${first.reason}` : ""}`,
            }),
            wrong.length > 1 ? ` and ${count(wrong.length - 1)} more` : "",
          ]
        : null,
      unnoticed
        ? `${first ? "; " : ""}nobody, of ${plural(unnoticed, "pod")} beside pods that its scheduler did not count`
        : first
          ? ""
          : h("span", { class: "dim", text: "nothing since the step before" }),
      part.outcomes.length
        ? [
            " ",
            h("button", { type: "button", class: "link fine", onclick: () => this.view.setTab("views"), text: "all" }),
          ]
        : null,
    );
  }
}

/**
 * The processes of the list, by the names of their lanes.
 *
 * @param {import("../../lib/protocol.js").Schedulers} schedulers
 */
function processes({ design, listed }) {
  if (design === "one-scheduler") return listed.slice(0, 1).map(({ name }) => name);
  return listed.flatMap(({ name, replicas }) =>
    replicas > 1 ? Array.from({ length: replicas }, (_, i) => `${name} #${i + 1}`) : [name],
  );
}

/** @param {{ watchDelay: number, decisionTime: number, bindDelay: number }} of */
const delays = ({ watchDelay, decisionTime, bindDelay }) =>
  `watch delay ${span(watchDelay)}, decision time ${span(decisionTime)}, bind delay ${span(bindDelay)}`;

/** @param {number | null} lands */
const when = (lands) => (lands === null ? "held at Permit" : `bound at ${exact(lands)}`);

/** @param {Record<string, number>} amounts */
const free = (amounts) => `${amount("cpu", amounts.cpu ?? 0)} CPU`;

/**
 * By how many millicores a scheduler takes more for free than is.
 *
 * @param {BelievedNode} node
 */
const overstated = ({ believed, true: truly }) => (believed.cpu ?? 0) - (truly.cpu ?? 0);

/** @param {BelievedNode} node */
const why = ({ unseen, assumed, gone }) =>
  [
    unseen.length ? `does not count ${unseen.map(short).join(", ")}` : "",
    assumed.length ? `alone knows of ${assumed.map(short).join(", ")}` : "",
    gone.length ? `still counts ${gone.map(short).join(", ")}` : "",
  ]
    .filter(Boolean)
    .join("; ");

/**
 * The virtual time that the tracks show: from the oldest view to the last scheduler's hearing of the last decision.
 *
 * @param {ViewsPart} part
 * @returns {[from: number, to: number]}
 */
function scaleOf(part) {
  const late = Math.max(0, ...part.lanes.map(({ watchDelay }) => watchDelay));
  const lands = [part.lands, ...part.lanes.flatMap(({ inFlight }) => inFlight.map((one) => one.lands))];
  const starts = part.lanes.flatMap(({ asOf, inFlight }) => [asOf, ...inFlight.map(({ decided }) => decided)]);
  const ends = lands.map((at) => (at === null ? part.decided : at + late));
  return [
    Math.min(part.decided, ...starts),
    Math.max(part.decided, ...ends, ...part.lanes.map(({ until }) => until ?? 0)),
  ];
}

/**
 * A lane's time: what it has not received yet, what it decides, what is on its way, and how long others will not know.
 *
 * @param {SchedulerLane} lane
 * @param {boolean} now
 * @param {ViewsPart} part
 * @param {[from: number, to: number]} scale
 */
function track(lane, now, part, [from, to]) {
  const length = to - from;
  if (!length) return h("div", { class: "sched-track" });
  const others = Math.max(0, ...part.lanes.filter((one) => one !== lane).map(({ watchDelay }) => watchDelay));
  const at = (/** @type {number} */ time) => (100 * (time - from)) / length;
  const piece = (/** @type {string} */ name, /** @type {number} */ start, /** @type {number} */ end) => {
    if (end <= start) return null;
    const one = h("i", { class: name });
    one.style.left = `${at(start)}%`;
    one.style.width = `${at(end) - at(start)}%`;
    return one;
  };
  const since = now ? part.began : lane.deciding;
  const flights = lane.inFlight.map(({ decided, lands }) => [decided, lands]);
  if (now && part.placementsCount) flights.push([part.decided, part.lands]);
  const line = h("i", { class: "here" });
  line.style.left = `${at(part.decided)}%`;
  const windows = flights.map(([decided, lands]) => [decided, (lands ?? part.decided) + others]);
  const unknown = windows.length
    ? `decisions unknown to others from ${exact(Math.min(...windows.map(([start]) => start)))} to `
      + `${exact(Math.max(...windows.map(([, end]) => end)))}`
    : "no decision is on its way";
  return h(
    "div",
    {
      class: "sched-track",
      role: "img",
      "aria-label": `Sees ${exact(lane.asOf)}; ${unknown}`,
      title:
        `now ${exact(part.decided)}; sees ${exact(lane.asOf)}; ${unknown}\n`
        + "hatched: not heard yet; outlined: deciding; filled: on its way to the API server; red: others do not know",
    },
    piece("late", lane.asOf, part.decided),
    windows.map(([start, end]) => piece("window", start, end)),
    since === null || since === undefined
      ? null
      : piece("deciding", since, now ? part.decided : (lane.until ?? part.decided)),
    flights.map(([decided, lands]) => piece("flight", decided ?? 0, lands ?? part.decided)),
    line,
  );
}

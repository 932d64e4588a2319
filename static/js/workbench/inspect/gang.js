// One PodGroup: its state, its members, its phase, upcoming events, and the arithmetic of PreFilter, Permit and
// PostFilter.

import { h, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { age, count, plural, short } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { bar, moment, until } from "../countdown.js";
import { resourceCheck } from "./gangcheck.js";
import { phases } from "./gangphases.js";
import { aboutNode, nodeLink, nodesLink, podLink } from "./nouns.js";
import { sentence } from "./sentence.js";
/** @import { View } from "../view.js" */

// Of each state of a member: its tone, and its name; in the order of the strip.
const STATES = {
  running: ["pass", "running"],
  bound: ["pass", "bound"],
  waiting: ["wait", "waiting at Permit"],
  active: ["queued", "queued"],
  backoff: ["fail", "backing off"],
  unschedulable: ["fail", "unschedulable"],
  gated: ["off", "gated"],
  pending: ["off", "not queued"],
  Succeeded: ["ended", "succeeded"],
  Failed: ["stale", "failed"],
};
const SIGNS = { pass: "check", fail: "cross", wait: "pause", stale: "warn", ended: "check" };
const CELLS = 60; // of the strip; a larger group is drawn in proportion
const HOLDING = new Set(["running", "bound", "waiting"]);

/** How Permit lets a member wait. */
function waiting({ seconds, activatedCount }) {
  const most = seconds === null ? "" : ` for ${age(seconds)} at most`;
  return `it waits${most}${activatedCount ? `; ${plural(activatedCount, "sibling")} activated` : ""}`;
}

/** Whom Permit lets go on beside the member itself. */
const releasing = ({ allowedCount }) =>
  allowedCount ? `: ${plural(allowedCount, "waiting member")} may be bound too` : "";

export class Gang {
  #kept; // what is sorted and looked for in its tables

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("podgroups");
    this.ways = false; // whether what leads out of a phase is open
  }

  draw(part, group) {
    const now = group.time;
    return h(
      "section",
      { class: "gang", "aria-label": `PodGroup ${group.key}` },
      h(
        "h3",
        null,
        `PodGroup ${short(group.key)} `,
        group.phase === null
          ? h("span", { class: "pill fail" }, icon("cross"), "does not exist")
          : h("span", { class: "pill accent", text: group.phase || "no phase yet" }),
        this.#tried(group),
      ),
      h("div", { class: "story outlook" }, sentence(this.view, group.outlook.now), this.#strip(group)),
      phases(this.view, part, group, this),
      this.#next(group, now),
      this.#messages(group),
      this.#members(group, now),
      resourceCheck(this.view, group.resourceCheck, this.#kept),
      this.#refused(group, now),
    );
  }

  /** Of a group that is not in flight: the last cycle that tried one of its pods. */
  #tried(group) {
    if (group.attempted) return null;
    const { playback } = this.view;
    const members = new Set(group.members.map(({ pod }) => playback.podIndex.get(pod)));
    let at = Math.min(playback.index - (playback.reached.tried ? 0 : 1), playback.cycles);
    while (at > 0 && !members.has(playback.marks.pod[at])) at -= 1;
    return h(
      "small",
      { class: "dim end" },
      at
        ? [
            "last tried in cycle ",
            inline((event) => playback.goto(at, event.timeStamp), { class: "link num" }, count(at)),
          ]
        : "not tried yet",
    );
  }

  /** Members as cells, those that hold a node first, with a line behind the minMember-th. */
  #strip({ states, members, minMember, memberCount }) {
    const running = members.filter(({ state }) => state === "running").length; // bound ones of these
    const counts = { ...states, ...(running ? { running, bound: (states.bound ?? 0) - running } : {}) };
    const most = Math.max(memberCount, minMember ?? 0);
    const scale = Math.min(1, CELLS / Math.max(1, most));
    const present = Object.keys(STATES).filter((state) => counts[state] > 0);
    const absent = Math.max(0, (minMember ?? 0) - memberCount);
    const cells = present.flatMap((state) =>
      Array.from({ length: Math.max(1, Math.round(counts[state] * scale)) }, () =>
        h("i", { class: `gang-cell ${STATES[state][0]}` }),
      ),
    );
    cells.push(...Array.from({ length: Math.round(absent * scale) }, () => h("i", { class: "gang-cell none" })));
    if (minMember && minMember <= most) cells.splice(Math.round(minMember * scale), 0, h("b", { class: "needed" }));
    const names = members.filter(({ state }) => HOLDING.has(state)).map(({ node }) => node);
    const legend = present.map((state) => [
      h(
        "span",
        { class: "nowrap" },
        h("i", { class: `gang-cell ${STATES[state][0]}` }),
        `${count(counts[state])} ${STATES[state][1]}`,
      ),
    ]);
    return h(
      "div",
      { class: "gang-strip" },
      h("div", { class: "cells", "aria-hidden": "true" }, cells),
      h(
        "p",
        { class: "fine" },
        legend,
        absent
          ? h("span", { class: "nowrap" }, h("i", { class: "gang-cell none" }), `${count(absent)} not there`)
          : null,
        minMember ? h("span", { class: "nowrap" }, h("b", { class: "needed" }), `minMember ${count(minMember)}`) : null,
        names.length
          ? h(
              "span",
              { class: "nowrap" },
              nodesLink(this.view, `on ${plural(new Set(names).size, "node")}`, names, "PodGroup"),
            )
          : null,
      ),
    );
  }

  /** Upcoming events: what has a time with a bar until then, on one axis, and what only an event brings. */
  #next(group, now) {
    const { next } = group.outlook;
    if (!next.length) return null;
    const timed = next.filter(([at]) => at !== null && at > now && at < 1e11);
    const horizon = Math.max(now, ...timed.map(([at]) => at));
    return h(
      "section",
      { class: "gang-next" },
      h("h4", { text: this.view.playback.atEnd ? "What would happen next if the run continued" : "Upcoming events" }),
      h(
        "ol",
        null,
        next.map(([at, kind, text]) =>
          h(
            "li",
            { class: kind },
            h(
              "span",
              { class: "when" },
              at === null
                ? h("span", { class: "dim", text: "on an event" })
                : kind === "active"
                  ? h("b", { text: "at once" })
                  : [until(at, now, "left"), h("span", { class: "num dim fine", text: moment(at) })],
            ),
            at === null || at <= now || at > 1e11 ? null : bar(at, now, horizon, kind),
            sentence(this.view, text),
          ),
        ),
      ),
    );
  }

  /** What PreFilter, Permit and PostFilter answered the pod in flight. */
  #messages(group) {
    const rows = [];
    const needed = count(group.minMember ?? 0);
    const { preFilter, permit, postFilter } = group;
    const held = permit && `${count(permit.assigned)} of ${needed} ${permit.assigned < 2 ? "holds" : "hold"} a node`;
    if (preFilter)
      rows.push([
        "PreFilter",
        preFilter.code === "Success",
        [
          preFilter.message
            || plural(preFilter.siblings ?? group.memberCount, "member")
              + ` of at least ${needed}${PASSED[preFilter.why] ?? ""}`,
        ],
      ]);
    if (permit)
      rows.push([
        "Permit",
        permit.code === "Wait" ? null : permit.code === "Success",
        [permit.message || `${held}${permit.code === "Wait" ? `: ${waiting(permit)}` : releasing(permit)}`],
      ]);
    if (postFilter)
      rows.push([
        "PostFilter",
        postFilter.deniedUntil !== null || postFilter.why === "rejected" ? false : null,
        [
          postFilter.message
            || (postFilter.why === "extra"
              ? "enough members have a node: this one is surplus"
              : "the group continues to wait"),
          fraction(group, postFilter),
        ],
      ]);
    if (!rows.length) return null;
    return h(
      "table",
      { class: "list tight gang-messages" },
      h("caption", null, "Message to the pod in flight"),
      h(
        "tbody",
        null,
        rows.map(([point, fine, message]) =>
          h(
            "tr",
            null,
            h("th", { scope: "row", text: point }),
            h(
              "td",
              null,
              h(
                "span",
                { class: `sign ${fine === null ? "wait-text" : fine ? "pass-text" : "fail-text"}` },
                icon(fine === null ? "pause" : fine ? "check" : "cross"),
              ),
              message,
            ),
          ),
        ),
      ),
    );
  }

  #members(group, now) {
    const { view } = this;
    const { pod: flying, time: began = now } = view.playback.current ?? {};
    const rows = group.members.map(({ pod, state, node, deadline, rejected, since, attempts, refusedBy, retryAt }) => {
      const [tone, text] = STATES[state] ?? ["off", state];
      const ends = state === "waiting" ? deadline : retryAt;
      const note = [
        rejected ? (since < began ? `rejected at ${moment(since)}` : "rejected in this cycle") : "",
        refusedBy.length ? `refused by ${refusedBy.join(", ")}` : "",
      ]
        .filter(Boolean)
        .join("; ");
      return h(
        "tr",
        {
          class: group.attempted && view.playback.podIndex.get(pod) === flying ? "now" : undefined,
          ...(node ? aboutNode(view, node) : {}),
        },
        h("td", null, podLink(view, pod)),
        h(
          "td",
          null,
          h("span", { class: `pill ${tone}` }, SIGNS[tone] ? icon(SIGNS[tone]) : null, text),
          node ? [h("span", { class: "dim", text: " on " }), nodeLink(view, node)] : null,
          note ? h("small", { class: "dim member-note", text: note }) : null,
        ),
        h(
          "td",
          { class: "num", "data-value": ends ?? "" },
          ends === null ? h("span", { class: "dim", text: "–" }) : until(ends, now),
        ),
        h("td", { class: "num dim" }, attempts ? count(attempts) : ""),
      );
    });
    const head = h("h4", null, "Members ", h("small", { class: "dim num", text: count(group.memberCount) }));
    return h(
      "section",
      { class: "gang-members" },
      tabled(
        h(
          "table",
          { class: "list tight members" },
          h("caption", { class: "sr", text: `Members of ${group.key}` }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              ["member", "state"].map((text) => h("th", { scope: "col", text })),
              h("th", {
                scope: "col",
                class: "num",
                text: "time left",
                title: "at Permit, or until its queue tries it again",
              }),
              h("th", { scope: "col", class: "num", text: "tries", title: "failed attempts" }),
            ),
          ),
          h("tbody", null, rows),
        ),
        { head, filter: "Filter members", kept: this.#kept, name: "members" },
      ),
      group.memberCount > group.members.length
        ? h("p", { class: "dim fine", text: `and ${count(group.memberCount - group.members.length)} more` })
        : null,
    );
  }

  /** All groups that PreFilter turns away for a while: denied ones (classic), backed-off ones (current). */
  #refused({ denials, backOffs, denialCount, backOffCount }, now) {
    const list = (title, rows, total) =>
      rows.length
        ? h(
            "section",
            { class: "gang-denials" },
            h("h4", null, title, h("small", { class: "dim num", text: count(total) })),
            h(
              "ul",
              null,
              rows.map(({ group, until: end }) =>
                h(
                  "li",
                  null,
                  inline(() => this.view.setSub(group), null, short(group)),
                  " ",
                  until(end, now, "fail-text"),
                  h("span", { class: "num dim", text: ` until ${moment(end)}` }),
                ),
              ),
            ),
            total > rows.length ? h("p", { class: "dim fine", text: `and ${count(total - rows.length)} more` }) : null,
          )
        : null;
    return [list("Denied groups", denials, denialCount), list("Backed-off groups", backOffs, backOffCount)];
  }
}

// What a PreFilter that passes adds, by its reason.
const PASSED = {
  enough: "; all nodes together have what minResources asks for",
  permitted: "; the resource check passed lately and is skipped",
  "no-min-resources": "; no minResources to check",
};

/** The rule of the share that may be missing, with its numbers and as a bar with the threshold on it. */
function fraction({ minMember }, { assigned, missingPercent, thresholdPercent, rejectedCount, why }) {
  if (missingPercent === null || thresholdPercent === null || !minMember || why === "extra") return null;
  const percent = Math.round(missingPercent * 10) / 10;
  const over = missingPercent > thresholdPercent;
  const mark = h("b");
  const share = h("i", { class: over ? "fail" : "wait" });
  mark.style.setProperty("left", `${thresholdPercent}%`);
  share.style.setProperty("width", `${Math.min(100, percent)}%`);
  return h(
    "div",
    { class: "fraction" },
    h("span", { class: "fraction-bar", "aria-hidden": "true" }, share, mark),
    h(
      "span",
      null,
      `(${count(minMember)} − ${count(assigned)}) / ${count(minMember)} = `,
      h("b", { text: `${percent} %` }),
      ` are missing, ${over ? "more than" : "not more than"} ${thresholdPercent} %: `,
      over
        ? `the group is rejected${rejectedCount ? `, ${plural(rejectedCount, "waiting member")} with it` : ""}`
        : "waiting members continue to wait",
    ),
  );
}

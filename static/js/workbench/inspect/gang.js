// One PodGroup: the phase diagram, members, timers, and the arithmetic of PreFilter, Permit and PostFilter.

import { h, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { age, amount, count, plural, short } from "../../lib/quantity.js";

const STATES = { active: ["", "queued"], backoff: ["fail", "backing off"], unschedulable: ["fail", "unschedulable"], gated: ["", "gated"], pending: ["", "pending"], waiting: ["wait", "waits at Permit"], bound: ["pass", "bound"], running: ["pass", "running"], Succeeded: ["pass", "succeeded"], Failed: ["stale", "failed"] };
const SIGNS = { pass: "check", fail: "cross", wait: "pause", stale: "warn" };
const ALONE = "Failed"; // the phase that is no step of a good life

/** A moment of virtual time: `t = 90s`. */
export const moment = (seconds) => (seconds > 1e11 ? "for ever" : `t = ${age(seconds)}`);

export class Gang {
  constructor(view) { this.view = view; }

  draw(part, group) {
    const now = part.time;
    return h("section", { class: "gang", "aria-label": `PodGroup ${group.key}` },
      h("h3", null, `PodGroup ${short(group.key)} `, h("small", { class: "dim" }, group.minMember === null ? "does not exist: its pods fail at Permit" : `minMember ${count(group.minMember)}, ${plural(group.assigned, "member")} on a node`)),
      this.#phases(part, group), this.#timers(group, now), this.#said(group, now), this.#members(group, now), this.#check(group.check), this.#denials(group, now));
  }

  #phases(part, group) {
    if (group.phase === null) return null;
    const { playback } = this.view;
    const reached = new Map();
    for (const [index, phase] of playback.marks.phases(group.key, playback.index)) reached.set(phase, index);
    const lit = group.phase;
    const ways = part.ways.filter(([from]) => from === lit);
    const { scheduled, running, succeeded, failed } = group.counters;
    const numbers = `n = ${group.memberCount} members, r = ${running ?? 0} running, s = ${succeeded ?? 0} succeeded, f = ${failed ?? 0} failed${part.edition === "classic" ? `, scheduled = ${scheduled ?? 0}` : ""}; minMember = ${group.minMember}`;
    return h("figure", { class: "phase-diagram" },
      h("figcaption", { class: "sr", text: `Phase ${lit || "none yet"}${group.before !== null && group.before !== lit ? `, before this cycle ${group.before || "none"}` : ""}` }),
      h("ol", { "aria-label": "Phases of a PodGroup" }, part.phases.map((phase) => {
        const at = reached.get(phase);
        const state = phase === lit ? "lit" : at !== undefined ? "was" : "";
        return h("li", { class: `${state}${phase === ALONE ? " alone" : ""}`, "aria-current": phase === lit ? "step" : undefined },
          h("b", null, phase === ALONE ? h("small", { text: "or " }) : null, phase || "(new)"),
          at !== undefined ? inline((event) => playback.goto(at, event.timeStamp), { class: "link num", title: `cycle ${at}: when it last became ${phase}` }, `cycle ${count(at)}`) : h("span", { class: "dim", "aria-hidden": "true", text: "·" }));
      })),
      ways.length ? h("details", { class: "phase-ways" }, h("summary", { text: `What leads out of ${lit || "here"}` }), h("p", { class: "dim fine", text: numbers }),
        h("ul", null, ways.map(([, to, when]) => h("li", null, h("code", { text: when }), " → ", h("b", { text: to }))))) : h("p", { class: "dim fine", text: `${lit} is final: the controller looks at the group no more. ${numbers}.` }));
  }

  #timers(group, now) {
    const timers = [["denied", group.deniedUntil, "PreFilter turns its pods away"], ["backed off", group.backedOffUntil, "PreFilter turns its pods away"], ["permitted", group.permittedUntil, "the resource check is skipped"]].filter(([, until]) => until !== null);
    const first = Math.min(...group.members.filter(([, state, , deadline]) => state === "waiting" && deadline !== null).map(([, , , deadline]) => deadline));
    if (Number.isFinite(first)) timers.unshift(["first wait ends", first, "one member timing out rejects all that wait"]);
    if (!timers.length) return null;
    return h("dl", { class: "timers" }, timers.map(([name, until, why]) => h("div", null, h("dt", { text: name }), h("dd", null, h("b", { class: "num", text: until > 1e11 ? "for ever" : until > now ? `${age(until - now)} left` : "now" }), h("span", { class: "dim", text: until > 1e11 ? why : `until ${moment(until)}: ${why}` })))));
  }

  /** What PreFilter, Permit and PostFilter said to the pod in flight. */
  #said(group, now) {
    const rows = [];
    const { preFilter, permit, postFilter } = group;
    if (preFilter) rows.push(["PreFilter", preFilter.code === "Success", preFilter.message || `${plural(preFilter.siblings ?? group.memberCount, "member")} of at least ${count(group.minMember ?? 0)}${preFilter.why === "enough" ? "; all nodes together have what minResources asks for" : preFilter.why === "permitted" ? "; the resource check passed lately and is skipped" : preFilter.why === "no-min-resources" ? "; no minResources to check" : ""}`]);
    if (permit) rows.push(["Permit", permit.code === "Wait" ? null : permit.code === "Success", permit.message || (permit.code === "Wait" ? `${count(permit.assigned)} of ${count(group.minMember ?? 0)} hold a node: it waits${permit.deadline === null ? "" : ` for ${age(permit.deadline - now)} at most`}` : `${count(permit.assigned)} of ${count(group.minMember ?? 0)} hold a node${permit.allowedCount ? `: ${plural(permit.allowedCount, "waiting member")} may be bound too` : ""}`)]);
    if (postFilter) rows.push(["PostFilter", postFilter.rejected ? false : null, `${postFilter.message || (postFilter.why === "extra" ? "enough members hold a node: this one is an extra" : "the group goes on waiting")}${postFilter.missingPercent !== null && postFilter.missingPercent !== undefined ? ` (${Math.round(postFilter.missingPercent * 10) / 10} % of minMember are missing; more than ${postFilter.thresholdPercent} % reject it)` : ""}${postFilter.rejected ? `; ${plural(postFilter.rejected, "waiting member")} rejected` : ""}`]);
    if (!rows.length) return null;
    return h("table", { class: "list tight gang-said" }, h("caption", { class: "sr", text: "What the plugin said to the pod in flight" }), h("tbody", null, rows.map(([point, fine, text]) => h("tr", null, h("th", { scope: "row", text: point }),
      h("td", null, h("span", { class: `sign ${fine === null ? "wait-text" : fine ? "pass-text" : "fail-text"}` }, icon(fine === null ? "pause" : fine ? "check" : "cross")), h("span", { text }))))));
  }

  #members(group, now) {
    const { view } = this;
    const { names } = view.playback.nodes;
    const rows = group.members.map(([key, state, node, deadline, rejected, attempts, backoff]) => {
      const [tone, text] = STATES[state] ?? ["", state];
      const pod = view.playback.podIndex.get(key) ?? -1;
      const timer = state === "waiting" && deadline !== null ? `${age(Math.max(0, deadline - now))} left` : state === "backoff" && backoff > now ? `${age(backoff - now)} left` : "";
      return h("tr", { class: view.playback.current?.pod === pod ? "now" : undefined },
        h("td", null, inline(() => view.selectPod(pod), null, pod >= 0 ? h("i", { class: `dot ${view.colour(pod)}` }) : null, short(key))),
        h("td", null, h("span", { class: `pill ${tone}` }, SIGNS[tone] ? icon(SIGNS[tone]) : null, text), rejected ? [" ", h("span", { class: "pill fail" }, icon("cross"), "rejected")] : null),
        h("td", null, node === null ? h("span", { class: "dim", text: "–" }) : inline(() => view.selectNode(node), null, names[node])),
        h("td", { class: "num" }, timer), h("td", { class: "num dim" }, attempts ? count(attempts) : ""));
    });
    return h("div", { class: "scroll-x" }, h("table", { class: "list tight members" }, h("caption", { class: "sr", text: `Members of ${group.key}` }),
      h("thead", null, h("tr", null, ["member", "state", "node"].map((text) => h("th", { scope: "col", text })), h("th", { scope: "col", class: "num", text: "timer" }), h("th", { scope: "col", class: "num", text: "tries", title: "failed attempts" }))), h("tbody", null, rows)),
      group.memberCount > group.members.length ? h("p", { class: "dim fine", text: `and ${count(group.memberCount - group.members.length)} more` }) : null);
  }

  #check(check) {
    if (!check) return null;
    const { names } = this.view.playback.nodes;
    const list = (amounts) => Object.entries(amounts).map(([resource, value]) => `${resource} ${amount(resource, value)}`).join(", ");
    const cell = (resource, value) => h("td", { class: "num", text: amount(resource, value) });
    return h("section", { class: "gang-check" }, h("h4", null, h("span", { class: `sign ${check.enough ? "pass-text" : "fail-text"}` }, icon(check.enough ? "check" : "cross")), `Resource check: ${check.enough ? "enough" : `missing ${list(check.gap)}`}`),
      h("p", { class: "dim fine", text: `It needs ${list(check.need)}. Node by node, what is left is taken off the need; fragments, taints and affinity do not count.` }),
      h("div", { class: "scroll-x", role: "region", tabindex: "0", "aria-label": "Resource check by node" }, h("table", { class: "list tight" }, h("thead", null, h("tr", null, ["node", "resource"].map((text) => h("th", { scope: "col", text })), ["allocatable", "requested", "left", "need before", "after"].map((text) => h("th", { scope: "col", class: "num", text })))),
        h("tbody", null, check.rows.map(([node, resource, allocatable, requested, free, needed, after]) => h("tr", null, h("td", { text: names[node] ?? "" }), h("td", { text: resource }), cell(resource, allocatable), cell(resource, requested), cell(resource, free), cell(resource, needed),
          h("td", { class: "num" }, after <= 0 ? h("span", { class: "pass-text", text: "met" }) : amount(resource, after))))))),
      check.nodeCount > check.nodes ? h("p", { class: "dim fine", text: `and ${count(check.nodeCount - check.nodes)} more nodes` }) : null);
  }

  #denials(group, now) {
    if (!group.denials.length) return null;
    return h("section", { class: "gang-denials" }, h("h4", { text: "Denied groups" }), h("ul", null, group.denials.map(([key, until]) => h("li", null, inline(() => this.view.setSub(key), null, short(key)), " ", h("span", { class: "num dim", text: until > 1e11 ? "for ever" : `${age(Math.max(0, until - now))} left, until ${moment(until)}` })))),
      group.denialCount > group.denials.length ? h("p", { class: "dim fine", text: `and ${count(group.denialCount - group.denials.length)} more` }) : null);
  }
}

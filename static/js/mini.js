// The small cluster on the start page: the engine's own cycles, recorded, stepping by themselves until touched.

import { h, fill, icon } from "./lib/dom.js";
import { cpu, memory, shortReason } from "./lib/quantity.js";

const EVERY = 1900;
const COLOURS = { web: "g0", db: "g1", train: "g2" };

export async function mini(host) {
  const { nodes, steps } = await (await fetch(host.dataset.mini)).json();
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let at = 4;
  let timer = 0;

  const head = h("div", { class: "mini-head" });
  const stage = h("div", { class: "mini-nodes" });
  const story = h("p", { class: "mini-story" });
  const track = h("div", { class: "mini-track", role: "group", "aria-label": "Cycles" }, steps.map((step, i) => h("button", { type: "button", class: step.node ? "s" : "u", "aria-label": `cycle ${i + 1}: ${step.pod}`, onclick: () => { stop(); go(i); } })));
  const play = h("button", { type: "button", class: "btn", onclick: () => (timer ? stop() : start()) });
  const acts = h("div", { class: "mini-acts" },
    h("button", { type: "button", class: "btn square", "aria-label": "Back", onclick: () => { stop(); go(at - 1); } }, icon("back")),
    h("button", { type: "button", class: "btn primary", onclick: () => { stop(); go(at + 1); } }, "Step", icon("step")), play, h("span", { class: "grow" }), h("span", { class: "dim num", "data-at": true }));
  fill(host, head, stage, story, track, acts);

  function start() { timer = setInterval(() => { if (!document.hidden) go(at + 1); }, EVERY); label(); }
  function stop() { clearInterval(timer); timer = 0; label(); }
  function label() { fill(play, icon(timer ? "pause" : "play"), h("span", { text: timer ? "Pause" : "Play" })); }

  function go(to) {
    at = (to + steps.length) % steps.length;
    const now = steps[at];
    const before = steps.slice(0, at).filter((step) => step.node);
    fill(head, h("i", { class: `dot ${COLOURS[now.workload]}` }), h("b", { text: now.pod }), h("span", { class: "dim nowrap", text: `${cpu(now.cpu)} cpu · ${memory(now.memory * 2 ** 20)}` }), h("span", { class: "grow" }),
      h("span", { class: `pill ${now.node ? "pass" : "fail"}`, text: now.node ? "scheduled" : "unschedulable" }));
    fill(stage, nodes.map((node) => card(node, before.filter((step) => step.node === node.name), now)));
    fill(story, sentence(now));
    [...track.children].forEach((mark, i) => (i === at ? mark.setAttribute("aria-current", "step") : mark.removeAttribute("aria-current")));
    acts.querySelector("[data-at]").textContent = `${at + 1} / ${steps.length}`;
  }

  function card(node, pods, now) {
    const chosen = now.node === node.name;
    const why = now.fails[node.name];
    const bar = (label, key) => {
      const used = pods.reduce((sum, pod) => sum + pod[key], 0) / node[key];
      const more = why ? 0 : Math.min(1 - used, now[key] / node[key]);
      return h("span", { class: "bar" }, h("span", { text: label }), h("span", { class: "rail" }, h("i", { class: "used", style: { width: `${used * 100}%` } }), h("i", { class: "add", style: { left: `${used * 100}%`, width: `${more * 100}%` } })));
    };
    return h("div", { class: `node ${why ? "failed" : "fits"}${chosen ? " chosen" : ""}` },
      h("span", { class: "node-head" }, h("b", { text: node.name })), bar("cpu", "cpu"), bar("mem", "memory"),
      h("span", { class: "node-foot" }, h("span", { class: "pods" }, pods.map((pod) => h("i", { class: `pod ${COLOURS[pod.workload]}`, title: pod.pod })), chosen ? h("i", { class: "pod ghost" }) : null)),
      why ? h("span", { class: "why", title: why, text: shortReason(why) === "taint" ? "taint not tolerated" : why }) : null);
  }

  function sentence(now) {
    const out = Object.keys(now.fails).length;
    const fit = nodes.length - out;
    if (!now.node) return [h("b", { text: now.pod }), ` fits no node: ${now.message.replace(/^.*: /, "").replace(/\.$/, "")}.`];
    if (fit === 1) return [`${out} nodes are ruled out. Only `, h("b", { text: now.node }), " is left, so nothing is ranked."];
    return [`${fit} of ${nodes.length} nodes fit. `, h("b", { text: now.node }), now.ties > 1 ? ` is one of ${now.ties} with the best score; the round-robin counter picks it.` : " has the best score."];
  }

  go(at);
  if (calm) label(); else start();
}

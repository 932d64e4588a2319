// The sheet under the stage: all about the node or the pod that is selected.

import { h, fill, icon } from "../lib/dom.js";
import { amount, count, cpu, memory, short } from "../lib/quantity.js";
import { breakButton } from "./breakbutton.tsx";
import { ABSENT } from "./cluster.js";
import { condition } from "./conditions.js";
import { whereIs } from "./stage/where.js";
import { markOf } from "./stage/windows.js";
import { ailmentsOf, describePast, pastVerdict, plainReason } from "./nodewords.js";
import { UNREACHED } from "./verdict.js";
import { actButton } from "./verbs/verbs.js";
/** @import { View } from "./view.js" */

const PODS_LISTED = 60;

export class Sheet {
  #next = 0; // the cycle that is shown for the selected pod

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.element = h("section", { class: "sheet", hidden: true, "aria-label": "Selected" });
    const { playback } = view; // of a link it is not known yet which cycle the pod has
    playback.on("grew", () => {
      if (view.pod >= 0 && this.#nextOf(view.pod) !== this.#next) this.update();
    });
  }

  update() {
    const { node, pod } = this.view;
    this.element.hidden = node < 0 && pod < 0;
    if (node >= 0) this.#node(node);
    else if (pod >= 0) this.#pod(pod);
    else fill(this.element);
  }

  #why(text, wish) {
    return h(
      "button",
      { type: "button", class: "btn small", "data-why": true, onclick: () => this.view.emit("why", wish) },
      icon("help"),
      text,
    );
  }

  #edit(wish) {
    const { edit } = this.view;
    return edit
      ? h(
          "button",
          {
            type: "button",
            class: "btn small",
            "data-edit": true,
            title: "e",
            onclick: () => this.view.emit("edit", wish),
          },
          icon("edit"),
          edit.label,
        )
      : null;
  }

  /** @param {{ node?: number, pod?: number }} wish */
  #ask(wish) {
    if (document.body.classList.contains("embedded")) return null;
    const { dataset } = document.querySelector("[data-workbench]");
    if (dataset.room || "locked" in dataset) return null;
    return h(
      "button",
      {
        type: "button",
        class: "btn small",
        "data-ask-here": true,
        title: "A question about it for a lesson (q)",
        onclick: ({ currentTarget }) => this.view.emit("ask-here", { ...wish, target: currentTarget }),
      },
      icon("hand"),
      "Ask",
    );
  }

  #frame(kind, name, badges, facts, ...rest) {
    const close = h(
      "button",
      {
        type: "button",
        class: "btn quiet square",
        "aria-label": `Close ${name}`,
        onclick: () => {
          this.view.selectNode(-1);
          this.view.selectPod(-1);
        },
      },
      icon("close"),
    );
    fill(
      this.element,
      h(
        "header",
        null,
        h("span", { class: "dim", text: kind }),
        h("h2", { text: name }),
        badges,
        h("span", { class: "grow" }),
        close,
      ),
      h(
        "div",
        { class: "sheet-body" },
        h(
          "dl",
          null,
          facts
            .filter(Boolean)
            .map(([term, ...value]) => h("div", null, h("dt", { text: term }), h("dd", null, value))),
        ),
        rest,
      ),
    );
  }

  /** @param {number} node */
  #node(node) {
    const { view } = this;
    const { nodes, cluster, pods } = view.playback;
    const { facts } = view;
    const state = view.verdictOf(node);
    const badge =
      facts.chosen === node
        ? h("span", { class: "pill accent", text: "chosen" })
        : state === "fits"
          ? h("span", { class: "pill pass" }, icon("check"), "fits")
          : state === "failed"
            ? h("span", { class: "pill fail" }, icon("cross"), facts.verdict.stopper(node))
            : state === "past"
              ? h("span", { class: "pill", text: pastVerdict(view.facts.verdict, node) })
              : state === "unreached"
                ? h("span", { class: "pill", text: UNREACHED })
                : null;
    const mark = markOf(view, node);
    const here = cluster.podsOn(node);
    const listed = [...here.subarray(0, PODS_LISTED)];
    const labels = Object.entries(nodes.labels?.[node] ?? {});
    const extended = Object.entries(nodes.extended ?? {}).filter(([, amounts]) => amounts[node]);
    this.#frame(
      "node",
      nodes.names[node],
      [
        badge,
        view.exists(node) ? null : h("span", { class: "pill", text: "does not exist at this step" }),
        ailmentsOf(view, node).map((text) => h("span", { class: "pill fail", text })),
        facts.pod >= 0 && view.exists(node)
          ? this.#why(facts.chosen === node ? "Why here?" : "Why not here?", { pod: facts.pod, node })
          : null,
        view.exists(node) ? actButton(view, { node }) : null,
        view.exists(node) ? this.#edit({ node }) : null,
        view.exists(node) ? this.#ask({ node }) : null,
        breakButton(view, condition("node", nodes.names[node])),
      ],
      [
        ["cpu", `${cpu(cluster.cpu[node])} of ${cpu(nodes.cpu[node])} requested`],
        ["memory", `${memory(cluster.memory[node])} of ${memory(nodes.memory[node])} requested`],
        ["pods", `${cluster.count[node]} of ${nodes.pods[node]}`],
        ...extended.map(([resource, amounts]) => [
          resource,
          `${amount(resource, cluster.extendedUsed(node, resource))} of ${amount(resource, amounts[node])}`,
        ]),
        nodes.zone[node] ? ["zone", nodes.zone[node]] : null,
        nodes.conditions[node].length
          ? ["conditions", nodes.conditions[node].map((text) => h("code", { class: "chip", text }))]
          : null,
        [
          "taints",
          view.playback.nodes.taints[node].length
            ? view.playback.nodes.taints[node].map((taint) => h("code", { class: "chip", text: taint }))
            : "none",
        ],
        state === "failed"
          ? [
              "this cycle",
              h("span", {
                class: "fail-text",
                text: facts.verdict
                  .reasonsOf(node)
                  .map((text) => plainReason(view, text, node))
                  .join(", "),
              }),
            ]
          : null,
        state === "past" ? ["this cycle", describePast(view, node)] : null,
        mark ? ["views", mark.sentences.map((text) => h("p", { class: mark.ill ? "stale-text" : "", text }))] : null,
        facts.totals?.has(node)
          ? ["score", `${count(facts.totals.get(node))}, the best is ${count(facts.best)}`]
          : null,
      ],
      h(
        "details",
        { open: labels.length <= 4 || undefined },
        h("summary", { text: `Labels (${labels.length})` }),
        h(
          "div",
          { class: "chips" },
          labels.map(([key, value]) => h("code", { class: "chip", text: `${key}=${value}` })),
        ),
      ),
      h(
        "details",
        { open: true },
        h("summary", { text: `Pods (${here.length})` }),
        h(
          "div",
          { class: "chips" },
          listed.map((pod) =>
            h(
              "button",
              { type: "button", class: "chip pod-chip", onclick: () => view.selectPod(pod) },
              h("i", { class: `dot ${view.colour(pod)}` }),
              short(pods.keys[pod]),
              view.playback.isTerminating(pod) ? h("span", { class: "fail-text", text: "Terminating" }) : null,
            ),
          ),
          here.length > listed.length
            ? h("span", { class: "dim", text: `and ${here.length - listed.length} more` })
            : null,
        ),
      ),
    );
  }

  /**
   * The next cycle about a pod; the one on screen counts once its attempt is shown.
   *
   * @param {number} pod
   */
  #nextOf(pod) {
    const { marks, index, reached } = this.view.playback;
    return marks.ofPod(pod, index - (reached.tried ? 0 : 1));
  }

  /** @param {number} pod */
  #pod(pod) {
    const { view } = this;
    const { playback } = view;
    const { pods, nodes, cluster } = playback;
    const at = cluster.placement[pod];
    const group = pods.groups[pods.group[pod]];
    const next = (this.#next = this.#nextOf(pod));
    const go =
      next === playback.index && playback.reached.tried
        ? `cycle ${next}, shown now`
        : view.seen.knows(next)
          ? `go to cycle ${next}`
          : "go to its next cycle";
    const extended = Object.entries(pods.extended ?? {}).filter(([, amounts]) => amounts[pod]);
    const { node, text } = whereIs(view, pod);
    const where = [
      text === "on" ? null : `${text} `,
      node >= 0
        ? h("button", { type: "button", class: "link", onclick: () => view.selectNode(node), text: nodes.names[node] })
        : null,
    ];
    this.#frame(
      "pod",
      short(pods.keys[pod]),
      [
        h("i", { class: `dot ${view.colour(pod)}` }),
        playback.isTerminating(pod)
          ? h("span", {
              class: "pill fail",
              text: "Terminating",
              title: "Deleted, and there until its kubelet has ended it",
            })
          : at >= 0
            ? h("span", { class: "pill pass", text: "placed" })
            : h("span", { class: "pill", text: at === ABSENT ? "not there" : "pending" }),
        this.#why("Why?", { pod }),
        at === ABSENT ? null : actButton(view, { pod }),
        at === ABSENT ? null : this.#edit({ pod }),
        this.#ask({ pod }),
        breakButton(view, condition("pod", pods.keys[pod])),
      ],
      [
        ["node", ...where],
        ["requests", `cpu ${cpu(pods.cpu[pod])}, memory ${memory(pods.memory[pod])}`],
        ...extended.map(([resource, amounts]) => [resource, amount(resource, amounts[pod])]),
        ["priority", String(pods.priority[pod])],
        group?.kind ? ["workload", `${group.kind} ${short(group.name)}`] : null,
        [
          "its cycle",
          next
            ? h("button", { type: "button", class: "link", onclick: () => playback.goto(next), text: go })
            : "none: it was bound before the first cycle, or is not reached yet",
        ],
      ],
    );
  }
}

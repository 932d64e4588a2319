// Why?: the reasons that keep a pod off a node or off all of them, and changes that were tried out and help.

import { h, fill, icon, announce, toast } from "../lib/dom.js";
import { plural, short } from "../lib/quantity.js";
import { termsIn } from "./terms.js";
import { keepApplied } from "./why/applied.js";
import { changesPart } from "./why/changes.js";
import { GONE, about, groups, leads, nodeReasons, other, title } from "./why/reasons.js";
import { undecided } from "./why/undecided.js";
/** @import { View } from "./view.js" */

export class Why {
  #box = null;
  #asked = null; // {pod, node}: what the panel is about
  #turn = 0;

  /** @param {View} view */
  constructor(view, { canApply }) {
    this.view = view;
    this.canApply = canApply;
    view.on("why", (wish) => this.open(wish));
  }

  /** What is on screen, for the address: `{pod, node}` or null. */
  get shown() {
    return this.#asked;
  }

  /**
   * Ask about a pod, on one node or on all; either by name or index. Without a pod, about the one that is selected or
   * in flight.
   *
   * @param {{ pod?: number | string, node?: number | string | null }} [about]
   */
  open({ pod, node } = {}, { push = true } = {}) {
    const { view } = this;
    const { playback } = view;
    if (!playback.nodes) return;
    const key = typeof pod === "number" ? playback.pods.keys[pod] : (pod ?? playback.pods.keys[this.#usual()]);
    const name = typeof node === "number" ? playback.nodes.names[node] : node || null;
    if (!key) {
      toast("There is no pod to ask about.", { name: "help" });
      return;
    }
    const wish = { pod: key, node: name };
    const same = this.#asked && this.#asked.pod === key && this.#asked.node === name && this.step === this.#step();
    if (same) return;
    this.#asked = wish;
    this.step = this.#step();
    if (!this.#box) this.#show();
    this.#load();
    view.emit("whyed", { push });
  }

  close() {
    this.#box?.close();
  }

  #step() {
    const { playback } = this.view;
    const shown = playback.partly && playback.wanted === playback.index;
    return String(Math.max(0, shown ? Math.min(playback.asOf, playback.cycles) : playback.wantedCycle));
  }

  /** Whether what is asked about is still being decided in what is shown. */
  get #undecided() {
    const { playback, facts } = this.view;
    return (
      playback.partly
      && playback.index <= playback.cycles
      && playback.asOf < playback.index
      && playback.wanted === playback.index
      && this.#asked.pod === playback.pods.keys[facts.light?.pod]
    );
  }

  /** The pod that is selected, that is in flight, or the first that waits. */
  #usual() {
    const { view } = this;
    if (view.pod >= 0) return view.pod;
    if (view.facts.pod >= 0) return view.facts.pod;
    return view.playback.cluster.placement.indexOf(-1);
  }

  #show() {
    this.heading = h("h2", { id: "why-heading", tabindex: "-1" });
    this.body = h("div", { class: "why-body" });
    const box = h(
      "dialog",
      { class: "why-panel", "aria-labelledby": "why-heading" },
      h(
        "div",
        { class: "dialog-head" },
        this.heading,
        h("span", { class: "grow" }),
        h(
          "button",
          { type: "button", class: "btn quiet square", "aria-label": "Close", onclick: () => box.close() },
          icon("close"),
        ),
      ),
      this.body,
    );
    box.addEventListener("click", (event) => {
      if (event.target === box) box.close();
    });
    box.addEventListener("close", () => {
      box.remove();
      this.#box = null;
      this.#asked = null;
      this.#turn += 1;
      this.view.emit("whyed", { push: false });
    });
    this.#box = box;
    document.body.append(box);
    box.showModal();
    this.heading.focus();
  }

  async #load() {
    const { pod, node } = this.#asked;
    const { playback } = this.view;
    const turn = ++this.#turn;
    this.heading.textContent = node ? `Why ${short(pod)} on ${node}, or why not?` : `Why ${short(pod)}?`;
    this.body.setAttribute("aria-busy", "true");
    if (this.#undecided) {
      this.body.removeAttribute("aria-busy");
      fill(
        this.body,
        undecided(this.view, this.#asked, () => this.#whole()),
      );
      return;
    }
    fill(
      this.body,
      h(
        "p",
        { class: "why-wait dim", role: "status" },
        h("span", { class: "why-spin", "aria-hidden": "true" }),
        "Finding the reasons and trying changes…",
      ),
    );
    try {
      const answer = await playback.socket.call("why.ask", {
        source: playback.source,
        pod,
        ...(node ? { node } : {}),
        step: this.step,
      });
      if (turn !== this.#turn) return;
      this.#paint(answer);
    } catch (error) {
      if (turn !== this.#turn || error.code === "request.superseded") return;
      fill(
        this.body,
        h("div", { class: "note error", role: "alert" }, icon("warn"), h("span", { text: error.message })),
        h(
          "div",
          { class: "why-row" },
          h("button", { type: "button", class: "btn", text: "Try again", onclick: () => this.#load() }),
          node
            ? h("button", {
                type: "button",
                class: "btn quiet",
                text: "Ask about all nodes",
                onclick: () => this.open({ pod }),
              })
            : null,
        ),
      );
    } finally {
      if (turn === this.#turn) this.body.removeAttribute("aria-busy");
    }
  }

  /** Show all of the cycle, and ask again. */
  #whole() {
    const { playback } = this.view;
    const stop = playback.on("moment", () => {
      stop();
      if (!this.#asked) return;
      this.step = this.#step();
      this.#load();
      this.heading.focus();
    });
    playback.goto(playback.index);
  }

  #paint(answer) {
    const { node } = this.#asked;
    const fits = answer.nodes.length && answer.nodes[0].fits;
    const here = answer.node !== null && answer.node === node;
    this.heading.textContent = title(answer, here, fits);
    const ask = (/** @type {string} */ name) => this.open({ pod: answer.pod, node: name });
    const { names } = this.view.playback.nodes;
    const terms = termsIn(this.view.playback);
    fill(
      this.body,
      about(answer, this.view.edit ? (target) => this.#edit(target) : null),
      leads(answer, terms),
      node ? nodeReasons(answer, terms) : groups(answer, ask),
      changesPart(answer, { fits, apply: this.canApply ? (change) => this.#fork(answer, change) : null }),
      GONE.has(answer.state)
        ? null
        : other(
            answer,
            names.filter((_, one) => this.view.exists(one)),
            ask,
          ),
    );
    const n = answer.changes.length;
    announce(`${answer.summary} ${n ? `${plural(n, "change")} would make it fit.` : ""}`);
  }

  /**
   * Change the pod or the node oneself, at the step on screen.
   *
   * @param {string} target
   */
  #edit(target) {
    this.close();
    this.view.emit("edit", { target });
  }

  async #fork(answer, change) {
    const { playback } = this.view;
    const { node } = this.#asked;
    const made = await playback.socket.call("why.apply", {
      source: playback.source,
      pod: answer.pod,
      ...(node ? { node } : {}),
      step: this.step,
      change: change.id,
    });
    keepApplied({ ...made, asked: answer.pod, placed: answer.state === "placed" });
    const query = new URLSearchParams({ ...(made.index ? { step: String(made.index) } : {}), pod: made.pod });
    location.assign(`${new URL(made.url, location.origin).pathname}?${query.toString().replaceAll("%2F", "/")}`);
  }
}

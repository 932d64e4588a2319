// Why?: the reasons that keep a pod off a node or off all of them, and changes that were tried out and help.

import { $, h, fill, icon, copy, announce, toast } from "../lib/dom.js";
import { count, plural, short } from "../lib/quantity.js";
import { undecided } from "./whythen.js";

const NODES_LISTED = 500; // names that the field for a node suggests
const KEPT = "podstep.applied";
const COST =
  "Cost is what a change takes, added up: 0 is a corrected name, 1 a label, a toleration or an uncordon, 2 a request "
  + "or a taint, 3 an affinity or more machine, 4 a victim or a volume, 5 a pod that nobody would preempt.";
const GONE = new Set(["finished", "preempted", "deleted", "absent"]);
const STATES = {
  placed: "pass",
  bound: "pass",
  pending: "fail",
  finished: "",
  preempted: "victim",
  deleted: "",
  absent: "",
  other: "",
};

const list = (texts) => (texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`);

/** `wants 2 cpu; 1350m of 4 free, 650m short`. */
export function inWords({ resource, requested, free, shortBy, allocatable }) {
  if (resource === "pods") return `the node takes ${allocatable} pods, and has as many`;
  return `wants ${requested} ${resource}; ${free} of ${allocatable} free, ${shortBy} short`;
}

/** A reason without the "node(s)" that counts nodes in the message. */
const plain = (text) => text.replace(/^node\(s\) /, "");

/** The facts of one failure as sentences. */
function facts(failure) {
  if (failure.error) return [failure.error];
  const amounts = failure.numbers.map(inWords);
  const resources = new Set(failure.numbers.map(({ resource }) => `${resource}:`));
  const others = failure.details.filter((text) => !resources.has(text.split(" ")[0]));
  const said = [...amounts, ...others];
  return said.length ? said : failure.reasons.map(plain);
}

export class Why {
  #box = null;
  #asked = null; // {pod, node}: what the panel is about
  #turn = 0;

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
        "Looking for the reasons, and trying out what would help…",
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
    this.heading.textContent = this.#title(answer, here, fits);
    fill(
      this.body,
      this.#about(answer),
      this.#leads(answer),
      node ? this.#node(answer) : this.#groups(answer),
      this.#changes(answer, fits),
      this.#other(answer),
    );
    const n = answer.changes.length;
    announce(`${answer.summary} ${n ? `${plural(n, "change")} would make it fit.` : ""}`);
  }

  #title({ pod, state, asked, node }, here, fits) {
    const name = short(pod);
    if (asked && here) return `Why is ${name} on ${asked}?`;
    if (asked && (state === "pending" || state === "other"))
      return fits ? `${name} fits on ${asked}` : `Why is ${name} not on ${asked}?`;
    if (asked) return `Why is ${name} not on ${asked}?`;
    if (state === "pending" || state === "other") return `Why is ${name} pending?`;
    if (node && (state === "placed" || state === "bound")) return `Why is ${name} on ${node}?`;
    return `What became of ${name}?`;
  }

  #about(answer) {
    const { index, step, before, state, summary } = answer;
    const moment =
      state === "placed"
        ? `decided by cycle ${count(index)} (${step})`
        : before
          ? `as cycle ${count(index)} (${step}) found the cluster`
          : index
            ? `after cycle ${count(index)} (${step})`
            : "before the first cycle";
    return h(
      "section",
      { class: "why-about" },
      h(
        "p",
        { class: "why-row" },
        h("span", { class: `pill ${STATES[state] ?? ""}`, text: state === "other" ? "another scheduler's" : state }),
        h("span", { class: "mono", text: answer.pod }),
        h("span", { class: "dim", text: moment }),
      ),
      h("p", { class: "why-summary", text: summary }),
      this.view.edit && (answer.asked || !GONE.has(state))
        ? h(
            "div",
            { class: "why-row why-edit" },
            GONE.has(state) ? null : this.#edit(`Pod ${answer.pod}`),
            answer.asked ? this.#edit(`Node ${answer.asked}`) : null,
          )
        : null,
    );
  }

  /** Change the pod or the node oneself, at the step on screen. */
  #edit(target) {
    const { edit } = this.view;
    return edit
      ? h(
          "button",
          {
            type: "button",
            class: "btn small",
            onclick: () => {
              this.close();
              this.view.emit("edit", { target });
            },
          },
          icon("edit"),
          `Edit this ${target.split(" ")[0].toLowerCase()}`,
        )
      : null;
  }

  /** What put the chosen node before the one it is compared with. */
  #leads({ story }) {
    const leads = story?.leads?.filter(({ points }) => points) ?? [];
    if (!leads.length) return null;
    return h(
      "section",
      { class: "why-leads" },
      h(
        "h3",
        null,
        `${story.node} against ${story.rival} `,
        h("small", { class: "dim", text: "what each priority gave, times its weight" }),
      ),
      h(
        "ul",
        null,
        leads.map(({ priority, weight, chosen, other, points }) =>
          h(
            "li",
            null,
            h("span", { text: priority }),
            h("span", {
              class: "dim num",
              text: `${chosen} against ${other}${weight === 1 ? "" : ` × ${count(weight)}`}`,
            }),
            h("b", {
              class: `num ${points > 0 ? "pass-text" : "fail-text"}`,
              text: `${points > 0 ? "+" : "−"}${count(Math.abs(points))}`,
            }),
          ),
        ),
      ),
    );
  }

  /** One node: each predicate that fails there, with its numbers. */
  #node(answer) {
    const [verdict] = answer.nodes;
    if (!verdict) return null;
    if (verdict.fits) {
      const text =
        answer.state === "placed"
          ? `Every predicate passed on ${verdict.node}; another node had the better total.`
          : `Every predicate passes on ${verdict.node}.`;
      return h(
        "section",
        { class: "why-node" },
        h("h3", { text: verdict.node }),
        h("p", { class: "pass-text" }, icon("check"), " ", text),
      );
    }
    return h(
      "section",
      { class: "why-node" },
      h(
        "h3",
        null,
        verdict.node,
        " ",
        h("small", {
          class: "dim",
          text: `${plural(verdict.failures.length, "predicate")} ${verdict.failures.length === 1 ? "fails" : "fail"}`,
        }),
      ),
      h(
        "ul",
        { class: "why-failures" },
        verdict.failures.map((failure) =>
          h(
            "li",
            null,
            h(
              "p",
              { class: "why-predicate" },
              icon("cross"),
              h("b", { text: failure.predicate || "before any predicate" }),
            ),
            h(
              "ul",
              null,
              facts(failure).map((text) => h("li", { text })),
            ),
            failure.reasons.length ? h("p", { class: "dim fine mono", text: failure.reasons.join(", ") }) : null,
          ),
        ),
      ),
    );
  }

  /** All nodes by what fails there. */
  #groups(answer) {
    if (!answer.groups.length) return null;
    const widest = answer.nodesCount || 1;
    const told = answer.groups.reduce((sum, group) => sum + group.count, 0);
    return h(
      "section",
      { class: "why-groups" },
      h(
        "h3",
        null,
        "Nodes ",
        h("small", {
          class: "dim",
          text: `${plural(answer.nodesCount, "node")}, by what fails there; choose one for its numbers`,
        }),
      ),
      h(
        "ul",
        null,
        answer.groups.map(({ failures, count: nodes, nodes: names }) =>
          h(
            "li",
            { class: failures.length ? "" : "fits" },
            h("span", { class: "why-count num", text: count(nodes) }),
            h(
              "div",
              null,
              h(
                "p",
                null,
                failures.length
                  ? failures.map(({ predicate, reasons, error }, i) => [
                      i ? h("span", { class: "dim", text: " and " }) : null,
                      h("span", {
                        title: predicate,
                        text: error ?? list(reasons.filter((text) => text !== predicate).map(plain)),
                      }),
                    ])
                  : h("span", { class: "pass-text", text: answer.state === "placed" ? "it fitted" : "it fits" }),
              ),
              h(
                "span",
                { class: "why-rail", "aria-hidden": "true" },
                h("i", { style: { width: `${Math.max(1, (nodes / widest) * 100)}%` } }),
              ),
              h(
                "div",
                { class: "chips" },
                names.slice(0, 8).map((name) =>
                  h("button", {
                    type: "button",
                    class: "chip why-ask",
                    "aria-label": `${failures.length ? "Why not" : "Why"} on ${name}?`,
                    text: name,
                    onclick: () => this.open({ pod: answer.pod, node: name }),
                  }),
                ),
                nodes > Math.min(8, names.length)
                  ? h("span", { class: "dim fine", text: `and ${count(nodes - Math.min(8, names.length))} more` })
                  : null,
              ),
            ),
          ),
        ),
      ),
      told < answer.nodesCount
        ? h("p", { class: "dim fine", text: `and ${count(answer.nodesCount - told)} nodes in smaller groups` })
        : null,
    );
  }

  #changes(answer, fits) {
    if (!answer.changes.length) {
      const asks = answer.state === "pending" || answer.asked;
      const fitting = fits || answer.groups.some((group) => !group.failures.length);
      if (!asks || fitting || answer.node === answer.asked) return null;
      return h(
        "section",
        null,
        h("h3", { text: "What would make it fit" }),
        h("p", { class: "dim", text: "No change was found that makes it fit." }),
      );
    }
    return h(
      "section",
      { class: "why-changes" },
      h(
        "h3",
        null,
        "What would make it fit ",
        h("small", { class: "dim", text: "the smallest change first, each tried out" }),
      ),
      h(
        "ol",
        null,
        answer.changes.map((change, i) => this.#change(answer, change, i)),
      ),
      h("p", { class: "dim fine why-cost", text: COST }),
    );
  }

  #change(answer, change, i) {
    const others = change.fitsCount - 1;
    const goes =
      answer.state === "pending" || answer.state === "other" ? "would then be scheduled to" : "would then be put on";
    const verified = change.chosen
      ? [`verified: it ${goes} `, h("b", { text: change.chosen })]
      : ["verified: it fits on ", h("b", { text: change.node })];
    const also = change.chosen && change.chosen !== change.node ? `it fits on ${change.node} too` : "";
    const more = others > 1 || (others > 0 && !also) ? `it fits on ${plural(change.fitsCount, "node")} in all` : also;
    const title = `why-change-${i}`;
    const copied = h(
      "button",
      {
        type: "button",
        class: "btn quiet square tiny",
        "aria-label": "Copy this patch",
        title: "Copy this patch",
        onclick: async () => {
          const done = await copy(change.yaml);
          fill(copied, icon(done ? "check" : "warn"));
          announce(done ? "The patch is copied." : "The browser refused the clipboard.");
        },
      },
      icon("copy"),
    );
    return h(
      "li",
      { "aria-labelledby": title },
      h(
        "div",
        { class: "why-words", id: title },
        change.words.map((text, place) => h("p", { text: place ? text : text[0].toUpperCase() + text.slice(1) })),
      ),
      h(
        "p",
        { class: "why-row" },
        h("span", { class: "pill pass why-verified" }, icon("check"), h("span", null, verified)),
        more ? h("span", { class: "dim fine", text: more }) : null,
        h("span", { class: "grow" }),
        h("span", { class: "dim fine num", text: `cost ${change.effort}` }),
      ),
      change.notes.map((text) => h("p", { class: "dim fine", text })),
      h(
        "details",
        { open: i === 0 },
        h("summary", {
          text: change.patches.every(({ action }) => action === "delete") ? "What is deleted" : "The patch",
        }),
        h(
          "div",
          { class: "why-patch" },
          h("pre", { tabindex: "0", "aria-label": "Patch as YAML" }, h("code", { text: change.yaml.trim() })),
          copied,
        ),
      ),
      this.#apply(answer, change, i),
    );
  }

  #apply(answer, change, i) {
    if (!this.canApply) return null;
    if (!answer.applicable)
      return h("p", {
        class: "dim fine",
        text:
          answer.state === "bound"
            ? "A copy would show nothing: the manifest binds the pod, so no cycle decides about it."
            : "A copy would show nothing: another scheduler decides about this pod.",
      });
    const label = h("span", { text: "Apply in a copy" });
    const button = h(
      "button",
      {
        type: "button",
        class: `btn ${i ? "" : "primary"}`,
        onclick: async () => {
          if (button.getAttribute("aria-disabled")) return;
          button.setAttribute("aria-disabled", "true");
          label.textContent = "Running the copy…";
          try {
            await this.#fork(answer, change);
          } catch (error) {
            button.removeAttribute("aria-disabled");
            label.textContent = "Apply in a copy";
            fill(problem, h("span", { class: "stale-text", text: error.message }));
          }
        },
      },
      icon("fork"),
      label,
    );
    const problem = h("span", { role: "alert" });
    return h("div", { class: "why-row" }, button, problem);
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
    try {
      sessionStorage.setItem(KEPT, JSON.stringify({ ...made, asked: answer.pod, placed: answer.state === "placed" }));
    } catch {
      /* only the note is lost */
    }
    const query = new URLSearchParams({ ...(made.index ? { step: String(made.index) } : {}), pod: made.pod });
    location.assign(`${new URL(made.url, location.origin).pathname}?${query.toString().replaceAll("%2F", "/")}`);
  }

  /** Another node, or all of them. */
  #other(answer) {
    if (GONE.has(answer.state)) return null;
    const { names } = this.view.playback.nodes;
    const there = names.filter((_, node) => this.view.exists(node)).slice(0, NODES_LISTED);
    const field = h("input", {
      class: "field",
      name: "node",
      list: "why-nodes",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "a node's name",
      "aria-label": "Ask about a node",
    });
    return h(
      "form",
      {
        class: "why-other",
        onsubmit: (event) => {
          event.preventDefault();
          if (field.value.trim()) this.open({ pod: answer.pod, node: field.value.trim() });
        },
      },
      h("span", { class: "dim", text: "Why not on" }),
      field,
      h(
        "datalist",
        { id: "why-nodes" },
        there.map((name) => h("option", { value: name })),
      ),
      h("button", { class: "btn", text: "Ask" }),
      answer.asked
        ? h("button", {
            type: "button",
            class: "btn quiet",
            text: "All nodes",
            onclick: () => this.open({ pod: answer.pod }),
          })
        : null,
    );
  }
}

/** Tell what was applied when its copy opens. */
export function tellApplied(draft) {
  let kept;
  try {
    kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    if (kept) sessionStorage.removeItem(KEPT);
  } catch {
    kept = null;
  }
  if (!kept || kept.draft !== draft) return;
  const done = kept.words.join("; ");
  const renamed = kept.pod === kept.asked ? "" : ` (as ${short(kept.asked)} is called with the new template)`;
  const after =
    kept.way === "operation" ? " The change is made after the step that it was asked at; all before is as it was." : "";
  const outcome = !kept.node
    ? "but other pods take the room first, so the pod still waits"
    : kept.placed
      ? `and ${short(kept.pod)}${renamed} goes to ${kept.node}`
      : `and ${short(kept.pod)}${renamed} is placed on ${kept.node}`;
  const text = `In this copy: ${done}, ${outcome}.${after}`;
  toast(text, { name: kept.node ? "check" : "warn", ms: 12_000 });
  announce(text);
  $("#main").focus({ preventScroll: true }); // the button that was pressed is on the page before
}

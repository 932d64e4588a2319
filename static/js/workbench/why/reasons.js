// The reasons in an answer of Why?: what became of a pod, and what fails on one node or on all.

import { h, icon } from "../../lib/dom.js";
import { count, plural, short } from "../../lib/quantity.js";
import { recordedFigure } from "../recorded.tsx";

const NODES_LISTED = 500; // names that the field for a node suggests
/** States in which a pod is no more: there is nothing to change. */
export const GONE = new Set(["finished", "preempted", "deleted", "absent"]);
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

/** @param {string[]} texts */
const list = (texts) => (texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`);

/** `wants 2 cpu; 1350m of 4 free, 650m short`. */
function inWords({ resource, requested, free, shortBy, allocatable }) {
  if (resource === "pods") return `the node takes ${allocatable} pods, and has as many`;
  return `wants ${requested} ${resource}; ${free} of ${allocatable} free, ${shortBy} short`;
}

/**
 * A reason without the "node(s)" that counts nodes in the message.
 *
 * @param {string} text
 */
const plain = (text) => text.replace(/^node\(s\) /, "");

/** The facts of one failure as sentences. */
function facts(failure) {
  if (failure.error) return [failure.error];
  const amounts = failure.numbers.map(inWords);
  const resources = new Set(failure.numbers.map(({ resource }) => `${resource}:`));
  const others = failure.details.filter((text) => !resources.has(text.split(" ")[0]));
  const texts = [...amounts, ...others];
  return texts.length ? texts : failure.reasons.map(plain);
}

/** The heading over the answer; `here`: the pod is on the node asked about, `fits`: it would fit there. */
export function title({ pod, state, asked, node }, here, fits) {
  const name = short(pod);
  if (asked && here) return `Why is ${name} on ${asked}?`;
  if (asked && (state === "pending" || state === "other"))
    return fits ? `${name} fits on ${asked}` : `Why is ${name} not on ${asked}?`;
  if (asked) return `Why is ${name} not on ${asked}?`;
  if (state === "pending" || state === "other") return `Why is ${name} pending?`;
  if (node && (state === "placed" || state === "bound")) return `Why is ${name} on ${node}?`;
  return `What became of ${name}?`;
}

/**
 * What is asked about, and the answer in a sentence; `edit(target)` begins to change a pod or node, null: nothing can
 * be.
 *
 * @param {((target: string) => void) | null} edit
 */
export function about(answer, edit) {
  const { index, step, before, state, summary, recorded } = answer;
  const moment =
    state === "placed"
      ? `decided by cycle ${count(index)} (${step})`
      : before
        ? `the cluster at the start of cycle ${count(index)} (${step})`
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
    recordedFigure(recorded),
    edit && (answer.asked || !GONE.has(state))
      ? h(
          "div",
          { class: "why-row why-edit" },
          GONE.has(state) ? null : editButton(`Pod ${answer.pod}`, edit),
          answer.asked ? editButton(`Node ${answer.asked}`, edit) : null,
        )
      : null,
  );
}

/**
 * Change the pod or the node oneself, at the step on screen.
 *
 * @param {string} target
 * @param {(target: string) => void} edit
 */
function editButton(target, edit) {
  return h(
    "button",
    { type: "button", class: "btn small", onclick: () => edit(target) },
    icon("edit"),
    `Edit this ${target.split(" ")[0].toLowerCase()}`,
  );
}

/** What put the chosen node before the one it is compared with; the second are the Terms of the release. */
export function leads({ story }, { scorer }) {
  const leads = story?.leads?.filter(({ points }) => points) ?? [];
  if (!leads.length) return null;
  return h(
    "section",
    { class: "why-leads" },
    h(
      "h3",
      null,
      `${story.node} against ${story.rival} `,
      h("small", { class: "dim", text: `what each ${scorer} gave, times its weight` }),
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

/**
 * One node: the scheduler's own answer with its numbers, then what would refuse the node as well; the second are the
 * Terms of the release.
 */
export function nodeReasons(answer, { rule }) {
  const [verdict] = answer.nodes;
  if (!verdict) return null;
  if (verdict.fits) {
    const text =
      answer.state === "placed"
        ? `Every ${rule} passed on ${verdict.node}; another node had the better total.`
        : `Every ${rule} passes on ${verdict.node}.`;
    return h(
      "section",
      { class: "why-node" },
      h("h3", { text: verdict.node }),
      h("p", { class: "pass-text" }, icon("check"), " ", text),
    );
  }
  const [own, further] = [false, true].map((left) => verdict.failures.filter((failure) => failure.further === left));
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
        text: `${plural(verdict.failures.length, rule)} ${verdict.failures.length === 1 ? "fails" : "fail"}`,
      }),
    ),
    failing(own, rule),
    further.length
      ? [h("h4", { class: "why-further", text: "Would refuse as well" }), failing(further, rule, "further")]
      : null,
  );
}

/** @param {import("../../lib/protocol.js").Failure[]} failures */
function failing(failures, rule, kind = "") {
  return h(
    "ul",
    { class: `why-failures ${kind}` },
    failures.map((failure) =>
      h(
        "li",
        null,
        h("p", { class: "why-predicate" }, icon("cross"), h("b", { text: failure.predicate || `before any ${rule}` })),
        h(
          "ul",
          null,
          facts(failure).map((text) => h("li", { text })),
        ),
        failure.reasons.length ? h("p", { class: "dim fine mono", text: failure.reasons.join(", ") }) : null,
      ),
    ),
  );
}

/** What stands before a failure: the scheduler's own answer ends where those begin that would refuse as well. */
const joint = (failures, i) => (failures[i].further && !failures[i - 1].further ? "; would refuse as well: " : " and ");

/** The reasons of a failure without its name. */
const inShort = ({ predicate, reasons, error }) =>
  error ?? list(reasons.filter((text) => text !== predicate).map(plain));

/** All nodes by what fails there; `ask(node)` asks about one of them. */
export function groups(answer, ask) {
  if (!answer.groups.length) return null;
  const widest = answer.nodesCount || 1;
  const listed = answer.groups.reduce((sum, group) => sum + group.count, 0);
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
                ? failures.map((failure, i) => [
                    i ? h("span", { class: "dim", text: joint(failures, i) }) : null,
                    h("span", {
                      class: failure.further ? "dim" : "",
                      title: failure.predicate,
                      text: inShort(failure),
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
                  onclick: () => ask(name),
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
    listed < answer.nodesCount
      ? h("p", { class: "dim fine", text: `and ${count(answer.nodesCount - listed)} nodes in smaller groups` })
      : null,
  );
}

/** Another node of `names`, or all of them: `ask(node)`. */
export function other(answer, names, ask) {
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
        if (field.value.trim()) ask(field.value.trim());
      },
    },
    h("span", { class: "dim", text: "Why not on" }),
    field,
    h(
      "datalist",
      { id: "why-nodes" },
      names.slice(0, NODES_LISTED).map((name) => h("option", { value: name })),
    ),
    h("button", { class: "btn", text: "Ask" }),
    answer.asked
      ? h("button", {
          type: "button",
          class: "btn quiet",
          text: "All nodes",
          onclick: () => ask(null),
        })
      : null,
  );
}

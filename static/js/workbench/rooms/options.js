// The answers to a question: large buttons where there are few, with a filter above where there are many.

import { h, fill } from "../../lib/dom.js";
import { cpu, memory, short } from "../../lib/quantity.js";
import { MANY, TYPED, stopWorded, typedBallot } from "./stopballot.js";
/** @import { Answer, Question } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const FEW = 12; // that need no filter
const SHOWN = 60;
const LONG = 24; // characters of an answer that stands on a line of its own

/** @typedef {{ answer: string | boolean | number, label: string, detail?: string }} Option */

/**
 * What can be answered.
 *
 * @param {Question} question
 * @param {View} view
 * @returns {Option[]}
 */
function options(question, view) {
  const { nodes, pods, cluster, podIndex } = view.playback;
  if (question.kind === "fits")
    return [
      { answer: true, label: "Yes" },
      { answer: false, label: "No" },
    ];
  if (question.kind === "lesson")
    return (question.options ?? []).map(([key, label, group]) => ({
      answer: question.form === "yesno" ? key === "yes" : key,
      label: group ? `${group}: ${label}` : label,
    }));
  if (question.kind === "choice") return (question.choices ?? []).map((label, answer) => ({ answer, label }));
  const { ballot } = question; // the same for everybody, wherever a page stands; null where it would be too long
  if (question.kind === "node")
    return [
      ...(ballot?.map(([name]) => name) ?? nodes.names.filter((_, i) => view.exists(i))).map((name) => ({
        answer: name,
        label: name,
      })),
      { answer: "", label: "No node" },
    ];
  const priority = pods.priority[podIndex.get(question.pod ?? "") ?? -1] ?? Infinity;
  const rows =
    ballot
    ?? pods.keys.flatMap((key, i) =>
      cluster.placement[i] >= 0 && pods.priority[i] < priority ? [[key, nodes.names[cluster.placement[i]]]] : [],
    );
  return rows.map(([key, node = ""]) => ({ answer: key, label: short(key), detail: sized(view, key, node) }));
}

/**
 * Where a pod is, its priority and what it requests, as far as this page knows it.
 *
 * @param {View} view
 * @param {string} key
 * @param {string} node
 */
function sized(view, key, node) {
  const { pods, podIndex } = view.playback;
  const pod = podIndex.get(key);
  if (pod === undefined) return node;
  return `${node} · priority ${pods.priority[pod]} · ${cpu(pods.cpu[pod])} cpu · ${memory(pods.memory[pod])}`;
}

/**
 * An answer in words.
 *
 * @param {Question} question
 * @param {Answer | null | undefined} answer
 */
export function worded(question, answer) {
  if (answer === null || answer === undefined) return "";
  if (question.kind === "lesson") return stopWorded(question, answer);
  if (question.kind === "fits") return answer === true ? "Yes" : "No";
  if (question.kind === "node") return String(answer) || "No node";
  if (question.kind === "choice") return question.choices?.[Number(answer)] ?? "";
  const pods = Array.isArray(answer) ? answer : [String(answer)];
  return pods.map(short).join(", ") || "Nobody";
}

/**
 * The buttons of a question; `vote` is called with the answer, `given` is the one that was given.
 *
 * @param {Question} question
 * @param {View} view
 * @param {Answer | undefined} given
 * @param {(answer: Answer) => void} vote
 */
export function ballot(question, view, given, vote) {
  const form = question.kind === "lesson" ? (question.form ?? "") : "";
  if (TYPED.includes(form)) return typedBallot(question, given, vote);
  const all = options(question, view);
  const evicts = question.kind === "victims";
  const many = evicts || MANY.includes(form);
  const chosen = new Set(Array.isArray(given) ? given : given === undefined ? [] : [given]);
  const list = h("div", {
    class: "ballot",
    "data-kind": form === "yesno" ? "fits" : all.some(({ label }) => label.length > LONG) ? "long" : question.kind,
  });
  const draw = (typed = "") => {
    const found = all.filter(({ label, detail = "" }) => `${label} ${detail}`.toLowerCase().includes(typed));
    fill(
      list,
      found.slice(0, SHOWN).map(({ answer, label, detail }) => {
        const button = h(
          "button",
          {
            type: "button",
            class: "btn ballot-answer",
            "aria-label": label,
            title: detail,
            "aria-pressed": String(chosen.has(answer)),
            onclick: () => {
              if (!many) {
                vote(answer);
                return;
              }
              if (!chosen.delete(answer)) chosen.add(answer);
              button.setAttribute("aria-pressed", String(chosen.has(answer)));
              updateSend();
            },
          },
          h("span", { text: label }),
          detail ? h("small", { class: "dim num", text: detail }) : null,
        );
        return button;
      }),
      found.length > SHOWN
        ? h("p", { class: "dim", text: `and ${found.length - SHOWN} more: type a part of the name.` })
        : null,
      found.length
        ? null
        : h("p", { class: "dim", text: evicts && !typed ? "No pod has a lower priority." : "No match." }),
    );
  };
  const filter =
    all.length > FEW
      ? h("input", {
          class: "field",
          type: "search",
          "aria-label": "Filter the answers",
          placeholder: "Filter",
          oninput: (event) => draw(event.target.value.trim().toLowerCase()),
        })
      : null;
  const send = many
    ? h("button", { type: "button", class: "btn primary big", onclick: () => vote([...chosen].map(String).sort()) })
    : null;
  const updateSend = () => {
    if (!send) return;
    if (evicts) send.textContent = chosen.size ? `Vote: ${chosen.size} evicted` : "Vote: nobody";
    else send.textContent = chosen.size ? `Vote: ${chosen.size}` : "Vote: none of them";
  };
  updateSend();
  draw();
  return h("div", { class: "ballot-box" }, filter, list, send);
}

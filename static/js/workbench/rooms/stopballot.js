// The ballot of a lesson's question, by the form of its answer.

import { h, fill, icon } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";
/** @import { Answer, Question } from "../../lib/protocol.js" */

const PROGRESS = "podstep.lessons"; // where a lesson's page keeps its receipts, static/js/lesson/progress.ts
export const MANY = ["nodes", "pods"];
export const TYPED = ["number", "order", "edit", "claim"];

/**
 * An answer in words.
 *
 * @param {Question} question
 * @param {Answer} answer
 */
export function stopWorded({ form = "", options = [], unit = "" }, answer) {
  const label = (/** @type {unknown} */ key) => {
    const found = options.find(([name]) => name === key);
    return found ? (found[2] ? `${found[2]}: ${found[1]}` : found[1]) : String(key);
  };
  if (form === "edit" || form === "claim") return "Solved";
  if (typeof answer === "boolean") return label(answer ? "yes" : "no");
  if (Array.isArray(answer)) return answer.map(label).join(", ") || "None of them";
  if (form === "number") return `${typeof answer === "number" ? count(answer) : answer} ${unit}`.trim();
  return label(answer) || "No node";
}

/**
 * The ballot of an answer that is no button: a number, an order, or an edit of the cluster.
 *
 * @param {Question} question
 * @param {Answer | undefined} given
 * @param {(answer: Answer) => void} vote
 */
export function typedBallot(question, given, vote) {
  const { form = "" } = question;
  if (form === "number") return numberField(question, given, vote);
  if (form === "order") return orderField(question, given, vote);
  return solving(question, given, vote);
}

/**
 * @param {Question} question
 * @param {Answer | undefined} given
 * @param {(answer: Answer) => void} vote
 */
function numberField({ text, unit = "" }, given, vote) {
  const field = h("input", {
    class: "field num",
    inputmode: "decimal",
    autocomplete: "off",
    maxlength: 40,
    required: true,
    "aria-label": `${text}${unit ? `, in ${unit}` : ""}`,
    value: given === undefined ? "" : String(given),
  });
  return h(
    "form",
    {
      class: "ballot-typed",
      onsubmit: (event) => {
        event.preventDefault();
        vote(field.value.trim());
      },
    },
    field,
    unit ? h("span", { text: unit }) : null,
    h("button", { class: "btn primary big", text: "Vote" }),
  );
}

/**
 * @param {Question} question
 * @param {Answer | undefined} given
 * @param {(answer: Answer) => void} vote
 */
function orderField({ text, options = [] }, given, vote) {
  /** @type {string[]} */
  let chosen = Array.isArray(given) ? [...given] : [];
  const list = h("div", { class: "ballot" });
  const send = h("button", { type: "button", class: "btn primary big", text: "Vote", onclick: () => vote(chosen) });
  if (!options.length) {
    const names = h("textarea", {
      class: "field",
      rows: 4,
      maxlength: 4000,
      "aria-label": `${text} One name a line`,
      value: chosen.join("\n"),
      oninput: () => {
        chosen = names.value.split("\n").flatMap((line) => line.trim() || []);
      },
    });
    return h("div", { class: "ballot-box" }, names, send);
  }
  const draw = () => {
    fill(
      list,
      options.map(([key, label]) => {
        const at = chosen.indexOf(key);
        return h(
          "button",
          {
            type: "button",
            class: "btn ballot-answer",
            "aria-pressed": String(at >= 0),
            onclick: () => {
              chosen = at >= 0 ? chosen.filter((one) => one !== key) : [...chosen, key];
              draw();
            },
          },
          h("span", { text: at >= 0 ? `${at + 1}. ${label}` : label }),
        );
      }),
    );
    send.disabled = chosen.length !== options.length;
  };
  draw();
  return h("div", { class: "ballot-box" }, h("p", { class: "dim", text: "Press them in order." }), list, send);
}

/**
 * An edit is made on the lesson's own page; its receipt, which this browser keeps, is the vote.
 *
 * @param {Question} question
 * @param {Answer | undefined} given
 * @param {(answer: Answer) => void} vote
 */
function solving({ lesson = "", stop = "" }, given, vote) {
  const state = h("p", { class: "dim", role: "status", text: given === undefined ? "" : "You have solved it." });
  const look = () => {
    const receipt = receiptOf(lesson, stop);
    if (receipt && given === undefined) vote(receipt);
  };
  const box = h(
    "div",
    { class: "ballot-box" },
    h(
      "a",
      { class: "btn primary big", href: `/learn/${lesson}/${stop}/`, target: "_blank", rel: "noopener" },
      icon("edit"),
      "Open the task",
    ),
    h("p", { class: "dim", text: "Edit the cluster on the lesson's page. Once it is right there, it counts here." }),
    state,
  );
  const seen = (/** @type {StorageEvent} */ event) => {
    if (!box.isConnected) removeEventListener("storage", seen);
    else if (event.key === PROGRESS) look();
  };
  addEventListener("storage", seen);
  queueMicrotask(look);
  return box;
}

/**
 * @param {string} lesson
 * @param {string} stop
 * @returns {string}
 */
function receiptOf(lesson, stop) {
  try {
    const receipt = JSON.parse(localStorage.getItem(PROGRESS) ?? "null")?.lessons?.[lesson]?.stops?.[stop]?.receipt;
    return typeof receipt === "string" ? receipt : "";
  } catch {
    return "";
  }
}

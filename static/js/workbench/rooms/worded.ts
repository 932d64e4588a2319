// The answers to a question, in words.

import type { Answer, Question } from "../../lib/protocol.js";
import { count, short } from "../../lib/quantity.ts";

const SOLVED = ["edit", "claim"]; // forms of a lesson's answer that are solved, not said

export function worded(question: Question, answer: Answer | null | undefined): string {
  if (answer === null || answer === undefined) return "";
  const { kind, choices } = question;
  if (kind === "lesson") return lessonWorded(question, answer);
  if (kind === "fits") return answer === true ? "Yes" : "No";
  if (kind === "node") return String(answer) || "No node";
  if (kind === "choice") return choices?.[Number(answer)] ?? "";
  const pods = Array.isArray(answer) ? answer : [String(answer)];
  return pods.map(short).join(", ") || "Nobody";
}

function lessonWorded({ form = "", options = [], unit = "" }: Question, answer: Answer) {
  const label = (key: unknown) => {
    const found = options.find(([name]) => name === key);
    return found ? optionWorded(found) : String(key);
  };
  if (SOLVED.includes(form)) return "Solved";
  if (typeof answer === "boolean") return label(answer ? "yes" : "no");
  if (Array.isArray(answer)) return answer.map(label).join(", ") || "None of them";
  if (form === "number") return `${typeof answer === "number" ? count(answer) : answer} ${unit}`.trim();
  return label(answer) || "No node";
}

export const optionWorded = ([, label, group]: [key: string, label: string, group: string]) =>
  group ? `${group}: ${label}` : label;

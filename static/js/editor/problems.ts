// The server's errors and warnings as marks on what they are about.

import type { Problem } from "../lib/protocol.js";
import type { Doc } from "./line.ts";
import type { Diagnostic } from "@codemirror/lint";

const KEY = /[^.[\]]+(?=(?:\[[^\]]*\])*$)/; // the last name of a path: spec.containers[0].image → image

/** Diagnostics of `[{line, path, message}]`; a problem of no line has none. */
export function diagnostics(doc: Doc, errors: Problem[], warnings: Problem[]): Diagnostic[] {
  const of = (problems: Problem[], severity: "error" | "warning") =>
    problems.flatMap((problem) => {
      const number = problem.line ?? 0;
      if (number < 1 || number > doc.lines) return [];
      const line = doc.line(number);
      const [from, to] = part(line.text, problem.path ?? "");
      return [
        {
          from: line.from + from,
          to: line.from + to,
          severity,
          message: problem.message,
          renderMessage: () => message(problem),
        },
      ];
    });
  return [...of(errors, "error"), ...of(warnings, "warning")].sort((a, b) => a.from - b.from);
}

/** Where on its line a problem is: from its field's name, else from the first letter, to the end of the text. */
export function part(text: string, path: string) {
  const end = text.replace(/\s+#.*$/, "").trimEnd().length || text.length;
  const name = KEY.exec(path)?.[0].replace(/^'|'$/g, "");
  const at = name
    ? text.search(new RegExp(`(?<![\\w./-])["']?${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}["']?\\s*:`))
    : -1;
  const from = at >= 0 ? at : text.search(/[^\s-]/);
  return from < 0 || from >= end ? [0, text.length] : [from, end];
}

function message({ message: text, path }: Problem) {
  const box = document.createElement("div");
  box.append(text);
  if (path) {
    const code = document.createElement("code");
    code.textContent = path;
    box.append(document.createElement("br"), code);
  }
  return box;
}

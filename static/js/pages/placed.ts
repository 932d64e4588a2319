// Where problems of files are.

import type { Problem } from "../lib/protocol.js";

/** Problems of files have no line in the box: give their place in words. */
export function placed(problems: Problem[]) {
  return problems.map((problem) => {
    if (!problem.file) return problem;
    const where = [problem.file, problem.line && `line ${problem.line}`].filter(Boolean).join(", ");
    return { ...problem, line: null, message: `${where}: ${problem.message}` };
  });
}

import { plural } from "../lib/quantity.ts";
import type { Editor } from "../editor/editor.ts";
import type { Problem } from "../lib/protocol.js";

const LISTED = 200;

type ListProps = { problems: Problem[]; kind: "error" | "warning"; editor: Editor };

/** Problems from the top down; a click jumps to the line. Those of no line, as a count of the rest, stay last. */
export const ProblemList = ({ problems, kind, editor }: ListProps) => (
  <ul class={`problems ${kind}`} aria-label={kind === "error" ? "Errors" : "Warnings"}>
    {[...problems]
      .sort((a, b) => (a.line || Infinity) - (b.line || Infinity) || 0)
      .slice(0, LISTED)
      .map(({ line, document, message, path }, at) => (
        <li key={at}>
          <button type="button" onClick={() => line && editor.jump(line)}>
            <span class="where">{line ? `line ${line}` : document ? `document ${document}` : kind}</span>
            <span class="what">{message}</span>
            {path ? <span class="path">{path}</span> : null}
          </button>
        </li>
      ))}
  </ul>
);

/** What is wrong with an editor's text, with the number of errors, and what it is warned of. */
export const Problems = ({ errors, warnings, editor }: { errors: Problem[]; warnings: Problem[]; editor: Editor }) => (
  <>
    {errors.length ? <p class="stale-text">{plural(errors.length, "error")}</p> : null}
    {errors.length ? <ProblemList problems={errors} kind="error" editor={editor} /> : null}
    {warnings.length ? <ProblemList problems={warnings} kind="warning" editor={editor} /> : null}
  </>
);

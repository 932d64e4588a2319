// What a change cost a text beside what it changed: its form, where all of it had to be written again, and comments.

import { plural } from "../../lib/quantity.ts";

const MOST = 4_000_000; // characters that are looked through
const COMMENT = /(?:^|\s)(#.*)$/gm;

/** How often each comment is in a text; of what only looks like one, in a quoted text, it is in both texts. */
function comments(text: string) {
  const found = new Map();
  for (const [, comment] of text.matchAll(COMMENT)) found.set(comment, (found.get(comment) ?? 0) + 1);
  return found;
}

/** A sentence about what a change took with it, or "". */
export function costs(before: string, after: string, rewritten: boolean) {
  if (rewritten) return " The documents could not be matched, so the whole text was rewritten.";
  if (!before.includes("#") || before.length > MOST) return "";
  const left = comments(after);
  let lost = 0;
  for (const [comment, times] of comments(before)) lost += Math.max(0, times - (left.get(comment) ?? 0));
  if (!lost) return "";
  const them = lost === 1 ? "it" : "them";
  const were = lost === 1 ? "was" : "were";
  return ` ${plural(lost, "comment")} inside the changed part ${were} removed with it; Undo restores ${them}.`;
}

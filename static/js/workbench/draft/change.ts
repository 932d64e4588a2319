// What makes an edit of a draft.

import type { Draft, Edited, How } from "./draft.ts";

/** Make an edit, save it and simulate it; see `Build`. */
export type Change = (
  make: Parameters<Draft["change"]>[0],
  options?: { words?: string | null; saved?: (answer: Edited) => void; based?: string } & How,
) => Promise<Edited>;

// What the Policy tab is made with.

import type { Change } from "../draft/change.ts";
import type { Undo } from "../edit/undo.ts";

export type PolicyOptions = {
  mine: boolean;
  canFork: boolean;
  onFork: () => void;
  text: () => Promise<string>;
  change: Change;
  dirty: () => boolean;
  undo: Undo;
  onText: () => void;
};

// What of a run is shown, and what is loaded around it: as tables are derived from it.

import type { Light, Moment, Window } from "../../lib/protocol.js";
import type { CycleParts } from "./parts.ts";

export interface Position {
  /** The cycle that is shown; after the last one comes the end. */
  readonly index: number;
  readonly cycles: number;
  /** Whether a moment or a phase is shown, and not all of a step. */
  readonly partly: boolean;
  readonly at: number;
  readonly phase: string;
  readonly moments: Moment[] | null;
  readonly records: { window(index: number): Window | undefined };
  light(index: number): Light | null;
  heavy(index: number): CycleParts | null;
}

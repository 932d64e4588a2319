// The heavy parts of a cycle, as panels read them.

import type { Parts } from "../../lib/protocol.js";
import type { Verdict } from "./verdict.ts";

/** the heavy parts, with the predicates' answers unpacked */
export type CycleParts = Parts & { verdict?: Verdict | null };

/** The ranking of a cycle, null where no node was ranked. */
export const rankedIn = (parts: CycleParts | null | undefined) =>
  parts?.priorities && "totals" in parts.priorities ? parts.priorities : null;

// What the controls of the Policy tab work with.

import type { Argument, Catalogue, Framework } from "../../lib/protocol.js";

export type Refusal = { message: string; errors: { path: string; message: string }[] };
type Changing<T> = (what: string, key: string, value: string, words: string) => Promise<T>;

/**
 * What the controls can do: `change` makes a change and reports it, `make` does so and returns what is wrong with it,
 * as `ask` does, which others do not wait for, and `attempt` with the fields. `framework` is that of a
 * KubeSchedulerConfiguration, `open` holds what is unfolded.
 */
export type PolicyForm = {
  catalogue: Catalogue;
  framework: Framework | null;
  editable: boolean;
  settable: boolean;
  open: Set<string>;
  change: Changing<void>;
  make: Changing<string>;
  ask: Changing<string>;
  attempt: Changing<Refusal | null>;
  say: (text: string, wrong?: boolean) => void;
};

/** What gets an argument. */
export type Given = { list: string; name?: string; argument?: Argument; weight?: number };

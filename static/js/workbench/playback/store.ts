// The one store of a page: what is open, what of it is asked for and shown, and how it is looked at. The socket (by the
// playback) and the address (by the view) write to it. Components read `signal.value`, which draws them again when it
// is written; other modules follow a signal.

import { effect, signal, untracked, type ReadonlySignal } from "../../kit/signals.ts";
import type { Opened, RecordedAnswer } from "../../lib/protocol.js";
import type { Place } from "./place.ts";
import { USUAL, type Look } from "./look.ts";

/** What shows a step: `since` is the time of the input that asked; `heavy`, whether its parts are there. */
export type Reached = { index: number; since: number; heavy: boolean };

/** A selection, a tab or a view of it; `push`: Back returns to the one before; `focus`: by the keyboard. */
export type Selection = { node: number; pod: number; push: boolean };
export type OpenTab = { key: string; push: boolean; focus: boolean };

/** How the stage is shown, as the address holds it. */
export type StageView = {
  /** "table", or "" for the picture. */
  stage: string;
  /** What the heat map shades by. */
  shade: string;
  search: string;
  /** "1" in presentation mode. */
  present: string;
};

/** How the run is played: `unit` is what "next" goes to; `byPhase`, that Step goes from phase to phase. */
export type Transport = { playing: boolean; speed: number; unit: string; byPhase: boolean };

export type Pending = { step: string; place?: Partial<Place> };
/** `step`: as the server is asked about it. */
export type Asked = { pod: string; node: string | null; step: string; push: boolean };

const NOWHERE: Reached = { index: -1, since: 0, heavy: false };

export class Store {
  /** What the newest opening answered; undefined until the first. */
  readonly scenario = signal(undefined as unknown as Opened);
  /** The step that is asked for, which may not be there yet. */
  readonly wanted = signal({ index: 0 });
  /** Another step is shown. */
  readonly step = signal(NOWHERE);
  /** Another moment or phase of the step is shown. */
  readonly moment = signal(NOWHERE);
  /** The parts of the step that is shown have arrived, or mean something else. */
  readonly parts = signal(NOWHERE);
  /** All that changes what is shown of the run. */
  readonly shown = [this.step, this.moment, this.parts] as const;
  /** How much is known of the run: written with more cycles and marks. */
  readonly known = signal({ cycles: 0, complete: false });
  /** How many pods are known: controllers make more. */
  readonly pods = signal({ count: 0 });
  /** The last cycle that may be seen while a room predicts; null for all. */
  readonly veil = signal<{ last: number | null }>({ last: null });

  readonly selection = signal<Selection>({ node: -1, pod: -1, push: false });
  /** The node under the pointer, -1 for none. */
  readonly hovered = signal(-1);
  readonly tab = signal<OpenTab>({ key: "story", push: false, focus: false });
  /** Of each tab which of its views is open, as a path; the first where it has none here. */
  readonly subs = signal<{ of: ReadonlyMap<string, string>; push: boolean }>({ of: new Map(), push: false });
  readonly stage = signal<StageView>({ stage: "", shade: "use", search: "", present: "" });
  readonly look = signal<Look>({ ...USUAL });
  /** How the lists are sorted, filtered and turned; lists.ts has them. */
  readonly lists = signal({});
  /** The nodes that a clause or a workload lights up. */
  readonly lit = signal<{ nodes: Set<number>; label: string } | null>(null);
  /** The colour whose pods are lit up, as a number of the legend; -1 for none. */
  readonly only = signal(-1);
  /** Milliseconds until the next cycle while it plays, else 0. */
  readonly pace = signal(0);
  /** How far the outcomes of cycles may be seen, and whether those ahead are shown. */
  readonly seen = signal({ upto: 0, ahead: false });
  /** What the dumped cluster reported about its pending pods, to compare with the answers here. */
  readonly recorded = signal<RecordedAnswer[]>([]);
  readonly breakpoints = signal<readonly { text: string; on: boolean }[]>([]);
  readonly transport = signal<Transport>({ playing: false, speed: 2, unit: "", byPhase: false });
  /** Written when something is found, or another match is gone to, which `reveal` brings into view; see search.ts. */
  readonly found = signal({ reveal: false });
  /** The step that is waited for because it is not computed yet. */
  readonly pending = signal<Pending | null>(null);
  /** What Why? is about: a pod, on one node or on all. */
  readonly why = signal<Asked | null>(null);
  /** Whether the visitor edits an own draft or a copy; null where nothing can be changed. */
  readonly editing = signal<"draft" | "copy" | null>(null);
  /** Written when a change of the draft was made or undone by this page. */
  readonly edits = signal({});
  /** Written with each change of the room that the page is in. */
  readonly room = signal({});
}

/** Depend on signals of which only the change matters. */
export function reads(...signals: ReadonlySignal<unknown>[]) {
  for (const one of signals) void one.value;
}

/**
 * Call `listener` with what is written to a signal, or to any of several, from now on, until the returned function is
 * called or `until` aborts.
 */
export function follow<S extends ReadonlySignal<any> | readonly ReadonlySignal<any>[]>(
  signals: S,
  listener: (value: (S extends readonly ReadonlySignal<any>[] ? S[number] : S)["value"]) => void,
  { signal: until }: { signal?: AbortSignal } = {},
): () => void {
  const ends = [signals].flat().map((one) => {
    let first = true;
    return effect(() => {
      const { value } = one;
      if (!first) untracked(() => listener(value));
      first = false;
    });
  });
  const end = () => ends.forEach((stop) => stop());
  until?.addEventListener("abort", end, { once: true });
  return end;
}

// What the rows of the list of events show and do.

import type { Signal } from "../../kit/signals.ts";
import type { Operation } from "../../lib/protocol.js";
import type { Playback } from "../playback/playback.ts";
import type { Outcomes } from "./outcomes.ts";
import type { Scale } from "./scale.ts";

export type EventList = {
  playback: Playback;
  scale: Scale;
  outcomes: Outcomes;
  /** Whether they can be changed. */
  own: boolean;
  /** The step on screen. */
  at: Signal<number>;
  /** Its place on the axis. */
  now: Signal<number>;
  /** The id of the event that Tab comes to. */
  stop: Signal<string>;
  /** The ids of those that are chosen. */
  chosen: Signal<ReadonlySet<string>>;
  /** Where a mark is drawn that is being moved; `open` until that is asked of the server. */
  moving: Signal<{ id: string; value: number; open: boolean } | null>;
  edit: (row: Operation) => void;
  here: (rows: Operation[]) => void;
  again: (rows: Operation[]) => void;
  remove: (rows: Operation[]) => void;
  moveTo: (row: Operation, value: number) => void;
};
export type EventProps = { row: Operation; list: EventList };

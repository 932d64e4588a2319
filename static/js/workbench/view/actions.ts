// What parts of a page ask of others without leaving any state: who asks calls it, who does it follows it.

import type { Place } from "../../kit/menu.tsx";
import { topic } from "../../lib/topic.ts";
import type { About } from "./about.ts";

/** What to edit: a node or a pod by its index, or any object; or what to create. */
export type EditWish = { node?: number; pod?: number; target?: string; create?: string };

/** What the button of an edit is called. */
export const EDIT = { draft: "Edit at this step", copy: "Edit in a copy" } as const;

/** What a menu is wanted for: a node or a pod by index, what is lit up, or a group of the stage; `place` is where. */
export type ActWish = {
  node?: number;
  pod?: number;
  workload?: number;
  about?: About | null;
  target?: string;
  group?: [label: string, members: number[]];
  place?: Place | null;
};

/** An operation of the history to edit. */
export type OperationWish = { id: string; words: string };

/** What to ask Why? about, by name or index; `push`: Back returns to before. */
export type WhyWish = { pod?: number | string; node?: number | string | null; push?: boolean };

/** What to ask about in a lesson, and the element that it is asked at. */
export type QuestionWish = { node?: number; pod?: number; target: Element };

export class Actions {
  /** Bring a region into view: "build", "stage" or "inspect". */
  readonly region = topic<[name: string]>();
  /** Give Build half the page, or its own width. */
  readonly maximize = topic<[on: boolean]>();
  /** Show a line of the text. */
  readonly reveal = topic<[line: number]>();
  /** Show a part of the Policy tab. */
  readonly policy = topic<[part: string]>();
  /** Stop playing: something is done at the step on screen. */
  readonly hold = topic();
  /** Forget what was searched for. */
  readonly forget = topic();
  /** Draw lists again: the address sorts or filters them otherwise. */
  readonly relist = topic();
  /** Ask why a pod is where it is or is not; null closes that. */
  readonly why = topic<[wish: WhyWish | null]>();
  readonly edit = topic<[wish: EditWish]>();
  readonly operation = topic<[wish: OperationWish]>();
  /** Open the form for what is added, by its kind. */
  readonly add = topic<[kind: string]>();
  /** Open the form of a PodGroup. */
  readonly group = topic();
  /** Open the menu of what operators do. */
  readonly act = topic<[wish: ActWish]>();
  /** Ask about an operator's verb. */
  readonly operate = topic<[verb: string, about: About]>();
  /** Set a breakpoint, or clear it, by its condition. */
  readonly breakpoint = topic<[condition: string]>();
  /** Ask about something in a lesson. */
  readonly question = topic<[wish: QuestionWish]>();
  /** Branch off at the step on screen. */
  readonly branch = topic();
  /** A branch was made or deleted. */
  readonly branched = topic();
  /** A step that was waited for is given up. */
  readonly stayed = topic();
  /** A key of the address means nothing here. */
  readonly wrong = topic<[text: string]>();
  /** The address of what is on screen is another one. */
  readonly address = topic<[href: string]>();
}

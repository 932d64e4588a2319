// The lines of a document and its mappings, as far as they are known.

import type { Text } from "@codemirror/state";

/** a text of the editor */
export type Doc = Text;
/** the value of a key in a mapping, and the line, 0 within braces */
export type Entry = { value: string; line: number };
/** A mapping, as far as it is known. */
export type Frame = { map: Map<string, Entry>; line: number; column: number; whole?: boolean };
/** on the way to a place: a key in a mapping, or "[]" */
export type Step = { step: string; frame?: Frame };
/** A line with a key: its dashes, where it begins, and the key with its value. */
export type Keyed = {
  separator?: undefined;
  dashes: number[];
  column: number;
  key: string;
  keyEnd: number;
  valueAt: number;
  value: string;
};
/** A line without one: `separator` alone, or its dashes and where it begins. */
export type Keyless = {
  separator?: boolean;
  dashes: number[];
  column: number;
  key?: undefined;
  keyEnd?: undefined;
  valueAt?: undefined;
  value?: undefined;
};
export type Line = Keyed | Keyless;
/** where braces or brackets began, and that line */
export type Began = { line: number; column: number; shape: Line };

// A field of the server's table: what it is, what is suggested for it, and what is wrong with its value.

import type { TargetedEvent } from "preact";
import { Field, TextField, type FieldProps } from "../../kit/field.tsx";
import { Select } from "../../kit/select.tsx";
import type { Field as Row } from "../../lib/protocol.js";

/** What is suggested for fields, and the priority classes to choose from, by the `suggest` of a row. */
export type Known = Record<string, readonly (string | [name: string, value: number])[]>;
export type Texts = Record<string, string>;

const LISTS = new Set(["labels", "resources", "taints", "tolerations", "ports", "selector", "names"]);
const CLASSES = "priorityClasses";
const LONG = 16; // characters of a choice that one column has no room for

/** A row like those of the server's table. */
export const rowOf = (name: string, label: string, placeholder: string, more: Partial<Row> = {}): Row => {
  return { name, label, placeholder, type: "text", default: "", hint: "", section: "", suggest: "", ...more };
};

/** `path` is the name by which problems refer to it. */
export type Place = { path: string; disabled?: boolean | undefined } & Omit<FieldProps, "label" | "hint" | "unit">;
type RowFieldProps = Place & { row: Row; known: Known; value: string; onInput: (value: string) => void };

export function RowField({ row, path, value, onInput, known, disabled, ...more }: RowFieldProps) {
  const { label, type, hint, placeholder, suggest, choices = suggest === CLASSES ? classesOf(known) : null } = row;
  const wide = more.wide || LISTS.has(type) || row.choices?.some(([, text]) => text.length > LONG);
  const field = { ...more, label, hint, wide: Boolean(wide) };
  const its = { "data-field": path, disabled };
  if (type === "flag") {
    const props = { ...its, type: "checkbox" as const, checked: value === "true" };
    const change = (event: TargetedEvent<HTMLInputElement>) => onInput(String(event.currentTarget.checked));
    return <Field {...field} flag control={(more) => <input {...props} {...more} onChange={change} />} />;
  }
  if (choices) {
    const props = { options: choices, value, onChange: onInput };
    return <Field {...field} control={(more) => <Select {...its} {...props} {...more} />} />;
  }
  const inputMode = type === "integer" ? "numeric" : undefined;
  const suggested = continuing((known[suggest] ?? []) as string[], LISTS.has(type) ? value : "");
  return (
    <TextField {...field} {...{ inputMode, placeholder, value, onInput, disabled }} name={path} known={suggested} />
  );
}

function classesOf(known: Known): [value: string, text: string][] {
  const classes = (known[CLASSES] ?? []) as [string, number][];
  return [["", "none"], ...classes.map(([name, value]): [string, string] => [name, `${name} (${value})`])];
}

/** What could stand after the last comma of a list. */
function continuing(known: readonly string[], list: string) {
  const begun = list.slice(0, list.lastIndexOf(",") + 1);
  const there = new Set(begun.split(",").map((part) => part.trim()));
  return known.filter((one) => !there.has(one)).map((one) => (begun ? `${begun} ${one}` : one));
}

/** The texts of fields without the priority classes that are no longer there. */
export function offered(rows: readonly Row[], texts: Texts, known: Known): Texts {
  const classes = new Set(classesOf(known).map(([name]) => name));
  const gone = rows.filter(({ name, suggest }) => suggest === CLASSES && !classes.has(texts[name] ?? ""));
  return gone.length ? { ...texts, ...Object.fromEntries(gone.map(({ name }) => [name, ""])) } : texts;
}

// A field of the server's table: what it is, what is suggested for it, and what is wrong with its value.

import { Field, TextField } from "../../kit/field.tsx";
import { Select } from "../../kit/select.tsx";
import type { Field as Row } from "../../lib/protocol.js";

/** What is suggested for fields, and the priority classes to choose from, by the `suggest` of a row. */
export type Known = Record<string, readonly (string | [name: string, value: number])[]>;
export type Texts = Record<string, string>;

const LISTS = new Set(["labels", "resources", "taints", "tolerations", "ports", "selector", "names"]);
const CLASSES = "priorityClasses";
const LONG = 16; // characters of a choice that one column has no room for

export type RowFieldProps = {
  row: Row;
  /** The name by which problems refer to it. */
  path: string;
  value: string;
  onInput: (value: string) => void;
  known?: Known;
  error?: string | undefined;
  doubt?: string | undefined;
  id?: string | undefined;
  disabled?: boolean | undefined;
  wide?: boolean | undefined;
};

export function RowField({ row, path, value, onInput, known = {}, ...more }: RowFieldProps) {
  const { label, type, hint, placeholder, suggest, choices = suggest === CLASSES ? classesOf(known) : null } = row;
  const wide = more.wide || LISTS.has(type) || row.choices?.some(([, text]) => text.length > LONG) || false;
  const field = { ...more, label, hint, wide };
  if (type === "flag")
    return (
      <Field
        {...field}
        flag
        control={(its) => (
          <input
            {...its}
            type="checkbox"
            data-field={path}
            disabled={more.disabled}
            checked={value === "true"}
            onChange={(event) => onInput(String(event.currentTarget.checked))}
          />
        )}
      />
    );
  if (choices)
    return (
      <Field
        {...field}
        control={(its) => <Select {...its} data-field={path} options={choices} value={value} onChange={onInput} />}
      />
    );
  const inputMode = type === "integer" ? "numeric" : undefined;
  const suggested = continuing((known[suggest] ?? []) as string[], LISTS.has(type) ? value : "");
  return <TextField {...field} {...{ inputMode, placeholder, value, onInput }} name={path} known={suggested} />;
}

const classesOf = (known: Known): [value: string, text: string][] => [
  ["", "none"],
  ...((known[CLASSES] ?? []) as [string, number][]).map(([name, value]): [string, string] => [
    name,
    `${name} (${value})`,
  ]),
];

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

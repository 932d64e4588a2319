// The form of a plugin's arguments: a field for each that is declared, with its default, and errors at their fields.

import { useLayoutEffect, useState } from "preact/hooks";
import { signal, type Signal } from "../../../kit/signals.ts";
import type { DeclaredArgument } from "../../../lib/protocol.js";
import { plural } from "../../../lib/quantity.ts";
import { ask } from "../asking.tsx";
import type { Refusal } from "../form.ts";
import { controlOf } from "./fields.tsx";
import type { Reading } from "./rows.tsx";
import { applies, inForce, isWritten, lastName, prune, put, shown, valueAt, type Arguments } from "./values.ts";

/** A plugin with its arguments. */
type Declared = { name: string; arguments: DeclaredArgument[] };

/** How the argument at a path is read; what it read before anything was changed. */
type Reads = Map<string, { get: () => any; before: string }>;

/** `change(value)` puts the arguments in force, as JSON or "" for the defaults, and returns what is wrong. */
export function argumentsForm(row: Declared, given: Arguments, change: (value: string) => Promise<Refusal | null>) {
  const all = row.arguments;
  const reads: Reads = new Map();
  const problems = signal<Record<string, string>>({});
  ask({
    title: `Arguments of ${row.name}`,
    label: "Change",
    content: <Fields {...{ all, given, reads, problems }} />,
    run: async (form) => {
      const now = collect(all, reads, given);
      const known = Object.keys(now).some((key) => key !== "apiVersion" && key !== "kind");
      return refused(all, form, problems, await change(known ? JSON.stringify(now) : ""));
    },
    more: Object.keys(given).length ? ["Reset to defaults", () => change("")] : undefined,
  });
}

type FieldsProps = {
  all: DeclaredArgument[];
  given: Arguments;
  reads: Reads;
  problems: Signal<Record<string, string>>;
};

function Fields({ all, given, reads, problems }: FieldsProps) {
  const [now, settle] = useState(given);
  useLayoutEffect(() => {
    for (const one of reads.values()) one.before = JSON.stringify(one.get());
  }, [reads]);
  return (
    <div class="arguments" onChange={() => settle(collect(all, reads, given))}>
      {all.map((one) => (
        <ArgumentField
          key={one.path}
          argument={one}
          given={given}
          hidden={!applies(all, one, now)}
          wrong={problems.value[one.path]}
          read={(get) => reads.set(one.path, { get, before: reads.get(one.path)?.before ?? "" })}
        />
      ))}
    </div>
  );
}

const idOf = ({ path }: { path: string }) => `argument-${path.replaceAll(".", "-")}`;

type ArgumentFieldProps = {
  argument: DeclaredArgument;
  given: Arguments;
  hidden?: boolean;
  /** What is wrong with it. */
  wrong?: string | undefined;
  read: Reading;
};

/** The control of an argument with its name, and what it is for. */
export function ArgumentField({ argument, given, hidden, wrong, read }: ArgumentFieldProps) {
  const [Control, single] = controlOf(argument.type);
  const Box = single ? "div" : "fieldset";
  const id = idOf(argument);
  const name = argument.label ?? lastName(argument);
  const usual = shown(argument, argument.default);
  return (
    <Box class="argument" data-path={argument.path} hidden={hidden}>
      {single ? <label for={id}>{name}</label> : <legend>{name}</legend>}
      <small class="dim">{[argument.text, usual ? `default: ${usual}` : ""].filter(Boolean).join("; ")}</small>
      <Control argument={argument} value={inForce(argument, given)} id={id} read={read} />
      <p class="stale-text field-error" role="alert" id={`${id}-wrong`}>
        {wrong}
      </p>
    </Box>
  );
}

/**
 * The arguments as the form has them: nothing where a default is left as it is, and a choice where anything beside it
 * is written, as v1.37 has no default for it there.
 */
function collect(all: DeclaredArgument[], reads: Reads, given: Arguments): Arguments {
  const made = structuredClone(given);
  for (const argument of all) {
    const { get, before } = reads.get(argument.path) ?? { get: () => undefined, before: "" };
    const value = get();
    const text = JSON.stringify(value);
    const left = !isWritten(argument, given) && text === before && argument.default !== null;
    put(made, argument.path, left || text === JSON.stringify(argument.default) ? undefined : value);
  }
  for (const argument of all) if (!applies(all, argument, made)) put(made, argument.path, undefined);
  const kept = prune(made);
  for (const argument of all) {
    const within = argument.path.split(".").slice(0, -1).join(".");
    if (argument.type === "choice" && within && valueAt(kept, within) && !isWritten(argument, kept))
      put(kept, argument.path, argument.default);
  }
  return kept;
}

/** Show what is wrong at its fields; the text beside the buttons, "" if nothing is wrong. */
function refused(
  all: DeclaredArgument[],
  form: HTMLFormElement,
  problems: FieldsProps["problems"],
  refusal: Refusal | null,
) {
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  problems.value = {};
  if (!refusal) return "";
  const { errors } = refusal;
  if (!errors.length) return refusal.message;
  const found: Record<string, string> = {};
  const elsewhere = errors.filter(({ path, message }) => {
    const argument = argumentAt(all, path);
    if (!argument) return true;
    const within = path.startsWith(argument.path) ? path.slice(argument.path.length) : "";
    found[argument.path] = `${found[argument.path] ?? ""}${inWords(within)}${message}. `;
    mark(form, argument, within);
    return false;
  });
  problems.value = found;
  form.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  return elsewhere[0]?.message ?? `Nothing was changed: ${plural(errors.length, "error")}.`;
}

const argumentAt = (all: DeclaredArgument[], path: string) =>
  all.find((one) => path === one.path || (path.startsWith(one.path) && /^[.[]/.test(path.slice(one.path.length))))
  ?? all.find((one) => one.path.startsWith(`${path}.`));

/** A path within a field, to be put before what is wrong there: `row 2, weight `. */
const inWords = (within: string) => {
  const words = within
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((part) => (/^\d+$/.test(part) ? `row ${Number(part) + 1},` : part));
  return words.length ? `${words.join(" ").replace(/,$/, ":")} ` : "";
};

/** Mark the input that an error is about. */
function mark(form: HTMLFormElement, argument: DeclaredArgument, within: string) {
  const field = form.querySelector(`[data-path="${CSS.escape(argument.path)}"]`);
  const [, place, key] = /^\[(\d+)\]\.(\w+)$/.exec(within) ?? [];
  const row = place === undefined ? field : field?.querySelectorAll("[data-row]")[Number(place)];
  const input = row?.querySelector(key ? `[data-key="${CSS.escape(key)}"]` : "input, select");
  input?.setAttribute("aria-invalid", "true");
  input?.setAttribute("aria-describedby", `${idOf(argument)}-wrong`);
}

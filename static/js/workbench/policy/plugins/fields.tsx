// The controls of declared arguments, by their types.

import type { ComponentChild, FunctionComponent } from "preact";
import { useRef, useState } from "preact/hooks";
import { Points } from "../points.tsx";
import { Affinity, requirementRows } from "./affinity.tsx";
import { typedDecimal, typedNumber } from "./numbers.ts";
import { Rows, choiceOf, textOf, type ControlProps } from "./rows.tsx";

type Control = FunctionComponent<ControlProps>;

const listed = (text: string) => text.split(/[\s,]+/).filter(Boolean);
const joined = (value: any) => (value ?? []).join(", ");

/** A text field: how a value is written in it, and read. */
const typed =
  (write: (value: any) => string, parse: (text: string) => any, more: object = {}): Control =>
  ({ value, id, read }) => {
    const field = useRef<HTMLInputElement>(null);
    read(() => parse(field.current?.value.trim() ?? ""));
    const shown = { class: "field mono", spellcheck: false, defaultValue: write(value), ...more };
    return <input ref={field} id={id} autocomplete="off" {...shown} />;
  };

const text = (value: any) => String(value ?? "");

/** A JSON text, for a type that no other control is for. */
const Json: Control = ({ value, id, read }) => {
  const area = useRef<HTMLTextAreaElement>(null);
  read(() => {
    const written = area.current?.value ?? "";
    try {
      return JSON.parse(written);
    } catch {
      return written;
    }
  });
  return (
    <textarea
      ref={area}
      class="field mono"
      id={id}
      rows={6}
      spellcheck={false}
      defaultValue={JSON.stringify(value ?? null, null, 2)}
    />
  );
};

const written = (rows: any[]) => JSON.stringify(rows.map((one) => [one.key, one.operator, one.values ?? []]));

const Choice: Control = ({ argument, value, id, read }) => {
  const field = useRef<HTMLSelectElement>(null);
  read(() => field.current?.value);
  return (
    <select ref={field} class="field" id={id}>
      {argument.choices.map((word) => (
        <option value={word} selected={word === value}>
          {word === argument.default ? `${word} (default)` : word}
        </option>
      ))}
    </select>
  );
};

const Flag: Control = ({ value, id, read }) => {
  const field = useRef<HTMLInputElement>(null);
  read(() => field.current?.checked);
  return <input ref={field} type="checkbox" role="switch" class="switch" id={id} defaultChecked={Boolean(value)} />;
};

const Selector: Control = ({ value, read }) => {
  const [given] = useState(() => [
    ...Object.entries(value?.matchLabels ?? {}).map(([key, one]) => ({ key, operator: "In", values: [one] })),
    ...(value?.matchExpressions ?? []),
  ]);
  return requirementRows(given, (get) =>
    read(() => {
      const now = get();
      if (written(now) === written(given)) return value ?? undefined;
      return now.length ? { matchExpressions: now } : undefined;
    }),
  );
};

/** Those that a label names; the others are several fields, in a fieldset. */
const SINGLE: Record<string, Control> = {
  choice: Choice,
  flag: Flag,
  integer: typed(text, typedNumber, { class: "field num", inputMode: "numeric", spellcheck: undefined }),
  names: typed(joined, listed, { placeholder: "none" }),
  numbers: typed(joined, (given) => listed(given).map(typedNumber), { placeholder: "none" }),
  text: typed(text, (given) => given),
};

const SHAPE = [
  { utilization: 0, score: 0 },
  { utilization: 100, score: 10 },
];

const SEVERAL: Record<string, Control> = {
  shape: ({ value, id, read }) => <Points value={value ?? SHAPE} id={id} read={read} />,
  affinity: Affinity,
  resources: ({ argument: { most }, value, read }) => (
    <Rows
      value={value ?? []}
      add="Add a resource"
      remove="Remove this resource"
      fresh={{ name: "", weight: 1 }}
      fields={({ name, weight = 1 }) => [
        textOf({ key: "name", value: name, label: "resource", hint: "cpu, example.com/gpu" }),
        most === 1 ? null : textOf({ key: "weight", value: weight, label: "weight", number: true }),
      ]}
      made={({ name, weight = "1" }) => ({ name, weight: typedNumber(weight) })}
      read={read}
    />
  ),
  constraints: ({ value, read }) => (
    <Rows
      value={value ?? []}
      add="Add a constraint"
      remove="Remove this constraint"
      fresh={{ maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" }}
      fields={({ maxSkew, topologyKey, whenUnsatisfiable }) => [
        textOf({ key: "maxSkew", value: maxSkew, label: "maxSkew", number: true }),
        textOf({ key: "topologyKey", value: topologyKey, label: "topologyKey" }),
        choiceOf("whenUnsatisfiable", ["DoNotSchedule", "ScheduleAnyway"], whenUnsatisfiable),
      ]}
      made={({ maxSkew, ...rest }) => ({ maxSkew: typedNumber(maxSkew), ...rest })}
      read={read}
    />
  ),
  percentages: ({ value, read }) => (
    <Rows
      value={Object.entries(value ?? {}).map(([name, percent]) => ({ name, percent }))}
      add="Add a resource"
      remove="Remove this resource"
      fresh={{ name: "", percent: 50 }}
      fields={({ name, percent }): ComponentChild[] => [
        textOf({ key: "name", value: name, label: "resource", hint: "cpu, memory, pods" }),
        textOf({ key: "percent", value: percent, label: "percent", number: true }),
        <span class="dim">%</span>,
      ]}
      made={({ name, percent }) => ({ name, percent: typedDecimal(percent) })}
      read={(get) => read(() => Object.fromEntries(get().map((one: any) => [one.name, one.percent])))}
    />
  ),
  selector: Selector,
  rows: ({ argument: { fields = [] }, value, read }) => (
    <Rows
      value={value ?? []}
      add="Add one"
      remove="Remove this one"
      fresh={{}}
      fields={(item) =>
        fields.map(([key, type]) =>
          textOf({ key, value: item[key], label: key, hint: key, number: type === "integer" }),
        )
      }
      made={(texts) =>
        Object.fromEntries(
          fields.map(([key, type]) => [key, type === "integer" ? typedNumber(texts[key]) : texts[key] || undefined]),
        )
      }
      read={read}
    />
  ),
};

/** The control of a type, and whether a label names it. */
export const controlOf = (type: string): [control: Control, single: boolean] => {
  const several = SEVERAL[type];
  return several ? [several, false] : [SINGLE[type] ?? Json, true];
};

// The values of a plugin's declared arguments: where they are written, what is in force, and how they are shown.

import type { DeclaredArgument } from "../../../lib/protocol.js";

/** as they are written */
export type Arguments = Record<string, any>;

export const lastName = ({ path }: DeclaredArgument) => path.split(".").at(-1);

export const valueAt = (given: Arguments, path: string) => path.split(".").reduce((part, key) => part?.[key], given);

export const isWritten = ({ path }: DeclaredArgument, given: Arguments) => {
  const value = valueAt(given, path);
  return value !== undefined && value !== null;
};

/** What counts: what is written, or the default. */
export const inForce = (argument: DeclaredArgument, given: Arguments) =>
  isWritten(argument, given) ? valueAt(given, argument.path) : argument.default;

/** Whether the others' values let it count. */
export const applies = (all: DeclaredArgument[], { only }: DeclaredArgument, given: Arguments) =>
  Object.entries(only).every(([path, value]) => {
    const other = all.find((one) => one.path === path);
    return other && inForce(other, given) === value;
  });

/** What is written of a requirement, a term of node affinity and node affinity itself. */
export type Requirement = { key?: string; operator?: string; values?: string[] };
export type Term = { matchExpressions?: Requirement[]; matchFields?: Requirement[] };
export type Affinity = {
  requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: Term[] };
  preferredDuringSchedulingIgnoredDuringExecution?: { weight?: number; preference?: Term }[];
};

/** The terms of node affinity, each with what stands before it. */
const termsOf = (affinity: Affinity | undefined): [head: string, term: Term | undefined][] => [
  ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).map(
    (term) => ["", term] as [string, Term],
  ),
  ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
    ({ weight, preference }) => [`preferred ${weight}: `, preference] as [string, Term | undefined],
  ),
];
const asText = (term: Term | undefined) =>
  [...(term?.matchExpressions ?? []), ...(term?.matchFields ?? [])]
    .map(({ key, operator, values = [] }) => `${key} ${operator}${values.length ? ` ${values.join(", ")}` : ""}`)
    .join(" and ");

/** Items of values: a point of a shape, a resource with its weight, a topology spread constraint. */
export type Point = { utilization?: number; score?: number };
export type Weighed = { name?: string; weight?: number };
export type Constraint = { maxSkew?: number; topologyKey?: string; whenUnsatisfiable?: string };

const SHOWN: Record<string, (value: any) => string> = {
  names: (value) => value.join(", "),
  numbers: (value) => value.join(", "),
  percentages: (value) =>
    Object.entries(value)
      .map(([name, percent]) => `${name} ${percent}%`)
      .join(", "),
  selector: (value) =>
    [
      ...Object.entries(value.matchLabels ?? {}).map((pair) => pair.join("=")),
      ...(value.matchExpressions ?? []).map(
        ({ key, operator, values = [] }: Requirement) => `${key} ${operator} ${values.join(", ")}`,
      ),
    ].join(" and "),
  rows: (value) => value.map((one: any) => Object.values(one).filter(Boolean).join(" ")).join("; "),
  shape: (value) => value.map(({ utilization = 0, score = 0 }: Point) => `${utilization}→${score}`).join(" "),
  resources: (value) => value.map(({ name, weight = 1 }: Weighed) => `${name} ${weight}`).join(", "),
  constraints: (value) =>
    value
      .map(
        ({ maxSkew, topologyKey, whenUnsatisfiable }: Constraint) => `${topologyKey} ≤ ${maxSkew} ${whenUnsatisfiable}`,
      )
      .join("; "),
  affinity: (value) =>
    termsOf(value)
      .map(([head, term]) => head + asText(term))
      .join(" or "),
};

/** A value in short; "" where nothing is to be shown. */
export const shown = ({ type }: DeclaredArgument, value: any) =>
  value === null || value === undefined ? "" : (SHOWN[type]?.(value) ?? String(value));

/** Write a part of a value, undefined to take it out. */
export function put(value: Arguments, path: string, part: any) {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let within = value;
  for (const key of keys) {
    within[key] = { ...within[key] };
    within = within[key];
  }
  if (part === undefined) delete within[last];
  else within[last] = part;
}
/** A value without what is empty. */
export const prune = (value: Arguments): Arguments =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => {
      const kept = part && typeof part === "object" && !Array.isArray(part) ? prune(part) : part;
      return kept && typeof kept === "object" && !Array.isArray(kept) && !Object.keys(kept).length ? [] : [[key, kept]];
    }),
  );

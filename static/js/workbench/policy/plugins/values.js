// The values of a plugin's declared arguments: where they are written, what is in force, and how they are shown.

/** @import { DeclaredArgument } from "../../../lib/protocol.js" */

/** @typedef {Record<string, any>} Arguments as they are written */

/** @param {DeclaredArgument} argument */
export const lastName = ({ path }) => path.split(".").at(-1);

/**
 * @param {Arguments} given
 * @param {string} path
 */
export const valueAt = (given, path) => path.split(".").reduce((part, key) => part?.[key], given);

/**
 * @param {DeclaredArgument} argument
 * @param {Arguments} given
 */
export const isWritten = ({ path }, given) => {
  const value = valueAt(given, path);
  return value !== undefined && value !== null;
};

/**
 * What counts: what is written, or the default.
 *
 * @param {DeclaredArgument} argument
 * @param {Arguments} given
 */
export const inForce = (argument, given) =>
  isWritten(argument, given) ? valueAt(given, argument.path) : argument.default;

/**
 * Whether the others' values let it count.
 *
 * @param {DeclaredArgument[]} all
 * @param {DeclaredArgument} argument
 * @param {Arguments} given
 */
export const applies = (all, { only }, given) =>
  Object.entries(only).every(([path, value]) => {
    const other = all.find((one) => one.path === path);
    return other && inForce(other, given) === value;
  });

/**
 * What is written of a requirement, a term of node affinity and node affinity itself.
 *
 * @typedef {{ key?: string, operator?: string, values?: string[] }} Requirement
 * @typedef {{ matchExpressions?: Requirement[], matchFields?: Requirement[] }} Term
 * @typedef {{
 *   requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: Term[] },
 *   preferredDuringSchedulingIgnoredDuringExecution?: { weight?: number, preference?: Term }[],
 * }} Affinity
 */

/**
 * The terms of node affinity, each with what stands before it.
 *
 * @param {Affinity | undefined} affinity
 * @returns {[head: string, term: Term | undefined][]}
 */
const termsOf = (affinity) => [
  ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).map(
    (term) => /** @type {[string, Term]} */ (["", term]),
  ),
  ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
    ({ weight, preference }) => /** @type {[string, Term | undefined]} */ ([`preferred ${weight}: `, preference]),
  ),
];
/** @param {Term | undefined} term */
const asText = (term) =>
  [...(term?.matchExpressions ?? []), ...(term?.matchFields ?? [])]
    .map(({ key, operator, values = [] }) => `${key} ${operator}${values.length ? ` ${values.join(", ")}` : ""}`)
    .join(" and ");

/**
 * Items of values: a point of a shape, a resource with its weight, a topology spread constraint.
 *
 * @typedef {{ utilization?: number, score?: number }} Point
 * @typedef {{ name?: string, weight?: number }} Weighed
 * @typedef {{ maxSkew?: number, topologyKey?: string, whenUnsatisfiable?: string }} Constraint
 */

/** @type {Record<string, (value: any) => string>} */
const SHOWN = {
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
        (/** @type {Requirement} */ { key, operator, values = [] }) => `${key} ${operator} ${values.join(", ")}`,
      ),
    ].join(" and "),
  rows: (value) => value.map((/** @type {any} */ one) => Object.values(one).filter(Boolean).join(" ")).join("; "),
  shape: (value) =>
    value.map((/** @type {Point} */ { utilization = 0, score = 0 }) => `${utilization}→${score}`).join(" "),
  resources: (value) => value.map((/** @type {Weighed} */ { name, weight = 1 }) => `${name} ${weight}`).join(", "),
  constraints: (value) =>
    value
      .map(
        (/** @type {Constraint} */ { maxSkew, topologyKey, whenUnsatisfiable }) =>
          `${topologyKey} ≤ ${maxSkew} ${whenUnsatisfiable}`,
      )
      .join("; "),
  affinity: (value) =>
    termsOf(value)
      .map(([head, term]) => head + asText(term))
      .join(" or "),
};

/**
 * A value in short; "" where nothing is to be shown.
 *
 * @param {DeclaredArgument} argument
 * @param {any} value
 */
export const shown = ({ type }, value) =>
  value === null || value === undefined ? "" : (SHOWN[type]?.(value) ?? String(value));

/**
 * Write a part of a value, undefined to take it out.
 *
 * @param {Arguments} value
 * @param {string} path
 * @param {any} part
 */
export function put(value, path, part) {
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
/**
 * A value without what is empty.
 *
 * @param {Arguments} value
 * @returns {Arguments}
 */
export const prune = (value) =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => {
      const kept = part && typeof part === "object" && !Array.isArray(part) ? prune(part) : part;
      return kept && typeof kept === "object" && !Array.isArray(kept) && !Object.keys(kept).length ? [] : [[key, kept]];
    }),
  );

// What a plain table (kit/table.tsx) does beside being drawn: the order of its rows, and their text as it is copied.

import { $, copy, toast } from "./dom.ts";
import { count } from "./quantity.ts";

/** How a list is sorted and filtered; `find` is what of `typed` is looked for. */
export type ListState = { sort: string; down: boolean; typed: string; find: string };
/** The lists of a panel by name, beside what is called when the visitor changes one. */
export type KeptLists = { [name: string]: any; [CHANGED]?: () => void; [UNKNOWN]?: (name: string) => void };
/**
 * What `kept` may hold beside the states: `[CHANGED]()` is called when the visitor sorts or filters, `[UNKNOWN](name)`
 * when the column to sort by does not exist.
 */
export const CHANGED = Symbol("changed");
export const UNKNOWN = Symbol("unknown");

const text = (cell: Element | null | undefined) => (cell?.textContent ?? "").replace(/\s+/g, " ").trim();
const label = (head: Element) => $(".sorter", head)?.dataset.label ?? text(head);

/** The cells of a table's header. */
const headsOf = (table: HTMLTableElement) => [...(table.tHead?.rows[0].cells ?? [])];

/** The rows of a body, each with those under it that belong to it: they are marked by the class `follows`. */
function groupsOf(rows: Iterable<HTMLTableRowElement>) {
  const groups: HTMLTableRowElement[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last && row.matches(".follows")) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

/**
 * Header and rows as they are shown, tab separated; an opened detail row comes last in the line of its row. Columns
 * without a name are pictures.
 */
export function tsvOf(table: HTMLTableElement) {
  const heads = headsOf(table);
  const columns = heads.flatMap((head, i) => (text(head) ? [i] : []));
  const groups = groupsOf(table.tBodies[0].rows);
  const detailed = groups.some((group) => group.slice(1).some((row) => !row.hidden));
  const line = ([row, ...more]: HTMLTableRowElement[]) =>
    [
      ...columns.map((i) => text(row.cells[i])),
      ...(detailed
        ? [
            more
              .filter((one) => !one.hidden)
              .map(text)
              .join(" "),
          ]
        : []),
    ].join("\t");
  return [
    [...columns.map((i) => label(heads[i])), ...(detailed ? ["details"] : [])].join("\t"),
    ...groups.map(line),
  ].join("\n");
}

export async function put(tsv: string, rows: number) {
  toast(
    (await copy(tsv))
      ? `${count(rows)} row${rows === 1 ? "" : "s"} copied`
      : "The browser denied access to the clipboard",
    {
      name: "copy",
    },
  );
}

export const lookedFor = (typed: string) => typed.trim().toLowerCase();

const numberOf = (value: string) =>
  value === "" || value === "–" ? null : Number(value.replace(/[,%#×]|(?<=\d) %$/g, ""));
/** Whether a column holds numbers alone. */
export const isNumeric = <T>(rows: T[], value: (row: T) => string) =>
  rows.some((row) => numberOf(value(row)) !== null) && rows.every((row) => !Number.isNaN(numberOf(value(row)) ?? 0));

const nullsLast = <T>(a: T | null, b: T | null, compare: (a: T, b: T) => number) =>
  a === null || b === null ? Number(a === null) - Number(b === null) : compare(a, b);

/**
 * Rows in the order of a column: numbers as numbers, else as words in which numbers count; what has none comes last,
 * whichever way.
 */
export function ordered<T>(rows: T[], valueIn: (row: T) => string, down: boolean) {
  const sign = down ? -1 : 1;
  const keyed = rows.map((row) => {
    const value = valueIn(row);
    return { row, value, number: numberOf(value) };
  });
  const sorted = isNumeric(rows, valueIn)
    ? keyed.sort((a, b) => nullsLast(a.number, b.number, (one, other) => sign * (one - other)))
    : keyed.sort((a, b) =>
        nullsLast(
          a.value || null,
          b.value || null,
          (one, other) => sign * one.localeCompare(other, "en", { numeric: true }),
        ),
      );
  return sorted.map(({ row }) => row);
}

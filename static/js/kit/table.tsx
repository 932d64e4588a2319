// A plain table with what people do to it: sort by a column, filter its rows, copy it by a button or by Ctrl C in it.

import { isValidElement, toChildArray, type ComponentChild, type ComponentChildren, type VNode } from "preact";
import { useReducer, useRef, useState } from "preact/hooks";
import { count } from "../lib/quantity.ts";
import { CHANGED, UNKNOWN, isNumeric, lookedFor, ordered, put, tsvOf } from "../lib/tables.ts";
import type { KeptLists, ListState } from "../lib/tables.ts";
import { CopyRows } from "./copy.tsx";
import { Filter } from "./filter.tsx";
import { More } from "./more.tsx";
import { Pager } from "./pager.tsx";
import { reading } from "./reading.ts";

/** A column: its name, or that with further attributes of its header, and with a sign before it. */
export type Head = string | { text: string; class?: string; title?: string; sign?: ComponentChildren };

type TableProps = {
  /** The rows, `<tr>`; those of the class `follows` belong to the row before. */
  rows: ComponentChildren;
  heads: Head[];
  caption: string;
  class?: string;
  /** What stands to the left of the tools. */
  title?: ComponentChildren;
  /** The name of the field that narrows rows; without one there is none. */
  filter?: string;
  /** False where the order of the rows carries the meaning. */
  sorts?: boolean;
  /** Where sorting and filter are kept by `name` beyond this component, as in the address. */
  kept?: KeptLists;
  name?: string;
  tools?: ComponentChildren;
  /** Where only a page of the rows is here: has all of them sorted by `kept[name]` and drawn again. */
  elsewhere?: (() => void) | null;
  /** What is said instead where there are no rows; `none` is said under its tools. */
  empty?: string;
  none?: string;
  /** How many rows there are, where these are the first ones. */
  total?: number;
  /** How many rows a page has, where there may be very many; without it there is one page. */
  size?: number;
  /** Rows under all others, however these are sorted. */
  foot?: ComponentChildren;
};

/** A row with the rows that belong to it. */
type Group = VNode<any>[];

/** The table under its tools. A cell sorts by its `data-value`, else by its text. */
export function Table({
  rows,
  heads,
  caption,
  class: more = "list tight",
  title,
  filter = "",
  sorts = true,
  kept,
  name = "table",
  tools,
  elsewhere = null,
  empty,
  none = "",
  total = 0,
  size = Infinity,
  foot,
}: TableProps) {
  const own = useRef<KeptLists>({});
  const lists = kept ?? own.current;
  const table = useRef<HTMLTableElement>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [from, turn] = useState(0);
  const state: ListState = (lists[name] ??= { sort: "", down: false, typed: "", find: "" });
  const names = heads.map((head) => (typeof head === "string" ? head : head.text));
  if (state.sort && !names.includes(state.sort)) {
    lists[UNKNOWN]?.(name);
    state.sort = "";
  }
  state.find = lookedFor(state.typed); // also what was typed right before a redraw, as during playback
  const given = groupsOf(rows);
  const narrowed = filter && state.find ? given.filter((group) => containing(group, state.find)) : given;
  const at = elsewhere ? -1 : names.indexOf(state.sort);
  const shown = at < 0 ? narrowed : ordered(narrowed, (group) => valueOf(group, at), state.down);
  const first = from < shown.length ? from : 0;
  const page = shown.slice(first, first + size);
  const changed = () => {
    turn(0);
    lists[CHANGED]?.();
    redraw(0);
  };
  const sort = (column: string, first: boolean) => {
    if (state.sort !== column) Object.assign(state, { sort: column, down: first });
    else if (state.down === first) state.down = !first;
    else Object.assign(state, { sort: "", down: false });
    changed();
    elsewhere?.();
  };
  const act = (): [string, number] => [tsvOf(table.current as HTMLTableElement), page.length];
  if (!given.length && empty !== undefined)
    return (
      <>
        {title}
        <p class="dim">{empty}</p>
      </>
    );
  const element = (
    <div
      class="tabled"
      onKeyDown={(event) => {
        if (!copies(event) || !table.current?.contains(event.target as Node)) return;
        event.preventDefault();
        void put(...act());
      }}
    >
      <div class="tabled-tools">
        {title}
        <span class="grow" />
        <small class="dim num tabled-note" role="status">
          {shown.length < given.length ? `${count(shown.length)} of ${count(given.length)}` : ""}
        </small>
        {tools}
        {filter && (given.length > 1 || state.typed) ? (
          <Filter label={filter} state={state} onChange={changed} />
        ) : null}
        {shown.length > size ? (
          <Pager from={first} total={shown.length} size={size} shown={page.length} what={caption} go={turn} />
        ) : null}
        {given.length ? <CopyRows act={act} /> : null}
      </div>
      <div class="scroll-x">
        <table
          ref={table}
          class={`${more}${!state.sort && shown.length === given.length ? " as-given" : ""}`}
          hidden={!shown.length && (given.length > 0 || none !== "")}
        >
          <caption class="sr">{caption}</caption>
          <thead>
            <tr>
              {heads.map((head, column) => {
                const { text, sign, ...attributes } = typeof head === "string" ? { text: head, sign: null } : head;
                if (!text) return <td />;
                const on = state.sort === text;
                const sortable = sorts && given.length > 1;
                return (
                  <th
                    scope="col"
                    {...attributes}
                    aria-sort={sortable && on ? (state.down ? "descending" : "ascending") : undefined}
                  >
                    {sign}
                    {sortable ? (
                      <button
                        type="button"
                        class="sorter"
                        data-label={text}
                        onClick={() =>
                          sort(
                            text,
                            isNumeric(given, (group) => valueOf(group, column)),
                          )
                        }
                      >
                        {`${text}${on ? (state.down ? " ↓" : " ↑") : ""}`}
                      </button>
                    ) : (
                      text
                    )}
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>{page}</tbody>
          {foot ? <tfoot>{foot}</tfoot> : null}
        </table>
      </div>
      <p class="grid-none dim" role="status" hidden={shown.length > 0 || !(given.length || none)}>
        {given.length ? `No row contains “${state.find}”.` : none}
      </p>
    </div>
  );
  return (
    <>
      {element}
      <More of={total} shown={given.length} />
    </>
  );
}

/** Whether a key copies: Ctrl C, unless something is selected. */
const copies = (event: KeyboardEvent) =>
  (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "c" && !String(getSelection());

function groupsOf(rows: ComponentChildren): Group[] {
  const groups: Group[] = [];
  for (const row of toChildArray(rows)) {
    if (!isValidElement(row)) continue;
    const last = groups.at(-1);
    if (last && /\bfollows\b/.test(String((row.props as any).class ?? ""))) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

/** What is read in an element: its text and that of its components, which are functions without hooks. */
export const textOf = (child: ComponentChildren): string => reading.untracked(() => read(child));

function read(child: ComponentChildren): string {
  if (Array.isArray(child)) return child.map(read).join("");
  if (typeof child === "string" || typeof child === "number") return String(child);
  if (!isValidElement(child as ComponentChild)) return "";
  const { type, props } = child as VNode<any>;
  return read(typeof type === "function" ? (type as (props: unknown) => ComponentChildren)(props) : props.children);
}

const tidy = (text: string) => text.replace(/\s+/g, " ").trim();
const containing = (group: Group, find: string) => group.some((row) => tidy(textOf(row)).toLowerCase().includes(find));

function valueOf([row]: Group, column: number): string {
  const cell = toChildArray((row?.props as any).children)[column] as VNode<any> | undefined;
  return String(cell?.props["data-value"] ?? tidy(textOf(cell)));
}

// A plain table with what people do to it: sort by a column, filter its rows, copy it by a button or by Ctrl C within
// it. grid.js is for matrices, whose rows may be thousands.

import { $, h, icon, copy, toast, debounce, targetOf } from "./dom.js";
import { count } from "./quantity.js";

/**
 * How a list is sorted and filtered; `find` is what of `typed` is looked for.
 *
 * @typedef {{ sort: string, down: boolean, typed: string, find: string }} ListState
 */
/** @typedef {{ placeholder?: string, value?: string, typed?: ((typed: string) => void) | null }} FilterField */
/** @typedef {FilterField & Record<string, unknown>} FilterOptions */
/**
 * The lists of a panel by name, beside what is called when the visitor changes one.
 *
 * @typedef {{ [name: string]: any, [CHANGED]?: () => void, [UNKNOWN]?: (name: string) => void }} KeptLists
 */
/**
 * @typedef {{
 *   head?: Child,
 *   sorts?: boolean,
 *   filter?: string,
 *   kept?: KeptLists,
 *   name?: string,
 *   tools?: Child,
 *   elsewhere?: (() => void) | null,
 * }} TabledOptions
 */
/** @import { Child } from "./dom.js" */

const WAIT = 90; // milliseconds after a letter

/**
 * What `kept` may hold beside the states: `[CHANGED]()` is called when the visitor sorts or filters, `[UNKNOWN](name)`
 * when the column to sort by does not exist.
 */
export const CHANGED = Symbol("changed");
export const UNKNOWN = Symbol("unknown");

/** @param {Element | null | undefined} cell */
const text = (cell) => (cell?.textContent ?? "").replace(/\s+/g, " ").trim();
/** @param {Element} head */
const label = (head) => $(".sorter", head)?.dataset.label ?? text(head);

/**
 * The cells of a table's header.
 *
 * @param {HTMLTableElement} table
 */
const headsOf = (table) => [...(table.tHead?.rows[0].cells ?? [])];

/**
 * The rows of a body, each with those under it that belong to it: they are marked by the class `follows`.
 *
 * @param {Iterable<HTMLTableRowElement>} rows
 */
function groupsOf(rows) {
  /** @type {HTMLTableRowElement[][]} */
  const groups = [];
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
 *
 * @param {HTMLTableElement} table
 */
export function tsvOf(table) {
  const heads = headsOf(table);
  const columns = heads.flatMap((head, i) => (text(head) ? [i] : []));
  const groups = groupsOf(table.tBodies[0].rows);
  const detailed = groups.some((group) => group.slice(1).some((row) => !row.hidden));
  const line = (/** @type {HTMLTableRowElement[]} */ [row, ...more]) =>
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

/**
 * Draw `host` again; whoever filters or sorts a table in it stays where they are.
 *
 * @param {Element} host
 * @param {() => void} draw
 */
export function keeping(host, draw) {
  const focused = document.activeElement;
  const held = focused instanceof HTMLElement && host.contains(focused) ? focused : null;
  const { keep } = held?.dataset ?? {};
  const range = held instanceof HTMLInputElement ? { from: held.selectionStart, to: held.selectionEnd } : null;
  draw();
  if (!keep || host.contains(held)) return;
  const again = $(`[data-keep="${CSS.escape(keep)}"]`, host);
  again?.focus({ preventScroll: true });
  if (again instanceof HTMLInputElement && range) again.setSelectionRange(range.from, range.to);
}

/**
 * The button that copies: `act` returns `[text, rows]`.
 *
 * @param {() => [tsv: string, rows: number]} act
 * @param {Record<string, unknown>} [more]
 */
function copyButton(act, more = {}) {
  return h(
    "button",
    {
      ...more,
      type: "button",
      class: "btn quiet square",
      "aria-label": "Copy as tab separated text",
      title: "Copy as tab separated text (Ctrl C in the table)",
      "data-copy-tsv": true,
      onclick: () => put(...act()),
    },
    icon("copy"),
  );
}

/**
 * @param {string} tsv
 * @param {number} rows
 */
export async function put(tsv, rows) {
  toast(
    (await copy(tsv))
      ? `${count(rows)} row${rows === 1 ? "" : "s"} copied`
      : "The browser denied access to the clipboard",
    {
      name: "copy",
    },
  );
}

/** @param {string} typed */
export const lookedFor = (typed) => typed.trim().toLowerCase();

/**
 * A field that narrows rows; `onChange` gets the text in lower case once typing pauses, `typed`, if given, every change
 * at once.
 *
 * @param {string} name
 * @param {(find: string) => void} onChange
 * @param {FilterOptions} [options]
 */
function filterField(name, onChange, { placeholder = "Filter", value = "", typed = null, ...more } = {}) {
  const change = debounce(() => onChange(lookedFor(input.value)), WAIT);
  const input = h("input", {
    type: "search",
    class: "field filter",
    placeholder,
    "aria-label": name,
    "data-filter": true,
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => {
      typed?.(input.value);
      change();
    },
    ...more,
  });
  input.value = value;
  return input;
}

/**
 * A table under its tools. `head` stands to their left; without `filter`, which names the field, there is none; `sorts`
 * is false where the order of the rows carries the meaning. `kept` is an object of the caller that holds the sorting
 * and the filter by `name`, over redrawing. `tools` are further ones. A cell sorts by its `data-value`, else by its
 * text. Where only a page of the rows is here, `elsewhere` is called to have all of them sorted by `kept[name]` and
 * drawn again.
 *
 * @param {HTMLTableElement} table
 * @param {TabledOptions} [options]
 */
export function tabled(
  table,
  { head = null, sorts = true, filter = "", kept = {}, name = "table", tools = null, elsewhere = null } = {},
) {
  const body = table.tBodies[0];
  /** @type {ListState} */
  const state = (kept[name] ??= { sort: "", down: false, typed: "", find: "" });
  state.find = lookedFor(state.typed); // also what was typed right before a redraw, as during playback
  const given = groupsOf(body.rows);
  const heads = headsOf(table);
  const narrowed = h("small", { class: "dim num tabled-note", role: "status" });
  const none = h("p", { class: "grid-none dim", hidden: true });
  const shown = () => {
    const groups =
      filter && state.find
        ? given.filter((group) => group.some((row) => text(row).toLowerCase().includes(state.find)))
        : given;
    const at = heads.findIndex((one) => label(one) === state.sort);
    return at < 0 || elsewhere ? groups : ordered(groups, ([row]) => valueOf(row, at), state.down);
  };
  /** @type {() => [tsv: string, rows: number]} */
  const act = () => [tsvOf(table), groupsOf(body.rows).length];
  const show = () => {
    const groups = shown();
    body.replaceChildren(...groups.flat());
    table.classList.toggle("as-given", !state.sort && groups.length === given.length);
    narrowed.textContent = groups.length < given.length ? `${count(groups.length)} of ${count(given.length)}` : "";
    none.textContent = `No row contains “${state.find}”.`;
    none.hidden = groups.length > 0 || !given.length;
    table.hidden = !groups.length && given.length > 0;
  };
  const change = () => {
    kept[CHANGED]?.();
    (elsewhere ?? show)();
  };
  if (state.sort && !heads.some((one) => label(one) === state.sort)) {
    kept[UNKNOWN]?.(name);
    state.sort = "";
  }
  if (sorts && given.length > 1) {
    for (const one of heads) if (text(one)) sortable(one, heads, given, state, change, `${name}/${text(one)}`);
  }
  const field =
    filter && (given.length > 1 || state.typed)
      ? filterField(
          filter,
          (find) => {
            state.find = find;
            kept[CHANGED]?.();
            show();
          },
          {
            value: state.typed,
            typed: (now) => {
              state.typed = now;
            },
            "data-keep": `${name}/filter`,
          },
        )
      : null;
  const element = h(
    "div",
    { class: "tabled" },
    h(
      "div",
      { class: "tabled-tools" },
      head,
      h("span", { class: "grow" }),
      narrowed,
      tools,
      field,
      given.length ? copyButton(act, { "data-keep": `${name}/copy` }) : null,
    ),
    h("div", { class: "scroll-x" }, table),
    none,
  );
  element.addEventListener("keydown", (event) => {
    if (
      !(event.ctrlKey || event.metaKey)
      || event.key.toLowerCase() !== "c"
      || String(getSelection())
      || !table.contains(targetOf(event))
    )
      return;
    event.preventDefault();
    put(...act());
  });
  show();
  return element;
}

/**
 * @param {HTMLTableRowElement} row
 * @param {number} at
 */
const valueOf = (row, at) => row.cells[at]?.dataset.value ?? text(row.cells[at]);
/** @param {string} value */
const numberOf = (value) => (value === "" || value === "–" ? null : Number(value.replace(/[,%#×]|(?<=\d) %$/g, "")));
/**
 * Whether a column holds numbers alone.
 *
 * @template T
 * @param {T[]} rows
 * @param {(row: T) => string} value
 */
export const isNumeric = (rows, value) =>
  rows.some((row) => numberOf(value(row)) !== null) && rows.every((row) => !Number.isNaN(numberOf(value(row)) ?? 0));

/**
 * @template T
 * @param {T | null} a
 * @param {T | null} b
 * @param {(a: T, b: T) => number} compare
 */
const nullsLast = (a, b, compare) =>
  a === null || b === null ? Number(a === null) - Number(b === null) : compare(a, b);

/**
 * Rows in the order of a column: numbers as numbers, else as words in which numbers count; what has none comes last,
 * whichever way.
 *
 * @template T
 * @param {T[]} rows
 * @param {(row: T) => string} valueIn
 * @param {boolean} down
 */
export function ordered(rows, valueIn, down) {
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

/**
 * Let a header sort: numbers downwards first; a third press restores the original order of the rows.
 *
 * @param {HTMLTableCellElement} head
 * @param {HTMLTableCellElement[]} heads
 * @param {HTMLTableRowElement[][]} given
 * @param {ListState} state
 * @param {() => void} change
 * @param {string} keep
 */
function sortable(head, heads, given, state, change, keep) {
  const named = text(head);
  const first = isNumeric(given, ([row]) => valueOf(row, head.cellIndex));
  const mark = () => {
    const on = state.sort === named;
    if (on) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
    button.textContent = `${named}${on ? (state.down ? " ↓" : " ↑") : ""}`;
  };
  const button = h("button", {
    type: "button",
    class: "sorter",
    "data-label": named,
    "data-keep": keep,
    onclick: () => {
      if (state.sort !== named) Object.assign(state, { sort: named, down: first });
      else if (state.down === first) state.down = !first;
      else Object.assign(state, { sort: "", down: false });
      for (const one of heads) one.dispatchEvent(new Event("sorted"));
      change();
    },
  });
  head.addEventListener("sorted", mark);
  head.replaceChildren(...[...head.children].filter((child) => !text(child)), button);
  mark();
}

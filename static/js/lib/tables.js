// A plain table with what people do to it: sort by a column, filter its rows, copy it by a button or by Ctrl C within
// it. grid.js is for matrices, whose rows may be thousands.

import { h, icon, copy, toast, debounce } from "./dom.js";
import { count } from "./quantity.js";

const WAIT = 90; // milliseconds after a letter

/**
 * What `kept` may hold beside the states: `[CHANGED]()` is called when the visitor sorts or filters, `[UNKNOWN](name)`
 * when the column to sort by does not exist.
 */
export const CHANGED = Symbol("changed");
export const UNKNOWN = Symbol("unknown");

const text = (cell) => (cell?.textContent ?? "").replace(/\s+/g, " ").trim();
const label = (head) => head.querySelector(".sorter")?.dataset.label ?? text(head);

/** The rows of a body, each with those under it that belong to it: they are marked by the class `follows`. */
function groupsOf(rows) {
  const groups = [];
  for (const row of rows)
    if (row.matches(".follows") && groups.length) groups.at(-1).push(row);
    else groups.push([row]);
  return groups;
}

/**
 * Header and rows as they are shown, tab separated; an opened detail row comes last in the line of its row. Columns
 * without a name are pictures.
 */
function tsvOf(table) {
  const heads = [...table.tHead.rows[0].cells];
  const columns = heads.flatMap((head, i) => (text(head) ? [i] : []));
  const groups = groupsOf(table.tBodies[0].rows);
  const told = groups.some((group) => group.slice(1).some((row) => !row.hidden));
  const line = ([row, ...more]) =>
    [
      ...columns.map((i) => text(row.cells[i])),
      ...(told
        ? [
            more
              .filter((one) => !one.hidden)
              .map(text)
              .join(" "),
          ]
        : []),
    ].join("\t");
  return [[...columns.map((i) => label(heads[i])), ...(told ? ["details"] : [])].join("\t"), ...groups.map(line)].join(
    "\n",
  );
}

/** Draw `host` anew; whoever filters or sorts a table in it stays where they are. */
export function keeping(host, draw) {
  const held = host.contains(document.activeElement) ? document.activeElement : null;
  const { keep } = held?.dataset ?? {};
  const range = keep && held.matches("input") ? [held.selectionStart, held.selectionEnd] : null;
  draw();
  if (!keep || host.contains(held)) return;
  const again = host.querySelector(`[data-keep="${CSS.escape(keep)}"]`);
  again?.focus({ preventScroll: true });
  if (again && range) again.setSelectionRange(...range);
}

/** The button that copies: `act` returns `[text, rows]`. */
export function copyButton(act, more = {}) {
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

async function put(tsv, rows) {
  toast((await copy(tsv)) ? `${count(rows)} row${rows === 1 ? "" : "s"} copied` : "The browser refused the clipboard", {
    name: "copy",
  });
}

const lookedFor = (typed) => typed.trim().toLowerCase();

/**
 * A field that narrows rows; `onChange` gets the text in lower case once typing pauses, `typed`, if given, every change
 * at once.
 */
export function filterField(name, onChange, { placeholder = "Filter", value = "", typed = null, ...more } = {}) {
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
 * drawn anew.
 */
export function tabled(
  table,
  { head = null, sorts = true, filter = "", kept = {}, name = "table", tools = null, elsewhere = null } = {},
) {
  const body = table.tBodies[0];
  const state = (kept[name] ??= { sort: "", down: false, typed: "", find: "" });
  state.find = lookedFor(state.typed); // also what was typed right before it is drawn anew, as it is while it plays
  const given = groupsOf(body.rows);
  const heads = [...table.tHead.rows[0].cells];
  const narrowed = h("small", { class: "dim num tabled-note", role: "status" });
  const none = h("p", { class: "grid-none dim", hidden: true });
  const shown = () => {
    const groups =
      filter && state.find
        ? given.filter((group) => group.some((row) => text(row).toLowerCase().includes(state.find)))
        : given;
    const at = heads.findIndex((one) => label(one) === state.sort);
    return at < 0 || elsewhere ? groups : sorted(groups, at, state.down);
  };
  const act = () => [tsvOf(table), groupsOf(body.rows).length];
  const show = () => {
    const groups = shown();
    body.replaceChildren(...groups.flat());
    table.classList.toggle("as-told", !state.sort && groups.length === given.length);
    narrowed.textContent = groups.length < given.length ? `${count(groups.length)} of ${count(given.length)}` : "";
    none.textContent = `Nothing here has “${state.find}” in it.`;
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
      || !table.contains(event.target)
    )
      return;
    event.preventDefault();
    put(...act());
  });
  show();
  return element;
}

const valueOf = (row, at) => row.cells[at]?.dataset.value ?? text(row.cells[at]);
const numberOf = (value) => (value === "" || value === "–" ? null : Number(value.replace(/[,%#×]|(?<=\d) %$/g, "")));
const isNumeric = (groups, at) =>
  groups.some(([row]) => numberOf(valueOf(row, at)) !== null)
  && groups.every(([row]) => !Number.isNaN(numberOf(valueOf(row, at)) ?? 0));

/** Numbers as numbers, else as words in which numbers count; what has none comes last, whichever way. */
function sorted(groups, at, down) {
  const numeric = isNumeric(groups, at);
  const value = ([row]) => (numeric ? numberOf(valueOf(row, at)) : valueOf(row, at) || null);
  const compare = (a, b) => (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
  return groups
    .map((group) => [value(group), group])
    .sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : (down ? -1 : 1) * compare(a, b)))
    .map(([, group]) => group);
}

/** Let a header sort: numbers downwards first; a third press brings back the order in which the rows were told. */
function sortable(head, heads, given, state, change, keep) {
  const named = text(head);
  const first = isNumeric(given, head.cellIndex);
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
  head.replaceChildren(
    ...[...head.childNodes].filter((node) => node.nodeType === Node.ELEMENT_NODE && !text(node)),
    button,
  );
  mark();
}

// How the lists on screen are sorted and filtered, and on which page they are. Kept by tab and name beyond the panels,
// which are drawn again, so that the address can hold them and bring them back.

import { CHANGED, UNKNOWN } from "../../lib/tables.ts";
import type { KeptLists, ListState } from "../../lib/tables.ts";

/**
 * How a list is looked at: beside what a table keeps its page, which rows it has, and what is picked. `given` are the
 * fields that an address asked for.
 */
export type List = ListState & { page: number; only: string; from: string; cell: string; given?: Set<string> };
/** a field that takes one of some choices */
export type Choice = "only" | "from" | "cell";
export type FieldName = "sort" | "find" | "page" | Choice;

const NAME = /^[\w .:/()-]{1,80}$/;
const TEXT = 200; // characters of a filter

/**
 * The state of a list, by its key in the address: how it is written, and read into the state; `null` for what is not
 * valid.
 */
const FIELDS: Record<FieldName, { of: (list: List) => string; read: (text: string) => Partial<List> | null }> = {
  sort: {
    of: ({ sort, down }) => (sort ? (down ? `-${sort}` : sort) : ""),
    read: (text) => ({ sort: text.replace(/^-/, ""), down: text.startsWith("-") }),
  },
  find: { of: ({ typed }) => typed, read: (text) => ({ typed: text, find: text.trim().toLowerCase() }) },
  page: {
    of: ({ page }) => (page > 0 ? String(page) : ""),
    read: (text) => (/^[1-9]\d{0,6}$/.test(text) ? { page: Number(text) } : null),
  },
  only: { of: ({ only }) => only, read: (text) => ({ only: text }) },
  from: { of: ({ from }) => from, read: (text) => ({ from: text }) },
  cell: { of: ({ cell }) => cell, read: (text) => ({ cell: text }) },
};

export class Lists {
  #tabs: Map<string, { own: KeptLists; used: KeptLists }> = new Map();
  #usual: WeakMap<List, List> = new WeakMap(); // of a list: what it is without anybody's doing
  // of a tab: the names of the lists that an address asked for and nobody has used yet
  #asked: Map<string, Set<string>> = new Map();

  /**
   * `changed()` is called when the visitor sorts, filters or turns a page; `wrong(text)` for what an address asks for
   * and does not exist.
   */
  constructor(
    readonly changed: () => void,
    readonly wrong: (text: string) => void,
  ) {}

  /** The lists of a tab by name, as `tabled` keeps them. */
  of(tab: string): KeptLists {
    return this.#listsOf(tab).used;
  }

  /** The lists of a tab, `own` as they are, and `used`, which notes that somebody uses one. */
  #listsOf(tab: string) {
    const there = this.#tabs.get(tab);
    if (there) return there;
    const own: KeptLists = { [CHANGED]: () => this.changed(), [UNKNOWN]: (name) => this.unknown(own[name], name) };
    const used = new Proxy(own, {
      get: (kept, name) => {
        if (typeof name === "string") this.#asked.get(tab)?.delete(name);
        return Reflect.get(kept, name);
      },
    });
    const made = { own, used };
    this.#tabs.set(tab, made);
    return made;
  }

  /** The same for whoever only looks. */
  #own(tab: string): KeptLists {
    return this.#listsOf(tab).own;
  }

  /** One list; `usual` is how it stands where nobody chose otherwise. */
  list(tab: string, name: string, usual: Partial<List> = {}): List {
    const kept = this.of(tab);
    const state: List = (kept[name] ??= blank());
    if (!this.#usual.has(state)) {
      this.#usual.set(state, { ...blank(), ...usual });
      const fields = Object.entries(usual).filter(([field]) => !state.given?.has(field));
      Object.assign(state, Object.fromEntries(fields));
    }
    return state;
  }

  /** A choice of a list, as far as it is one of those there are. */
  choice(state: List, name: string, field: Choice, choices: string[]) {
    if (state[field] && !choices.includes(state[field])) {
      this.wrong(`${field}.${name}=${state[field]}`);
      state[field] = this.#usual.get(state)?.[field] ?? "";
    }
    return state[field];
  }

  /**
   * A list is sorted by a column that it has not: somebody's address asked for it, or the column went with its policy.
   */
  unknown(state: List, name: string) {
    this.absent(state, name, "sort");
  }

  /** A list cannot be looked at by what a field holds: that is reported where an address asked for it. */
  absent(state: List, name: string, field: FieldName) {
    if (state.given?.delete(field)) this.wrong(`${field}.${name}=${FIELDS[field].of(state)}`);
  }

  /** What the address holds of a tab: `[key, text]`. */
  *entries(tab: string): Iterable<[key: string, text: string]> {
    for (const [name, state] of Object.entries(this.#own(tab))) {
      const usual = this.#usual.get(state) ?? blank();
      for (const [field, { of }] of Object.entries(FIELDS)) {
        const text = of(state) ?? "";
        if (text !== (of(usual) ?? "")) yield [`${field}.${name}`, text];
      }
    }
  }

  /** Whether the address can mean a list by a key. */
  static is(key: string) {
    const [field, name] = split(key);
    return field in FIELDS && NAME.test(name);
  }

  /**
   * Set the lists of tabs as an address asks, a tab to its `[key, text]`, all others as usual; return whether anything
   * has changed.
   */
  put(wanted: Record<string, [key: string, text: string][]>) {
    const before = this.#asked;
    this.#asked = new Map();
    let changed = false;
    for (const [tab, lists] of Object.entries(wanted)) {
      const same = JSON.stringify([...this.entries(tab)]) === JSON.stringify(lists);
      this.#asked.set(tab, same ? (before.get(tab) ?? new Set()) : this.#put(tab, lists));
      changed ||= !same;
    }
    return changed;
  }

  /** Let one tab's lists be so; return the names of those that were asked for. */
  #put(tab: string, wanted: [key: string, text: string][]) {
    const kept = this.#own(tab);
    for (const name of Object.keys(kept)) delete kept[name];
    const asked: Set<string> = new Set();
    for (const [key, text] of wanted) {
      const [field, name] = split(key);
      const read = text.length > TEXT ? null : FIELDS[field as FieldName].read(text);
      if (!read) {
        this.wrong(`${key}=${text}`);
        continue;
      }
      const state = Object.hasOwn(kept, name) ? kept[name] : (kept[name] = blank());
      state.given ??= new Set();
      for (const one of Object.keys(read)) state.given.add(one);
      Object.assign(state, read);
      asked.add(name);
    }
    return asked;
  }

  /** Forget, and report, what an address asked of lists that are not in these tabs, which are on screen. */
  settle(tabs: string[]) {
    let changed = false;
    for (const tab of tabs) {
      const asked = this.#asked.get(tab) ?? [];
      const kept = this.#own(tab);
      for (const name of asked) {
        for (const [key] of this.entries(tab)) if (split(key)[1] === name) this.wrong(key);
        delete kept[name];
        changed = true;
      }
      this.#asked.delete(tab);
    }
    if (changed) this.changed();
  }
}

const blank = (): List => ({ sort: "", down: false, typed: "", find: "", page: 0, only: "", from: "", cell: "" });
const split = (key: string) => {
  const at = key.indexOf(".");
  return at < 0 ? ["", ""] : [key.slice(0, at), key.slice(at + 1)];
};

// How the lists on screen are sorted and filtered, and on which page they are. Kept by tab and name beyond the panels,
// which are drawn again, so that the address can hold them and bring them back.

import { CHANGED, UNKNOWN } from "../lib/tables.js";
/** @import { KeptLists, ListState } from "../lib/tables.js" */

/**
 * How a list is looked at: beside what a table keeps its page, which rows it has, and what is picked. `given` are the
 * fields that an address asked for.
 *
 * @typedef {ListState & { page: number, only: string, from: string, cell: string, given?: Set<string> }} List
 */
/** @typedef {"only" | "from" | "cell"} Choice a field that takes one of some choices */
/** @typedef {"sort" | "find" | "page" | Choice} FieldName */

const NAME = /^[\w .:/()-]{1,80}$/;
const TEXT = 200; // characters of a filter

/**
 * The state of a list, by its key in the address: how it is written, and read into the state; `null` for what is not
 * valid.
 */
/** @type {Record<FieldName, { of: (list: List) => string, read: (text: string) => Partial<List> | null }>} */
const FIELDS = {
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
  /** @type {Map<string, { own: KeptLists, used: KeptLists }>} */
  #tabs = new Map();
  /** @type {WeakMap<List, List>} */
  #usual = new WeakMap(); // of a list: what it is without anybody's doing
  /** @type {Map<string, Set<string>>} */
  #asked = new Map(); // of a tab: the names of the lists that an address asked for and nobody has used yet

  /**
   * `changed()` is called when the visitor sorts, filters or turns a page; `wrong(text)` for what an address asks for
   * and does not exist.
   *
   * @param {() => void} changed
   * @param {(text: string) => void} wrong
   */
  constructor(changed, wrong) {
    this.changed = changed;
    this.wrong = wrong;
  }

  /**
   * The lists of a tab by name, as `tabled` keeps them.
   *
   * @param {string} tab
   * @returns {KeptLists}
   */
  of(tab) {
    return this.#listsOf(tab).used;
  }

  /**
   * The lists of a tab, `own` as they are, and `used`, which notes that somebody uses one.
   *
   * @param {string} tab
   */
  #listsOf(tab) {
    const there = this.#tabs.get(tab);
    if (there) return there;
    /** @type {KeptLists} */
    const own = { [CHANGED]: () => this.changed(), [UNKNOWN]: (name) => this.unknown(own[name], name) };
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

  /**
   * The same for whoever only looks.
   *
   * @param {string} tab
   * @returns {KeptLists}
   */
  #own(tab) {
    return this.#listsOf(tab).own;
  }

  /**
   * One list; `usual` is how it stands where nobody chose otherwise.
   *
   * @param {string} tab
   * @param {string} name
   * @param {Partial<List>} [usual]
   * @returns {List}
   */
  list(tab, name, usual = {}) {
    const kept = this.of(tab);
    /** @type {List} */
    const state = (kept[name] ??= blank());
    if (!this.#usual.has(state)) {
      this.#usual.set(state, { ...blank(), ...usual });
      const fields = Object.entries(usual).filter(([field]) => !state.given?.has(field));
      Object.assign(state, Object.fromEntries(fields));
    }
    return state;
  }

  /**
   * A choice of a list, as far as it is one of those there are.
   *
   * @param {List} state
   * @param {string} name
   * @param {Choice} field
   * @param {string[]} choices
   */
  choice(state, name, field, choices) {
    if (state[field] && !choices.includes(state[field])) {
      this.wrong(`${field}.${name}=${state[field]}`);
      state[field] = this.#usual.get(state)?.[field] ?? "";
    }
    return state[field];
  }

  /**
   * A list is sorted by a column that it has not: somebody's address asked for it, or the column went with its policy.
   *
   * @param {List} state
   * @param {string} name
   */
  unknown(state, name) {
    this.absent(state, name, "sort");
  }

  /**
   * A list cannot be looked at by what a field holds: that is reported where an address asked for it.
   *
   * @param {List} state
   * @param {string} name
   * @param {FieldName} field
   */
  absent(state, name, field) {
    if (state.given?.delete(field)) this.wrong(`${field}.${name}=${FIELDS[field].of(state)}`);
  }

  /**
   * What the address holds of a tab: `[key, text]`.
   *
   * @param {string} tab
   * @returns {Iterable<[key: string, text: string]>}
   */
  *entries(tab) {
    for (const [name, state] of Object.entries(this.#own(tab))) {
      const usual = this.#usual.get(state) ?? blank();
      for (const [field, { of }] of Object.entries(FIELDS)) {
        const text = of(state) ?? "";
        if (text !== (of(usual) ?? "")) yield [`${field}.${name}`, text];
      }
    }
  }

  /**
   * Whether the address can mean a list by a key.
   *
   * @param {string} key
   */
  static is(key) {
    const [field, name] = split(key);
    return field in FIELDS && NAME.test(name);
  }

  /**
   * Set the lists of tabs as an address asks, a tab to its `[key, text]`, all others as usual; return whether anything
   * has changed.
   *
   * @param {Record<string, [key: string, text: string][]>} wanted
   */
  put(wanted) {
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

  /**
   * Let one tab's lists be so; return the names of those that were asked for.
   *
   * @param {string} tab
   * @param {[key: string, text: string][]} wanted
   */
  #put(tab, wanted) {
    const kept = this.#own(tab);
    for (const name of Object.keys(kept)) delete kept[name];
    /** @type {Set<string>} */
    const asked = new Set();
    for (const [key, text] of wanted) {
      const [field, name] = split(key);
      const read = text.length > TEXT ? null : FIELDS[/** @type {FieldName} */ (field)].read(text);
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

  /**
   * Forget, and report, what an address asked of lists that are not in these tabs, which are on screen.
   *
   * @param {string[]} tabs
   */
  settle(tabs) {
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

/** @returns {List} */
const blank = () => ({ sort: "", down: false, typed: "", find: "", page: 0, only: "", from: "", cell: "" });
/** @param {string} key */
const split = (key) => {
  const at = key.indexOf(".");
  return at < 0 ? ["", ""] : [key.slice(0, at), key.slice(at + 1)];
};

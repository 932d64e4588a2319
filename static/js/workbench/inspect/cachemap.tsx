// The Cache tab, Map: node, predicate and class, browsed from any of the three, a page at a time.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Filter } from "../../kit/filter.tsx";
import { Inline } from "../../kit/inline.tsx";
import { Pager } from "../../kit/pager.tsx";
import { Segmented } from "../../kit/segmented.tsx";
import { Table } from "../../kit/table.tsx";
import { decoded } from "../../lib/encoded.ts";
import type { CacheEntry, CacheMap as Found } from "../../lib/protocol.js";
import { count, ellipsis } from "../../lib/quantity.ts";
import { useAnswer, useRedraw } from "../view/asking.tsx";
import type { List } from "../view/lists.ts";
import type { View } from "../view/view.ts";
import { Fetched, answer, cycleLink, nodeLink } from "./cacheparts.tsx";
import { sorting } from "./cachewords.ts";
import { aboutNode } from "../view/nouns.tsx";

type By = "node" | "predicate" | "class";
/** What the address asks for: `map/by/key/inner`. */
type Where = { by: By; key: string; inner: string };

const BY: [By, string][] = [
  ["node", "Nodes"],
  ["predicate", "Predicates"],
  ["class", "Classes"],
];
const AT_ONCE = 50;
const ALL = { node: "all nodes", predicate: "all predicates", class: "all classes" };
// In the order of the rows.
const WITHIN: Record<By, [By, By]> = {
  node: ["predicate", "class"],
  predicate: ["class", "node"],
  class: ["predicate", "node"],
};

function read(sub: string): Where {
  const [, by = "", key = "", inner = ""] = sub.split("/").map(decoded);
  return { by: BY.find(([one]) => one === by)?.[0] ?? "node", key, inner };
}

export function CacheMap({ view }: { view: View }) {
  const { playback, lists } = view;
  const redraw = useRedraw();
  const list = lists.list("cache", "map");
  const kept = lists.of("cache");
  const state = useRef({ sub: view.sub, paged: false, names: new Map<string, string>() }).current;
  const narrow = (change: Partial<List>) => {
    Object.assign(list, change);
    lists.changed();
  };
  if (state.sub !== view.sub) {
    state.sub = view.sub;
    narrow({ typed: "", find: "", page: 0 });
  }
  const where = read(view.sub);
  const { by, key, inner } = where;
  const from = list.page * AT_ONCE;
  const find = inner ? "" : list.typed.trim();
  // Where a level has more than one page the server sorts it.
  const columns = { [by]: "name", fit: "fits", fail: "fails", entries: "entries" };
  const sort = key ? "" : sorting(state.paged && kept[`${by}/`], columns);
  const wish = [playback.asOf, by, key, inner, from, find, sort].join("/");
  const answered = useAnswer(wish, async () => {
    // Of a predicate and a class the entries are asked for by class: a class is not found by its hash.
    const asked = !inner
      ? { by, ...(key ? { key } : {}), ...(find ? { find } : {}) }
      : by === "predicate"
        ? { by: "class", key: inner, find: key }
        : { by, key, find: inner };
    const found = await playback.socket.call("cache.map", {
      source: playback.source,
      cycle: playback.asOf,
      from,
      count: AT_ONCE,
      ...asked,
      ...(sort ? { sort } : {}),
    });
    if (!found.rows.length && from) {
      view.actions.wrong(`page.map=${list.page}`);
      narrow({ page: 0 });
      redraw();
    }
    state.paged = !key && found.count > found.rows.length;
    for (const row of found.rows) state.names.set(row.hash ?? row.key, row.class ?? row.label);
    return { found, where, find };
  });
  const go = (...path: string[]) => view.setSub(["map", ...path].map(encodeURIComponent).join("/"));
  const name = (level: By, one: string) => (level === "class" ? state.names.get(one) || one : one);
  const path: [text: string, ...to: string[]][] = [[ALL[by], by]];
  if (key) path.push([name(by, key), by, key]);
  if (inner) path.push([name(WITHIN[by][0], inner), by, key, inner]);
  const crumbs = (
    <nav class="cache-crumbs" aria-label="Where in the map">
      {path.map(([text, ...to], i) => [
        i ? (
          <span class="dim" aria-hidden="true">
            {" › "}
          </span>
        ) : null,
        i === path.length - 1 ? (
          <b aria-current="location" title={text}>
            {ellipsis(text, 40)}
          </b>
        ) : (
          <Inline act={() => go(...to)} title={text}>
            {ellipsis(text, 40)}
          </Inline>
        ),
      ])}
    </nav>
  );
  const label = key ? `Filter by ${WITHIN[by].join(" or ")}` : `Filter ${ALL[by].slice(4)}`;
  const again = () => {
    narrow({ page: 0 });
    redraw();
  };
  return (
    <div class="cache-map">
      <div class="matrix-tools">
        <span class="by">
          <Segmented label="Browse by" options={BY} value={by} onChange={(to) => go(to)} />
        </span>
        {inner ? null : <Filter label={label} placeholder={key ? "Filter" : label} state={list} onChange={again} />}
      </div>
      <Fetched of={answered} wish={wish}>
        {({ found, where: there, find: looked }) => (
          <Table
            {...(there.key ? entriesOf(view, found.rows, there, go) : groupsOf(view, found, there.by, go))}
            kept={kept}
            name={`${there.by}/${there.key ? "entries" : ""}`}
            title={
              <>
                {crumbs}
                <span class="grow" />
                <Pager
                  from={found.from}
                  total={found.count}
                  size={AT_ONCE}
                  shown={found.rows.length}
                  what="the map"
                  go={(to) => {
                    narrow({ page: Math.floor(to / AT_ONCE) });
                    redraw();
                  }}
                />
              </>
            }
            elsewhere={state.paged ? again : null}
            none={
              looked && !there.inner
                ? `No matches for ${looked}.`
                : there.key
                  ? "The cache holds nothing valid here after this cycle."
                  : "The cache is empty after this cycle."
            }
          />
        )}
      </Fetched>
      <p class="dim fine">node → predicate → class: the cached answer for a pod of the class after this cycle.</p>
    </div>
  );
}

type Go = (...path: string[]) => void;

/** The first level: how much there is of each. */
function groupsOf(view: View, { rows }: Found, by: By, go: Go) {
  const most = Math.max(1, ...rows.map((row) => row.entries));
  return {
    caption: `Valid entries of the cache by ${by}`,
    heads: [by, "", ...["fit", "fail", "entries"].map((text) => ({ text, class: "num" }))],
    rows: rows.map((row) => (
      <tr key={row.key} {...(by === "node" ? aboutNode(view, row.key) : null)}>
        <th scope="row" class={by === "class" ? undefined : "mono"}>
          <Inline
            act={() => go(by, row.key)}
            title={by === "class" ? `class ${row.key}` : row.key}
            aria-label={row.label.length > 34 ? row.label : undefined}
          >
            {ellipsis(row.label || row.key, 34)}
          </Inline>
        </th>
        <td class="bar-cell">
          <span class="source-bar" aria-hidden="true">
            <i class="fits" style={{ width: `${(row.fits / most) * 100}%` }} />
            <i class="fails" style={{ width: `${(row.fails / most) * 100}%` }} />
          </span>
        </td>
        <td class={`num ${row.fits ? "" : "nil"}`.trim()}>{count(row.fits)}</td>
        <td class={`num ${row.fails ? "fail-text" : "nil"}`}>{count(row.fails)}</td>
        <td class="num">{count(row.entries)}</td>
      </tr>
    )),
  };
}

/** The entries themselves; what repeats from row to row is written once. */
function entriesOf(view: View, rows: CacheEntry[], { by, key, inner }: Where, go: Go) {
  const { names } = view.playback.nodes;
  const cells: Record<By, { of: (row: CacheEntry) => string; show: (row: CacheEntry) => ComponentChildren }> = {
    node: { of: (row) => names[row.node], show: (row) => nodeLink(view, row.node) },
    predicate: {
      of: (row) => row.predicate,
      show: ({ predicate }) => (
        <Inline act={() => go(by, key, predicate)} title={`${predicate} only`} class="link nowrap">
          {predicate}
        </Inline>
      ),
    },
    class: {
      of: (row) => row.hash,
      show: ({ hash, class: name }) => (
        <Inline act={() => (by === "predicate" ? go(by, key, hash) : go("class", hash))} title={`class ${hash}`}>
          {ellipsis(name || hash, 44)}
        </Inline>
      ),
    },
  };
  const columns = WITHIN[by].slice(inner ? 1 : 0);
  let last = "";
  return {
    caption: "Valid entries of the cache",
    class: `list tight ${inner ? "" : "entries"}`.trim(),
    heads: [...columns, "answer", { text: "written", class: "num" }],
    rows: rows
      .filter((row) => !inner || row.predicate === (by === "predicate" ? key : inner))
      .map((row) => {
        const [outer, ...more] = columns.map((name) => cells[name]);
        const same = more.length > 0 && outer.of(row) === last;
        last = outer.of(row);
        return (
          <tr
            key={`${row.node}/${row.predicate}/${row.hash}`}
            class={same ? "again" : undefined}
            {...aboutNode(view, row.node)}
          >
            <th scope="row">{outer.show(row)}</th>
            {more.map(({ show }) => (
              <td>{show(row)}</td>
            ))}
            <td class="answer-cell">{answer(row.reasons, row.fit)}</td>
            <td class="num">{cycleLink(view, row.written)}</td>
          </tr>
        );
      }),
  };
}

// The Cache tab, This step: where every predicate's answers came from, what was invalidated, and which hits were stale.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useInTab } from "../view/asking.tsx";
import { Heading } from "../../kit/heading.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import { More } from "../../kit/more.tsx";
import { Table } from "../../kit/table.tsx";
import { $ } from "../../lib/dom.ts";
import type { CachePart, Invalidation } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { nodeLink, nodesLink, ruleLink, swatch } from "./cacheparts.tsx";
import { StaleHits } from "./cachestale.tsx";
import { LINKED, SOURCES } from "./cachewords.ts";
import { linked } from "../view/nouns.tsx";

const FIRST = 5; // invalidations that are shown at once
const HEADS: Record<string, string> = {
  hits: "hits",
  misses: "misses",
  bypassed: "bypassed",
  unreached: "not reached",
};

export function CacheStep({ view, part }: { view: View; part: CachePart }) {
  useInTab(view.store, "cache", view.store.known); // whether there are later stale hits
  const batching = part.mode === "batching";
  return (
    <div class="cache-step">
      {batching ? ranking(view, part) : <StaleHits view={view} part={part} />}
      {batching || !view.playback.reached.over ? null : invalidations(view, part)}
      {part.predicates.length ? answers(view, part) : null}
    </div>
  );
}

/** Whether the ranking of the pod before served this one, and why not. */
function ranking(view: View, part: CachePart) {
  const took =
    part.hint !== null
    && part.counts.hits > 0
    && (!view.playback.reached.over || view.playback.current?.node === part.hint);
  const text =
    part.hint === null
      ? ["No node was offered", part.bypass ? `: ${part.bypass}.` : "."]
      : took
        ? [
            nodeLink(view, part.hint),
            ", the next best of the ranking kept from an earlier pod, was offered and accepted. "
              + "No other node was evaluated.",
          ]
        : [
            nodeLink(view, part.hint),
            ", the next best of the ranking kept from an earlier pod, was offered and rejected",
            part.bypass ? `: ${part.bypass}.` : ": the pod does not fit there.",
            " All nodes were evaluated again.",
          ];
  return (
    <section class={`hint ${took ? "took" : ""}`.trim()}>
      <h3>
        Ranking of the pods before{" "}
        {took ? (
          <span class="pill pass">
            <Icon name="check" />
            used
          </span>
        ) : (
          <span class="pill">
            <Icon name="minus" />
            not used
          </span>
        )}
      </h3>
      <p>{text}</p>
      <p class="dim fine">
        {"Batching keeps the ranked list of nodes for the next pods with the same signature, as long as each fills "
          + "the node that it gets. Hits are the evaluations that this saved."}
      </p>
    </section>
  );
}

function answers(view: View, part: CachePart) {
  const batching = part.mode === "batching";
  // Batching evaluates beside any cache; to whoever reads it is evaluated all the same.
  const predicates = part.predicates.map(([name, hits, misses, bypassed, unreached]) => ({
    name,
    numbers: batching ? [hits, misses + bypassed, 0, unreached] : [hits, misses, bypassed, unreached],
  }));
  const sources = SOURCES.map(([key = "", mark = "", words = ""], i) => ({ key, mark, words, i }));
  const used = sources.filter(({ i }) => predicates.some(({ numbers }) => numbers[i]));
  const widest = Math.max(1, ...predicates.map(({ numbers }) => numbers.reduce((sum, n) => sum + n, 0)));
  const rows = predicates.map(({ name, numbers }) => (
    <tr key={name}>
      <th scope="row">
        {batching ? (
          name
        ) : (
          <Inline
            act={() => view.setSub(`map/predicate/${encodeURIComponent(name)}`)}
            title={`${name}: all that the cache holds of it`}
            class="link plain"
          >
            {name}
          </Inline>
        )}
      </th>
      <td class="bar-cell">
        <span class="source-bar" aria-hidden="true">
          {sources.map(({ mark, i }) => {
            const part = numbers[i] ?? 0;
            return part ? <i class={mark} style={{ width: `${(part / widest) * 100}%` }} /> : null;
          })}
        </span>
      </td>
      {used.map(({ i }) => (
        <td class={numbers[i] ? "num" : "num nil"}>{count(numbers[i] ?? 0)}</td>
      ))}
    </tr>
  ));
  const title = (
    <h3>
      Answers <small class="dim">in nodes, predicate by predicate</small>
    </h3>
  );
  return (
    <section class="answers">
      <Table
        rows={rows}
        heads={[
          "predicate",
          "",
          ...used.map(({ key, mark, words }) => ({
            text: batching && key === "misses" ? "evaluated" : (HEADS[key] ?? key),
            sign: swatch(mark),
            class: "num",
            title: words,
          })),
        ]}
        caption="Where each predicate's answers came from, in nodes"
        title={title}
        kept={view.lists.of("cache")}
        name="answers"
        filter="Filter predicates"
      />
      <ul class="key">
        {used.map(({ mark, words }) => (
          <li>
            {swatch(mark)}
            {batching && mark === "miss" ? "evaluated" : words}
          </li>
        ))}
      </ul>
    </section>
  );
}

function invalidations(view: View, part: CachePart) {
  const { invalidations: rows, invalidationsCount: total } = part;
  const title = (
    <Heading
      text="Invalidations"
      count={
        total
          ? `${count(total)}, clearing ${plural(part.counts.invalidated, "entry", "entries")}`
          : "none in this cycle"
      }
    />
  );
  if (!rows.length)
    return (
      <section class="invalidations">
        {title}
        <p class="dim">No event of this cycle triggered a row of the invalidation table.</p>
      </section>
    );
  return (
    <section class="invalidations">
      {title}
      <Listed key={part} view={view} rows={rows} total={total} />
      {byRule(view, part)}
    </section>
  );
}

/** The first of them, those that landed during the evaluation before all; the others on demand. */
function Listed({ view, rows, total }: { view: View; rows: Invalidation[]; total: number }) {
  const [all, setAll] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    if (all && list.current) $(`li:nth-child(${FIRST + 1}) :is(a, button, [tabindex])`, list.current)?.focus();
  }, [all]);
  const ordered = rows.map((row, i) => ({ row, i })).sort((a, b) => Number(b.row.during) - Number(a.row.during));
  const hidden = !all && rows.length > FIRST;
  return (
    <>
      <ol ref={list}>
        {ordered.slice(0, hidden ? FIRST : rows.length).map(({ row, i }) => invalidation(view, row, i))}
      </ol>
      {hidden ? (
        <button type="button" class="btn small" onClick={() => setAll(true)}>
          {`Show ${count(rows.length - FIRST)} more`}
        </button>
      ) : null}
      {hidden ? null : <More of={total} shown={rows.length} />}
    </>
  );
}

function invalidation(view: View, row: Invalidation, i: number) {
  const named = row.predicates?.slice(0, LINKED) ?? [];
  const more = (row.predicates?.length ?? 0) - named.length;
  return (
    <li class={row.during ? "during" : undefined}>
      <p class="event">
        {swatch("cleared")}
        <span class="mono">{linked(view, row.event)}</span>
        {row.during ? (
          <span class="pill stale">
            <Icon name="warn" />
            landed during evaluation
          </span>
        ) : null}
      </p>
      <p class="words">
        {ruleLink(row.rule)} {row.words}
        <small class="dim">{` ${row.source}`}</small>
      </p>
      <p class="what dim">
        {row.cleared ? <b class="num">{plural(row.cleared, "entry", "entries")}</b> : <span>nothing was cached</span>}
        {row.cleared ? " cleared of " : " of "}
        {row.predicates ? [named.join(", "), more > 0 ? ` and ${count(more)} more` : ""] : "every predicate"}
        {" on "}
        {nodesLink(view, row.nodes, row.nodesCount, `invalidated by ${row.rule}, ${i + 1}`)}
      </p>
    </li>
  );
}

/** What each row of the table has cleared over the run, the most first. */
function byRule(view: View, part: CachePart) {
  const rows = [...part.byRule].sort((a, b) => b[1] - a[1]);
  if (!rows.length) return null;
  const most = rows[0]?.[1] || 1;
  return (
    <details class="by-rule">
      <summary>
        Over the run, by row <span class="num">{`(${plural(rows.length, "row")})`}</span>
      </summary>
      <Table
        rows={rows.map(([rule, cleared]) => (
          <tr key={rule}>
            <th scope="row">{ruleLink(rule)}</th>
            <td class="bar-cell">
              <span class="source-bar" aria-hidden="true">
                <i class="cleared" style={{ width: `${(cleared / most) * 100}%` }} />
              </span>
            </td>
            <td class="num">{count(cleared)}</td>
          </tr>
        ))}
        heads={["row", "", { text: "cleared", class: "num" }]}
        caption="Entries that each row of the invalidation table cleared over the run"
        kept={view.lists.of("cache")}
        name="rules"
        filter="Filter rows of the invalidation table"
      />
    </details>
  );
}

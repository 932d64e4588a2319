// Predicates: the order as a ladder, and every predicate's answer for every node.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { CopyRows } from "../../kit/copy.tsx";
import { Empty } from "../../kit/empty.tsx";
import { Filter } from "../../kit/filter.tsx";
import type { Column, GridRows } from "../../kit/grid.tsx";
import { Heading } from "../../kit/heading.tsx";
import { Segmented } from "../../kit/segmented.tsx";
import { Select } from "../../kit/select.tsx";
import { h } from "../../lib/dom.ts";
import type { Light } from "../../lib/protocol.js";
import { count, ellipsis, shortReason } from "../../lib/quantity.ts";
import { useRedraw } from "../view/asking.tsx";
import type { List } from "../view/lists.ts";
import { describeNode } from "../view/nodewords.ts";
import { termsIn } from "../playback/terms.ts";
import { UNREACHED, type Verdict } from "../playback/verdict.ts";
import type { View } from "../view/view.ts";
import { Before, Later } from "./empty.tsx";
import { NodeGrid } from "./nodegrid.tsx";
import { Quirks } from "./quirks.tsx";
import { CHOICES, Mark, SourceKey, Sources } from "./sources.tsx";
import { Spread } from "./spread.tsx";

const NAME = 24; // characters of a node's name that fit its column
/** What a state is called, its class, and its place where a column is sorted. */
const STATES = {
  fail: ["failed", "fail", 0],
  error: ["error", "error", 1],
  skip: ["not reached", "not-reached", 2],
  pass: ["passed", "pass", 3],
} as const;
const ONLY: [value: string, text: string][] = [
  ["all", "All"],
  ["feasible", "Fit"],
  ["failed", "Failed"],
];
const values = (choices: [value: string, text: string][]) => choices.map(([value]) => value);

type PredicatesProps = {
  view: View;
  /** What stands at the end of a rule's rung. */
  rung?: (name: string) => ComponentChildren;
};

export function Predicates({ view, rung }: PredicatesProps) {
  const grid = useRef<GridRows>(null);
  const redraw = useRedraw();
  const { playback } = view;
  const light: Light | null = playback.current;
  if (!light) return <Before view={view} />;
  const { filter, rule } = termsIn(playback);
  if (playback.parts && !light.ladder.length)
    return light.result === "undecided" ? (
      <Later view={view} title={`No ${filter} has run at this moment.`} />
    ) : (
      <Empty title={`No ${filter} ran in this cycle.`}>The attempt ended earlier: see the Story.</Empty>
    );
  const list = view.lists.list("predicates", "matrix", { only: "all", from: "any" });
  view.lists.choice(list, "matrix", "only", values(ONLY));
  view.lists.choice(list, "matrix", "from", values(CHOICES));
  const sources = Sources.of(playback.parts, playback.nodes.names.length);
  // Until the parts are there nobody knows where answers came from: the filter of a link waits for them.
  if (playback.parts && !sources && list.from !== "any") {
    view.lists.absent(list, "matrix", "from");
    list.from = "any";
    view.lists.changed();
  }
  const narrow = (change: Partial<List>) => {
    Object.assign(list, change);
    view.lists.changed();
    redraw();
  };
  const { verdict, pod } = view.facts;
  const there = playback.nodes.names.flatMap((_, node) => (view.exists(node) ? [node] : []));
  const rows = verdict && there.filter((node) => shows(view, verdict, sources, list, node));
  // A failed cell asks why; every other one selects its node.
  const select = (node: number, column: string) => {
    view.selectNode(node);
    const state = column.startsWith("p") && verdict?.cell(node, Number(column.slice(1))).state;
    if (state === "fail" || state === "error") view.actions.why({ pod, node });
  };
  return (
    <>
      <Ladder {...{ view, light, sources, rung }} sort={(key) => grid.current?.sort(key)} />
      <Spread constraints={playback.parts?.predicates?.spread} />
      <section class={`matrix-section${verdict ? "" : " waiting"}`}>
        <Heading
          text={`Node × ${rule}`}
          count={
            rows
              ? rows.length === there.length
                ? `${count(rows.length)} rows`
                : `${count(rows.length)} of ${count(there.length)} rows`
              : null
          }
          live
        />
        <div class="matrix-tools">
          <Filter
            label="Filter nodes by name or reason"
            placeholder="Filter nodes"
            state={list}
            onChange={() => narrow({})}
          />
          <Segmented label="Show" options={ONLY} value={list.only} onChange={(only) => narrow({ only })} />
          <Select
            class="sources"
            aria-label="Nodes by where their answers came from"
            hidden={!sources}
            options={CHOICES}
            value={list.from}
            onChange={(from) => narrow({ from })}
          />
          <CopyRows act={() => [grid.current?.tsv() ?? "", grid.current?.count ?? 0]} />
        </div>
        <NodeGrid
          view={view}
          grid={grid}
          list={list}
          label={`Node by ${rule}`}
          className="matrix"
          columns={verdict ? columnsOf(view, verdict, sources) : []}
          rows={rows}
          none={none(list)}
          onSelect={select}
        />
        <ul class="key">
          {[STATES.pass, STATES.fail, STATES.skip].map(([words, name]) => (
            <li>
              <i class={`cell ${name}`} />
              {words}
            </li>
          ))}
          <li class="dim">a failed cell shows the reason</li>
          {sources ? <SourceKey sources={sources} /> : null}
        </ul>
      </section>
    </>
  );
}

/** Whether the filters leave a node. */
function shows(view: View, verdict: Verdict, sources: Sources | null, { only, from, find }: List, node: number) {
  const fits = verdict.fits(node);
  if (sources && !sources.shows(node, from)) return false;
  if (only === "feasible" ? !fits : only === "failed" && fits) return false;
  return (
    !find
    || view.playback.nodes.names[node].toLowerCase().includes(find)
    || verdict.reasonsOf(node).some((reason) => reason.toLowerCase().includes(find))
  );
}

/** What stands in the place of the matrix when the filters leave no node. */
function none({ only, from, find }: List) {
  const among = only === "feasible" ? " that fits" : only === "failed" ? " that failed" : "";
  if (from !== "any")
    return `No node${among} has answers like these: ${CHOICES.find(([value]) => value === from)?.[1]}.`;
  if (find) return `No node${among} and no reason matches ${find}.`;
  if (only === "feasible") return "No node fits this pod.";
  return only === "failed" ? "Every node fits this pod." : "There is no node.";
}

type LadderProps = PredicatesProps & { light: Light; sources: Sources | null; sort: (key: string) => void };

/** The order, with how many nodes each rule removed. */
function Ladder({ view, light, sources, rung, sort }: LadderProps) {
  const { ladder, alwaysCheckAll, release } = light;
  const all = ladder[0]?.[1] ?? 0;
  const saved = all * ladder.length - ladder.reduce((sum, rung) => sum + rung[1], 0);
  const answers = sources?.totals;
  const part = (n: number) => `${all ? (n / all) * 100 : 0}%`;
  return (
    <div class={sources ? "ladder cached" : "ladder"}>
      <h3>
        {release ? "Filter plugins " : "Order "}
        <small class="dim">
          {alwaysCheckAll
            ? "alwaysCheckAllPredicates: every pair is checked"
            : saved > 0
              ? `${count(saved)} of ${count(all * ladder.length)} checks saved`
              : "nothing was removed early"}
        </small>
        {answers ? (
          <small class="dim num end">
            <Mark kind="hit" />
            {` ${count(answers.h)} of ${count(answers.h + answers.m + answers.b)} from the cache`}
          </small>
        ) : null}
      </h3>
      <Quirks light={light} part="predicates" />
      <ol>
        {ladder.map(([name, into, out], i) => (
          <li key={name} class={into === 0 ? "unreached" : into !== out ? "removes" : undefined}>
            <span class="rung-at num">{i + 1}</span>
            <button
              type="button"
              class="rung-name"
              title={`${name}: sort the matrix by it`}
              onClick={() => sort(`p${i}`)}
            >
              {name}
              {view.facts.verdict?.unneeded.has(i) ? (
                <small class="dim" title="PreFilter answered Skip: the pod does not ask for it">
                  {" skipped"}
                </small>
              ) : null}
            </button>
            <span class="rung-bar" aria-hidden="true">
              <i class="kept" style={{ width: part(out) }} />
              <i class="gone" style={{ width: part(into - out) }} />
            </span>
            {sources ? <Cached {...(sources.counts[i] ?? { h: 0, m: 0, b: 0 })} /> : null}
            <span class="rung-count num">
              <span class="sr">{"nodes in and out: "}</span>
              {into === out ? count(into) : [`${count(into)} → `, <b>{count(out)}</b>]}
            </span>
            {rung?.(name)}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Of a predicate's answers those from the cache, as number and in words. */
function Cached({ h: hits, m, b }: { h: number; m: number; b: number }) {
  const asked = hits + m + b;
  const words = `${count(hits)} from the cache, ${count(m)} evaluated${b ? `, ${count(b)} beside the cache` : ""}`;
  return (
    <span class="rung-cached num" title={words}>
      {asked ? (
        <>
          <Mark kind="hit" />
          <span aria-hidden="true">{`${count(hits)}/${count(asked)}`}</span>
          <span class="sr">{words}</span>
        </>
      ) : null}
    </span>
  );
}

function columnsOf(view: View, verdict: Verdict, sources: Sources | null): Column[] {
  const { names } = view.playback.nodes;
  const { chosen } = view.facts;
  return [
    {
      key: "node",
      label: "node",
      title: "Sort by name",
      text: (node) => names[node],
      compare: (a, b) => names[a].localeCompare(names[b], "en", { numeric: true }),
      paint: (td, node) => {
        td.textContent = ellipsis(names[node], node === chosen ? NAME - 2 : NAME);
        if (td.textContent !== names[node]) td.setAttribute("aria-label", names[node]);
        td.title = describeNode(view, node);
        if (node === chosen) td.classList.add("chosen");
      },
    },
    {
      key: "verdict",
      label: "fits",
      title: `Sort by the first failed ${termsIn(view.playback).rule}`,
      vertical: true,
      downFirst: true,
      className: "fits",
      text: (node) => (verdict.fits(node) ? "fits" : verdict.reached(node) ? "failed" : UNREACHED),
      compare: (a, b) => (verdict.first[a] ?? 0) - (verdict.first[b] ?? 0),
      paint: (td, node) => {
        const [sign, tone, words]: [string, string, string] = verdict.fits(node)
          ? ["✓", "yes", "fits"]
          : verdict.reached(node)
            ? ["✕", "no", "does not fit"]
            : ["·", "", UNREACHED];
        td.textContent = sign;
        td.className = `fits ${tone}`;
        td.setAttribute("aria-label", words);
      },
    },
    ...verdict.order.map((name, predicate): Column => {
      const answer = (node: number, between: string, before: string) => {
        const { state, reasons } = verdict.cell(node, predicate);
        const words = sources?.words(node, predicate);
        return [reasons.length ? reasons.join(between) : STATES[state][0], words ? `${before}${words}` : ""];
      };
      const rank = (node: number) => STATES[verdict.cell(node, predicate).state][2];
      return {
        key: `p${predicate}`,
        label: name,
        title: `${name}: sort, failures first`,
        vertical: true,
        compare: (a, b) => rank(a) - rank(b),
        text: (node) => {
          const [text, words] = answer(node, "; ", " (");
          return words ? `${text}${words})` : String(text);
        },
        paint: (td, node) => {
          const { state, reasons } = verdict.cell(node, predicate);
          const summary = `${name}: ${answer(node, ", ", "; ").join("")}`;
          const refused = state === "fail" || state === "error";
          Object.assign(td.dataset, { ask: "filter", rule: name, of: node });
          td.className = `cell ${STATES[state][1]}`;
          td.title = refused ? `${summary}. Click to see why, and what would help` : summary;
          td.setAttribute("aria-label", summary);
          if (state === "fail")
            td.textContent = `${shortReason(reasons[0] ?? "no")}${reasons.length > 1 ? ` +${reasons.length - 1}` : ""}`;
          if (state === "error") td.textContent = "error";
          if (sources?.kind(node, predicate)) markSource(td, sources, node, predicate);
        },
      };
    }),
  ];
}

/** Mark a cell with where its answer came from; a stale one is red, whatever it is. */
function markSource(td: HTMLElement, sources: Sources, node: number, predicate: number) {
  const stale = Boolean(sources.stale(node, predicate));
  td.classList.toggle("stale", stale);
  td.classList.toggle("cleared", sources.cleared(node, predicate));
  td.prepend(h("i", { class: `from ${stale ? "wrong" : sources.kind(node, predicate)}`, "aria-hidden": "true" }));
}

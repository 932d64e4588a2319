// Cache: what came from the equivalence cache in this cycle, what was invalidated by which row, and what was stale.

import type { ComponentChildren, FunctionComponent } from "preact";
import { useInTab } from "../view/asking.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import { Segmented } from "../../kit/segmented.tsx";
import type { CacheCounts, CachePart } from "../../lib/protocol.js";
import { count, held, plural } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { CacheClasses } from "./cacheclasses.tsx";
import { CacheMap } from "./cachemap.tsx";
import { CacheOff } from "./cacheoff.tsx";
import { swatch } from "./cacheparts.tsx";
import { CacheStep } from "./cachestep.tsx";
import { CacheTime } from "./cachetime.tsx";
import { DEFINITIONS, modeWords, percent, rate, reference, REMEDIES } from "./cachewords.ts";
import { Before, Later } from "./empty.tsx";
import { podLink } from "../view/nouns.tsx";
import { Worth } from "./worth.tsx";

/** Its views, and what draws those beside that of the step. */
const VIEWS: [key: string, label: string, component?: FunctionComponent<{ view: View }>][] = [
  ["step", "This step"],
  ["map", "Map", CacheMap],
  ["classes", "Classes", CacheClasses],
  ["time", "Over time", CacheTime],
  ["worth", "Worth it?", Worth],
];
const WHOLE_RUN = new Set(["time", "worth"]); // they need no cycle
/** Of the modes that keep no results, and of a release without the cache. */
const VIEWS_OF: Record<string, Set<string>> = {
  off: new Set(["step", "worth"]),
  batching: new Set(["step", "time", "worth"]),
  gone: new Set(["step"]),
};

const MANY = 1e5; // from here on a number is shortened where there is little room
const brief = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

/** A number, and a short form of it for narrow places. */
function figure(text: string) {
  const value = Number(text.replaceAll(",", ""));
  return value >= MANY
    ? [
        <span class="exact">{text}</span>,
        <span class="brief" aria-label={text} title={text}>
          {brief.format(value)}
        </span>,
      ]
    : text;
}

export function Cache({ view }: { view: View }) {
  const { playback } = view;
  useInTab(view.store, "cache", view.store.subs);
  const { current } = playback;
  const part = current ? playback.parts?.cache : null;
  const on = part && "predicates" in part ? part : null;
  const gone = Boolean(part && "gone" in part); // this release has no equivalence cache
  const offered = VIEWS_OF[gone ? "gone" : (part?.mode ?? playback.policy?.cache)];
  const views = VIEWS.filter(([key]) => offered?.has(key) ?? true);
  const wanted = view.sub.split("/")[0];
  const [key, , Content] = views.find(([name]) => name === wanted) ?? (VIEWS[0] as (typeof VIEWS)[number]);
  const none = playback.complete && !playback.cycles; // no pod is waiting: there is nothing to measure
  let content: ComponentChildren;
  if (!current && (none || !WHOLE_RUN.has(key))) content = <Before view={view} />;
  else if (Content) content = <Content key={key} view={view} />;
  else if (!on) content = <CacheOff view={view} why={String(part && "why" in part ? part.why : "")} gone={gone} />;
  else if (unasked(view))
    content = (
      <Later view={view} title="The cache is not in use at this moment." text="It is used while the predicates run." />
    );
  else content = <CacheStep view={view} part={on} />;
  return (
    <>
      <div class="cache-head" hidden={!on}>
        {on ? about(view, on) : null}
      </div>
      <div class="cache-nav">
        {views.length > 1 ? (
          <Segmented
            class="cache-views"
            label="Views of the cache"
            options={views.map(([name, label]) => [name, label])}
            value={key}
            onChange={(name) => view.setSub(name === "step" ? "" : name)}
          />
        ) : null}
      </div>
      <div class="cache-body">{content}</div>
    </>
  );
}

/** Whether the cycle is shown before the cache was asked. */
const unasked = ({ playback: { current } }: View) =>
  current?.result === "undecided" && !current.phases.includes("predicates");

function about(view: View, part: CachePart) {
  const batching = part.mode === "batching";
  const settings = batching
    ? []
    : [`classes ${DEFINITIONS[part.equivalenceClass] ?? part.equivalenceClass}`, REMEDIES[part.staleWrites] ?? ""];
  return [
    <p class="cache-mode">
      <a
        class="pill accent"
        href={reference()}
        target="_blank"
        rel="noopener"
        title="the invalidation table, in another page"
      >{`cache ${part.mode}`}</a>
      <span class="dim">{modeWords(part)}</span>
      {batching ? null : (
        <span
          class={`pill ${part.audit ? "pass" : ""}`}
          title={part.audit ? "Every hit is checked against a fresh evaluation" : "Cached answers are not checked"}
        >
          <Icon name={part.audit ? "check" : "minus"} />
          {part.audit ? "audit on" : "audit off"}
        </span>
      )}
    </p>,
    <p class="cache-class">
      {podClass(view, part)}
      <small class="dim">
        {settings.map((text) => `${text} · `)}
        <Inline act={() => view.actions.policy("cache")} title="the cache’s settings in the Policy tab">
          settings
        </Inline>
      </small>
    </p>,
    numbers(part),
    batching || !view.playback.reached.over ? null : <p class="dim fine num">{size(part)}</p>,
  ];
}

function podClass(view: View, part: CachePart) {
  const { current } = view.playback;
  // Its class is found when the cache is asked.
  if (!current || unasked(view)) return null;
  const pod = podLink(view, view.playback.pods.keys[current.pod]);
  const { class: own } = part;
  if (own)
    return (
      <>
        {pod}
        {part.mode === "batching" ? " has the signature " : " is of class "}
        <Inline act={() => view.setSub(`classes/${own.hash}`)} title={`class ${own.hash}: its members`}>
          {own.name || own.hash}
        </Inline>
        <span class="dim">{own.members ? ` of ${plural(own.members, "pod")}. ` : ". "}</span>
        {part.bypass ? <span class="dim">{`${part.bypass}. `}</span> : null}
      </>
    );
  if (part.mode === "batching") return [pod, ". "];
  return [pod, <strong>{" has no class"}</strong>, part.bypass ? `: ${part.bypass}. ` : ". "];
}

function size(part: CachePart) {
  const evicted =
    part.evictedClasses || part.evictedEntries
      ? `; evicted ${count(part.evictedEntries ?? 0)} of ${plural(part.evictedClasses ?? 0, "class", "classes")}`
      : "";
  const entries = plural(part.entries ?? 0, "valid entry", "valid entries");
  const classes = plural(part.classes ?? 0, "class", "classes");
  return `${entries} · ${held(part.bytes ?? 0)} · ${classes} after this cycle${evicted}`;
}

type Column = [mark: string, label: string, title: string, text: (counts: CacheCounts) => string];

function numbers(part: CachePart) {
  const batching = part.mode === "batching";
  const offered: (Column | null)[] = [
    [
      "hit",
      "hits",
      batching ? "Evaluations that the kept ranking saved" : "Answers taken from the cache",
      (c) => count(c.hits),
    ],
    ["miss", "evaluated", "Pairs of predicate and node that were evaluated", (c) => count(c.evaluations)],
    ["", "hit rate", "Hits of all answers", (c) => percent(rate(c.hits, c.evaluations))],
    batching ? null : ["cleared", "invalidated", "Entries that events cleared", (c) => count(c.invalidated)],
    batching
      ? null
      : [
          "stale",
          "stale",
          part.audit ? "Hits whose answer was stale" : "The audit is off",
          (c) => (part.audit ? count(c.stale) : "–"),
        ],
  ];
  const columns = offered.filter((column) => column !== null);
  const row = (label: ComponentChildren, counts: CacheCounts) => (
    <tr>
      <th scope="row">{label}</th>
      {columns.map(([mark, , , text]) => {
        const bad = mark === "stale" && counts.stale > 0;
        return (
          <td class={`num${bad ? " stale-text" : ""}`}>
            {bad ? <Icon name="warn" /> : null}
            {figure(text(counts))}
          </td>
        );
      })}
    </tr>
  );
  return (
    <table class="cache-numbers">
      <caption class="sr">The cache in numbers</caption>
      <thead>
        <tr>
          <td />
          {columns.map(([mark, label, title]) => (
            <th scope="col" title={title}>
              {mark ? swatch(mark) : null}
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {row([<span class="more">{"this "}</span>, "cycle"], part.counts)}
        {row(["run", <span class="more">{" so far"}</span>], part.totals)}
      </tbody>
    </table>
  );
}

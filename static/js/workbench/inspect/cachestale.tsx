// Stale hits of a cycle: what the cache answered, what is true, and the event that should have cleared the entry.

import type { ComponentChildren } from "preact";
import { Heading } from "../../kit/heading.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Table } from "../../kit/table.tsx";
import { toast } from "../../lib/dom.ts";
import type { CachePart, StaleHit } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { CauseList, answer, because, cycleLink, lighting, nodeLink } from "./cacheparts.tsx";
import { aboutNode, linked } from "../view/nouns.tsx";

const LISTED = 8; // nodes of a card

/** The section of stale hits, with the way to other cycles that have some. */
export function StaleHits({ view, part }: { view: View; part: CachePart }) {
  if (!part.audit) return unaudited(view);
  const here = part.counts.stale;
  const groups = grouped(part.stale);
  return (
    <section class={`stale-hits ${here ? "some" : "none"}`}>
      <div class="stale-head">
        <h3>
          <Icon name={here ? "warn" : "check"} />
          {here ? plural(here, "stale hit") : "No stale hit in this cycle"}
        </h3>
        <span class="grow" />
        {jumps(view)}
      </div>
      {groups.length ? <ol>{groups.map((group, i) => card(view, group, i, here > part.stale.length))}</ol> : null}
      {here > part.stale.length ? (
        <p class="dim fine">{`and ${count(here - part.stale.length)} more of this cycle`}</p>
      ) : null}
      {part.causes.length ? causes(part) : null}
    </section>
  );
}

type Missed = Pick<StaleHit, "node" | "event" | "written">;
type Hits = Omit<StaleHit, keyof Missed> & { found: Missed[] };

/** Hits that are the same for several nodes are listed once, each node with the event that it missed. */
function grouped(hits: StaleHit[]) {
  const groups = new Map<string, Hits>();
  for (const { node, event, written, ...rest } of hits) {
    const key = JSON.stringify(rest);
    const group = groups.get(key) ?? { ...rest, found: [] };
    groups.set(key, group);
    group.found.push({ node, event, written });
  }
  return [...groups.values()];
}

function card(view: View, hit: Hits, i: number, more: boolean) {
  const { found } = hit;
  const nodes = found.map(({ node }) => node);
  const { names } = view.playback.nodes;
  const listed = found.length > LISTED + 1 ? LISTED : found.length;
  const line = (term: string, what: ComponentChildren) => (
    <div>
      <dt>{term}</dt>
      <dd>{what}</dd>
    </div>
  );
  return (
    <li>
      <p class="stale-title">
        <b class="mono">{hit.predicate}</b>
        {" on "}
        {nodes.length === 1 && nodes[0] !== undefined ? (
          nodeLink(view, nodes[0])
        ) : (
          <button
            type="button"
            class="link lights"
            title="highlight on the stage"
            {...lighting(view, nodes, `stale hits of ${hit.predicate}, ${i + 1}`)}
          >{`${plural(nodes.length, "node")}${more ? " or more" : ""}`}</button>
        )}
      </p>
      <dl>
        {line("cached", answer(hit.cached))}
        {line("true", answer(hit.true))}
        {line(
          "cause",
          because(hit.cause.startsWith(`${hit.predicate}: `) ? hit.cause.slice(hit.predicate.length + 2) : hit.cause),
        )}
      </dl>
      <Table
        class="missed"
        rows={found.slice(0, listed).map(({ node, event, written }) => (
          <tr key={node} {...aboutNode(view, node)}>
            <th scope="row">{nodeLink(view, node, 60)}</th>
            <td>
              {event ? (
                <span class="mono">{linked(view, event.replace(` on ${names[node]}`, ""))}</span>
              ) : (
                <span class="dim">none of the table</span>
              )}
            </td>
            <td class="num">{cycleLink(view, written)}</td>
          </tr>
        ))}
        heads={["node", "the event that it missed", { text: "written", class: "num" }]}
        caption={`The event that each node's entry of ${hit.predicate} missed`}
        title={<span class="dim fine">node by node</span>}
        kept={view.lists.of("cache")}
        name={hit.predicate}
      />
      {listed < found.length ? <p class="dim fine">{`and ${plural(found.length - listed, "node")} more`}</p> : null}
    </li>
  );
}

function jumps(view: View) {
  const { playback } = view;
  const { marks, index } = playback;
  if (!marks.staleCycles && view.seen.last >= playback.cycles) return null;
  const jump = (direction: number, label: string, name: string) => {
    const to = marks.seekStale(index, direction);
    return (
      <button
        type="button"
        class="btn small"
        data-stale={name}
        disabled={!to && (direction < 0 || view.seen.last >= playback.cycles)}
        aria-label={`${label} stale hit${to && view.seen.knows(to) ? `, cycle ${to}` : ""}`}
        onClick={(event) => {
          if (to) playback.goto(to, event.timeStamp);
          else toast("No later cycle has a stale hit.");
        }}
      >
        {direction < 0 ? <Icon name="left" /> : null}
        {label}
        {direction > 0 ? <Icon name="right" /> : null}
      </button>
    );
  };
  return (
    <span class="jumps" role="group" aria-label="Cycles with stale hits">
      {jump(-1, "Previous", "left")}
      {jump(1, "Next", "right")}
    </span>
  );
}

function causes(part: CachePart) {
  const rows = [...part.causes].sort((a, b) => b[1] - a[1]);
  return (
    <div class="causes">
      <Heading text="Causes over the run so far" count={plural(part.totals.stale, "stale hit")} level={4} />
      <CauseList causes={rows} />
    </div>
  );
}

/** Without the audit nobody knows; on one's own draft it is one click away. */
function unaudited(view: View) {
  const { settings } = view;
  return (
    <section class="stale-hits unaudited">
      <p>
        <b>{"The audit is off. "}</b>
        <span class="dim">
          {"With it, every hit is checked against a fresh evaluation, and stale ones are shown here with their "
            + "cause."}
        </span>
      </p>
      {settings?.mine ? (
        <button
          type="button"
          class="btn small"
          disabled={settings.dirty()}
          onClick={() => settings.change([["setting", "audit", "true"]], "The audit is on")}
        >
          Switch the audit on
        </button>
      ) : null}
    </section>
  );
}

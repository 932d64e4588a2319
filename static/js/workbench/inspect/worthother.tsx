// A scenario in two modes of the cache: both runs in numbers, and the first cycle that ends differently with both
// decisions.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { Table } from "../../kit/table.tsx";
import { toast } from "../../lib/dom.ts";
import type { Divergence, Side, SideDecision } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import type { View } from "../view/view.ts";
import { CauseList, answer, cycleLink, ruleLink } from "./cacheparts.tsx";
import { nodeLink, podLink } from "../view/nouns.tsx";
import { looks } from "./worthwords.tsx";

const RESULTS: Record<string, [mark: string, sign: string, word: string]> = {
  scheduled: ["pass", "check", "scheduled"],
  unschedulable: ["fail", "cross", "unschedulable"],
};
const ERROR: [string, string, string] = ["stale", "warn", "error"];
const VICTIMS = 6;
const STALE = 2; // stale hits shown in detail

/** The settings that were asked about. */
export type Chosen = { cache: string; equivalenceClass?: string; staleWrites?: string };
type PartingProps = { view: View; answer: Divergence; chosen: Chosen };

export function Parting({ view, answer: { here, there, differing, first }, chosen }: PartingProps) {
  const names =
    here.cache === there.cache
      ? [`${here.cache}, as it is`, `${there.cache}, as chosen`]
      : [here, there].map(({ cache }) => looks(cache).label);
  return (
    <>
      <p class="story worth-verdict">
        {first ? (
          <>
            <strong>
              {`${differing ? plural(differing, "pod") : "No pod"} ${differing > 1 ? "end" : "ends"} elsewhere.`}
            </strong>
            {" The first cycle with a different decision is "}
            {cycleLink(view, first.index)}.
          </>
        ) : (
          <>
            <Icon name="check" />
            <strong>All decisions are identical</strong> in both modes, and every pod is on the same node.
          </>
        )}
      </p>
      {first ? <Decisions view={view} first={first} names={names} /> : null}
      <div class="worth-act">
        {first ? (
          <button type="button" class="btn" onClick={(event) => view.playback.goto(first.index, event.timeStamp)}>
            <Icon name="step" />
            {`Go to cycle ${count(first.index)}`}
          </button>
        ) : null}
        {view.settings?.canFork ? <CopyButton view={view} chosen={chosen} step={first?.index} /> : null}
      </div>
      <Numbers sides={[here, there]} names={names} />
      {[here, there].map(({ causes }, i) =>
        causes.length ? (
          <div class="causes">
            <h4>{`Why answers were stale under ${names[i]}`}</h4>
            <CauseList causes={causes} />
          </div>
        ) : null,
      )}
    </>
  );
}

type First = NonNullable<Divergence["first"]>;

function Decisions({ view, first, names }: { view: View; first: First; names: string[] }) {
  const sides = [first.here, first.there];
  return (
    <section class="worth-first" aria-label={`Cycle ${first.index} in both modes`}>
      <div class="worth-sides">
        {sides.map((side, i) => (
          <article class="worth-side">
            <h4>
              {names[i]} <small class="dim">{i ? "the other mode" : "as it runs here"}</small>
            </h4>
            {side ? <Decision view={view} side={side} /> : <p class="dim">This run has ended.</p>}
          </article>
        ))}
      </div>
      <p class="worth-words">{first.words}</p>
      {sides.map((side, i) => (side?.stale.length ? <Believed view={view} hits={side.stale} name={names[i]} /> : null))}
    </section>
  );
}

function Decision({ view, side }: { view: View; side: SideDecision }) {
  const { pod, node, nominated, victims, message, result } = side;
  const [mark, sign, word] = RESULTS[result] ?? ERROR;
  return (
    <>
      <p>{podLink(view, pod)}</p>
      <p>
        <span class={`pill ${mark}`}>
          <Icon name={sign} />
          {word}
        </span>
        {node ? [" on ", nodeLink(view, node)] : null}
      </p>
      {nominated ? (
        <p>
          {victims.length ? "preempts " : "is nominated without a victim"}
          {victims.slice(0, VICTIMS).map((key, i) => [i ? ", " : "", podLink(view, key)])}
          {victims.length > VICTIMS ? ` and ${count(victims.length - VICTIMS)} more` : ""}
          {" on "}
          {nodeLink(view, nominated)}
        </p>
      ) : null}
      {message ? <p class="dim fine">{message}</p> : null}
    </>
  );
}

type BelievedProps = { view: View; hits: SideDecision["stale"]; name: string };

/** The stale hits of one side in that cycle, those on the nodes in question first. */
function Believed({ view, hits, name }: BelievedProps) {
  const line = (term: string, what: ComponentChildren) => (
    <div>
      <dt>{term}</dt>
      <dd>{what}</dd>
    </div>
  );
  return (
    <section class="stale-hits some">
      <h4>
        <Icon name="warn" />
        {`Stale in this cycle under ${name}`}
      </h4>
      <ol>
        {hits.slice(0, STALE).map((hit) => (
          <li>
            <p class="stale-title">
              <b class="mono">{hit.predicate}</b>
              {" on "}
              {nodeLink(view, hit.node)}
            </p>
            <dl>
              {line("cached", answer(hit.cached))}
              {line("true", answer(hit.true))}
              {line("written", ["in cycle ", cycleLink(view, hit.written)])}
              {hit.event
                ? line("missed", [
                    <span class="mono">{hit.event}</span>,
                    hit.rule ? [" (row ", ruleLink(hit.rule), ")"] : null,
                  ])
                : null}
            </dl>
          </li>
        ))}
      </ol>
    </section>
  );
}

const NUMBERS: [label: string, text: (side: Side) => string][] = [
  ["cycles", (side) => count(side.cycles)],
  ["placed", (side) => count(side.placed)],
  ["evaluations", (side) => count(side.evaluations)],
  ["hits", (side) => count(side.hits)],
  ["stale hits", (side) => (side.audit ? count(side.stale) : "–")],
];

const Numbers = ({ sides, names }: { sides: Side[]; names: string[] }) => (
  <Table
    rows={NUMBERS.map(([label, text]) => (
      <tr>
        <th scope="row">{label}</th>
        {sides.map((side) => (
          <td class={`num ${label === "stale hits" && side.stale ? "stale-text" : ""}`}>{text(side)}</td>
        ))}
      </tr>
    ))}
    heads={["", ...names.map((text) => ({ text, class: "num" }))]}
    caption="Both runs in numbers"
    class="list tight worth-table"
    title={<h4>In numbers</h4>}
    sorts={false}
  />
);

function CopyButton({ view: { playback }, chosen, step }: { view: View; chosen: Chosen; step: number | undefined }) {
  const [busy, setBusy] = useState(false);
  const open = async () => {
    setBusy(true);
    try {
      const asked = { source: playback.source, ...chosen, audit: "true" };
      const { url } = await playback.socket.call("worth.copy", asked);
      const query = new URLSearchParams({ ...(step === undefined ? {} : { step: String(step) }), tab: "cache" });
      location.assign(`${new URL(url, location.origin).pathname}?${query}`);
    } catch (error) {
      setBusy(false);
      toast(`It could not be copied: ${refusalOf(error).message}`, { name: "warn", ms: 6000 });
    }
  };
  return (
    <button type="button" class="btn" disabled={busy} onClick={() => void open()}>
      <Icon name="fork" />
      Open in a copy with this mode
    </button>
  );
}

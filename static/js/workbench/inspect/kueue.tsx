// Kueue: who has the quota, who waits in which order, what the last cycles decided about their heads, and where the
// pods of placed Workloads are in the topologies.

import { Empty } from "../../kit/empty.tsx";
import { More } from "../../kit/more.tsx";
import type { KueueCycle, KueueHead, KueueNode, KueuePart, KueueQueue, KueueTopology } from "../../lib/protocol.js";
import { clock, count, plural, short, trim } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { Before } from "./empty.tsx";
import { Questions, WhyWaits } from "./kueueasked.tsx";
import type { Content } from "./panel.tsx";

const OUTCOMES: Record<string, string> = {
  admitted: "pass",
  preempts: "victim",
  evicted: "victim",
  waits: "wait",
  skipped: "wait",
  inadmissible: "fail",
};

export function Kueue({ view, part }: Content<"kueue">) {
  const { playback } = view;
  if (!("tree" in part)) return <Empty title="Kueue holds nothing here.">{String(part.why)}</Empty>;
  if (!playback.current && !playback.atEnd) return <Before view={view} />;
  return (
    <>
      <Cycles view={view} part={part} />
      <Tree part={part} />
      <Queues view={view} part={part} />
      <Questions view={view} part={part} />
      {part.topologies.map((one) => (
        <Topology key={one.flavor} topology={one} />
      ))}
    </>
  );
}

// The quota tree

function Tree({ part: { tree, treeCount, fair } }: { part: KueuePart }) {
  return (
    <section>
      <h3>
        Quota
        <small class="dim kueue-legend">
          <span class="own">used</span>
          <span class="borrowed">borrowed</span>
          <span class="lent">lent to others</span>
        </small>
      </h3>
      <div class="kueue-scroll" tabIndex={0}>
        <table class="list tight kueue-tree">
          <caption class="sr">Cohorts and queues with their quota of each flavor</caption>
          <thead>
            <tr>
              {["cohort or queue", "flavor", "used of its quota"].map((text) => (
                <th scope="col">{text}</th>
              ))}
              {fair ? (
                <th scope="col" title="dominant resource share: borrowed by what could be lent, by weight">
                  share
                </th>
              ) : null}
            </tr>
          </thead>
          {tree.map((node) => (
            <TreeNode key={`${node.queue} ${node.name}`} node={node} fair={fair} />
          ))}
        </table>
      </div>
      <More of={treeCount} shown={tree.length} class="dim" />
    </section>
  );
}

function TreeNode({ node, fair }: { node: KueueNode; fair: boolean }) {
  const { name, depth, queue, quotas, why, share, weight } = node;
  const title = queue ? `ClusterQueue ${name} (${node.strategy})` : `Cohort ${name}`;
  const head = (
    <th scope="row" rowSpan={Math.max(1, quotas.length)} title={title}>
      <span class="kueue-name" style={{ marginLeft: `${depth * 14}px` }}>
        {queue ? name : <b>{name}</b>}
      </span>
      {queue ? <Counts node={node} /> : <small class="dim"> cohort</small>}
      {why ? <small class="fail-text kueue-why">{why}</small> : null}
    </th>
  );
  const last = fair ? (
    <td class="num" rowSpan={Math.max(1, quotas.length)}>
      {share < 0 ? "∞" : trim(share)}
      {weight === 1 ? null : <small class="dim">{` weight ${trim(weight)}`}</small>}
    </td>
  ) : null;
  if (!quotas.length)
    return (
      <tbody>
        <tr>
          {head}
          <td class="dim" colSpan={2}>
            no quota of its own
          </td>
          {last}
        </tr>
      </tbody>
    );
  return (
    <tbody>
      {quotas.map(([flavor, resource, [quota, used, borrowed, lent, free], [borrowing, lending], bar], at) => (
        <tr>
          {at ? null : head}
          <td>
            {flavor} <small class="dim">{resource}</small>
          </td>
          <td>
            <Bar bar={bar} label={`${used} of ${quota} used, ${borrowed} borrowed, ${lent} lent`} />
            <small>{`${used} / ${quota}`}</small>
            <small class="dim">{amounts(borrowed, borrowing, lent, lending, free)}</small>
          </td>
          {at ? null : last}
        </tr>
      ))}
    </tbody>
  );
}

/** What is borrowed, lent and still free, with the limits. */
function amounts(borrowed: string, borrowing: string, lent: string, lending: string, free: string) {
  const texts = [
    borrowed === "0" && !borrowing ? "" : `${borrowed} borrowed${borrowing ? ` (limit ${borrowing})` : ""}`,
    lent === "0" && !lending ? "" : `${lent} lent${lending ? ` (limit ${lending})` : ""}`,
    `${free} available`,
  ];
  return ` · ${texts.filter(Boolean).join(" · ")}`;
}

function Counts({ node: { pending, waiting, reserving } }: { node: KueueNode }) {
  const texts = [
    reserving ? `${count(reserving)} running` : "",
    pending ? `${count(pending)} pending` : "",
    waiting ? `${count(waiting)} waiting for an event` : "",
  ].filter(Boolean);
  return texts.length ? <small class="dim">{` ${texts.join(", ")}`}</small> : null;
}

function Bar({ bar: [own, borrowed, lent], label }: { bar: [number, number, number]; label: string }) {
  return (
    <span class="kueue-bar" role="img" aria-label={label} title={label}>
      <i class="own" style={{ width: `${own}%` }} />
      <i class="borrowed" style={{ left: `${own}%`, width: `${borrowed}%` }} />
      <i class="lent" style={{ left: `${Math.max(0, 100 - lent)}%`, width: `${lent}%` }} />
    </span>
  );
}

// The queues

function Queues({ view, part: { queues, queueCount } }: { view: View; part: KueuePart }) {
  if (!queues.length)
    return (
      <section>
        <h3>Queues</h3>
        <p class="dim">Nothing is pending.</p>
      </section>
    );
  return (
    <section>
      <h3>Queues</h3>
      {queues.map((queue) => (
        <QueueList key={queue.name} view={view} queue={queue} />
      ))}
      <More of={queueCount} shown={queues.length} class="dim" />
    </section>
  );
}

function QueueList({ view, queue }: { view: View; queue: KueueQueue }) {
  const { name, sticky, active, activeCount, inadmissible, inadmissibleCount } = queue;
  return (
    <div class="kueue-queue">
      <h4>
        {name}
        <small class="dim">{`${count(activeCount)} in order, ${count(inadmissibleCount)} waiting for an event`}</small>
      </h4>
      <ol>
        {active.map((row) => (
          <Pending key={row[0]} view={view} row={row} sticky={row[0] === sticky} />
        ))}
      </ol>
      <More of={activeCount} shown={active.length} class="dim" />
      <ul>
        {inadmissible.map((row) => (
          <Pending key={row[0]} view={view} row={row} sticky={false} />
        ))}
      </ul>
      <More of={inadmissibleCount} shown={inadmissible.length} class="dim" />
    </div>
  );
}

type PendingProps = { view: View; row: KueueQueue["active"][number]; sticky: boolean };

function Pending({ view, row, sticky }: PendingProps) {
  const [workload, priority, since, asks, message] = row;
  return (
    <li>
      <b title={`Workload ${workload}`}>{short(workload)}</b>
      <small class="dim">{` priority ${priority}, since ${clock(Math.max(0, since))}, asks ${asks || "0"}`}</small>
      {sticky ? <span class="pill victim">kept at the head: it preempts</span> : null}
      {message ? <p class="dim">{message}</p> : null}
      <WhyWaits view={view} about={workload} />
    </li>
  );
}

// The cycles

function Cycles({ view, part: { cycles, cycleCount } }: { view: View; part: KueuePart }) {
  const newest = [...cycles].reverse();
  return (
    <section>
      <h3>
        {plural(cycleCount, "cycle")}
        <small class="dim">those that changed something, the newest first</small>
      </h3>
      {newest.length ? null : <p class="dim">No cycle so far: nothing was queued.</p>}
      {newest.map((cycle, at) => (
        <Cycle key={cycle.number} view={view} cycle={cycle} open={!at} />
      ))}
    </section>
  );
}

type CycleProps = { view: View; cycle: KueueCycle; open: boolean };

function Cycle({ view, cycle: { number, time, heads, headCount, crashes }, open }: CycleProps) {
  return (
    <details class="kueue-cycle" open={open}>
      <summary>
        {`Cycle ${number} at ${clock(time)}`}
        {heads
          .slice(0, 6)
          .map(({ workload, outcome }) => [
            " ",
            <span class={`pill ${OUTCOMES[outcome] ?? ""}`} title={outcome}>{`${short(workload)} ${outcome}`}</span>,
          ])}
      </summary>
      {crashes.map((text) => (
        <p class="fail-text">{text}</p>
      ))}
      {heads.map((head) => (
        <Head key={head.workload} view={view} head={head} />
      ))}
      <More of={headCount} shown={heads.length} class="dim" />
    </details>
  );
}

function Head({ view, head }: { view: View; head: KueueHead }) {
  const { workload, queue, priority, outcome, borrowing, message, flavors, targets, domains } = head;
  return (
    <div class="kueue-head">
      <h4>
        <span title={`Workload ${workload}`}>{short(workload)}</span>
        <small class="dim">{`${queue}, priority ${priority}`}</small>
        <span class={`pill ${OUTCOMES[outcome] ?? ""}`}>{outcome}</span>
        {borrowing ? <small class="dim">{`borrows from a cohort ${borrowing} up`}</small> : null}
      </h4>
      {flavors.length ? (
        <ul class="kueue-flavors">
          {flavors.map(([podSet, flavor, taken, verdict]) => (
            <li class={taken ? "taken" : ""}>
              <small class="dim">{podSet}</small> <b>{flavor}</b>{" "}
              {verdict.slice(flavor.length + 1, -1).replaceAll(";", "; ")}
              {taken ? <span class="sr"> taken</span> : null}
            </li>
          ))}
        </ul>
      ) : null}
      {message ? <p>{message}</p> : null}
      {domains.map(([podSet, text]) => (
        <p class="dim">{`placed (${podSet}): ${text}`}</p>
      ))}
      {targets.length ? (
        <p>{`preempts ${targets.map(([key, reason]) => `${short(key)} (${reason})`).join(", ")}`}</p>
      ) : null}
      <Candidates head={head} />
      {outcome === "admitted" ? null : <WhyWaits view={view} about={workload} />}
    </div>
  );
}

function Candidates({ head: { considered } }: { head: KueueHead }) {
  if (!considered.length) return null;
  return (
    <details>
      <summary>{plural(considered.length, "candidate")} for preemption, in order</summary>
      <ol>
        {considered.map(([key, queue, priority, verdict]) => (
          <li>
            <b title={`Workload ${key}`}>{short(key)}</b>
            <small class="dim">{` ${queue}, priority ${priority}: `}</small>
            {verdict}
          </li>
        ))}
      </ol>
    </details>
  );
}

// The topologies

function Topology({ topology: { flavor, topology, levels, domains, domainCount } }: { topology: KueueTopology }) {
  return (
    <section>
      <h3>
        {`Topology ${topology}`}
        <small class="dim">{`flavor ${flavor}: ${levels.join(" › ")}`}</small>
      </h3>
      <div class="kueue-scroll" tabIndex={0}>
        <table class="list tight">
          <caption class="sr">{`Domains of flavor ${flavor}`}</caption>
          <thead>
            <tr>
              {["domain", "placed pods", "they use", "free"].map((text) => (
                <th scope="col">{text}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {domains.map(([depth, name, free, used, pods]) => (
              <tr>
                <th scope="row">
                  <span class="kueue-name" style={{ marginLeft: `${depth * 14}px` }}>
                    {depth === levels.length - 1 ? name : <b>{name}</b>}
                  </span>
                </th>
                <td class="num">{pods || ""}</td>
                <td class="num">{used}</td>
                <td class="num">{free}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More of={domainCount} shown={domains.length} class="dim" />
    </section>
  );
}

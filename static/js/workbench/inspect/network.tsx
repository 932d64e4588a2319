// Flow: the network of a round of Firmament. Arcs from task classes to machines with flow, capacity and cost, the
// aggregator that takes what stays pending, and each pod's path with the next best.

import { useInTab } from "../view/asking.tsx";
import { Empty } from "../../kit/empty.tsx";
import { Heading } from "../../kit/heading.tsx";
import { More } from "../../kit/more.tsx";
import { Table } from "../../kit/table.tsx";
import type { NetworkClass, NetworkPart, NetworkPhase } from "../../lib/protocol.js";
import { amount, clock, count, plural, short } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { Before } from "./empty.tsx";
import { Drawing } from "./network/drawing.tsx";
import { linked, nodeLink, podLink } from "../view/nouns.tsx";
import type { Content } from "./panel.tsx";

const KINDS: Record<string, string> = {
  batch: "jobs without affinity between pods",
  affinity: "jobs with affinity that do not conflict",
  queue: "a pod of the queue",
};

export function Network({ view, part }: Content<"network">) {
  useInTab(view.store, "network", view.store.selection);
  if (!view.playback.current) return <Before view={view} />;
  if (!("phases" in part))
    return (
      <Empty title="No flow network here.">
        <span>{String(part.why)}</span>
        <span>Pods with schedulerName: poseidon are placed by one, every ten seconds.</span>
      </Empty>
    );
  const pod = view.playback.pods.keys[view.pod] ?? ""; // whose path is marked
  return (
    <>
      {head(part)}
      {part.phases.map((phase, place) => problem(view, part, phase, place, pod))}
      {paths(view, part, pod)}
      {left(view, part)}
    </>
  );
}

function head(part: NetworkPart) {
  const more = part.phaseCount - part.phases.length;
  return (
    <header>
      <h3>
        {`Round ${count(part.number)}`}
        <small class="dim num">{`t = ${clock(part.time)}`}</small>
        <a class="ref" href="/reference/firmament/">
          reference
        </a>
      </h3>
      <p class="dim">
        {`${plural(part.phaseCount, "flow problem")}${more > 0 ? `, ${count(more)} of them not shown` : ""}. `
          + `To leave a pod pending costs ${count(part.unscheduledCost)}.`}
      </p>
    </header>
  );
}

function problem(view: View, part: NetworkPart, phase: NetworkPhase, place: number, marked: string) {
  const path = part.paths.find(([pod, number]) => pod === marked && number === place);
  const hidden = phase.classCount - phase.classes.length;
  return (
    <section class="network-phase" aria-label={`Flow problem ${place + 1}`}>
      <h4>
        {`${place + 1} · ${phase.kind}`}
        <small class="dim">{KINDS[phase.kind] ?? ""}</small>
        <span class="pill">{`cost ${count(phase.cost)}`}</span>
        {phase.unscheduled ? <span class="pill fail">{`${count(phase.unscheduled)} pending`}</span> : null}
      </h4>
      {phase.dropped.length ? (
        <p>{`Fewer pods than the gang needs, so none is placed: ${phase.dropped.map(short).join(", ")}.`}</p>
      ) : null}
      <Drawing phase={phase} path={path ? { of: path[2], node: path[3] } : null} />
      {phase.classes.map((one) => taskClass(view, one))}
      {hidden > 0 ? <p class="dim">{`and ${count(hidden)} more task classes`}</p> : null}
    </section>
  );
}

function taskClass(view: View, one: NetworkClass) {
  const [cpu, memory] = one.request;
  const refused = Object.entries(one.refused).map(([why, machines]) => `${count(machines)} by ${why}`);
  const hidden = one.arcCount - one.arcs.length;
  const rows = one.arcs.map(([to, machines, flow, capacity, cost, paid]) => (
    <tr class={flow ? "" : "dim"}>
      <th scope="row">
        {view.playback.nodeIndex.has(to) ? nodeLink(view, to) : `${plural(machines, "machine")} of ${to}`}
      </th>
      <td class="num">{count(flow)}</td>
      <td class="num">{count(capacity)}</td>
      <td class="num">{count(cost)}</td>
      <td class="num">{flow ? count(paid) : ""}</td>
    </tr>
  ));
  return (
    <details class="network-class">
      <summary>
        <b>{one.name}</b>
        {` ${plural(one.tasks, "pod")} of ${amount("cpu", cpu)} CPU, ${amount("memory", memory)}`}
        {one.unscheduled ? <span class="dim">{`, ${count(one.unscheduled)} to the aggregator`}</span> : null}
      </summary>
      {refused.length ? <p class="dim">{`Machines without an arc: ${refused.join(", ")}.`}</p> : null}
      {rows.length ? (
        <table class="list tight">
          <caption class="sr">{`Arcs of ${one.name}`}</caption>
          <thead>
            <tr>
              <th scope="col">arc to</th>
              {["flow", "capacity", "cheapest", "paid"].map((text) => (
                <th scope="col" class="num">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{rows}</tbody>
        </table>
      ) : null}
      {hidden > 0 ? <p class="dim">{`and ${plural(hidden, "arc")} more, without flow`}</p> : null}
    </details>
  );
}

function paths(view: View, part: NetworkPart, marked: string) {
  if (!part.paths.length) return null;
  const rows = part.paths.map(([pod, , , node, index, cost, next, nextCost, why]) => (
    <tr key={pod} class={pod === marked ? "now" : ""}>
      <th scope="row">{podLink(view, pod, { dot: false })}</th>
      <td class="network-way">
        {node ? [nodeLink(view, node), ` as its ${ordinal(index)} further pod`] : "the aggregator: stays pending"}
        {why ? <span class="dim network-why">{linked(view, why)}</span> : null}
      </td>
      <td class="num">{count(cost)}</td>
      <td class="network-way">
        {next ? [nodeLink(view, next), <span class="num dim">{` ${count(nextCost)}`}</span>] : "none free"}
      </td>
    </tr>
  ));
  return (
    <section>
      <Table
        rows={rows}
        heads={["pod", "its path", { text: "cost", class: "num" }, "next best"]}
        caption="Paths of the pods through the network"
        title={<Heading text="Paths" count={part.pathCount} level={4} />}
        filter="Filter paths"
        kept={view.lists.of("network")}
        name="paths"
      />
      <More of={part.pathCount} shown={part.paths.length} class="dim" />
    </section>
  );
}

function left(view: View, part: NetworkPart) {
  if (!part.leftAlone.length) return null;
  return (
    <section>
      <h4>Not in the network</h4>
      <ul class="network-left">
        {part.leftAlone.map(([pod, why]) => (
          <li>
            {podLink(view, pod, { dot: false })}
            {`: ${why}`}
          </li>
        ))}
      </ul>
    </section>
  );
}
const ordinal = (index: number) => ["first", "second", "third"][index] ?? `${index + 1}th`;

// The resource check of PreFilter: the need, and what each node in turn has left to take off it.

import { Icon } from "../../kit/icon.tsx";
import { More } from "../../kit/more.tsx";
import { Table } from "../../kit/table.tsx";
import type { ResourceCheck as Check } from "../../lib/protocol.js";
import { amount } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { aboutNode, nodeLink } from "../view/nouns.tsx";

const list = (amounts: Record<string, number>) =>
  Object.entries(amounts)
    .map(([resource, value]) => `${resource} ${amount(resource, value)}`)
    .join(", ");

export function ResourceCheck({ view, check }: { view: View; check: Check | null }) {
  if (!check) return null;
  const { enough, need, gap, nodes, nodeCount } = check;
  return (
    <section class="gang-check">
      <h4>
        <span class={`sign ${enough ? "pass-text" : "fail-text"}`}>
          <Icon name={enough ? "check" : "cross"} />
        </span>
        {`Resource check: ${enough ? "enough" : "not enough"}`}
      </h4>
      <p class="fine">
        Needs <b class="num">{list(need)}</b>
        {enough ? null : [", has a gap of ", <b class="num fail-text">{list(gap)}</b>]}
        {". "}
        <span class="dim">A sum over nodes: fragmentation is not considered, nor are taints and affinity.</span>
      </p>
      <Table
        rows={nodes.flatMap(({ node, resources }) => resources.map((row, i) => rowOf(view, node, row, i)))}
        heads={[
          "node",
          "resource",
          { text: "has", class: "num", title: "allocatable − requested, without the group’s own members" },
          { text: "left", class: "num" },
          { text: "need", class: "num" },
          { text: "gap", class: "num", title: "what is still needed after this node" },
        ]}
        caption="Resource check by node"
        filter="Filter nodes of the resource check"
        kept={view.lists.of("podgroups")}
        name="check"
      />
      <More of={nodeCount} shown={nodes.length} what=" nodes" />
    </section>
  );
}

type Resource = Check["nodes"][number]["resources"][number];

function rowOf(view: View, node: string, row: Resource, i: number) {
  const { resource, allocatable, requested, left, needBefore, needAfter } = row;
  const cell = (value: number, className = "num") => (
    <td class={className} data-value={value}>
      {amount(resource, value)}
    </td>
  );
  return (
    <tr key={`${node} ${resource}`} class={i ? "again" : undefined} {...aboutNode(view, node)}>
      <th scope="row">{nodeLink(view, node)}</th>
      <td>{resource}</td>
      <td class="num dim" data-value={allocatable - requested}>
        {`${amount(resource, allocatable)} − ${amount(resource, requested)}`}
      </td>
      {cell(left, left < 0 ? "num fail-text" : "num")}
      {cell(needBefore)}
      <td class="num" data-value={needAfter}>
        {needAfter <= 0 ? <span class="pass-text">met</span> : amount(resource, needAfter)}
      </td>
    </tr>
  );
}

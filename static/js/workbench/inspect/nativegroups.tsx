// PodGroups of scheduling.k8s.io, which kube-scheduler itself schedules as a whole: all of them after the cycle, and
// one with its members, its conditions and the placements that were tried.

import { Heading } from "../../kit/heading.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import { More } from "../../kit/more.tsx";
import { Table } from "../../kit/table.tsx";
import type { NativePodGroup, NativePodGroups } from "../../lib/protocol.js";
import { count, plural, short } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { nodeLink, podLink } from "../view/nouns.tsx";

type Props = { view: View; part: NativePodGroups };

export function NativeGroups({ view, part }: Props) {
  const chosen = part.native.find(({ key }) => key === view.sub) ?? part.native[0];
  return (
    <>
      <All view={view} part={part} chosen={chosen?.key ?? ""} />
      {chosen ? <One view={view} part={part} group={chosen} /> : null}
    </>
  );
}

const policyOf = ({ minCount, topology }: NativePodGroup) =>
  [minCount === null ? "basic" : `gang of ${count(minCount)}`, topology ? `within one ${topology}` : ""]
    .filter(Boolean)
    .join(", ");

/** Whether as many members hold a node as the gang needs. */
const enough = ({ minCount, assigned }: NativePodGroup) => assigned > 0 && assigned >= (minCount ?? 1);

const All = ({ view, part, chosen }: Props & { chosen: string }) => (
  <section class="gangs">
    <Table
      rows={part.native.map((group) => (
        <tr key={group.key} class={group.key === chosen ? "now" : undefined}>
          <td>
            <Inline
              act={() => view.setSub(group.key === part.flying ? "" : group.key)}
              data-group={group.key}
              aria-current={group.key === chosen ? "true" : undefined}
              title={`PodGroup ${group.key}`}
            >
              {short(group.key)}
            </Inline>
            {group.key === part.flying ? [" ", <span class="pill accent">in flight</span>] : null}
          </td>
          <td>{policyOf(group)}</td>
          <td class="num">{count(group.memberCount)}</td>
          <td class={`num ${enough(group) ? "pass-text" : ""}`.trim()} data-value={group.assigned}>
            {group.minCount === null ? count(group.assigned) : `${count(group.assigned)} / ${count(group.minCount)}`}
          </td>
          <td>{group.conditions[0]?.[1].split(":")[0] ?? "none yet"}</td>
        </tr>
      ))}
      heads={[
        "group",
        "policy",
        { text: "members", class: "num", title: "Pods whose spec.schedulingGroup names it" },
        { text: "on a node", class: "num", title: "Members with a node, and the gang's minCount" },
        { text: "condition", title: "PodGroupInitiallyScheduled" },
      ]}
      caption="PodGroups after this cycle"
      title={<Heading text="PodGroups" count={part.count} />}
      filter="Filter PodGroups"
      kept={view.lists.of("podgroups")}
      name="groups"
      total={part.count}
    />
  </section>
);

function One({ view, part, group }: Props & { group: NativePodGroup }) {
  return (
    <section class="gang" aria-label={`PodGroup ${group.key}`}>
      <h3>
        {`PodGroup ${short(group.key)} `}
        <span class={enough(group) ? "pill pass" : "pill fail"}>
          <Icon name={enough(group) ? "check" : "cross"} />
          {`${count(group.assigned)} of ${plural(group.memberCount, "member")} on a node`}
        </span>
      </h3>
      {group.conditions.map(([type, text]) => (
        <p key={type}>
          <b>{type}</b>
          {` ${text}`}
        </p>
      ))}
      <Table
        rows={group.members.map(([pod, node]) => (
          <tr key={pod}>
            <td>{podLink(view, pod)}</td>
            <td>{node ? nodeLink(view, node) : <span class="dim">none</span>}</td>
          </tr>
        ))}
        heads={["member", "node"]}
        caption={`Members of PodGroup ${group.key} after this cycle`}
        title={<Heading text="Members" count={group.memberCount} />}
        filter="Filter members"
        kept={view.lists.of("podgroups")}
        name="members"
        total={group.memberCount}
      />
      <More of={group.memberCount} shown={group.members.length} class="dim" />
      {part.flying === group.key && part.placements.length ? <Placements part={part} /> : null}
    </section>
  );
}

/** The sets of nodes under one value of the topology key in which the group was tried as a whole. */
const Placements = ({ part }: Pick<Props, "part">) => (
  <Table
    rows={part.placements.map(([name, nodes, total]) => (
      <tr key={name}>
        <td>{name}</td>
        <td class="num">{count(nodes)}</td>
        <td class="num" data-value={total ?? ""}>
          {total === null ? <span class="dim">not feasible</span> : count(total)}
        </td>
      </tr>
    ))}
    heads={["placement", { text: "nodes", class: "num" }, { text: "score", class: "num" }]}
    caption="Placements that were tried for the group in flight"
    title={<Heading text="Placements" count={part.placements.length} />}
  />
);

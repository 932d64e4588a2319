// PodGroups: all of them, the phase of one, its members and timers, each plugin's answer with its numbers, and what
// happened around the cycle.

import { Empty } from "../../kit/empty.tsx";
import { Heading } from "../../kit/heading.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import { Table } from "../../kit/table.tsx";
import type { GroupRecord, NoPodGroups, PodGroupsPart, Sentence } from "../../lib/protocol.js";
import { clock, count, short } from "../../lib/quantity.ts";
import { useAnswer, useInTab } from "../view/asking.tsx";
import { Standing, until, useNow, type Now } from "./countdown.tsx";
import type { View } from "../view/view.ts";
import { Gang } from "./gang.tsx";
import { NativeGroups } from "./nativegroups.tsx";
import type { Content } from "./panel.tsx";
import { sentence } from "../view/sentence.tsx";

export function PodGroups({ view, part }: Content<"podgroups">) {
  // Since when a group has been in its phase may only be known now.
  useInTab(view.store, "podgroups", view.store.known, view.store.subs);
  const now = useNow(view, "podgroups", part.time ?? 0);
  if ("native" in part) return <NativeGroups view={view} part={part} />;
  if (!("groups" in part))
    return (
      <>
        <None why={String(part.why)} />
        <Around view={view} part={part} />
      </>
    );
  // The group that is shown: the address's, else that of the pod in flight, else the first.
  const key = view.sub || part.group?.key || part.groups[0]?.[0] || "";
  return (
    <>
      {part.note ? (
        <p class="note">
          <Icon name="warn" />
          <span>{String(part.note)}</span>
        </p>
      ) : null}
      <All view={view} part={part} chosen={key} now={now} />
      {key ? <Chosen view={view} part={part} group={key} now={now} /> : null}
      <Around view={view} part={part} />
    </>
  );
}

const None = ({ why }: { why: string }) => (
  <Empty title="No PodGroup is scheduled here.">
    <span>{why}</span>
    <span>
      A PodGroup is a set of pods that must be scheduled together: with the plugin Coscheduling each of them reserves
      its node and waits at Permit until minMember of them have one; then all are bound, or the reservations are
      released.
    </span>
    <span>
      To see it, open <a href="/#examples">the example of a gang of six with room for four</a>.
    </span>
  </Empty>
);

function All({ view, part, chosen, now }: { view: View; part: PodGroupsPart; chosen: string; now: Now }) {
  const { reached } = view.playback;
  const flying = part.group?.key;
  const rows = part.groups.map(([key, phase, minMember, members, assigned, waiting, denied, backedOff]) => {
    const end = denied ?? backedOff;
    return (
      <tr key={key} class={key === chosen ? "now" : undefined}>
        <td>
          <Inline
            act={() => view.setSub(key === flying ? "" : key)}
            data-group={key}
            aria-current={key === chosen ? "true" : undefined}
            title={`PodGroup ${key}`}
          >
            {short(key)}
          </Inline>
          {key === flying ? [" ", <span class="pill accent">in flight</span>] : null}
        </td>
        <td>{phase || "none yet"}</td>
        <td class="num">{count(members)}</td>
        <td class={`num ${assigned >= minMember ? "pass-text" : ""}`.trim()} data-value={assigned}>
          {`${count(assigned)} / ${count(minMember)}`}
        </td>
        <td class="num">{waiting ? <span class="wait-text">{count(waiting)}</span> : "0"}</td>
        <td class="num" data-value={end ?? ""}>
          {end === null ? <span class="dim">–</span> : until(end, now, "fail-text")}
        </td>
      </tr>
    );
  });
  const title = (
    <Heading text="PodGroups" count={part.count}>
      <small class="dim end">
        <a href={`/reference/podgroups/#${part.edition}`}>{`${part.edition} edition`}</a>
        {" · "}
        <span
          class="num"
          title={
            reached.whole
              ? "the state after this cycle and its consequences; the time below the stage is its start"
              : reached.tried
                ? "the state at the start of this cycle’s attempt"
                : "the state after the previous cycle"
          }
        >
          <Standing now={now} />
        </span>
      </small>
    </Heading>
  );
  return (
    <section class="gangs">
      <Table
        rows={rows}
        heads={[
          "group",
          "phase",
          { text: "members", class: "num", title: "Pods that name it" },
          {
            text: "on a node",
            class: "num",
            title: "Members that hold a node, bound or waiting at Permit, and how many it needs (minMember)",
          },
          { text: "waiting", class: "num", title: "at Permit" },
          {
            text: part.edition === "classic" ? "denied" : "backed off",
            class: "num",
            title: "how much longer PreFilter rejects its pods",
          },
        ]}
        caption={reached.whole ? "PodGroups after this cycle" : "PodGroups before this cycle’s attempt"}
        title={title}
        filter="Filter PodGroups"
        kept={view.lists.of("podgroups")}
        name="groups"
        total={part.count}
      />
    </section>
  );
}

/** One group: that of the cycle is in its part, the others come from the server. */
function Chosen({ view, part, group: key, now }: { view: View; part: PodGroupsPart; group: string; now: Now }) {
  const { source, asOf, socket } = view.playback;
  const own = part.group?.key === key ? part.group : null;
  const answer = useAnswer<GroupRecord & { index: number }>(own ? "" : `${asOf} ${key}`, () =>
    socket.call("podgroup.get", { source, cycle: asOf, group: key }),
  );
  if (own) return <Gang view={view} part={part} group={own} now={now} />;
  if (answer?.value?.key !== key) return <p class="dim">{answer?.error ?? "…"}</p>;
  return (
    <div class={answer.value.index === asOf ? undefined : "waiting"}>
      <Gang view={view} part={part} group={answer.value} now={now} />
    </div>
  );
}

function Around({ view, part }: { view: View; part: PodGroupsPart | NoPodGroups }) {
  return (
    <>
      <Happened view={view} title="Since the cycle before" rows={part.happenings} />
      <Happened view={view} title="Consequences of this cycle" rows={part.consequences} />
    </>
  );
}

type HappenedProps = { view: View; title: string; rows: [time: number, text: Sentence][] | undefined };

function Happened({ view, title, rows = [] }: HappenedProps) {
  if (!rows.length) return null;
  return (
    <section class="happened">
      <h3>{title}</h3>
      <ol>
        {rows.map(([time, parts], i) => (
          <li>
            <span class="num dim">{i && clock(time) === clock(rows[i - 1]?.[0]) ? "" : clock(time)}</span>
            {sentence(view, parts)}
          </li>
        ))}
      </ol>
    </section>
  );
}

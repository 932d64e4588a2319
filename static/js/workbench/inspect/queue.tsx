// Queue: what waited at the moment the cycle's pod was taken, with the key that orders it, and where that pod went.

import type { ComponentChildren } from "preact";
import { Heading } from "../../kit/heading.tsx";
import { Table } from "../../kit/table.tsx";
import { count } from "../../lib/quantity.ts";
import type { Light } from "../../lib/protocol.js";
import type { View } from "../view/view.ts";
import { Before, Later } from "./empty.tsx";
import { podLink, whyWaits } from "../view/nouns.tsx";
import type { Content } from "./panel.tsx";
import { TimedQueues } from "./queuetimed.tsx";

export function Queue({ view, part }: Content<"queue">) {
  const light: Light | null = view.playback.current;
  if (part.why)
    return <Later view={view} title="No pod is taken from the queue at this moment." text={String(part.why)} />;
  if (part.timed) return <TimedQueues view={view} part={part} timed={part.timed} />;
  if (!light) return <Before view={view} />;
  const { keys } = view.playback.pods;
  // Victims that go move every unschedulable pod back to the active queue, this cycle's own among them.
  const failed = view.playback.reached.over && light.node === null;
  const preempts = failed && light.nominated !== null;
  return (
    <>
      <p class="story">
        Order: <strong>{part.key}</strong>. In flight: {podLink(view, keys[light.pod])}.
      </p>
      <Waiting
        view={view}
        title="Active"
        entries={part.active ?? []}
        total={part.activeCount ?? 0}
        empty="The active queue is empty: this was the last pod waiting."
        own={preempts ? [light.pod, "back here, its victims were deleted"] : null}
      />
      <Waiting
        view={view}
        title="Unschedulable"
        entries={part.unschedulable ?? []}
        total={part.unschedulableCount ?? 0}
        empty={
          preempts
            ? "No pod is unschedulable: the deletion of the victims moves them all to the active queue."
            : "No pod is in the unschedulable queue."
        }
        own={failed && !preempts ? [light.pod, "moved here by this cycle"] : null}
      />
    </>
  );
}

type WaitingProps = {
  view: View;
  title: string;
  entries: [pod: string, priority: number, position: number][];
  total: number;
  empty: string;
  /** The cycle's pod, and why it is in this queue now. */
  own: [pod: number, why: string] | null;
};

function Waiting({ view, title, entries, total, empty, own }: WaitingProps) {
  const { keys, priority: priorities } = view.playback.pods;
  const name = title.toLowerCase();
  const row = (place: string, key: string, priority: number, position: string, note?: ComponentChildren) => (
    <tr key={key} class={note ? "own" : undefined}>
      <td class="num dim">{place}</td>
      <td>
        {podLink(view, key)}
        {whyWaits(view, key)}
        {note}
      </td>
      <td class="num">{count(priority)}</td>
      <td class="num">{position}</td>
    </tr>
  );
  const rows = entries.map(([key, priority, position], i) => row(String(i + 1), key, priority, count(position)));
  if (own)
    rows.unshift(row("", keys[own[0]], priorities[own[0]], "", [" ", <span class="pill accent">{own[1]}</span>]));
  const all = total + (own ? 1 : 0);
  return (
    <section class={`queue ${name}`}>
      <Table
        rows={rows}
        heads={[
          { text: "#", class: "num" },
          "pod",
          { text: "priority", class: "num" },
          { text: "order", class: "num", title: "Position of creation: the earliest created has the lowest" },
        ]}
        caption={`${title}: pods in the order in which they are taken`}
        title={<Heading text={title} count={all} />}
        filter={`Filter pods: ${title}`}
        kept={view.lists.of("queue")}
        name={name}
        empty={empty}
        total={entries.length ? all : 0}
      />
    </section>
  );
}

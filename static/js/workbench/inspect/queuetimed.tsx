// The queues of virtual time: active, backing off, unschedulable, gated, and pods that wait at Permit. First how many
// there are and when each is looked through, then every pod with its sort key, why it is there, and what would move it.

import type { ComponentChildren } from "preact";
import { Heading } from "../../kit/heading.tsx";
import { Table, type Head } from "../../kit/table.tsx";
import { $ } from "../../lib/dom.ts";
import type { QueueEntry, QueueName, QueuePart, TimedQueue } from "../../lib/protocol.js";
import { clock, count, plural } from "../../lib/quantity.ts";
import { moment, until, useNow, type Now } from "./countdown.tsx";
import type { View } from "../view/view.ts";
import { aboutNode, nodeLink, podLink, whyWaits } from "../view/nouns.tsx";

const WHOSE = { group: "the group’s time", failure: "when the group failed last", pod: "when it was first queued" };
/** Of each queue: its name, its text when empty, and the text of its lane on top. */
type Lane = [place: QueueName | "waiting", title: string, empty: string, what: string];

const QUEUES: Lane[] = [
  ["active", "Active", "No pod is ready to be tried.", "tried next"],
  ["waiting", "At Permit", "No pod holds a node and waits for others.", "hold a node"],
  ["backoff", "Backing off", "No pod is in backoff.", "1s to 10s"],
  ["unschedulable", "Unschedulable", "No pod is in the unschedulable queue.", "until an event"],
  ["gated", "Gated", "", "scheduling gates"],
];

/** All queues: as they are when the pod in flight is popped, or when the run is over. */
export function TimedQueues({ view, part, timed }: { view: View; part: QueuePart; timed: TimedQueue }) {
  const { playback } = view;
  const now = useNow(view, "queue", part.time ?? playback.parts?.time ?? playback.current?.time ?? 0);
  const lanes = QUEUES.filter(([place, , empty]) => empty || timed.counts[place]);
  return (
    <>
      <p class="story">
        Order: <strong>{part.key}</strong>.
      </p>
      <Lanes timed={timed} lanes={lanes} now={now} />
      {timed.tried ? flight(view, timed.tried) : null}
      {lanes.map((lane) => {
        const List = lane[0] === "waiting" ? Permit : Listed;
        return <List key={lane[0]} view={view} timed={timed} lane={lane} now={now} />;
      })}
    </>
  );
}

/** The pod in flight: its key, and why it was taken. */
function flight(view: View, [key, , sort, whose, , attempts, , why, event]: QueueEntry) {
  const light = view.playback.current;
  const tried = attempts ? `, after ${plural(attempts, "failed try", "failed tries")}` : "";
  return (
    <p class="story">
      In flight: {podLink(view, key)}
      {`, priority ${count(sort[0])}, t = ${clock(Math.max(0, sort[1]))} (${WHOSE[whose] ?? whose})${tried}`}
      {`. It was in the active queue because ${why}${event ? ` (${event})` : ""}`}
      {light && view.playback.reached.over ? (
        <>
          , and in this cycle it <strong>{went(light)}</strong>
          {light.node === null ? null : <> on {nodeLink(view, view.playback.nodes.names[light.node])}</>}
        </>
      ) : null}
      .
    </p>
  );
}

const went = ({ result, node }: { result: string; node: number | null }) =>
  result === "waiting" ? "waits at Permit" : node === null ? `is ${result}` : "is bound";

type LaneProps = { view: View; timed: TimedQueue; lane: Lane; now: Now };

const soonest = (times: (number | null)[]) => Math.min(...times.map((at) => at ?? Infinity));

/** When something happens in a queue by itself. */
function firsts({ waiting, flushes, entries, counts }: TimedQueue): Record<string, number> {
  const first: Record<string, number> = {
    waiting: soonest(waiting.map(([, , , deadline]) => deadline)),
    ...Object.fromEntries(flushes),
  };
  const put = entries.filter(([, place]) => place === "unschedulable");
  // A flush takes only those who have stayed long enough: what counts is the first that takes anybody.
  if (put.length && put.length === counts.unschedulable) first.unschedulable = soonest(put.map((entry) => entry[12]));
  return first;
}

/** How many are where, and when something happens there by itself; each leads to its list. */
function Lanes({ timed, lanes, now }: { timed: TimedQueue; lanes: Lane[]; now: Now }) {
  const first = firsts(timed);
  return (
    <ul class="lanes" aria-label="Queues">
      {lanes.map(([place, title, , what]) => {
        const total = timed.counts[place] ?? 0;
        const at = first[place];
        return (
          <li key={place}>
            <button
              type="button"
              class={`lane at-${place}${total ? "" : " none"}`}
              onClick={(event) => {
                const section = $(`.queue.at-${place}`, event.currentTarget.closest(".queue-tab") ?? document);
                section.scrollIntoView({ block: "start" });
                $("h3", section).focus();
              }}
            >
              <span class="lane-title">{title}</span>
              <b class="num">{count(total)}</b>
              <span class="fine dim">{total && Number.isFinite(at) ? until(at as number, now) : what}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Where a pod is, and since when; of one that an event moved the time is that of its last try. */
const here = (since: number, moved: boolean) =>
  moved ? `Queued since t = ${clock(since)}; here because` : `Here since t = ${clock(since)}:`;

type QueueTableProps = { heads: Head[]; rows: ComponentChildren; title: string; caption: string; filter: string };

function QueueTable({ view, timed, lane, title, filter, ...more }: Omit<LaneProps, "now"> & QueueTableProps) {
  const [place, , empty] = lane;
  const total = timed.counts[place] ?? 0;
  return (
    <section class={`queue at-${place}`}>
      <Table
        {...more}
        title={<Heading text={title} count={total} tabIndex={-1} />}
        filter={`Filter pods: ${filter}`}
        kept={view.lists.of("queue")}
        name={place}
        empty={empty}
        total={total}
      />
    </section>
  );
}

function Listed({ view, timed, lane, now }: LaneProps) {
  const [place, name] = lane;
  const entries = timed.entries.filter((entry) => entry[1] === place);
  const named = entries.some(([, , sort]) => sort.length > 2);
  const rows = entries.map((entry, i) => {
    const [key, , sort, whose, since, attempts, , reason, event, refused, nominated] = entry;
    return [
      <tr key={key} {...(nominated ? aboutNode(view, nominated) : null)}>
        <td class="num dim">{count(i + 1)}</td>
        <td class="who">
          {podLink(view, key)}
          {whyWaits(view, key)}
          {nominated ? <span class="pill victim">nominated to {nodeLink(view, nominated)}</span> : null}
        </td>
        <td class="num">{count(sort[0])}</td>
        <td class="num" data-value={sort[1]} title={WHOSE[whose] ?? whose}>
          {`t = ${clock(Math.max(0, sort[1]))}`}
          {sort[1] < 0 ? <small class="dim"> (before)</small> : null}
        </td>
        <td class="num dim">{attempts ? count(attempts) : ""}</td>
      </tr>,
      <tr key={`${key} reason`} class="reason-row follows">
        <td />
        <td colSpan={4}>
          <p class="dim fine">
            {here(since, Boolean(event || (place === "active" && attempts)))} {reason}
            {`${event ? ` (${event})` : ""}${refused.length ? `; refused by ${refused.join(", ")}` : ""}.`}
          </p>
          {leaves(timed, entry, now)}
        </td>
      </tr>,
    ];
  });
  return (
    <QueueTable
      view={view}
      timed={timed}
      lane={lane}
      rows={rows}
      title={name}
      filter={name}
      caption={`${name}: pods in their order`}
      heads={[
        { text: "#", class: "num" },
        "pod",
        { text: "priority", class: "num" },
        {
          text: named ? "time, then name" : "time",
          class: "num",
          title: "What decides between equal priorities: the group’s time, or the pod’s own; then the name",
        },
        { text: "tries", class: "num", title: "failed attempts" },
      ]}
    />
  );
}

/** What takes a pod out of its queue, and when. */
function leaves({ events }: TimedQueue, entry: QueueEntry, now: Now) {
  const [, place, , , , , backoff, , , refused, , helped, retry] = entry;
  if (place === "active") return null;
  if (place === "gated") return <p class="fine">Moves when its scheduling gates are removed.</p>;
  const flush = retry !== null && (
    <>
      {until(retry, now, "left")}
      <span class="dim num">{` (${moment(retry)})`}</span>
    </>
  );
  if (place === "backoff") return <p class="fine">Moves when its backoff expires: {flush}</p>;
  return (
    <div class="leaves fine">
      <span>Moves by {flush ? <>the flush: {flush}</> : null}</span>
      {refused.length ? null : <span class="dim">or any event</span>}
      {refused.length && helped.length ? <span class="dim">{flush ? "or an event:" : "an event:"}</span> : null}
      {(refused.length ? helped : []).map((name) => (
        <span class="pill off" title={events[name] ?? name}>
          {name}
        </span>
      ))}
      {backoff !== null && backoff > now.value ? <span class="dim">then backs off, {until(backoff, now)}</span> : null}
    </div>
  );
}

function Permit({ view, timed, lane, now }: LaneProps) {
  const rows = timed.waiting.map(([key, node, since, deadline]) => (
    <tr key={key} {...aboutNode(view, node)}>
      <td>
        {podLink(view, key)}
        {whyWaits(view, key)}
      </td>
      <td>{nodeLink(view, node)}</td>
      <td class="num" data-value={since}>{`t = ${clock(since)}`}</td>
      <td class="num" data-value={deadline ?? ""}>
        {deadline === null ? "–" : until(deadline, now)}
      </td>
    </tr>
  ));
  return (
    <QueueTable
      view={view}
      timed={timed}
      lane={lane}
      rows={rows}
      title="Waiting at Permit"
      filter="at Permit"
      caption={lane[1]}
      heads={["pod", "holds", { text: "since", class: "num" }, { text: "time left", class: "num" }]}
    />
  );
}

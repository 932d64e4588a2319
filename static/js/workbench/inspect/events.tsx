// Simulated events up to the shown step, newest first, in the columns of kubectl get events.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Empty } from "../../kit/empty.tsx";
import { Heading } from "../../kit/heading.tsx";
import { Inline } from "../../kit/inline.tsx";
import { Table } from "../../kit/table.tsx";
import type { Playback } from "../playback/playback.ts";
import { age, count, short } from "../../lib/quantity.ts";
import { useRedraw } from "../view/asking.tsx";
import type { View } from "../view/view.ts";
import { WhyLink, aboutNode, linked, nodeLink, podLink } from "../view/nouns.tsx";

const AT_ONCE = 100;
const OLDER = 200; // more, each time
const MOST = 500;
const LAST_PAGE = Math.ceil((MOST - AT_ONCE) / OLDER);

const ON = / (?:to|on node) (\S+?)\.?$/; // the node that a message ends with

type Listed = [cycle: number, type: string, reason: string, object: string, message: string];
/** Events, and up to which step they were asked for. */
type Answer = { events: Listed[]; more: boolean; to: number };

export function Events({ view }: { view: View }) {
  const { playback } = view;
  const list = view.lists.list("events", "events"); // {page}: how often older ones were asked for
  const most = Math.min(MOST, AT_ONCE + list.page * OLDER);
  const redraw = useRedraw();
  const answer = useEvents(playback, most);
  // A step is painted before its events have arrived: until then those before are not drawn again.
  const table = useMemo(() => answer && listed(view, answer), [view, answer]);
  if (!answer) return null;
  if (!answer.events.length)
    return (
      <Empty title="No event yet.">
        {playback.timed
          ? "A cycle emits Scheduled, or FailedScheduling with the reason; "
            + "for a pod that waits at Permit, once it is allowed or rejected."
          : "Every cycle emits one: Scheduled, or FailedScheduling with the reason."}
      </Empty>
    );
  const older = () => {
    list.page = Math.min(LAST_PAGE, list.page + 1);
    view.lists.changed();
    redraw();
  };
  return (
    <>
      <div>{table}</div>
      <button type="button" class="btn" hidden={!answer.more || most >= MOST} onClick={older}>
        Show older events
      </button>
    </>
  );
}

const listed = (view: View, { events, more, to }: Answer) => (
  <Table
    rows={events.map((event) => row(view, event, to))}
    heads={["cycle", "age", "type", "reason", "object", "message"].map((text) => ({ text, class: text }))}
    caption="Simulated events up to this step, newest first"
    class="list tight events"
    title={<Heading text="Simulated events" count={`${more ? "the newest " : ""}${count(events.length)}`} />}
    filter="Filter events"
    kept={view.lists.of("events")}
    name="events"
  />
);

/** What is to be shown, as a key: the step, how much of it has happened, and how many events. */
const wanted = ({ index, at, phase, partly, parts }: Playback, most: number) =>
  `${index}/${at}/${phase}/${partly && parts ? 1 : 0}/${most}`;

/**
 * The newest events until what is shown; those before stay until they have arrived. The server knows those of whole
 * steps; the events of a step that is shown in part are at hand.
 */
function useEvents(playback: Playback, most: number): Answer | null {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const state = useRef({ most, asked: "", busy: false });
  state.current.most = most;
  const load = async () => {
    const own = state.current;
    if (own.busy) return;
    own.busy = true;
    try {
      while (own.asked !== wanted(playback, own.most)) {
        const key = wanted(playback, own.most);
        const { index, partly, source, socket } = playback;
        const to = partly ? index - 1 : index;
        const { events, more } =
          to > 0 ? await socket.call("events.list", { source, to, count: own.most }) : { events: [], more: false };
        if (key !== wanted(playback, own.most)) continue;
        own.asked = key;
        setAnswer({ events: [...ownEvents(playback), ...events].slice(0, own.most), more, to: index });
      }
    } catch (error) {
      playback.failed(error);
    } finally {
      own.busy = false;
    }
  };
  useLayoutEffect(() => void load());
  return answer;
}

/** The events of the shown step so far, newest first, where only a part of it is shown. */
function ownEvents({ partly, current, parts, index }: Playback): Listed[] {
  const events: string[][] = (partly && (current ?? parts)?.events) || [];
  return events.map((event) => [index, ...event] as Listed).reverse();
}

function row(view: View, [index, type, reason, object, message]: Listed, to: number) {
  const { playback } = view;
  const timeOf = (cycle: number) => (cycle > playback.cycles ? playback.heavy(cycle) : playback.light(cycle))?.time;
  const now = playback.time ?? timeOf(to);
  const then = timeOf(index);
  const since = now !== undefined && then !== undefined ? Math.max(0, now - then) : null;
  const kind = object.split("/", 1)[0] ?? "";
  const name = object.slice(kind.length + 1);
  return (
    <tr
      key={`${index} ${type} ${reason} ${object} ${message}`}
      class={index === to ? "now" : undefined}
      data-ask={kind === "node" ? undefined : "event"}
      data-cycle={index}
      data-reason={reason}
      data-pod={name}
      {...aboutNode(view, kind === "node" ? name : (ON.exec(message)?.[1] ?? ""))}
    >
      <td class="num cycle" data-value={index}>
        <Inline act={(event) => playback.goto(index, event.timeStamp)} class="link num" title="go there">
          {index > playback.cycles ? "end" : count(index)}
        </Inline>
      </td>
      <td class="num dim age" data-value={since ?? ""}>
        {since === null ? "" : age(since)}
      </td>
      <td class={`type ${type === "Warning" ? "fail-text" : "pass-text"}`}>{type}</td>
      <td class="reason">{reason}</td>
      <td class="object" data-value={object}>
        <span class="dim">{`${kind}/`}</span>
        <wbr />
        {kind === "node" ? nodeLink(view, name) : podLink(view, name, { dot: false })}
      </td>
      <td class="message">
        {linked(view, message)}
        {reason === "FailedScheduling" ? (
          <>
            {" "}
            <WhyLink
              label={`Why was ${short(name)} not scheduled in cycle ${index}?`}
              act={() => {
                playback.goto(index);
                view.actions.why({ pod: name });
              }}
            />
          </>
        ) : null}
      </td>
    </tr>
  );
}

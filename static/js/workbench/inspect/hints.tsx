// Hints: which event would wake each sleeping pod, and which plugin asked for it; and what events did in this cycle.

import { Empty } from "../../kit/empty.tsx";
import { More } from "../../kit/more.tsx";
import { count, plural } from "../../lib/quantity.ts";
import type { HintsPart } from "../../lib/protocol.js";
import type { View } from "../view/view.ts";
import { Before } from "./empty.tsx";
import type { Content } from "./panel.tsx";

export function Hints({ view, part }: Content<"hints">) {
  if (!view.playback.current) return <Before view={view} />;
  if ("why" in part) return <Empty title="No queueing hints here.">{part.why}</Empty>;
  return (
    <>
      <Sleeping view={view} part={part} />
      <Moves part={part} />
    </>
  );
}

function Sleeping({ view, part: { pods, count: total } }: { view: View; part: HintsPart }) {
  if (!pods.length)
    return (
      <Empty title="The unschedulable queue is empty after this cycle.">
        Every pending pod is in the active or the backoff queue.
      </Empty>
    );
  return (
    <section>
      <h3>{`${plural(total, "pod")} in the unschedulable queue after this cycle`}</h3>
      <ul class="hint-pods">
        {pods.map((one) => (
          <li key={one.pod}>
            <button type="button" class="link" onClick={() => view.actions.why({ pod: one.pod })}>
              {one.pod}
            </button>
            <small class="dim">{` ${aboutPod(one)}`}</small>
            <ul>
              {one.wakes.map(({ plugin, events, text }) => (
                <li>
                  <b>{plugin}</b>
                  {` until ${text} `}
                  <small class="dim">{events.length ? `(${events.join(", ")})` : "(no event)"}</small>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <More of={total} shown={pods.length} class="dim" />
    </section>
  );
}

const aboutPod = ({ queue, gatedBy, attempts, nominated, retryAt }: HintsPart["pods"][number]) =>
  [
    queue === "gated" ? `gated by ${gatedBy}` : `tried ${plural(attempts, "time")}`,
    nominated ? `nominated to ${nominated}` : "",
    retryAt === null ? "" : `retried after ${count(Math.round(retryAt))} s at the latest`,
  ]
    .filter(Boolean)
    .join(", ");

function Moves({ part: { moves, moved } }: { part: HintsPart }) {
  if (!moves.length) return null;
  return (
    <section>
      <h3>What events did to waiting pods</h3>
      <ul class="hint-moves">
        {moves.map(([event, pod, hints, to]) => (
          <li>
            <code>{event}</code>
            {` asked about ${pod}: `}
            {hints.map(([plugin, answer]) => `${plugin} ${answer}`).join(", ") || "no plugin"}
            {to ? <b>{` → ${to}`}</b> : <span class="dim"> and left it in the queue</span>}
          </li>
        ))}
      </ul>
      <More of={moved} shown={moves.length} class="dim" />
    </section>
  );
}

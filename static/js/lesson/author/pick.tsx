// The fact that answers a question, picked from the cluster: what is pointed at there can be asked about, and the
// engine knows the fact.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Proposal } from "../../lib/protocol.js";
import { POINT, POINTED, type Pointed } from "../../workbench/view/picking.ts";
import { Inline } from "../../kit/prose.tsx";
import { ask, send, type AuthoredStop, type Json } from "./state.ts";

type Found = { proposals: Proposal[] } | { message: string } | null;

export function Pick({ stop }: { stop: AuthoredStop }) {
  const opened = useSignal(Boolean(stop.head.task) && !(stop.head.task as { answer?: Json }).answer);
  return (
    <details
      class="author-pick"
      open={opened.value}
      onToggle={({ currentTarget }) => (opened.value = currentTarget.open)}
    >
      <summary>Pick the fact in the cluster</summary>
      {opened.value && <Stage stop={stop} />}
    </details>
  );
}

function Stage({ stop }: { stop: AuthoredStop }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const src = useSignal("");
  const found = useSignal<Found>(null);
  const scenario = String(stop.head.scenario ?? "scenario.yaml");
  useEffect(() => {
    const query = new URLSearchParams({ step: String(stop.head.step ?? "1") || "1" });
    ask(`stage?${new URLSearchParams({ scenario })}`).then(
      ({ url }) => (src.value = `${url}?${query}`),
      (error: Error) => (found.value = { message: error.message }),
    );
    // eslint-disable-next-line react-hooks/exhaustive-deps -- one goes on from where the stop was
  }, [scenario]);
  useEffect(() => {
    const hear = async ({ data, origin, source }: MessageEvent<Pointed>) => {
      if (source !== frame.current?.contentWindow || origin !== location.origin || data?.type !== POINTED) return;
      if (!data.place) {
        frame.current.contentWindow?.postMessage({ type: POINT }, origin);
        return;
      }
      const { place, step } = data;
      found.value = await ask("propose", { scenario, step, place }).catch((error: Error) => ({
        message: error.message,
      }));
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, [found, scenario]);
  return (
    <>
      <p class="dim">Click a node, a pod, an event, or a cell of Filter or Score: you choose what is asked about it.</p>
      {src.value && <iframe ref={frame} class="author-stage" src={src.value} title="The cluster to pick from" />}
      <div role="status">
        <Offered stop={stop} found={found.value} />
      </div>
    </>
  );
}

function Offered({ stop, found }: { stop: AuthoredStop; found: Found }) {
  if (!found) return null;
  if ("message" in found) return <p class="note error">{found.message}</p>;
  if (!found.proposals.length) return <p class="dim">Nothing to ask about that.</p>;
  return (
    <ul class="author-proposals">
      {found.proposals.map((one) => (
        <li key={one.label}>
          <button type="button" class="btn" onClick={() => void take(stop, one)}>
            {one.label}
          </button>
          <span>
            <Inline text={String(one.task.question ?? "")} />
          </span>
          <code>{String(one.task.answer ?? "")}</code>
        </li>
      ))}
    </ul>
  );
}

/** Ask it at this stop: the task, and the moment at which nothing tells its answer. */
async function take(stop: AuthoredStop, { task, step, phase, views }: Proposal) {
  const put = (name: string, now: Json) =>
    send({ kind: "value", path: [name], was: stop.head[name] ?? null, now, stop: stop.key });
  await put("step", step || null);
  await put("phase", phase || null);
  await put("views", [...views]);
  await put("task", task as Json);
}

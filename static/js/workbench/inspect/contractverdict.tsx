// The verdict on a contract: in how many cases, and the counterexample with what opens its deciding step.

import { Button } from "../../kit/button.tsx";
import type { Counterexample, Extent, Verdict } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";

const TONES: Record<string, string> = {
  holds: "pass",
  "no counterexample": "pass",
  violated: "fail",
  "cannot say": "",
};
const STEPS = 12;

export function VerdictRow({ view, verdict }: { view: View; verdict: Verdict }) {
  const {
    contract,
    claim,
    because,
    sentence,
    played,
    cases,
    seconds,
    counterexample: shown,
    unsimulated,
    notes,
  } = verdict;
  return (
    <li class="contracts-row">
      <details open={verdict.verdict !== "holds"}>
        <summary>
          <span class={`pill ${TONES[verdict.verdict] ?? ""}`.trim()}>{verdict.verdict}</span> <b>{contract}</b>{" "}
          <span class="dim">{because}</span>
        </summary>
        <p>
          <code>{claim}</code>
        </p>
        <p>{sentence}</p>
        <p class="dim fine num">{`${count(played)} of ${count(cases)} cases played, ${seconds.toFixed(1)} s`}</p>
        {shown ? <Shown view={view} shown={shown} title={contract} /> : null}
        {notes.map((note) => (
          <p key={note} class="dim fine">
            {note}
          </p>
        ))}
        {unsimulated.length ? <p class="dim fine">{`Not simulated: ${unsimulated.join(", ")}`}</p> : null}
      </details>
    </li>
  );
}

const words = ({ events, replicas, nodes, seconds }: Extent) =>
  [plural(events, "event"), plural(replicas, "replica"), plural(nodes, "node"), `${seconds} s`].join(", ");

function Shown({ view, shown, title }: { view: View; shown: Counterexample; title: string }) {
  const { found, shrunk, steps, step, bundle, events } = shown;
  return (
    <>
      <ol class="contracts-events">
        {events.map((text, at) => (
          <li key={at}>{text}</li>
        ))}
      </ol>
      <p class="dim fine">{`Shrunk from ${words(found)} to ${words(shrunk)}.`}</p>
      {steps.length ? (
        <details>
          <summary>{plural(steps.length, "recorded step")}</summary>
          <ol class="contracts-steps mono">
            {steps.slice(-STEPS).map((one) => (
              <li key={one.step}>{`${one.step}  ${one.pod} → ${one.node || "pending"}`}</li>
            ))}
          </ol>
        </details>
      ) : null}
      {bundle ? (
        <Button look="small" icon="fork" act={() => open(view, shown, title)}>
          {`Open the counterexample at step ${step}`}
        </Button>
      ) : (
        <p class="dim fine">It is too large to be opened here: podstep check --save writes it.</p>
      )}
    </>
  );
}

async function open(view: View, { bundle, step }: Counterexample, contract: string) {
  const made = await view.playback.socket.call("bundle.open", { text: bundle, title: `${contract}: counterexample` });
  location.assign(`${made.url}?${new URLSearchParams({ tab: "story", step })}`);
}

// An answer of the cluster: a sentence with its verdict, what it rests on, and what shows it.

import { Button } from "../../kit/button.tsx";
import type { AuditRow, Opening } from "../../lib/protocol.js";
import { indexOf } from "../deck/goto.tsx";
import type { View } from "../view/view.ts";
import { linked } from "../view/nouns.tsx";

const VERDICTS: Record<string, [text: string, tone: string]> = {
  ok: ["ok", "pass"],
  note: ["note", "accent"],
  risk: ["at risk", "fail"],
  unknown: ["cannot say", ""],
};

export function Row({ view, row }: { view: View; row: AuditRow }) {
  const { verdict, sentence, evidence, opens, under } = row;
  const [text, tone] = VERDICTS[verdict] ?? VERDICTS.unknown;
  return (
    <li class="ask-row">
      <details open={verdict === "risk"}>
        <summary>
          <span class={`pill ${tone}`.trim()}>{text}</span>{" "}
          <span>
            {sentence}
            {under ? <small class="dim"> (under {under})</small> : null}
          </span>
        </summary>
        {evidence.length ? (
          <ul class="ask-evidence">
            {evidence.map((one) => (
              <li key={one}>{linked(view, one)}</li>
            ))}
          </ul>
        ) : null}
        {opens ? <Opens view={view} opens={opens} title={sentence} /> : null}
      </details>
    </li>
  );
}

type OpensProps = { view: View; opens: Opening; title: string };

const Opens = ({ view, opens, title }: OpensProps) => (
  <Button look="small" icon={opens.kind === "step" ? "search" : "fork"} act={() => open(view, opens, title)}>
    {wordsOf(opens)}
  </Button>
);

function wordsOf({ kind, step, pod }: Opening) {
  if (kind === "optimum") return "Search for that placement";
  const where = step === "end" || !step ? "its end" : `step ${step}`;
  if (kind === "step") return pod ? `Show ${where}, and why` : `Show ${where}`;
  return `Open the branch at ${where}`;
}

async function open(view: View, opens: Opening, title: string) {
  const { playback } = view;
  const { kind, step, pod } = opens;
  if (kind === "step") {
    const index = await indexOf(playback, step);
    view.setTab("story");
    if (index === null) playback.later({ step, place: undefined });
    else playback.goto(index);
    if (pod) view.actions.why({ pod });
    return;
  }
  const { revision: _, ...source } = playback.source;
  if (kind === "optimum") {
    const [[of, id]] = Object.entries(source);
    const wish = "objective=most-pods&objective=fewest-nodes&objective=fewest-moves&move=true&seconds=10";
    location.assign(`/greed/?of=${of}%3A${id}&${wish}`);
    return;
  }
  const made = await playback.socket.call("audit.branch", { source: playback.source, opens, title });
  const place = new URLSearchParams({ tab: "story", step: step || "end", ...(pod ? { pod } : {}) });
  location.assign(`${made.url}?${place}`);
}

// The changes in an answer of Why?: each was tried out, and can be applied in a copy.

import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import { announce, copy } from "../../lib/dom.ts";
import type { WhyAnswer, WhyChange } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { capital } from "../playback/terms.ts";

const COST =
  "Cost is the sum of what a change takes: 0 is a corrected name, 1 a label, a toleration or an uncordon, "
  + "2 a request, a resize or a taint, 3 an affinity or more capacity, 4 a victim, a PriorityClass, a claim or a "
  + "volume, 5 a pod that preemption would not evict, or hardware, 6 another node, 7 a resource that is done "
  + "without, 9 a label that moves a machine; and 3 more for each disruption budget that it breaks and each "
  + "replacement that finds no node.";

type Apply = ((change: WhyChange) => Promise<void>) | null;

/** `apply` makes a copy with a change; null: no copy can be made. */
export function Changes({ answer, apply }: { answer: WhyAnswer; apply: Apply }) {
  const { state, asked, node, nodes, groups, changes } = answer;
  if (!changes.length) {
    const fits = nodes[0]?.fits || groups.some(({ failures }) => !failures.length);
    return (state === "pending" || asked) && !fits && node !== asked ? (
      <section>
        <h3>What would make it fit</h3>
        <p class="dim">No change was found that makes it fit.</p>
      </section>
    ) : null;
  }
  return (
    <section class="why-changes">
      <h3>
        What would make it fit <small class="dim">the smallest change first, each verified</small>
      </h3>
      <ol>
        {changes.map((change, i) => (
          <Change key={change.id} answer={answer} change={change} at={i} apply={apply} />
        ))}
      </ol>
      <p class="dim fine why-cost">{COST}</p>
    </section>
  );
}

type ChangeProps = { answer: WhyAnswer; change: WhyChange; at: number; apply: Apply };

function Change({ answer, change, at, apply }: ChangeProps) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const { node, words, notes, effort, yaml, fitsCount, chosen, patches } = change;
  const goes =
    answer.state === "pending" || answer.state === "other" ? "would then be scheduled to" : "would then be put on";
  const also = chosen && chosen !== node ? `it fits on ${node} too` : "";
  const others = fitsCount - 1;
  const more = others > 1 || (others > 0 && !also) ? `it fits on ${plural(fitsCount, "node")} in all` : also;
  const copyPatch = async () => {
    const done = await copy(yaml);
    setCopied(done);
    announce(done ? "The patch is copied." : "The browser denied access to the clipboard.");
  };
  return (
    <li aria-labelledby={`why-change-${at}`}>
      <div class="why-words" id={`why-change-${at}`}>
        {words.map((text, place) => (
          <p>{place ? text : capital(text)}</p>
        ))}
      </div>
      <p class="why-row">
        <span class="pill pass why-verified">
          <Icon name="check" />
          <span>
            {chosen ? `verified: it ${goes} ` : "verified: it fits on "}
            <b>{chosen ?? node}</b>
          </span>
        </span>
        {more ? <span class="dim fine">{more}</span> : null}
        <span class="grow" />
        <span class="dim fine num">{`cost ${effort}`}</span>
      </p>
      {notes.map((text) => (
        <p class="dim fine">{text}</p>
      ))}
      <details open={at === 0}>
        <summary>{patches.every(({ action }) => action === "delete") ? "What is deleted" : "The patch"}</summary>
        <div class="why-patch">
          <pre tabIndex={0} aria-label="Patch as YAML">
            <code>{yaml.trim()}</code>
          </pre>
          <Button
            look="quiet square tiny"
            icon={copied === null ? "copy" : copied ? "check" : "warn"}
            label="Copy this patch"
            act={copyPatch}
          />
        </div>
      </details>
      {!apply ? null : answer.applicable ? (
        <ApplyButton primary={at === 0} act={() => apply(change)} />
      ) : (
        <p class="dim fine">
          {answer.state === "bound"
            ? "A copy would show nothing: the manifest binds the pod, so no cycle decides about it."
            : "A copy would show nothing: another scheduler decides about this pod."}
        </p>
      )}
    </li>
  );
}

function ApplyButton({ primary, act }: { primary: boolean; act: () => Promise<void> }) {
  const [state, setState] = useState({ busy: false, problem: "" });
  const run = async () => {
    if (state.busy) return;
    setState({ busy: true, problem: "" });
    try {
      await act();
    } catch (error) {
      setState({ busy: false, problem: refusalOf(error).message });
    }
  };
  return (
    <div class="why-row">
      <Button look={primary ? "primary" : ""} icon="fork" aria-disabled={state.busy || undefined} act={run}>
        <span>{state.busy ? "Running the copy…" : "Apply in a copy"}</span>
      </Button>
      <span role="alert">{state.problem ? <span class="stale-text">{state.problem}</span> : null}</span>
    </div>
  );
}

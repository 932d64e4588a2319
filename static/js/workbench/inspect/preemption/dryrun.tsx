// The dry run of preemption on one node: which pods would have to go.

import { Heading } from "../../../kit/heading.tsx";
import { Icon } from "../../../kit/icon.tsx";
import type { DryRun as Run } from "../../../lib/protocol.js";
import { count, short } from "../../../lib/quantity.ts";
import type { View } from "../../view/view.ts";
import { podLink } from "../../view/nouns.tsx";

/** All pods of lower priority out, then back one by one; no `run` while it is loading. */
export function DryRun({ view, run }: { view: View; run: Run | undefined }) {
  if (!run) return <p class="dim">Loading the dry run…</p>;
  const rest = (shown: number) =>
    run.count > shown ? <li class="dim">{`and ${count(run.count - shown)} more`}</li> : null;
  return (
    <div class="dry-run">
      <section>
        <Heading text="1. Remove all of lower priority" count={run.count} level={4} />
        <ol class="chips" aria-label="Pods removed, in order">
          {run.removed.map((key) => (
            <li class="chip out">{podLink(view, key)}</li>
          ))}
          {rest(run.removed.length)}
        </ol>
      </section>
      <section>
        <h4>2. Reprieve one by one</h4>
        <ol class="steps" aria-label="Reprieved pods, in order">
          {run.steps.map((step, i) => (
            <Step view={view} step={step} i={i} />
          ))}
          {rest(run.steps.length)}
        </ol>
      </section>
    </div>
  );
}

function Step({ view, step, i }: { view: View; step: Run["steps"][number]; i: number }) {
  const [key, priority, budgets, kept, reasons] = step;
  return (
    <li class={kept ? "kept" : "victim"}>
      <span class="num dim">{i + 1}</span>
      <span class={`pill ${kept ? "pass" : "victim"}`}>
        <Icon name={kept ? "check" : "cross"} />
        {kept ? "kept" : "victim"}
      </span>
      <span class="what">
        {podLink(view, key)}
        <small class="dim num">{` priority ${count(priority)}`}</small>
        {budgets.map((budget) => (
          <span class="pill stale" title={`Deleting it violates the PodDisruptionBudget ${budget}`}>
            <Icon name="warn" />
            {`PDB ${short(budget)}`}
          </span>
        ))}
        {reasons.length ? <small class="dim why-not">{`with it here: ${reasons.join(", ")}`}</small> : null}
      </span>
    </li>
  );
}

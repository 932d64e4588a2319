// Why? at a moment inside an attempt: what is known of the pod in flight by then. Its outcome, and what would help,
// belong to a later moment.

import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import { count, plural } from "../../lib/quantity.ts";
import { termsIn } from "../playback/terms.ts";
import type { Verdict } from "../playback/verdict.ts";
import type { View } from "../view/view.ts";

const NAMED = 8; // nodes of a reason

type UndecidedProps = { view: View; node: string | null; onWhole: () => void };

/** What is known of the pod, on `node` or on all nodes; `onWhole` shows the cycle to its end. */
export function Undecided({ view, node, onWhole }: UndecidedProps) {
  const { playback, facts } = view;
  const { verdict } = facts;
  const { filter } = termsIn(playback);
  const at = playback.phase ? `at the phase ${playback.phase}` : `at moment ${playback.at}`;
  return (
    <>
      <section class="why-about">
        <p class="why-row">
          <span class="pill accent">in flight</span>
          <span class="dim">{`cycle ${count(playback.index)}, ${at}`}</span>
        </p>
        <p class="why-summary">
          {verdict
            ? `${count(verdict.feasible)} of ${plural(verdict.evaluated, "node")} `
              + `${verdict.feasible === 1 ? "passes" : "pass"} every ${filter}. The pod’s result is decided later.`
            : `No ${filter} has run for this pod at this moment.`}
        </p>
      </section>
      {!verdict ? null : node ? (
        <One view={view} verdict={verdict} name={node} />
      ) : (
        <Reasons view={view} verdict={verdict} />
      )}
      <div class="why-row">
        <Button icon="step" act={onWhole}>
          Show the whole cycle, and what would help
        </Button>
      </div>
    </>
  );
}

type Known = { view: View; verdict: Verdict };

function One({ view, verdict, name }: Known & { name: string }) {
  const node = view.playback.nodeIndex.get(name) ?? -1;
  if (node < 0 || !view.exists(node)) return null;
  return (
    <section class="why-node">
      <h3>{name}</h3>
      {verdict.fits(node) ? (
        <p class="pass-text">
          <Icon name="check" /> {`Every ${termsIn(view.playback).filter} passes on ${name}.`}
        </p>
      ) : (
        <ul class="why-failures">
          <li>
            <p class="why-predicate">
              <Icon name="cross" />
              <b>{verdict.stopper(node)}</b>
            </p>
            <ul>
              {verdict.reasonsOf(node).map((text: string) => (
                <li>{text}</li>
              ))}
            </ul>
          </li>
        </ul>
      )}
    </section>
  );
}

/** The reasons, each with its nodes, the most first. */
function Reasons({ view, verdict }: Known) {
  const { names } = view.playback.nodes;
  const found = new Map<string, number[]>();
  for (let node = 0; node < verdict.count; node += 1) {
    if (verdict.fits(node) || !view.exists(node)) continue;
    for (const text of new Set<string>(verdict.reasonsOf(node))) {
      const nodes = found.get(text);
      if (nodes) nodes.push(node);
      else found.set(text, [node]);
    }
  }
  if (!found.size) return null;
  return (
    <section class="why-groups">
      <h3>Nodes, by what fails there</h3>
      <ul>
        {[...found]
          .sort(([, a], [, b]) => b.length - a.length)
          .map(([text, nodes]) => (
            <li key={text}>
              <span class="why-count num">{count(nodes.length)}</span>
              <div>
                <p>{text}</p>
                <div class="chips">
                  {nodes.slice(0, NAMED).map((node) => (
                    <span class="chip">{names[node]}</span>
                  ))}
                  {nodes.length > NAMED ? (
                    <span class="dim fine">{`and ${count(nodes.length - NAMED)} more`}</span>
                  ) : null}
                </div>
              </div>
            </li>
          ))}
      </ul>
    </section>
  );
}

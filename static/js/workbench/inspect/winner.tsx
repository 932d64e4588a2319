// Who won a ranking, and how a tie was broken.

import type { Light, PrioritiesPart } from "../../lib/protocol.js";
import { count, ordinal, plural } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { nodeLink } from "../view/nouns.tsx";

const TIES_LISTED = 12;

/** Who was chosen with which total, and how a tie was broken. */
export function Winner({ view, light, ranked }: { view: View; light: Light; ranked: PrioritiesPart }) {
  const node = ranked.winner ?? light.node;
  const feasible = plural(ranked.nodes.length, "feasible node");
  return (
    <>
      <p class="story">
        {node !== null ? (
          <>
            {nodeLink(view, node)}
            {" is chosen with "}
            <strong>{count(view.facts.best)}</strong>
            {`, the highest total of ${feasible}.`}
          </>
        ) : view.playback.reached.over ? (
          "No node was chosen."
        ) : (
          `${feasible} are ranked; a later phase takes one of them.`
        )}
      </p>
      {ranked.ties.length > 1 ? <Tie view={view} ranked={ranked} node={node} /> : null}
    </>
  );
}

/** How one of equal nodes is taken where no counter does. */
function choice({ release, atRandom }: PrioritiesPart) {
  if (atRandom)
    return (
      "With extenders kube-scheduler picks one of those that they scored at random; here it is always the node "
      + "at the root of the heap of totals."
    );
  if (release)
    return (
      `kube-scheduler ${release} breaks ties by heap order, not at random: `
      + "it takes the node at the root of the heap of totals."
    );
  return (
    "A KubeSchedulerConfiguration’s scheduler picks one of them at random; here it is always the first in the order of "
    + "the nodes."
  );
}

/** The nodes that share the highest total, in the order of their turns. */
function Tie({ view, ranked, node }: { view: View; ranked: PrioritiesPart; node: number | null }) {
  const { ties, counter, inTurn } = ranked;
  const place = inTurn ? counter % ties.length : Math.max(0, node === null ? -1 : ties.indexOf(node));
  const from = Math.max(0, Math.min(place - Math.floor(TIES_LISTED / 2), ties.length - TIES_LISTED));
  const listed = ties.slice(from, from + TIES_LISTED);
  return (
    <div class="tie">
      {inTurn ? (
        <p>
          {`${plural(ties.length, "node")} share that total. Equal totals are ordered by node name, last first. `}
          {"The round-robin counter stands at "}
          <strong>{count(counter)}</strong>
          {": "}
          <code>{`${count(counter)} mod ${count(ties.length)} = ${count(place)}`}</code>
          {`, so the ${ordinal(place + 1)} of them is taken.`}
        </p>
      ) : (
        <p>{`${plural(ties.length, "node")} share that total. ${choice(ranked)}`}</p>
      )}
      <ol class="ties" start={from + 1}>
        {from > 0 ? <li class="dim plain">…</li> : null}
        {listed.map((one, i) => (
          <li class={from + i === place ? "won" : undefined}>
            <span class="dim num">{from + i}</span>
            {nodeLink(view, one)}
          </li>
        ))}
        {from + listed.length < ties.length ? (
          <li class="dim plain">{`… ${count(ties.length - from - listed.length)} more`}</li>
        ) : null}
      </ol>
    </div>
  );
}

// What other weights would have chosen: the browser adds up, breaks ties and flips as the engine decides.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { rankedOf } from "../../static/js/workbench/inspect/ranked.ts";
import { choiceOf, flipsOf, scalesOf, totalsWith } from "../../static/js/workbench/inspect/weights.ts";
import type { PrioritiesPart } from "../../static/js/lib/protocol.js";

type Seen = { names: string[]; part: PrioritiesPart };
type Weighing = Seen & {
  weights: Record<string, number>;
  totals: Record<string, number>;
  ties: string[];
  winner: string;
};
type Asked = Seen & { name: string; winners: [weight: number, node: string][] };
const { weighings, flips }: { weighings: Weighing[]; flips: Asked[] } = JSON.parse(
  readFileSync(process.env.RECORDED!, "utf8"),
);

function weigh({ names, part }: Seen, weights: Record<string, number>) {
  const made = rankedOf(part, names);
  const scales = scalesOf(part, made, names);
  const tried = made.rows.map((row) => weights[row.name] ?? row.weight);
  return { made, scales, tried, nameOf: (at: number) => names[made.nodes[at]] };
}

it("totals, ties in their order and the node that wins are the engine's", () => {
  for (const one of weighings) {
    const { made, scales, tried, nameOf } = weigh(one, one.weights);
    const totals = totalsWith(scales, tried);
    const { winner, ties } = choiceOf(scales, totals);
    const said = JSON.stringify(one.weights);
    assert.deepEqual(Object.fromEntries(made.nodes.map((_, at) => [nameOf(at), totals[at]])), one.totals, said);
    assert.equal(nameOf(winner), one.winner, said);
    if (one.part.turns) {
      assert.equal(nameOf(ties[0]), one.winner, said);
      assert.deepEqual(ties.map(nameOf).sort(), [...one.ties].sort(), said);
    } else assert.deepEqual(ties.map(nameOf), one.ties, said);
  }
  assert.ok(new Set(weighings.map(({ winner }) => winner)).size > 3, "the weights must matter");
  assert.ok(weighings.filter(({ part, ties }) => part.turns && ties.length > 1).length > 1, "there must be ties");
});

it("the winner flips where the engine's does", () => {
  let seen = 0;
  for (const one of flips) {
    const { made, scales, tried, nameOf } = weigh(one, {});
    const spans = flipsOf(
      scales,
      tried,
      made.rows.findIndex(({ name }) => name === one.name),
    );
    assert.equal(spans[0].from, 0);
    for (let at = 1; at < spans.length; at++) assert.equal(spans[at].from, spans[at - 1].to + 1);
    seen += spans.length - 1;
    for (const [weight, node] of one.winners) {
      const span = spans.find(({ from, to }) => from <= weight && weight <= to)!;
      assert.equal(nameOf(span.winner), node, `${one.name} ${weight}`);
    }
  }
  assert.ok(seen > 3, "winners must flip");
});

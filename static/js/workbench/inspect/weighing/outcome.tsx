// The outcome of other weights: who would win, and the ranking.

import { Icon } from "../../../kit/icon.tsx";
import { Table } from "../../../kit/table.tsx";
import type { PrioritiesPart } from "../../../lib/protocol.js";
import { count, plural } from "../../../lib/quantity.ts";
import type { View } from "../../view/view.ts";
import { aboutNode, nodeLink } from "../../view/nouns.tsx";
import type { Ranking } from "../ranked.ts";
import { rankOf, topOf, type Choice, type Scales } from "../weights.ts";

const LISTED = 6; // nodes of the ranking
const NAME = 24; // characters of a node's name in a row

type Props = {
  view: View;
  ranked: PrioritiesPart;
  made: Ranking;
  scales: Scales;
  totals: Float64Array;
  choice: Choice;
  /** The weights are those in force. */
  asDecided: boolean;
};

/** Who would win with the weights that are tried, in words. */
export function Outcome({ view, ranked, made, scales, totals, choice, asDecided }: Props) {
  const decided = ranked.winner === null ? undefined : made.at.get(ranked.winner);
  const { inTurn, counter, heap } = scales;
  const many = choice.ties.length;
  const turn = `the counter, ${count(counter)} mod ${count(many)} = ${count(counter % many)}, takes it`;
  const first = heap ? "the node at the root of the heap wins" : "the first of them wins";
  const tie = many > 1 ? `, as ${plural(many, "node")} have: ${inTurn ? turn : first}` : "";
  const sum = ` with ${count(choice.best)}${tie}`;
  const link = (position: number) => nodeLink(view, made.nodes[position], NAME);
  const won = link(choice.winner);
  if (asDecided) return <>{["As decided: ", won, `${sum}. Move a weight.`]}</>;
  if (choice.winner === decided) return <>{["Still ", won, `,${sum}.`]}</>;
  return (
    <>
      {won}
      {` would have won${sum}; `}
      {decided === undefined
        ? "nothing was chosen."
        : [link(decided), ` would have ${count(totals[decided])}, rank ${count(rankOf(totals, decided))}.`]}
    </>
  );
}

/** The best nodes with the weights that are tried. */
export function Best({ view, made, scales, totals, choice, asDecided }: Props) {
  const top = topOf(scales, totals, LISTED);
  if (!top.includes(choice.winner)) top.splice(0, 1, choice.winner); // of very many equal ones the one that is taken
  return (
    <>
      <Table
        rows={top.map((one) => {
          const now = rankOf(totals, one);
          const was = made.rank[one];
          return (
            <tr key={one} class={one === choice.winner ? "won" : undefined} {...aboutNode(view, made.nodes[one])}>
              <td class="num">{count(now)}</td>
              <th scope="row">
                {nodeLink(view, made.nodes[one], NAME)}
                {one === choice.winner ? (
                  <span class="pill accent">
                    <Icon name="check" />
                    {asDecided ? "chosen" : "would win"}
                  </span>
                ) : null}
              </th>
              <td class="num">{count(totals[one])}</td>
              <td class="num" data-value={was - now}>
                {was === now ? (
                  <span class="dim">–</span>
                ) : (
                  <span class={was > now ? "pass-text" : "fail-text"}>
                    {`${was > now ? "↑" : "↓"} from ${count(was)}`}
                  </span>
                )}
              </td>
            </tr>
          );
        })}
        heads={[{ text: "rank", class: "num" }, "node", { text: "sum", class: "num" }, { text: "moved", class: "num" }]}
        caption="The best nodes with these weights"
        title={<h4>Ranking with these weights</h4>}
        kept={view.lists.of("priorities")}
        name="ranking"
      />
      {scales.size > top.length ? (
        <p class="dim fine">{`and ${plural(scales.size - top.length, "more node")} behind`}</p>
      ) : null}
    </>
  );
}

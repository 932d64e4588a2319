// Where a recorded cluster placed its pods, and where a run of the recording did.

import { Table } from "../kit/table.tsx";
import { count } from "../lib/quantity.ts";
import type { KeptLists } from "../lib/tables.ts";
import { addressOf } from "./answer.tsx";

type Placement = [pod: string, recorded: string, simulated: string | null, cycle: number | null];
export type Comparison = { counts: Record<string, number>; pods: Placement[] };

const kept: KeptLists = {};
const COLUMNS = ["pod", "recorded", "simulated", "cycle"];
const verdictOf = ([, recorded, simulated]: Placement) =>
  simulated === null ? "not placed" : simulated === recorded ? "same node" : "other node";

export function Placements({ run, counts, pods }: Comparison & { run: string }) {
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  return (
    <Table
      title={
        <b class="num">
          {Object.entries(counts)
            .map(([verdict, number]) => `${count(number)} ${verdict}`)
            .join(" · ")}
        </b>
      }
      caption="Recorded and simulated nodes"
      filter="Filter pods"
      kept={kept}
      heads={["pod", "verdict", "recorded", "simulated", "cycle"]}
      rows={pods.map((row, at) => (
        <tr key={at}>
          <th scope="row">{row[0]}</th>
          <td class={verdictOf(row) === "same node" ? "pass-text" : ""}>{verdictOf(row)}</td>
          <td>{row[1]}</td>
          <td>{row[2] ?? "–"}</td>
          <td data-value={row[3] ?? ""}>{row[3] ? <a href={addressOf(run, row, COLUMNS)}>{count(row[3])}</a> : "–"}</td>
        </tr>
      ))}
      total={all}
    />
  );
}

// The tables that the server drew get what the workbench's have: sorting, a filter, copying; that of placements also
// two lists of nodes, and a decision is a button that goes there.

import { render } from "preact";
import { useState } from "preact/hooks";
import { Table } from "../kit/table.tsx";
import { $, $$ } from "../lib/dom.ts";
import type { Stepper } from "./stepper.tsx";

type Row = { pair: string; cells: { text: string; class: string; label?: string }[] };
type DrawnProps = { stepper: Stepper; caption: string; table: HTMLTableElement; filter: string; nodes: boolean };

export function tables(stepper: Stepper) {
  for (const host of $$("[data-table]")) {
    const table = $("table", host);
    const caption = $("h2", host.closest("section") as HTMLElement).textContent ?? "";
    host.replaceChildren();
    const { table: filter = "" } = host.dataset;
    render(<Drawn {...{ stepper, caption, table, filter }} nodes={"nodes" in host.dataset} />, host);
  }
}

const read = (table: HTMLTableElement): Row[] =>
  [...table.rows].map(({ cells, dataset: { pair = "" } }) => ({
    pair,
    cells: [...cells].map(({ textContent, className, dataset: { label } }) => ({
      text: textContent ?? "",
      class: className,
      label,
    })),
  }));

function Drawn({ stepper, caption, table, filter, nodes }: DrawnProps) {
  const [[heads, ...rows]] = useState(() => read(table));
  const [ends, setEnds] = useState(["", ""]); // the nodes that pods are narrowed to: on the left, and on the right
  const narrowed = rows.filter(({ cells }) => ends.every((end, at) => !end || end === cells[at + 1]?.text));
  const lists = ["left", "right"].map((side, at) => (
    <select
      class="field filter"
      aria-label={`Node on the ${side}`}
      value={ends[at]}
      onChange={({ currentTarget: { value } }) => setEnds(ends.with(at, value))}
    >
      <option value="">any {side}</option>
      {[...new Set(rows.map(({ cells }) => cells[at + 1]?.text ?? ""))]
        .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
        .map((name) => (
          <option value={name}>{name}</option>
        ))}
    </select>
  ));
  return (
    <Table
      caption={caption}
      class={table.className}
      heads={heads?.cells ?? []}
      filter={filter}
      tools={nodes ? lists : null}
      none="No pod ends on these nodes."
      rows={narrowed.map(({ pair, cells: [first, ...rest] }) => (
        <tr
          key={pair || first?.text}
          data-pair={pair || undefined}
          class={pair && pair === stepper.pair.value ? "is-selected" : undefined}
        >
          <th scope="row">
            {pair ? (
              <button type="button" class="link" onClick={() => stepper.show(pair)}>
                {first?.text}
              </button>
            ) : (
              first?.text
            )}
          </th>
          {rest.map(({ text, class: name, label }) => (
            <td class={name} data-label={label}>
              {text}
            </td>
          ))}
        </tr>
      ))}
    />
  );
}

// An answer to a statement about a run: how it is asked for, its rows as a table, and as a file.

import { Table } from "../kit/table.tsx";
import { count } from "../lib/quantity.ts";
import type { KeptLists } from "../lib/tables.ts";

export type Value = string | number | boolean | null;
export type Rows = { columns: string[]; rows: Value[][]; more: boolean };

const kept: KeptLists = {};
const FEW = 12; // a table of so many rows needs no filter
const PAGE = 25; // rows: messages are long

/** Ask one SELECT about a run. Rejects with what is wrong in it, or with the server. */
export const asked = async (run: string, sql: string): Promise<Rows> => (await answerTo(run, { sql })).json();

/** Download the answer to a SELECT as a file. Rejects as `asked` does. */
export async function download(run: string, sql: string, format: "csv" | "parquet") {
  const answer = await answerTo(run, { sql, format });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = `${run}.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function answerTo(run: string, query: { sql: string; format?: string }) {
  const answer = await fetch(`/api/runs/${run}/query`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(query),
  }).catch(() => {
    throw new Error("The server could not be reached. Try again.");
  });
  if (answer.ok) return answer;
  const { errors } = (await answer.json()) as { errors: { message: string }[] };
  throw new Error(errors.map(({ message }) => message).join("\n"));
}

/** Why a statement has no answer. */
export const QueryError = ({ text }: { text: string }) =>
  text ? (
    <p class="note error query-error" role="alert">
      {text}
    </p>
  ) : null;

/** Rows of an answer; a column `cycle` leads to the cycle in the workbench. */
export const Found = ({ run, columns, rows, more }: Rows & { run: string }) => (
  <Table
    title={
      <b class="num" role="status">
        {more ? `The first ${count(rows.length)} rows` : `${count(rows.length)} row${rows.length === 1 ? "" : "s"}`}
      </b>
    }
    caption="Answer"
    class="list tight num"
    filter={rows.length > FEW ? "Filter rows" : ""}
    empty="No rows."
    kept={kept}
    name={columns.join()}
    heads={columns.map((text, column) => ({ text, class: isWords(rows, column) ? "words" : "" }))}
    rows={rows.slice(0, 1_000).map((row, at) => (
      <tr key={at}>
        {row.map((value, column) => (
          <td class={isWords([row], column) ? "words" : ""} data-value={value ?? ""}>
            {columns[column] === "cycle" && value ? (
              <a href={addressOf(run, row, columns)}>{shown(value)}</a>
            ) : (
              shown(value)
            )}
          </td>
        ))}
      </tr>
    ))}
    total={rows.length}
    size={PAGE}
  />
);

/** Whether a column of rows has words in it. */
export const isWords = (rows: Value[][], column: number) => rows.some((row) => typeof row[column] === "string");

/** The cycle of a row in the workbench, with its pod selected. */
export function addressOf(run: string, row: Value[], columns: string[]) {
  const pod = row[columns.indexOf("pod")];
  const chosen = pod ? `?pod=${encodeURIComponent(String(pod)).replaceAll("%2F", "/")}` : "";
  return `/runs/${run}/at/${row[columns.indexOf("cycle")]}/${chosen}`;
}

export function shown(value: Value) {
  if (value === null) return "–";
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? count(value) : value.toFixed(3);
}

// Questions about a run: one of those that are offered, or any SELECT about its tables.

import { useState } from "preact/hooks";
import { Icon } from "../kit/icon.tsx";
import { Select } from "../kit/select.tsx";
import { Table } from "../kit/table.tsx";
import { count } from "../lib/quantity.ts";
import type { KeptLists } from "../lib/tables.ts";

export type Question = { name: string; text: string; sql: string };
export type Value = string | number | boolean | null;
export type Rows = { columns: string[]; rows: Value[][]; more: boolean };

const kept: KeptLists = {};
const FEW = 12; // a table of so many rows needs no filter

const OFTEN = ["slowest", "most-preempted", "pending"]; // have a button each
const SHORT: Record<string, string> = {
  slowest: "Slowest pods",
  "most-preempted": "Most preempted",
  pending: "Pending at the end",
};

/** Ask one SELECT about a run. Rejects with what is wrong in it, or with the server. */
export async function asked(run: string, sql: string): Promise<Rows> {
  const answer = await fetch(`/api/runs/${run}/query`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ sql }),
  }).catch(() => {
    throw new Error("The server could not be reached. Try again.");
  });
  const body = await answer.json();
  if (!answer.ok) throw new Error((body.errors as { message: string }[]).map(({ message }) => message).join("\n"));
  return body;
}

/** The form, and the answer to what was asked last. */
export function Queries({ run, questions }: { run: string; questions: Question[] }) {
  const [sql, setSql] = useState(questions[0].sql);
  const [chosen, choose] = useState(questions[0].name);
  const [asking, setAsking] = useState(false);
  const [found, setFound] = useState<Rows | null>(null);
  const [error, setError] = useState("");
  const ask = async (text: string) => {
    setAsking(true);
    setError("");
    try {
      setFound(await asked(run, text));
    } catch (failed) {
      setError((failed as Error).message);
    }
    setAsking(false);
  };
  const pick = (name: string) => {
    choose(name);
    const question = questions.find((one) => one.name === name);
    if (!question) return;
    setSql(question.sql);
    void ask(question.sql);
  };
  return (
    <>
      <form
        class="query-form"
        onSubmit={(event) => {
          event.preventDefault();
          void ask(sql);
        }}
      >
        <Select
          aria-label="Question"
          value={chosen}
          options={[...questions.map(({ name, text }): [string, string] => [name, text]), ["", "In your own SQL"]]}
          onChange={pick}
        />
        <p class="query-acts">
          {OFTEN.map((name) => (
            <button key={name} type="button" class="btn" onClick={() => pick(name)}>
              {SHORT[name]}
            </button>
          ))}
        </p>
        <textarea
          class="field mono"
          aria-label="SQL"
          rows={5}
          spellcheck={false}
          value={sql}
          onInput={(event) => {
            setSql(event.currentTarget.value);
            choose("");
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
        <p class="query-acts">
          <button class="btn primary" disabled={asking} title="Ctrl Enter">
            {asking ? "Asking…" : "Ask"}
          </button>
          <a class="btn quiet" href={`/api/runs/${run}/tables.zip`} download>
            <Icon name="table" />
            <span>Download the tables as Parquet</span>
          </a>
          <a class="btn quiet" href={`/api/runs/${run}/tables.zip?format=csv`} download>
            as CSV
          </a>
        </p>
      </form>
      {error ? (
        <p class="note error query-error" role="alert">
          {error}
        </p>
      ) : null}
      {found ? <Found run={run} {...found} /> : null}
    </>
  );
}

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
    heads={columns}
    rows={rows.slice(0, 1_000).map((row, at) => (
      <tr key={at}>
        {row.map((value, column) => (
          <td data-value={value ?? ""}>
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
  />
);

/** The cycle of a row in the workbench, with its pod selected. */
export function addressOf(run: string, row: Value[], columns: string[]) {
  const pod = row[columns.indexOf("pod")];
  const chosen = pod ? `?pod=${encodeURIComponent(String(pod)).replaceAll("%2F", "/")}` : "";
  return `/runs/${run}/at/${row[columns.indexOf("cycle")]}/${chosen}`;
}

function shown(value: Value) {
  if (value === null) return "–";
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? count(value) : value.toFixed(3);
}

// A search among the cycles of a run: by pod, node or message, by outcome, and in the range that the charts show.

import { useEffect, useState } from "preact/hooks";
import { Select } from "../kit/select.tsx";
import type { View } from "./charts.tsx";
import { Found, QueryError, asked, type Rows } from "./answer.tsx";

const OUTCOMES: [condition: string, text: string][] = [
  ["", "any outcome"],
  ["result = 'scheduled'", "scheduled"],
  ["result = 'unschedulable'", "unschedulable"],
  ["nominated IS NOT NULL", "preempting"],
  ["result NOT IN ('scheduled', 'unschedulable')", "waiting or an error"],
];
const SHOWN = 200;
const COLUMNS = "cycle, time, pod, result, node, message";

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** The statement that finds what was typed, as it stands in any column. */
function statement(typed: string, outcome: string, { by, span }: View) {
  const text = quoted(typed.trim().toLowerCase());
  const where = [
    outcome,
    span ? `${by} BETWEEN ${span[0]} AND ${span[1]}` : "",
    typed.trim() ? `contains(lower(concat_ws(chr(10), pod, node, message)), ${text})` : "",
  ].filter(Boolean);
  const narrowed = where.length ? `WHERE ${where.join(" AND ")}` : "";
  return `SELECT ${COLUMNS} FROM cycles ${narrowed} ORDER BY cycle LIMIT ${SHOWN}`;
}

export function Outcomes({ run, view }: { run: string; view: View }) {
  const [typed, setTyped] = useState("");
  const [outcome, setOutcome] = useState("");
  const [found, setFound] = useState<Rows | null>(null);
  const [error, setError] = useState("");
  const search = async (of = outcome) => {
    setError("");
    try {
      setFound(await asked(run, statement(typed, of, view)));
    } catch (failed) {
      setError((failed as Error).message);
    }
  };
  useEffect(() => {
    if (view.span) void search();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- Search asks for what is typed
  }, [view]);
  return (
    <>
      <form
        class="query-acts"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          void search();
        }}
      >
        <input
          class="field"
          type="search"
          aria-label="Pod, node or message"
          placeholder="Pod, node or message"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Select
          aria-label="Outcome"
          value={outcome}
          options={OUTCOMES}
          onChange={(next) => {
            setOutcome(next);
            void search(next);
          }}
        />
        <button class="btn primary">Search</button>
      </form>
      <QueryError text={error} />
      {found ? <Found run={run} {...found} more={found.more || found.rows.length === SHOWN} /> : null}
    </>
  );
}

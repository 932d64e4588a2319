// Questions about a run: one of those that are offered, or any SELECT about its tables.

import { useState } from "preact/hooks";
import { Icon } from "../kit/icon.tsx";
import { Segmented } from "../kit/segmented.tsx";
import { Select } from "../kit/select.tsx";
import { asked, download, Found, QueryError, type Rows } from "./answer.tsx";
import { AnswerChart } from "./answerchart.tsx";

export type Question = { name: string; text: string; sql: string };

const SHAPES: [shape: string, text: string][] = [
  ["table", "Table"],
  ["chart", "Chart"],
];
const FILES: [format: "csv" | "parquet", text: string][] = [
  ["csv", "CSV"],
  ["parquet", "Parquet"],
];
const OFTEN = ["slowest", "most-preempted", "pending"]; // have a button each
const SHORT: Record<string, string> = {
  slowest: "Slowest pods",
  "most-preempted": "Most preempted",
  pending: "Pending at the end",
};

/** The form, and the answer to what was asked last. */
export function Queries({ run, questions }: { run: string; questions: Question[] }) {
  const [sql, setSql] = useState(questions[0].sql);
  const [chosen, choose] = useState(questions[0].name);
  const [asking, setAsking] = useState(false);
  const [found, setFound] = useState<(Rows & { sql: string }) | null>(null);
  const [shape, setShape] = useState("table");
  const [error, setError] = useState("");
  const attempt = async (work: () => Promise<void>) => {
    setAsking(true);
    setError("");
    await work().catch((failed: Error) => setError(failed.message));
    setAsking(false);
  };
  const ask = (text: string) => attempt(async () => setFound({ ...(await asked(run, text)), sql: text }));
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
      <QueryError text={error} />
      {found ? (
        <p class="query-acts">
          <Segmented label="Shape of the answer" options={SHAPES} value={shape} onChange={setShape} />
          {FILES.map(([format, text]) => (
            <button
              key={format}
              type="button"
              class="btn quiet"
              disabled={asking}
              aria-label={`Download the answer as ${text}`}
              onClick={() => void attempt(() => download(run, found.sql, format))}
            >
              {text}
            </button>
          ))}
        </p>
      ) : null}
      {found && shape === "chart" ? <AnswerChart key={found.columns.join()} {...found} /> : null}
      {found && shape === "table" ? <Found run={run} {...found} /> : null}
    </>
  );
}

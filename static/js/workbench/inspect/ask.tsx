// Ask: what the cluster answers to its operators, row by row as the server finds it, and how many of a pod fit.

import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Empty } from "../../kit/empty.tsx";
import { Filter } from "../../kit/filter.tsx";
import { Heading } from "../../kit/heading.tsx";
import { ProgressBar, type Far } from "../../kit/progress.tsx";
import { Segmented } from "../../kit/segmented.tsx";
import { announce } from "../../lib/dom.ts";
import { progressOf } from "../../lib/progress.ts";
import type { AuditRow, Report } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { useRedraw } from "../view/asking.tsx";
import { PENDING } from "../playback/cluster.ts";
import { reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";
import { Fits } from "./askpod.tsx";
import { Row } from "./askrow.tsx";

const READING = new Set(["sending", "reading", "checking", "assembling"]);
const QUESTIONS = [
  "What is pending, and which change helps?",
  "Does it survive a lost node, or a lost zone?",
  "Can every node be drained, and in which order?",
  "Does every rollout end, and how are its pods spread then?",
  "How many more of each pod fit, and which nodes to add?",
  "What would another release, MostAllocated or the descheduler change?",
];
const SHOWN: [value: string, text: string][] = [
  ["", "All"],
  ["risk", "At risk"],
  ["unknown", "Cannot say"],
];

/** Whether nodes run pods, and none waits and none is scheduled: then questions are what to begin with. */
export const isCalm = ({ playback: { complete, cycles, veiled, nodes, pods } }: View) =>
  complete && !cycles && veiled === null && nodes.names.length > 0 && !pods.node.includes(PENDING);

export function Ask({ view }: { view: View }) {
  reads(view.store.scenario, view.store.known);
  const { draft, scenario, run, link, side, revision } = view.playback.source;
  // Another text is another cluster: what was answered of the one before is gone.
  return <Questions key={[draft, scenario, run, link, side, revision].join("/")} view={view} />;
}

function Questions({ view }: { view: View }) {
  const { socket, source } = view.playback;
  const [rows, setRows] = useState<AuditRow[]>([]);
  const [far, setFar] = useState<Far | null>(null);
  const [said, setSaid] = useState("");
  const [asked, setAsked] = useState(false);
  const end = useRef<AbortController | null>(null);
  useEffect(() => () => end.current?.abort(), []);

  const ask = async () => {
    const own = new AbortController();
    end.current = own;
    setAsked(true);
    setRows([]);
    setSaid("");
    setFar([null, "Playing the cluster until it is at rest"]);
    const { signal } = own;
    socket.on("audit.row", ({ row }) => setRows((before) => [...before, row]), { signal });
    try {
      const answer = await socket.call(
        "audit.get",
        { source },
        { signal, progress: (report) => setFar(farOf(report)) },
      );
      setRows([...answer.rows]);
      announce(`${plural(answer.rows.length, "answer")}, ${count(atRisk(answer.rows))} at risk`);
    } catch (error) {
      const { message } = refusalOf(error);
      setSaid(signal.aborted ? "Stopped: the answers so far are below." : message);
    } finally {
      own.abort();
      setFar(null);
    }
  };
  useEffect(() => {
    if (isCalm(view)) void ask();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, of a cluster with nothing to step through
  }, []);

  return (
    <>
      <section class="ask-head">
        <h3>Ask the cluster</h3>
        {far ? (
          <ProgressBar label="Asking" far={far} onCancel={() => end.current?.abort()} />
        ) : (
          <Begin asked={asked} ask={ask} />
        )}
        {said ? (
          <p class="note" role="status">
            {said}
          </p>
        ) : null}
      </section>
      {rows.length ? <Answers view={view} rows={rows} /> : null}
      {asked && !far && !said && !rows.length ? <Empty title="There is no answer." /> : null}
      <Fits view={view} />
    </>
  );
}

const atRisk = (rows: readonly AuditRow[]) => rows.filter(({ verdict }) => verdict === "risk").length;

function farOf(report: Report): Far {
  const { stage, done, of } = report;
  if (READING.has(stage)) return of > 1 ? progressOf(report) : [null, "Waiting for a process"];
  return [of ? done / of : null, of ? `${stage}: case ${count(done + 1)} of ${count(of)}` : stage];
}

/** What can be asked, and the button that asks all of it. */
const Begin = ({ asked, ask }: { asked: boolean; ask: () => unknown }) => (
  <>
    {asked ? null : (
      <ul class="ask-questions">
        {QUESTIONS.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    )}
    <Button look={asked ? "small" : "primary"} icon="help" act={ask}>
      {asked ? "Ask again" : "Ask all of it"}
    </Button>
  </>
);

// --- answers

type Group = { subject: string; title: string; question: string; rows: AuditRow[] };

function groupsOf(rows: readonly AuditRow[]): Group[] {
  const found = new Map<string, Group>();
  for (const row of rows) {
    const { subject, title, question } = row;
    const group = found.get(subject) ?? { subject, title, question, rows: [] };
    group.rows.push(row);
    found.set(subject, group);
  }
  return [...found.values()];
}

const textOf = ({ sentence, evidence, title }: AuditRow) => [title, sentence, ...evidence].join("\n").toLowerCase();

function Answers({ view, rows }: { view: View; rows: readonly AuditRow[] }) {
  const redraw = useRedraw();
  const [verdict, setVerdict] = useState("");
  const state = useRef({ typed: "", find: "" }).current;
  const shown = rows.filter(
    (row) => (!verdict || row.verdict === verdict) && (!state.find || textOf(row).includes(state.find)),
  );
  const options = SHOWN.map(([value, text]): [string, string] => [
    value,
    `${text} ${count(value ? rows.filter((row) => row.verdict === value).length : rows.length)}`,
  ]);
  return (
    <section class="ask-answers" aria-label="Answers">
      <div class="ask-tools">
        <Segmented label="Which answers" options={options} value={verdict} onChange={setVerdict} />
        <Filter label="Filter the answers" state={state} onChange={redraw} placeholder="Node, workload, reason" />
      </div>
      {groupsOf(shown).map((group) => (
        <section key={group.subject} class="ask-group">
          <Heading text={group.title} count={group.question} />
          <ul>
            {group.rows.map((row) => (
              <Row key={row.sentence} view={view} row={row} />
            ))}
          </ul>
        </section>
      ))}
      {shown.length ? null : (
        <Empty title="No answer matches.">
          <button
            type="button"
            class="link"
            onClick={() => {
              Object.assign(state, { typed: "", find: "" });
              setVerdict("");
              redraw();
            }}
          >
            Show all of them
          </button>
        </Empty>
      )}
    </section>
  );
}

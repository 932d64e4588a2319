// Preemption: which nodes could have made room, the dry run on each, the criteria that picked one, and where nothing
// helps.

import { useRef, useState } from "preact/hooks";
import { useInTab } from "../view/asking.tsx";
import { Empty } from "../../kit/empty.tsx";
import { Heading } from "../../kit/heading.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Table } from "../../kit/table.tsx";
import { toast } from "../../lib/dom.ts";
import type { Candidate, DryRun as Run, PreemptionPart } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { superseded } from "../../lib/socket.ts";
import type { View } from "../view/view.ts";
import { Before, Later } from "./empty.tsx";
import { aboutNode, linked, nodeLink, podLink } from "../view/nouns.tsx";
import type { Content } from "./panel.tsx";
import { Criteria, Hopeless, NAME } from "./preemption/criteria.tsx";
import { DryRun } from "./preemption/dryrun.tsx";
import { sentence } from "../view/sentence.tsx";

const AT_ONCE = 50; // candidates that are asked for

export function Preemption({ view, part }: Content<"preemption">) {
  // Where there is none, the next cycle with one may only be known now.
  useInTab(view.store, "preemption", ...("candidates" in part ? [] : [view.store.known]));
  const shown = useRef(part);
  if (shown.current !== part) {
    shown.current = part;
    for (const list of Object.values(view.lists.of("preemption"))) list.typed = "";
  }
  const light = view.playback.current;
  if (!light) return <Before view={view} />;
  if ("candidates" in part) return <Found key={part} view={view} part={part} />;
  if (light.result !== "undecided") return <None view={view} why={String(part.why)} />;
  return (
    <Later view={view} title="Preemption is not tried at this moment." text="It is tried if no node is feasible." />
  );
}

function None({ view, why }: { view: View; why: string }) {
  const { playback, seen } = view;
  const next = playback.marks.seek(playback.index, 1, "p");
  const last = playback.marks.seek(playback.index, -1, "p");
  // While it may not be shown whether a later cycle has one.
  const unseen = seen.last < playback.cycles && !(next && seen.knows(next));
  const leads = (text: string, to: number, className = "btn") => (
    <button type="button" class={className} onClick={(event) => playback.goto(to, event.timeStamp)}>
      {`${text} cycle with one: `}
      <b>{`#${count(to)}`}</b>
    </button>
  );
  const look = (event: Event) => {
    if (next) playback.goto(next, event.timeStamp);
    else toast(playback.complete ? "No later cycle has one." : "No later cycle that is computed has one.");
  };
  return (
    <Empty title="No preemption in this cycle.">
      <span>{linked(view, why)}</span>
      {unseen ? (
        <>
          <button type="button" class="btn" onClick={look}>
            Go to the next cycle with one
          </button>
          {last ? leads("Last", last, "btn quiet") : null}
        </>
      ) : next || last ? (
        leads(next ? "Next" : "Last", next || last)
      ) : (
        <span>
          {playback.complete
            ? "No other cycle has one: it needs a pod without a feasible node and pods of lower priority."
            : ""}
        </span>
      )}
    </Empty>
  );
}

function Found({ view, part }: { view: View; part: PreemptionPart }) {
  return (
    <>
      <div class="story outcome">{part.outcome.map((parts) => sentence(view, parts))}</div>
      {part.eligible && part.candidates.count ? <Candidates view={view} part={part} /> : null}
      {part.criteria.length ? <Criteria view={view} part={part} /> : null}
      {part.hopeless.length ? <Hopeless view={view} part={part} /> : null}
    </>
  );
}

/** The candidates that are loaded, with the dry runs of those that are open. */
function Candidates({ view, part }: { view: View; part: PreemptionPart }) {
  const { playback } = view;
  const [rows, setRows] = useState(part.candidates.rows);
  const [runs, setRuns] = useState<Record<number, Run>>(part.run ? { [part.run.node]: part.run } : {});
  const [open, setOpen] = useState<number[]>(part.run ? [part.run.node] : []);
  const [busy, setBusy] = useState(false);
  const { source, index, socket } = playback;
  const failed = (error: unknown) => {
    if (!superseded(error)) playback.failed(error);
  };
  const toggle = (node: number) => {
    const opens = !open.includes(node);
    setOpen(opens ? [...open, node] : open.filter((one) => one !== node));
    if (!opens || runs[node]) return;
    const asked = socket.call("preemption.run", { source, cycle: index, node });
    asked.then((run) => setRuns((known) => ({ ...known, [node]: run })), failed);
  };
  const page = async () => {
    setBusy(true);
    try {
      const asked = { source, cycle: index, from: rows.length, count: AT_ONCE };
      const answer = await socket.call("preemption.candidates", asked);
      setRows([...rows, ...answer.rows]);
    } catch (error) {
      failed(error);
    }
    setBusy(false);
  };
  const total = part.candidates.count;
  const left = total - rows.length;
  return (
    <section class="candidates">
      <div>
        <Table
          rows={rows.map((row) => candidate(view, part, row, open.includes(row.node), runs[row.node], toggle))}
          heads={[
            "node",
            "victims",
            { text: "PDBs", title: "Victims that violate a PodDisruptionBudget" },
            "decided by",
          ]}
          caption="Candidate nodes, the chosen one first"
          title={
            <Heading
              text="Candidate nodes"
              count={`${count(total)} of ${plural(part.potential, "node")} where deletions might help`}
            />
          }
          filter="Filter candidate nodes by name or victim"
          kept={view.lists.of("preemption")}
          name="candidates"
        />
      </div>
      <button type="button" class="btn" hidden={left <= 0} disabled={busy} onClick={page}>
        {`Show more of the ${count(left)} others`}
      </button>
    </section>
  );
}

/** Why a candidate was chosen, or by which criterion it dropped out. */
function decidedBy(part: PreemptionPart, { node, lost, count: victims }: Candidate) {
  if (node === part.node) return part.criteria.find((one) => one.decided)?.text ?? "the only one";
  return (lost === null ? null : part.criteria[lost]?.text) ?? (victims ? "" : "no victims are needed");
}

function candidate(
  view: View,
  part: PreemptionPart,
  row: Candidate,
  open: boolean,
  run: Run | undefined,
  toggle: (node: number) => void,
) {
  const { node, victims, violations } = row;
  const chosen = node === part.node;
  const id = `dry-run-${node}`;
  const more = row.count - victims.length;
  return [
    <tr key={node} class={chosen ? "won" : undefined} {...aboutNode(view, node)}>
      <th scope="row">
        <span class="candidate">
          <button
            type="button"
            class="expander"
            aria-expanded={open}
            aria-controls={id}
            aria-label={`Dry run on ${view.playback.nodes.names[node]}`}
            title="The dry run, pod by pod"
            data-run={node}
            onClick={() => toggle(node)}
          >
            <Icon name="right" />
          </button>
          {nodeLink(view, node, NAME)}
        </span>
      </th>
      <td data-value={row.count}>
        {row.count ? (
          <ul class="victims">
            {victims.map(([key, priority, violates]) => (
              <li>
                {podLink(view, key)}
                <small class="dim num">{` priority ${count(priority)}`}</small>
                {violates ? <span class="sr">, violates a budget</span> : null}
              </li>
            ))}
            {more > 0 ? <li class="dim">{`and ${count(more)} more`}</li> : null}
          </ul>
        ) : (
          <span class="dim">none</span>
        )}
      </td>
      <td data-value={violations}>
        {violations ? (
          <span class="pill stale" title={plural(violations, "violation")}>
            <Icon name="warn" />
            {count(violations)}
          </span>
        ) : (
          <span class="dim">0</span>
        )}
      </td>
      <td>
        {chosen ? (
          <span class="pill accent">
            <Icon name="check" />
            chosen
          </span>
        ) : (
          <span class="gone">
            <Icon name="cross" />
            <span class="sr">dropped out: </span>
          </span>
        )}
        <span class="by">{` ${decidedBy(part, row)}`}</span>
      </td>
    </tr>,
    <tr key={`${node} run`} class="run-row follows" id={id} hidden={!open}>
      <td colSpan={4}>{open ? <DryRun view={view} run={run} /> : null}</td>
    </tr>,
  ];
}

// What if: a verb in a branch of the scenario, run to its end, and what it did beside the parent.

import type { ComponentChildren } from "preact";
import { Button } from "../../kit/button.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { Icon } from "../../kit/icon.tsx";
import { signal } from "../../kit/signals.ts";
import { announce, toast } from "../../lib/dom.ts";
import { Progress } from "../../kit/progress.tsx";
import type { Commands, ComparedOutcome, ComparedWorkload, OverTimeOutcome, TitledDraft } from "../../lib/protocol.js";
import { count, plural, short } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { parting } from "../branches/words.ts";
import { INCOMPLETE, Missing } from "../dump/differ.tsx";
import type { View } from "../view/view.ts";
import { ReadyChart, inTenths, lowest } from "./chart.tsx";

const SHORT = 0.05; // seconds that scheduling takes anyway
const BEFORE = 0.1; // of the time until calm, that is shown before it

export type VerbWish = Omit<Commands["branch.try"]["asks"], "source" | "title">;

/** Branch, run and show; `apply` puts the same into the draft, null where it is none of the visitor's. */
export async function whatIf(view: View, wish: VerbWish, words: string, apply: ((wish: VerbWish) => unknown) | null) {
  const { socket, source } = view.playback;
  const end = new AbortController();
  const progress = new Progress("Creating the branch", { onCancel: () => box.close() });
  const content = signal<ComponentChildren>(<div ref={(host) => host?.append(progress.element)} />);
  const Content = () => <div class="what-if">{content.value}</div>;
  const box = openDialog(`What if: ${words}`, () => <Content />);
  box.classList.add("edit-panel", "what-if-panel");
  box.addEventListener("close", () => end.abort());
  let draft = "";
  try {
    const made = await socket.call("branch.try", { source, ...wish, title: words });
    draft = made.draft;
    progress.set(null, "Running the branch to the end");
    const report = ({ done, of }: { done: number; of: number }) =>
      progress.set(of ? Math.min(0.98, done / (of + done)) : null, `Running the branch: cycle ${count(done)}`);
    const found = await socket.call("branch.outcome", { draft }, { signal: end.signal, progress: report });
    const act = apply && (() => apply(wish));
    content.value = <Found view={view} found={found} made={made} apply={act} close={() => box.close()} />;
    announce(
      `${made.title}. ${figures(found)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ")}`,
    );
    view.actions.branched();
  } catch (error) {
    const { code, message } = refusalOf(error);
    if (code !== "request.superseded")
      content.value = (
        <p class="stale-text" role="alert">
          {message}
        </p>
      );
    else if (draft) await drop(view, draft, "The branch was discarded.");
  }
}

async function drop(view: View, draft: string, words: string) {
  try {
    await view.playback.socket.call("draft.delete", { draft });
    toast(words);
    view.actions.branched();
  } catch (error) {
    toast(`It could not be deleted: ${refusalOf(error).message}`, { name: "warn", ms: 6000 });
  }
}

type FoundProps = {
  view: View;
  found: ComparedOutcome;
  made: TitledDraft;
  apply: (() => unknown) | null;
  close: () => void;
};

function Found({ view, found, made: { draft, url }, apply, close }: FoundProps) {
  const { socket, source } = view.playback;
  const { overTime, here } = found;
  const [kind, id] = Object.entries(source).find(([name]) => name !== "revision") ?? [];
  const failed = overTime?.failed ?? [];
  return (
    <>
      {failed.length ? (
        <ul class="what-if-pending fail-text" role="alert" aria-label="Failed or refused">
          {failed.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      ) : null}
      <dl class="what-if-figures">
        {figures(found).map(([name, value, bad]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={bad ? "num fail-text" : "num"}>{value}</dd>
          </div>
        ))}
      </dl>
      {found.lacks.length ? (
        <details class="may-differ-list what-if-lacks">
          <summary>{INCOMPLETE}</summary>
          <ul>
            {found.lacks.map((problem) => (
              <li key={problem.message}>
                <Missing problem={problem} />
              </li>
            ))}
          </ul>
        </details>
      ) : null}
      {overTime ? <OverTime overTime={overTime} /> : null}
      <p class="dim">{parting(found)}</p>
      {here.stopped ? <p class="stale-text">Not all of it was computed here: run the branch in a worker.</p> : null}
      <div class="edit-bar">
        <a class="btn primary" href={url}>
          <Icon name="fork" />
          Open the branch
        </a>
        <a class="btn" href={`/compare/?left=${kind}%3A${id}&right=draft%3A${draft}`}>
          <Icon name="table" />
          Step through both
        </a>
        {here.stopped ? (
          <Button
            icon="play"
            act={async () => location.assign((await socket.call("run.start", { source: { draft } })).url)}
          >
            Run it in a worker
          </Button>
        ) : null}
        {apply ? (
          <Button icon="check" act={() => Promise.resolve(apply()).then(close)}>
            Apply it here
          </Button>
        ) : null}
        <Button
          icon="undo"
          act={() => {
            close();
            return drop(view, draft, "The branch is deleted.");
          }}
        >
          Delete the branch
        </Button>
      </div>
    </>
  );
}

/** Name, value, whether it is worse than in the parent. */
function figures({
  here,
  parent,
  elsewhere,
  overTime,
}: ComparedOutcome): [name: string, value: string, bad?: boolean][] {
  const more = here.pending - (parent?.pending ?? 0);
  const beside = more ? ` (${more > 0 ? "+" : "−"}${count(Math.abs(more))})` : "";
  const pending: [string, string, boolean] = ["pods pending", `${count(here.pending)}${beside}`, more > 0];
  if (!overTime?.total) return [pending, ["pods elsewhere", count(elsewhere)]];
  const { evicted, refused, preempted } = overTime.total;
  const shares = overTime.workloads.map(({ branch }) => {
    const { before, ready } = branch ? lowest(branch, overTime.at) : { before: 0, ready: 0 };
    return before ? ready / before : 1;
  });
  const least = Math.min(1, ...shares);
  const ready: [string, string, boolean] = [
    "fewest ready",
    least < 1 ? `${Math.round(least * 100)}% of before` : "as before",
    least < 1,
  ];
  const preemptions: [string, string][] = preempted ? [["preempted", count(preempted)]] : [];
  return [
    ["pods evicted", count(evicted)],
    ["evictions refused", count(refused), refused > 0],
    ...preemptions,
    pending,
    ["calm after", inTenths(overTime.calm ?? 0)],
    ...(overTime.followed ? [ready] : []),
  ];
}

function OverTime({ overTime }: { overTime: OverTimeOutcome }) {
  const { workloads, at, calm, until, leftOut, pending, nodes, followed } = overTime;
  const length = Math.max(calm ?? 0, 10);
  const from = Math.max(0, at - length * BEFORE);
  const to = Math.min(Math.max(until ?? 0, at + 1), at + length * (1 + BEFORE));
  return (
    <>
      {workloads.length ? (
        <h3>
          {"Ready pods over time "}
          <small class="what-if-key">
            <i class="line-branch" />
            branch
            <i class="line-parent" />
            parent
          </small>
        </h3>
      ) : followed ? (
        <p>Every workload is as ready as in the parent, all the time.</p>
      ) : null}
      {workloads.map((one) => {
        const [name, text] = [nameOf(one), words(one, at)];
        const label = `${name}, ready pods over time: ${text}`;
        return (
          <figure key={name} class="what-if-workload">
            <figcaption>
              <b>{name}</b> {text}
            </figcaption>
            {isDesired(one) ? (
              <ReadyChart branch={one.branch} parent={one.parent} from={from} to={to} at={at} label={label} />
            ) : null}
          </figure>
        );
      })}
      {leftOut ? <p class="dim">{`and ${plural(leftOut, "more workload")}`}</p> : null}
      {pending.length ? (
        <>
          <h3>Pods that find no node, and why</h3>
          <ul class="what-if-pending">
            {pending.map((one) => (
              <li key={`${nameOf(one)} ${one.message}`}>
                <b>{`${count(one.pods)} of ${nameOf(one)}`}</b>
                {one.message ? `: ${one.message}` : ""}
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {nodes.length ? (
        <>
          <h3>Pods by node at the end</h3>
          <div class="chips">
            {nodes.map(([name, before, after]) => (
              <span key={name} class="chip">{`${name}: ${count(before)} → ${count(after)}`}</span>
            ))}
          </div>
        </>
      ) : null}
    </>
  );
}

/** Whether pods of a workload are ever meant to be ready: a Job that is complete has none. */
const isDesired = ({ branch, parent }: ComparedWorkload) =>
  [branch, parent].some((side) => side?.moments.some(([, desired, ready]) => desired || ready));

const nameOf = ({ kind, key }: { kind: string; key: string }) =>
  kind ? `${kind} ${short(key)}` : "Pods without a controller";

function words({ branch, parent }: ComparedWorkload, at: number) {
  if (!branch) return "is not there in the branch";
  const { before, ready, desired, since } = lowest(branch, at);
  const last = branch.moments.at(-1);
  const [evicted, refused] = [branch.evicted - (parent?.evicted ?? 0), branch.refused - (parent?.refused ?? 0)];
  const usual = parent && parent.below > SHORT ? `, ${inTenths(parent.below)} in the parent` : "";
  const below = branch.below > SHORT && (parent || before >= desired);
  const ends = [
    evicted > 0 ? `${count(evicted)} evicted` : "",
    refused > 0 ? `${count(refused)} refused` : "",
    last?.[1] || last?.[2] ? `${count(last[2])} of ${count(last[1])} ready at the end` : "",
  ];
  return [
    ready < before && desired ? `fewest ${count(ready)} of ${count(desired)} at ${inTenths(since)}` : "",
    below ? `${inTenths(branch.below)} below what is desired${usual}` : "",
    ends.filter(Boolean).join(", "),
  ]
    .filter(Boolean)
    .join("; ");
}

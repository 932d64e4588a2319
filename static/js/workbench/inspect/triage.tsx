// What to look at first in a cluster, before its first cycle: the pods that stay pending, by cause, what is wrong with
// the input, what the dump has and lacks, and what can be tried.

import { useRef, useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { CopyRow } from "../../kit/copyrow.tsx";
import { Icon } from "../../kit/icon.tsx";
import { openMenu } from "../../kit/menu.tsx";
import { toast } from "../../lib/dom.ts";
import type { DumpRow, PendingCause, Problem, Triage as Found } from "../../lib/protocol.js";
import { count, plural, short } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { useAnswer } from "../view/asking.tsx";
import { DifferNote, isHarmless, isUnclear } from "../dump/differ.tsx";
import { reads } from "../playback/store.ts";
import { aboutNode, zones } from "../verbs/table.ts";
import { takeLeft, unstored } from "../../lib/pasted.ts";
import type { View } from "../view/view.ts";

const NODES_LISTED = 30; // of a menu, those with the most pods first
const PROBLEMS_SHOWN = 6;

/** Whether it is shown: to who may know how the run ends, of a cluster of theirs or of a real one. */
export const triaged = ({ playback, settings }: View) =>
  playback.veiled === null && (Boolean(playback.dump) || Boolean(settings?.mine));

export function Triage({ view }: { view: View }) {
  reads(view.store.scenario, view.store.known);
  const { playback } = view;
  const [wanted, ask] = useState(false);
  const asked = wanted || playback.dump || (playback.complete && !playback.cycles);
  const { draft, scenario, run, link } = playback.source;
  const key = asked ? [draft, scenario, run, link, playback.source.revision].join("/") : "";
  const answer = useAnswer(key, () => playback.socket.call("scenario.triage", { source: playback.source }));
  const found = answer?.key === key ? answer : null;
  return (
    <div class="triage">
      <DifferNote view={view} />
      <Input view={view} />
      <Left />
      {asked ? (
        <Pending view={view} found={found?.value} failed={found?.error} />
      ) : (
        <section>
          <h3>{`${plural(playback.cycles, "cycle")} to step through`}</h3>
          <p class="dim">
            <kbd>→</kbd> or Step schedules the first pod.{" "}
            <button type="button" class="link" onClick={() => ask(true)}>
              Show the pods that stay pending
            </button>
          </p>
        </section>
      )}
      <section>
        <h3>Ask the cluster</h3>
        <p class="dim">Does it survive a lost node, can each be drained, do rollouts end, how many more pods fit?</p>
        <div class="triage-acts">
          <Button icon="help" act={() => view.setTab("ask")}>
            Ask
          </Button>
        </div>
      </section>
      <Acts view={view} />
      {found?.value?.dump.length ? <Dump rows={found.value.dump} command={found.value.command} /> : null}
    </div>
  );
}

type PendingProps = { view: View; found?: Found | undefined; failed?: string | undefined };

/** The pods that end without a node, by cause. */
function Pending({ view, found, failed }: PendingProps) {
  if (failed) return <p class="note error">{failed}</p>;
  if (!found)
    return (
      <p class="dim" role="status">
        Scheduling the pods that wait …
      </p>
    );
  const { waiting, pending, causes } = found;
  const placed = Math.max(0, waiting - pending);
  return (
    <section>
      <h3 class={pending ? "fail-text" : "pass-text"}>
        <Icon name={pending ? "warn" : "check"} />
        {pending ? `${plural(pending, "pod")} ${pending === 1 ? "stays" : "stay"} pending` : "No pod stays pending"}
      </h3>
      <p class="dim">
        {waiting
          ? `${plural(waiting, "pod")} had no node; the scheduler places ${placed === waiting ? "all" : count(placed)}.`
          : "Every pod has a node already. Below are changes to try: what would happen next?"}
      </p>
      {causes.length ? (
        <ol class="triage-causes">
          {causes.map((cause) => (
            <Cause key={cause.message} view={view} cause={cause} />
          ))}
        </ol>
      ) : null}
    </section>
  );
}

const Cause = ({ view, cause: { message, count: many, pods } }: { view: View; cause: PendingCause }) => (
  <li>
    <p>
      <b class="num">{count(many)}</b> <span>{message}</span>
    </p>
    <ul class="triage-pods">
      {pods.map((pod) => (
        <li key={pod}>
          <code title={pod}>{short(pod)}</code>{" "}
          <button type="button" class="link" onClick={() => view.actions.why({ pod })}>
            Why?
          </button>
        </li>
      ))}
      {many > pods.length ? <li class="dim">{`and ${count(many - pods.length)} more`}</li> : null}
    </ul>
  </li>
);

const left = takeLeft();

/** What of a paste was not stored, on the page that it opened. */
const Left = () =>
  left ? (
    <p class="note">
      <Icon name="help" />
      <span>{unstored(left)}</span>
    </p>
  ) : null;

/** What is wrong with the input, each with a way to its line. */
function Input({ view }: { view: View }) {
  const found = view.playback.warnings.filter(isUnclear);
  const problems = found.filter((one) => !isHarmless(one));
  const harmless = found.filter(isHarmless);
  if (!problems.length) return harmless.length ? <Unread view={view} problems={harmless} /> : null;
  return (
    <section class="note triage-input">
      <Icon name="warn" />
      <div>
        <strong>{`${plural(problems.length, "warning")} about the input`}</strong>
        <ul>
          {problems.slice(0, PROBLEMS_SHOWN).map((problem) => (
            <Warning key={problem.path + problem.message} view={view} problem={problem} />
          ))}
          {problems.length > PROBLEMS_SHOWN ? (
            <li class="dim">{`and ${plural(problems.length - PROBLEMS_SHOWN, "more")}, in the YAML tab`}</li>
          ) : null}
        </ul>
        {harmless.length ? <Unread view={view} problems={harmless} /> : null}
      </div>
    </section>
  );
}

/** What changes no answer, folded. */
const Unread = ({ view, problems }: { view: View; problems: Problem[] }) => (
  <details class="dim triage-unread">
    <summary>{`${plural(problems.length, "kind")} that scheduling does not read`}</summary>
    <ul>
      {problems.map((problem) => (
        <Warning key={problem.path + problem.message} view={view} problem={problem} />
      ))}
    </ul>
  </details>
);

const Warning = ({ view, problem: { message, line } }: { view: View; problem: Problem }) => (
  <li>
    {message}{" "}
    {line ? (
      <button type="button" class="link nowrap" onClick={() => view.actions.reveal(line)}>
        {`line ${count(line)}`}
      </button>
    ) : null}
  </li>
);

/** What can be tried; each asks before it changes anything, or works on a copy. */
function Acts({ view }: { view: View }) {
  const [busy, setBusy] = useState(false);
  const group = useRef<HTMLDivElement>(null);
  const { playback } = view;
  const nodes = playback.nodes.names.length > 0;
  if (!view.editing) return null;
  const replay = async () => {
    setBusy(true);
    try {
      const { url } = await playback.socket.call("branch.replay", { source: playback.source });
      location.assign(url);
    } catch (error) {
      setBusy(false);
      toast(refusalOf(error).message, { name: "warn", ms: 6000 });
    }
  };
  const domains = zones(view);
  const act = (text: string, icon: string, run: (at: HTMLElement) => unknown, title: string) => (
    <Button icon={icon} title={title} act={() => run(group.current as HTMLElement)}>
      {text}
    </Button>
  );
  return (
    <section>
      <h3>What if …</h3>
      <div ref={group} class="triage-acts" role="group" aria-label="What if">
        {nodes
          ? act("Drain…", "inbox", (at) => choose(view, "drain", nodesOf(view), at), "Evict the pods of a node")
          : null}
        {nodes
          ? act(
              domains.length ? "Lose a zone…" : "Lose a node…",
              "cross",
              (at) => (domains.length ? choose(view, "lose", domains, at) : choose(view, "fail", nodesOf(view), at)),
              domains.length ? "All nodes of a zone stop answering at once" : "The node stops answering",
            )
          : null}
        {act("Add a pod", "plus", () => view.actions.edit({ create: "+Pod" }), "A pod that waits for a node")}
        <Button icon="undo" disabled={busy} title="In a copy, with every pod but those of daemons" act={replay}>
          Replay from empty
        </Button>
      </div>
    </section>
  );
}

type Abouts = ReturnType<typeof zones>;

function nodesOf(view: View): Abouts {
  const { names } = view.playback.nodes;
  const { count: pods } = view.playback.cluster;
  return names
    .map((_, node) => node)
    .sort((a, b) => pods[b] - pods[a])
    .slice(0, NODES_LISTED)
    .map((node) => aboutNode(view, node));
}

function choose(view: View, verb: string, abouts: Abouts, at: HTMLElement) {
  const entries = abouts.map((about) => ({ text: about.label, run: () => view.actions.operate(verb, about) }));
  openMenu("Where", [{ heading: verb === "drain" ? "Drain which node" : "Which stops answering", entries }], at);
}

/** What the dump has, and what the answers lack for what it has not. */
function Dump({ rows, command }: { rows: DumpRow[]; command: string }) {
  const lacking = rows.filter((row) => !had(row));
  return (
    <section>
      <h3>What the dump has</h3>
      <ul class="triage-dump">
        {rows.map((row) => (
          <Kinds key={row.title} row={row} />
        ))}
      </ul>
      {lacking.length ? (
        <>
          <p class="dim">A dump by this command has all of them; what the cluster has none of stays empty.</p>
          <CopyRow label="Command that gets all kinds" text={command} look="quiet" />
        </>
      ) : null}
    </section>
  );
}

const had = ({ kinds }: DumpRow) => Object.values(kinds).some((many) => many > 0);

function Kinds({ row }: { row: DumpRow }) {
  const held = Object.entries(row.kinds).filter(([, many]) => many);
  const there = held.length > 0 && !row.partly;
  const amounts = held.map(([kind, many]) => plural(many, kind, kind.endsWith("s") ? `${kind}es` : `${kind}s`));
  const text = held.length ? [amounts.join(", "), row.partly].filter(Boolean).join(": ") : `none: ${row.weakens}`;
  return (
    <li class={there ? "has" : "lacks"}>
      <Icon name={there ? "check" : "warn"} />
      <span>
        <b>{row.title}</b> <span class="dim">{text}</span>
      </span>
    </li>
  );
}

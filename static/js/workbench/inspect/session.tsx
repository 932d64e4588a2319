// Session: one pass of kube-batch, step by step. Above its steps are the shares of queues and jobs as of the step that
// is picked, and the rounds in which proportion divided the cluster; below them how it ended.

import type { ComponentChildren } from "preact";
import { useInTab } from "../view/asking.tsx";
import { Empty } from "../../kit/empty.tsx";
import { Heading } from "../../kit/heading.tsx";
import { Inline } from "../../kit/inline.tsx";
import { Table } from "../../kit/table.tsx";
import type { SessionJob, SessionPart, SessionShares } from "../../lib/protocol.js";
import { clock, count, plural, short } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { Before, Later } from "./empty.tsx";
import { linked, podLink } from "../view/nouns.tsx";
import type { Content } from "./panel.tsx";
import { part as portion, queues, rounds } from "./session/shares.tsx";
import { Steps, useSteps } from "./session/steps.tsx";

export function Session({ view, part }: Content<"session">) {
  if (!view.playback.current) return <Before view={view} />;
  return "steps" in part ? <Pass key={part} view={view} part={part} /> : <None view={view} why={String(part.why)} />;
}

function Pass({ view, part }: { view: View; part: SessionPart }) {
  useInTab(view.store, "session", view.store.subs);
  const steps = useSteps(view, part);
  return (
    <>
      {head(part)}
      <div class="session-shares">{queues(part, steps.shares, steps.as)}</div>
      {rounds(part)}
      <div>{jobs(view, part, steps.shares, steps.as)}</div>
      <Steps view={view} part={part} shown={steps} />
      {end(view, part)}
    </>
  );
}

function None({ view, why }: { view: View; why: string }) {
  const { current } = view.playback;
  if (current?.result === "undecided" && current.profile) return <Later view={view} title={why} />;
  return (
    <Empty title="No session of kube-batch is shown.">
      <span>{why}</span>
      <span>
        Read{" "}
        <Inline act={() => view.setTab("story")} title="what this step is">
          the story of this step
        </Inline>
        , or step on to one that kube-batch places pods in.
      </span>
    </Empty>
  );
}

function head(part: SessionPart) {
  return (
    <header class="session-head">
      <h3>
        {`Session ${count(part.number)} `}
        <small class="dim num end">{`t = ${clock(part.time)}`}</small>
      </h3>
      <p>
        <span class="session-actions">{part.actions.map((name, i) => [i ? " → " : "", <b>{name}</b>])}</span>{" "}
        <span class={`pill ${part.bound ? "pass" : ""}`}>{`${count(part.bound)} bound`}</span>
        {part.evicted ? [" ", <span class="pill victim">{`${count(part.evicted)} evicted`}</span>] : null}{" "}
        <a class="ref" href="/reference/kube-batch/">
          reference
        </a>
      </p>
    </header>
  );
}

function jobs(view: View, part: SessionPart, shares: SessionShares, as: string) {
  if (!part.jobs.length) return null;
  const rows = part.jobs.map((job) => jobRow(view, job, shares.jobs[job.job]?.[1] ?? job.share?.[0] ?? null));
  return (
    <section class="session-jobs">
      <Table
        rows={rows}
        heads={[
          "job",
          { text: "share", class: "num", title: "drf: the highest part of any resource of the cluster" },
          { text: "held", class: "num", title: "tasks that were placed: Allocated or Pipelined" },
          { text: "bound", class: "num", title: "tasks that were sent to their nodes" },
          "became",
        ]}
        caption={`Jobs of the session, shares ${as}`}
        title={<Heading text="Jobs" count={part.jobCount} level={4} />}
        filter="Filter jobs"
        kept={view.lists.of("session")}
        name="jobs"
        total={part.jobCount}
      />
    </section>
  );
}

function jobRow(view: View, job: SessionJob, share: number | null) {
  const [action, task, why] = job.dropped.at(-1) ?? [];
  return (
    <tr>
      <th scope="row">
        <Inline act={() => view.setSub(`@${job.job}`)} title={`the steps of job ${job.job}`}>
          {short(job.job)}
        </Inline>
      </th>
      <td class="num" data-value={share ?? ""}>
        {share === null ? "–" : portion(share, job.dominant)}
      </td>
      <td class="num">{count(job.placed)}</td>
      <td class="num">{count(job.bound)}</td>
      <td class="session-became">
        {job.phase ? <span class={`pill ${job.phase === "Running" ? "pass" : ""}`}>{job.phase}</span> : null}
        {job.evicted ? [" ", <span class="pill victim">{`${count(job.evicted)} evicted`}</span>] : null}
        {job.forgotten
          ? [" ", <span class="pill fail" title="held until the close">{`${count(job.forgotten)} forgotten`}</span>]
          : null}
        {why ? (
          <span class="job-note">
            {`dropped by ${action} at `}
            {podLink(view, task ?? "", { dot: false })}
            {`: ${why}`}
          </span>
        ) : null}
        {job.invalid ? <span class="job-note dim">{job.invalid}</span> : null}
      </td>
    </tr>
  );
}

function end(view: View, part: SessionPart) {
  return [
    ending(
      view,
      "Statuses",
      "PodGroup statuses written",
      part.groupsCount,
      ["PodGroup", "phase", "running", "condition"],
      part.groups.map(([key, phase, running, , , message]) => (
        <tr>
          <th scope="row">{short(key)}</th>
          <td>{phase}</td>
          <td class="num">{count(running)}</td>
          <td class="session-became">{message ? `Unschedulable: ${message}` : "–"}</td>
        </tr>
      )),
    ),
    ending(
      view,
      "Statements",
      "Statements of the session",
      part.statementsCount,
      ["action", "job", "operations", "end"],
      part.statements.map(([action, job, how, operations]) => (
        <tr>
          <td>{action}</td>
          <th scope="row">{short(job)}</th>
          <td class="num">{count(operations)}</td>
          <td>
            <span class={`pill ${how === "discarded" ? "fail" : "pass"}`}>{how}</span>
          </td>
        </tr>
      )),
    ),
    ending(
      view,
      "Events",
      "Events of the session",
      part.eventsCount,
      ["reason", "object", "message"],
      part.events.map(([, reason, object, message]) => (
        <tr>
          <th scope="row">{reason}</th>
          <td class="session-became">{object}</td>
          <td class="session-became">{linked(view, message)}</td>
        </tr>
      )),
    ),
    ending(
      view,
      "Left out",
      "Objects that the session ignores",
      part.leftOutCount,
      ["object", "why"],
      part.leftOut.map(([kind, name, why]) => (
        <tr>
          <th scope="row">{`${kind} ${name}`}</th>
          <td class="session-became">{why}</td>
        </tr>
      )),
    ),
    part.omitted ? <p class="dim fine">{`${plural(part.omitted, "more step")} were not recorded.`}</p> : null,
  ];
}

function ending(view: View, title: string, caption: string, all: number, heads: string[], rows: ComponentChildren[]) {
  if (!rows.length) return null;
  const name = title.toLowerCase();
  return (
    <section class="session-end">
      <Table
        rows={rows}
        heads={heads}
        caption={caption}
        title={<Heading text={title} count={all} level={4} />}
        filter={`Filter ${name}`}
        kept={view.lists.of("session")}
        name={name}
        total={all}
      />
    </section>
  );
}

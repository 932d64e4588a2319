// The steps of a session: a list by action, narrowed to an action or a job, of which one is picked and shown in detail.
// What is picked is in the address as `number@job`, of which either may be missing.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Heading } from "../../../kit/heading.tsx";
import { $ } from "../../../lib/dom.ts";
import type { SessionPart, SessionShares, SessionStep, SessionSteps } from "../../../lib/protocol.js";
import { count, short } from "../../../lib/quantity.ts";
import { useAnswer } from "../../view/asking.tsx";
import type { View } from "../../view/view.ts";
import { sentence } from "../../view/sentence.tsx";
import { detail } from "./detail.tsx";

const PAGE = 150;
const SUB = /^(\d*)(?:@(.*))?$/;

/** What is picked, by the address; -1: no step. */
function pickedIn(sub: string) {
  const [, number = "", job = ""] = SUB.exec(sub) ?? [];
  return { number: number ? Number(number) : -1, job };
}

/** The page of steps that is shown, with what narrows it. */
export function useSteps(view: View, part: SessionPart) {
  const { number, job } = pickedIn(view.sub);
  const [{ action, ...page }, setWanted] = useState({ action: "", from: 0, job: "" });
  const from = page.job === job ? page.from : 0;
  const { socket, source, asOf: cycle } = view.playback;
  const asked = { cycle, from, count: PAGE, action, job };
  const first = !action && !job && !from; // which is in the part
  const key = first ? "" : JSON.stringify(asked);
  const answer = useAnswer<SessionSteps>(key, () => socket.call("kubebatch.steps", { source, ...asked }));
  const shown = (!first && answer?.value) || part.steps;
  const at = shown.rows.findIndex((row) => row.number === number);
  return {
    page: shown,
    at,
    picked: number,
    job,
    action,
    waiting: !first && answer?.key !== key,
    error: (answer?.key === key && answer.error) || "",
    ...accounts(part, shown, at, number),
    turn: (to: number) => setWanted({ action, from: to, job }),
    narrow: (to: string) => setWanted({ action: to, from: 0, job }),
    go: (to: number) => view.setSub(`${to < 0 ? "" : to}${job ? `@${job}` : ""}`),
  };
}

type Shown = ReturnType<typeof useSteps>;

export function Steps({ view, part, shown }: { view: View; part: SessionPart; shown: Shown }) {
  const { page, picked, waiting, error } = shown;
  const host = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (!host.current) return;
    const now = $("li.now > button", host.current);
    if (host.current.contains(document.activeElement)) now?.focus({ preventScroll: true });
    now?.scrollIntoView({ block: "nearest" });
  }, [page, picked]);
  return (
    <section ref={host} class={waiting ? "session-steps waiting" : "session-steps"} aria-label="Steps of the session">
      {error ? (
        <p class="dim">{error}</p>
      ) : (
        <>
          {tools(view, part, shown)}
          <ol class="session-list">
            {page.rows.map((row, i) => (
              <>
                {row.action === page.rows[i - 1]?.action ? null : (
                  <li class="session-action">{row.action || "opening"}</li>
                )}
                {step(view, row, row.number === picked, shown.go)}
              </>
            ))}
          </ol>
          {pages(shown)}
        </>
      )}
    </section>
  );
}

/** Who has what after the picked step; without one at the start. */
function accounts(part: SessionPart, page: SessionSteps, at: number, picked: number) {
  if (at < 0) {
    const whole = {
      queues: Object.fromEntries(part.queues.map(({ queue, allocated, share }) => [queue, [allocated[1], share[1]]])),
      jobs: Object.fromEntries(
        part.jobs.flatMap(({ job, share, dominant }) => (share ? [[job, [{}, share[1], dominant]]] : [])),
      ),
    };
    return { shares: whole as unknown as SessionShares, as: "at the end of the session" };
  }
  const shares = { queues: { ...page.accounts.queues }, jobs: { ...page.accounts.jobs } };
  for (const row of page.rows.slice(0, at + 1)) {
    Object.assign(shares.queues, row.shares.queues);
    Object.assign(shares.jobs, row.shares.jobs);
  }
  return { shares, as: `after step ${count(picked + 1)}` };
}

function tools(view: View, part: SessionPart, { page, at, action, job, picked, narrow, go }: Shown) {
  const chosen = (name: string, text: string) => (
    <button type="button" aria-pressed={action === name} onClick={() => narrow(name)}>
      {text}
    </button>
  );
  const next = page.rows[at + 1];
  const previous = page.rows[at - 1];
  return (
    <div class="session-tools">
      <Heading text="Steps" count={page.count} level={4} />
      <div class="seg" role="group" aria-label="Steps of one action">
        {chosen("", "all")}
        {[...new Set(part.actions)].map((name) => chosen(name, name))}
        {chosen("close", "close")}
      </div>
      {job ? (
        <button
          type="button"
          class="btn small"
          title="Show the steps of all jobs"
          onClick={() => view.setSub(picked < 0 ? "" : String(picked))}
        >{`job ${short(job)} ×`}</button>
      ) : null}
      <span class="grow" />
      <button type="button" class="btn small" disabled={!previous} onClick={() => previous && go(previous.number)}>
        Previous step
      </button>
      <button type="button" class="btn small" disabled={!next} onClick={() => next && go(next.number)}>
        Next step
      </button>
    </div>
  );
}

function step(view: View, row: SessionStep, now: boolean, go: (number: number) => void) {
  return (
    <li class={`session-step is-${row.step}${now ? " now" : ""}`}>
      <button
        type="button"
        class="num"
        aria-pressed={now}
        aria-label={`Step ${row.number + 1}`}
        title={now ? "Close the step" : "Show the step, and who has what after it"}
        onClick={() => go(now ? -1 : row.number)}
      >
        {row.number + 1}
      </button>
      <div>
        {sentence(view, row.text)}
        {now && row.detail ? detail(view, row.detail) : null}
      </div>
    </li>
  );
}

function pages({ page, turn }: Shown) {
  if (page.count <= page.rows.length) return null;
  const to = page.from + page.rows.length;
  return (
    <p class="session-pages">
      <button type="button" class="btn small" disabled={!page.from} onClick={() => turn(Math.max(0, page.from - PAGE))}>
        Earlier steps
      </button>
      <span class="num dim">{`${count(page.from + 1)}–${count(to)} of ${count(page.count)}`}</span>
      <button type="button" class="btn small" disabled={to >= page.count} onClick={() => turn(to)}>
        Later steps
      </button>
    </p>
  );
}

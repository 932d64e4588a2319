// The comments on both sides: threads lead to their row, and a new one is about the cycle on screen.

import { render } from "preact";
import { plural } from "../lib/quantity.ts";
import { CommentForm } from "../workbench/review/form.tsx";
import { hereOf } from "../workbench/review/here.ts";
import { ThreadItem } from "../workbench/review/thread.tsx";
import { Threads } from "../workbench/review/threads.ts";
import { reads } from "../workbench/playback/store.ts";
import type { Side } from "./side.tsx";
import type { Stepper } from "./stepper.tsx";

type Column = { side: Side; threads: Threads; stepper: Stepper };

/** Show the threads of the sides that have any to read or to write. */
export async function discussion(host: HTMLElement, stepper: Stepper) {
  const [left, right] = stepper.sides;
  const same = left.asked.source.scenario && left.asked.source.scenario === right.asked.source.scenario;
  const columns: Column[] = [];
  for (const side of same ? [left] : [left, right]) {
    const threads = new Threads(side.socket, side.asked.source);
    try {
      await threads.load();
    } catch {
      continue; // what is not shared, and comes of nothing shared, has no comments
    }
    columns.push({ side, threads, stepper });
  }
  if (!columns.length) return;
  render(
    <>
      <h2>Comments</h2>
      <div class="both-columns">
        {columns.map((column) => (
          <Discussion key={column.side.name} {...column} />
        ))}
      </div>
    </>,
    host,
  );
  host.hidden = false;
}

function Discussion({ side, threads, stepper }: Column) {
  const { name, asked, playback } = side;
  reads(threads.version, playback.store.scenario);
  const send = (text: string, who: string) =>
    threads.write({ step: String(Math.max(0, playback.wantedCycle)) }, text, who);
  return (
    <div class="discussion">
      <h3>
        <span class="pill">{name}</span>
        {` ${asked.title || "Untitled"}: ${plural(threads.open, "open thread")} `}
        <a href={`/s/${threads.scenario}/review/`}>Review</a>
      </h3>
      {threads.readOnly ? null : (
        <CommentForm label={`Write a comment on the ${name} side`} action="Comment" send={send}>
          <About side={side} />
        </CommentForm>
      )}
      <ul class="threads">
        {threads.all.map((thread) => {
          const { index, words } = hereOf(playback, thread);
          const at = index >= 0 ? index : (thread.about?.index ?? 0);
          const go = () => stepper.goto(stepper.rows.of(name, at));
          return <ThreadItem key={thread.id} thread={thread} threads={threads} go={go} here={words} />;
        })}
      </ul>
    </div>
  );
}

function About({ side: { asked, playback } }: { side: Side }) {
  reads(playback.store.wanted, playback.store.scenario);
  return <p class="dim">{`About step ${playback.wantedCycle} of ${asked.title || "Untitled"}`}</p>;
}

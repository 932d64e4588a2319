// The tally of a question, and the answer.

import { Icon } from "../../kit/icon.tsx";
import type { Answer, Question } from "../../lib/protocol.js";
import { count } from "../../lib/quantity.ts";
import { worded } from "./worded.ts";

const ANSWERED = ["choice", "lesson"]; // kinds whose answer is not only the scheduler's
const BARS = 8; // that are shown

const same = (one: Answer | null | undefined, other: Answer | null | undefined) =>
  JSON.stringify(one) === JSON.stringify(other);

/** Of a second vote, the first one stands above each of its bars. */
export function Tally({ question, given }: { question: Question; given: Answer | undefined }) {
  const { votes, tally = [], others = 0, answer = null, before, why = [] } = question;
  const accepted = question.accepted ?? (answer === null ? [] : [answer]); // of a lesson there may be several
  const isRight = (one: Answer | undefined) => accepted.some((other) => same(one, other));
  const rows = tally.slice(0, BARS);
  const right = tally.find(([one]) => isRight(one));
  if (answer !== null && !right) rows.unshift([answer, 0]);
  else if (right && !rows.includes(right)) rows.push(right);
  for (const [one] of before?.tally ?? [])
    if (rows.length < BARS && !rows.some(([other]) => same(one, other))) rows.push([one, 0]);
  const rest = others + tally.filter((row) => !rows.includes(row)).reduce((sum, [, n]) => sum + n, 0);
  const first = (one: Answer) => before?.tally.find(([other]) => same(one, other))?.[1] ?? 0;
  const bar = (label: string, n: number, look = "", mine = false, earlier = 0) => (
    <li key={label} class={look}>
      <span class="tally-label">
        {look ? <Icon name="check" /> : null}
        <b>{label}</b>
        {mine ? " · you" : null}
      </span>
      <span class="tally-bar">
        {before ? <i class="first" style={{ width: share(earlier, before.votes) }} /> : null}
        <i style={{ width: share(n, votes) }} />
      </span>
      <span class="num" title={before ? `${count(earlier)} in the first vote, ${count(n)} in the second` : undefined}>
        {before ? `${count(earlier)} → ${count(n)}` : count(n)}
      </span>
    </li>
  );
  return (
    <>
      <ol class={before ? "tally twice" : "tally"}>
        {rows.map(([one, n]) =>
          bar(worded(question, one), n, isRight(one) ? "right" : "", same(one, given), first(one)),
        )}
        {rest ? bar("other answers", rest) : null}
      </ol>
      {answer === null ? null : (
        <p class="question-note">
          {ANSWERED.includes(question.kind) ? "The answer: " : "The scheduler's answer: "}
          <b>{worded(question, answer)}</b>
          {given === undefined ? null : isRight(given) ? ". You were right." : "."}
        </p>
      )}
      {why.length ? <p class="dim question-note question-why">{why.join(" ")}</p> : null}
    </>
  );
}

const share = (n: number, of: number) => `${of ? (100 * n) / of : 0}%`;

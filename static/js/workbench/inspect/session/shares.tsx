// Who has what: a queue's bars of what it deserves, has and asks for, and the rounds of proportion as divided bars.

import { More } from "../../../kit/more.tsx";
import type { SessionAmounts, SessionPart, SessionShares } from "../../../lib/protocol.js";
import { amount, count, trim } from "../../../lib/quantity.ts";

/** An amount in a session's units: scalars are counted in thousandths. */
export const held = (resource: string, value: number) =>
  resource === "cpu"
    ? trim(value / 1000)
    : resource === "memory"
      ? amount("memory", Math.round(value))
      : trim(value / 1000);

/** A share in a cell, with the resource that decides it. */
export const part = (share: number, dominant: string) => (
  <span title={dominant ? `of ${dominant}` : undefined}>{trim(share)}</span>
);

function resourcesOf(amounts: SessionAmounts[]) {
  const names = [...new Set(amounts.flatMap((one) => Object.keys(one)))];
  return names.filter((name) => amounts.some((one) => (one[name] ?? 0) > 0));
}

const percent = (value: number, whole: number) => `${Math.min(100, whole ? (100 * value) / whole : 0).toFixed(2)}%`;

/** The queues as of a step: for each resource a bar of what it has, with marks at what it deserves and asks for. */
export function queues(session: SessionPart, shares: SessionShares, as: string) {
  if (!session.queues.length) return null;
  const names = resourcesOf(
    session.queues.flatMap(({ deserved, request, allocated }) => [deserved, request, ...allocated]),
  );
  const most: Record<string, number> = {};
  for (const name of names)
    most[name] = Math.max(
      ...session.queues.flatMap(({ deserved, request, allocated }) =>
        [deserved, request, ...allocated].map((one) => one[name] ?? 0),
      ),
    );
  return (
    <section class="session-queues">
      <h4>
        Queues <small class="dim">{as}</small>
      </h4>
      <p class="share-legend dim fine">
        <span>
          <i class="key has" />
          allocated
        </span>
        <span>
          <i class="key deserves" />
          deserved
        </span>
        <span>
          <i class="key asks" />
          requested
        </span>
      </p>
      <table class="share-table">
        <caption class="sr">{`Queues: allocated, deserved and requested, ${as}`}</caption>
        <thead class="sr">
          <tr>
            {["resource", "bar", "allocated / deserved / requested"].map((text) => (
              <th scope="col">{text}</th>
            ))}
          </tr>
        </thead>
        {session.queues.map(({ queue, deserved, request, allocated, share }) => {
          const [has, now] = shares.queues[queue] ?? [allocated[0], share[0]];
          return (
            <tbody data-queue={queue}>
              <tr>
                <th scope="rowgroup" colSpan={3}>
                  <b>{queue}</b>
                  <span
                    class="dim num"
                    title="the highest part of any resource that it deserves"
                  >{` share ${trim(now)}`}</span>
                </th>
              </tr>
              {names.map((name) => {
                const [a, d, r] = [has, deserved, request].map((one) => one[name] ?? 0) as [number, number, number];
                return (
                  <tr data-resource={name}>
                    <td class="dim">{name}</td>
                    <td class="share-cell">
                      <span class="share-bar" aria-hidden="true">
                        <i class="asks" style={{ width: percent(r, most[name] ?? 0) }} />
                        <i class="has" style={{ width: percent(a, most[name] ?? 0) }} />
                        <i class="deserves" style={{ left: percent(d, most[name] ?? 0) }} />
                      </span>
                    </td>
                    <td class="num">
                      <b>{held(name, a)}</b>
                      {` / ${held(name, d)} / ${held(name, r)}`}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          );
        })}
      </table>
      <More of={session.queueCount} shown={session.queues.length} />
    </section>
  );
}

/** The rounds of proportion, one by one: what each queue deserves after it, and what remains. */
export function rounds(session: SessionPart) {
  const [first] = session.rounds;
  if (!first) return null;
  const whole = first.before;
  const names = resourcesOf([whole]);
  const tone = new Map(first.queues.map(([name], i) => [name, `g${i % 10}`]));
  const deserved = new Map(first.queues.map(([name]) => [name, {} as SessionAmounts]));
  return (
    <details class="session-rounds" open={session.rounds.length < 6 || undefined}>
      <summary>
        <b>{"Rounds of proportion "}</b>
        <small class="dim num">{count(session.roundCount)}</small>
      </summary>
      <ol>
        {session.rounds.map((round) => {
          for (const [name, , now] of round.queues) deserved.set(name, now);
          const done = round.queues.filter(([, , , satisfied]) => satisfied).map(([name]) => name);
          return (
            <li>
              <p class="fine">
                <b>{`Round ${round.number}`}</b>
                {" divides "}
                {names.map((name) => `${name} ${held(name, round.before[name] ?? 0)}`).join(", ")}
                {" by weight: "}
                {round.queues.map(([name, weight], i) => `${i ? ", " : ""}${name} ${weight}/${round.weights}`).join("")}
                {done.length ? `. ${done.join(", ")} ${done.length === 1 ? "asks" : "ask"} for less, and ` : "."}
                {done.length ? `${done.length === 1 ? "takes" : "take"} no part in the next.` : ""}
              </p>
              {names.map((name) => (
                <div class="round-bar">
                  <span class="dim">{name}</span>
                  <span
                    class="round-parts"
                    role="img"
                    aria-label={[...deserved].map(([queue, of]) => `${queue} ${held(name, of[name] ?? 0)}`).join(", ")}
                  >
                    {[...deserved].map(([queue, of]) => (
                      <i
                        class={tone.get(queue)}
                        style={{ width: percent(of[name] ?? 0, whole[name] ?? 0) }}
                        title={`${queue}: ${held(name, of[name] ?? 0)}`}
                      >
                        {(of[name] ?? 0) * 5 > (whole[name] ?? 0) ? `${queue} ${held(name, of[name] ?? 0)}` : ""}
                      </i>
                    ))}
                  </span>
                </div>
              ))}
            </li>
          );
        })}
      </ol>
      <More of={session.roundCount} shown={session.rounds.length} />
    </details>
  );
}

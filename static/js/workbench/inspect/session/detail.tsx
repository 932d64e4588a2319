// What belongs to a step of a session: a heap as it was, the nodes for a task, each plugin's answer on victims.

import { More } from "../../../kit/more.tsx";
import type { SessionDetail } from "../../../lib/protocol.js";
import { count, plural, short, trim } from "../../../lib/quantity.ts";
import type { View } from "../../view/view.ts";
import { aboutNode, nodeLink, podLink } from "../../view/nouns.tsx";
import { held } from "./shares.tsx";

export function detail(view: View, given: SessionDetail) {
  return (
    <div class="session-detail">
      {given.heap ? heap(given.heap) : null}
      {given.nodes ? nodes(view, given.nodes) : null}
      {given.victims ? victims(view, given.victims) : null}
      {given.round ? round(given.round) : null}
      {given.operations ? (
        <ol>
          {given.operations.map(([how, task]) => (
            <li>
              {`${how} `}
              {podLink(view, task, { dot: false })}
            </li>
          ))}
        </ol>
      ) : null}
    </div>
  );
}

/** The array of a heap by levels: the children of an item are below it. */
function heap({ size, items, popped }: NonNullable<SessionDetail["heap"]>) {
  const levels = [];
  for (let first = 0; first < items.length; first = 2 * first + 1) levels.push(items.slice(first, 2 * first + 1));
  return (
    <div class="session-heap">
      <p class="dim fine">The heap as it was; an item’s children are on the line below it.</p>
      <ol>
        {levels.map((level) => (
          <li>
            {level.map((name) => (
              <span class={name === popped ? "pill accent" : "pill"}>{short(name)}</span>
            ))}
          </li>
        ))}
      </ol>
      <More of={size} shown={items.length} />
    </div>
  );
}

function nodes(view: View, given: NonNullable<SessionDetail["nodes"]>) {
  const { refused: reasons, short: lacking, candidates: best, parts, chosen } = given;
  const [refused, short_, candidates] = given.counts;
  const names = Object.keys(parts);
  return (
    <div class="session-nodes">
      {best.length ? (
        <div class="scroll-x">
          <table class="list tight">
            <caption class="sr">Candidates and their scores</caption>
            <thead>
              <tr>
                <th scope="col">candidate</th>
                {names.map((name) => (
                  <th scope="col" class="num">
                    {name}
                  </th>
                ))}
                <th scope="col" class="num">
                  score
                </th>
              </tr>
            </thead>
            <tbody>
              {best.map(([node, score], i) => (
                <tr class={node === chosen ? "won" : undefined} {...aboutNode(view, node)}>
                  <th scope="row">{nodeLink(view, node, 26)}</th>
                  {names.map((name) => (
                    <td class="num">{trim(parts[name]?.[i])}</td>
                  ))}
                  <td class="num">{trim(score)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <p>No node is a candidate.</p>
      )}
      {candidates > best.length ? (
        <p class="dim fine">{`and ${plural(candidates - best.length, "more candidate")}`}</p>
      ) : null}
      {lacking.length ? (
        <p>
          <b>{`${plural(short_, "node")} short of resources: `}</b>
          {lacking.map((node, i) => [i ? ", " : "", nodeLink(view, node, 26)])}
          {short_ > lacking.length ? `, and ${count(short_ - lacking.length)} more` : ""}
        </p>
      ) : null}
      {reasons.length ? (
        <ul aria-label={`${plural(refused, "node")} refused by predicates`}>
          {reasons.map(([why, some, all]) => (
            <li>
              {`${why}: `}
              {some.map((node, i) => [i ? ", " : "", nodeLink(view, node, 26)])}
              {all > some.length ? `, and ${count(all - some.length)} more` : ""}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

function victims(
  view: View,
  { what, candidates, count: all, answers, decided }: NonNullable<SessionDetail["victims"]>,
) {
  const pods = (keys: string[], size: number) =>
    size ? (
      [
        keys.map((key, i) => [i ? ", " : "", podLink(view, key, { dot: false })]),
        size > keys.length ? `, and ${count(size - keys.length)} more` : "",
      ]
    ) : (
      <span class="dim">nobody</span>
    );
  return (
    <div class="session-victims scroll-x">
      <table class="list tight">
        <caption class="sr">{`Victims by tier and plugin (${what})`}</caption>
        <thead>
          <tr>
            {["tier", "plugin", "accepts"].map((text) => (
              <th scope="col">{text}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>–</td>
            <th scope="row">asked about</th>
            <td>{pods(candidates, all)}</td>
          </tr>
          {answers.map(([tier, plugin, keys, size]) => (
            <tr class={tier === decided ? "won" : undefined}>
              <td class="num">{count(tier)}</td>
              <th scope="row">{plugin}</th>
              <td>{pods(keys, size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function round({ queues, after }: NonNullable<SessionDetail["round"]>) {
  const inWords = (amounts: Record<string, number>) =>
    Object.entries(amounts)
      .map(([name, value]) => `${name} ${held(name, value)}`)
      .join(", ");
  return (
    <ul>
      {queues.map(([name, weight, deserved, satisfied]) => (
        <li>
          <b>{name}</b>
          {` (weight ${weight}) deserves ${inWords(deserved)}${satisfied ? ", and asks for less" : ""}`}
        </li>
      ))}
      <li class="dim">{`What remains: ${inWords(after)}`}</li>
    </ul>
  );
}

// Story: the cycle in sentences whose nouns are links, and the event that the simulated scheduler writes.

import { EDIT } from "../view/actions.ts";
import { useInTab } from "../view/asking.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import type { Light, Parts } from "../../lib/protocol.js";
import { clock, count, cpu, memory, plural } from "../../lib/quantity.ts";
import { DifferNote } from "../dump/differ.tsx";
import { rankedIn } from "../playback/parts.ts";
import { RecordedFigure } from "../dump/recorded.tsx";
import { Triage, triaged } from "./triage.tsx";
import type { View } from "../view/view.ts";
import { Before, Later } from "./empty.tsx";
import { aboutNode, linked, nodeLink } from "../view/nouns.tsx";
import { Quirks } from "./quirks.tsx";
import { sentence } from "../view/sentence.tsx";

const RANKING = 5;
const CHANGES = 8; // from outside that are listed

type InCycle = { view: View; light: Light };

export function Story({ view }: { view: View }) {
  useInTab(view.store, "story", view.store.recorded);
  const { playback } = view;
  const light: Light | null = playback.current;
  if (playback.atEnd && playback.parts) return <End view={view} parts={playback.parts} />;
  if (!light) return triaged(view) ? <Triage view={view} /> : <Before view={view} />;
  const { tried, over } = playback.reached;
  const last = light.story.at(-1);
  const strong = last?.length === 1 && typeof last[0] === "object" ? last[0].strong : undefined;
  const sentences = strong ? light.story.slice(0, -1) : light.story; // the strong one is shown below
  const message = strong ?? (light.result === "waiting" || !over ? null : (light.message ?? light.events?.at(-1)?.[3]));
  return (
    <>
      <DifferNote view={view} />
      <Changes view={view} when="Before this cycle" all={light.operations} />
      <Changes view={view} when="Inside this cycle, between evaluating and writing" all={light.inside} />
      {light.profile ? (
        <p class="dim fine by-profile">
          Tried by the profile <strong>{light.profile}</strong>, its spec.schedulerName.
        </p>
      ) : null}
      {sentences.length ? (
        <div class="story">{sentences.map((parts) => sentence(view, parts))}</div>
      ) : tried ? null : (
        <Later view={view} title="No pod is tried yet at this moment." />
      )}
      <Quirks light={light} />
      {message ? (
        <>
          <Message view={view} light={light} message={message} />
          <RecordedFigure
            answer={view.store.recorded.peek().find(({ pod }) => pod === playback.pods.keys[light.pod])}
          />
        </>
      ) : null}
      {tried ? <Asks view={view} light={light} /> : null}
      <Saved view={view} light={light} />
      <BestNodes view={view} light={light} />
    </>
  );
}

/** What came from outside, and when. */
function Changes({ view, when, all }: { view: View; when: string; all: string[] | undefined }) {
  if (!all?.length) return null;
  return (
    <div class="note ops">
      <Icon name="plus" />
      <div>
        <strong>{when}</strong>
        <ul>
          {all.slice(0, CHANGES).map((text) => (
            <li>{linked(view, text)}</li>
          ))}
          {all.length > CHANGES ? <li class="dim">{`and ${all.length - CHANGES} more`}</li> : null}
        </ul>
      </div>
    </div>
  );
}

/** How everything stands when the run is over, and what happened since its last cycle. */
function End({ view, parts: { story = [], moments = [], time = 0 } }: { view: View; parts: Parts }) {
  const { playback } = view;
  return (
    <>
      <DifferNote view={view} />
      <div class="story">{story.map((parts) => sentence(view, parts))}</div>
      <section class="happened ending">
        <h3>
          {playback.cycles ? (
            <>
              {"Since "}
              <Inline act={(event) => playback.goto(playback.cycles, event.timeStamp)} title="Go to the last cycle">
                {`cycle ${count(playback.cycles)}`}
              </Inline>
            </>
          ) : (
            "Since the start"
          )}
          <small class="dim end num">{`t = ${clock(time)}`}</small>
        </h3>
        {moments.length ? (
          <ol>
            {moments.map(({ time: at, text }, i) => (
              <li>
                <button
                  type="button"
                  class="link num dim"
                  title="Show the cluster as of this moment"
                  onClick={(event) => playback.goto(playback.index, event.timeStamp, { at: i + 1 })}
                >
                  {clock(at)}
                </button>
                {sentence(view, text)}
              </li>
            ))}
          </ol>
        ) : (
          <p class="dim">Nothing has happened since then.</p>
        )}
      </section>
    </>
  );
}

/**
 * Split `0/9 nodes are available: 2 Insufficient cpu, 3 node(s) had taints…` into its clauses; what v1.37 says of
 * preemption is no clause.
 */
function clauses(message: string) {
  const [, head, all, tail] = /^(\d+\/\d+ nodes are available: )(.*?)(\.?|\. preemption: .*)$/s.exec(message) ?? [];
  return all === undefined ? null : { head, tail, parts: all.split(/, (?=\d+ )/) };
}

function Message({ view, light, message }: InCycle & { message: string }) {
  const split = clauses(message);
  const failed = light.node === null;
  const [namespace, name] = view.playback.pods.keys[light.pod].split("/");
  return (
    <figure class={failed ? "describe failed" : "describe"}>
      <figcaption>
        <span>{"Simulated event of pod "}</span>
        <b>{name}</b>
        <span>{` in ${namespace}`}</span>
      </figcaption>
      <p>
        <span class={failed ? "fail-text" : "pass-text"}>
          {failed ? "Warning  FailedScheduling" : "Normal  Scheduled"}
        </span>
        {"  "}
        {split ? (
          <>
            {split.head}
            {split.parts.map((text, i) => [i ? ", " : "", <Clause view={view} text={text} />])}
            {split.tail}
          </>
        ) : (
          linked(view, message)
        )}
      </p>
    </figure>
  );
}

/** A reason with its number of nodes, which it lights up. */
function Clause({ view, text }: { view: View; text: string }) {
  useInTab(view.store, "story", view.store.lit);
  const reason = /^\d+ (.*)$/s.exec(text)?.[1];
  if (!reason) return <>{text}</>;
  const light = () => {
    const { verdict } = view.facts;
    if (verdict) view.light(verdict.nodesWith(reason), reason);
  };
  return (
    <Inline
      act={light}
      class="clause"
      data-reason={reason}
      aria-pressed={view.lit?.label === reason}
      title="highlight these nodes"
    >
      {text}
    </Inline>
  );
}

function Asks({ view, light: { node, pod } }: InCycle) {
  const failed = node === null;
  const editing = view.store.editing.value;
  const over = failed ? "Why, and what would make it fit?" : "Why there?";
  return (
    <div class="why-row">
      <button type="button" class="btn small" data-why onClick={() => view.actions.why({ pod })}>
        <Icon name="help" />
        {view.playback.reached.over ? over : "Why?"}
      </button>
      {editing ? (
        <button
          type="button"
          class="btn small"
          data-edit
          title={`${EDIT[editing]}: ${failed ? "the pod" : "the node it went to"} (e)`}
          onClick={() => view.actions.edit(failed ? { pod } : { node })}
        >
          <Icon name="edit" />
          {failed ? "Edit this pod" : "Edit this node"}
        </button>
      ) : null}
    </div>
  );
}

function Saved({ view, light: { ladder, alwaysCheckAll, cache, pod } }: InCycle) {
  const [first] = ladder;
  if (!first) return null;
  const all = first[1] * ladder.length;
  const ran = alwaysCheckAll ? all : ladder.reduce((sum, rung) => sum + rung[1], 0);
  const { pods } = view.playback;
  const tile = (value: string, label: string) => (
    <div>
      <dd>{value}</dd>
      <dt>{label}</dt>
    </div>
  );
  return (
    <dl class="tiles">
      {tile(`${count(ladder.at(-1)?.[2] ?? 0)} of ${count(first[1])}`, "nodes fit")}
      {cache?.[0]
        ? tile(count(cache[1]), `of ${count(all)} checks ran, ${count(cache[0])} came from the cache`)
        : tile(count(ran), `of ${count(all)} checks ran`)}
      {tile(`${cpu(pods.cpu[pod])} · ${memory(pods.memory[pod])}`, "cpu and memory requested")}
    </dl>
  );
}

function BestNodes({ view, light }: InCycle) {
  const parts = rankedIn(view.playback.parts);
  if (!parts) return null;
  const { names } = view.playback.nodes;
  const { best } = view.facts;
  // As the scheduler sorts them: the highest total first, equal ones by name, last first; without turns in their
  // given order.
  const all = parts.nodes
    .map((node, i): [node: number, total: number] => [node, parts.totals[i]])
    .sort(([a, one], [b, other]) => other - one || (parts.inTurn ? (names[a] < names[b] ? 1 : -1) : 0));
  const order = all.slice(0, RANKING);
  const won = all.find(([node]) => node === light.node);
  if (won && !order.includes(won)) order[RANKING - 1] = won;
  return (
    <section class="ranking">
      <h3>
        {"Best nodes "}
        <button type="button" class="link end" onClick={() => view.setTab("priorities")}>
          {`all ${plural(parts.nodes.length, "node")}`}
        </button>
      </h3>
      <ol>
        {order.map(([node, total]) => (
          <li class={node === light.node ? "won" : undefined} {...aboutNode(view, node)}>
            {nodeLink(view, node, 34)}
            <span class="num">{count(total)}</span>
            {node === light.node ? (
              <span class="pill accent">chosen</span>
            ) : total === best ? (
              <span class="pill">tie</span>
            ) : (
              <span class="dim num">{`−${count(best - total)}`}</span>
            )}
          </li>
        ))}
      </ol>
      {!parts.release && parts.rows.some(({ weight }) => weight >= 1000) ? (
        <p class="dim fine">
          Totals are large because one priority weighs 10,000; it is the same for every node here unless a node asks to
          be avoided.
        </p>
      ) : null}
    </section>
  );
}

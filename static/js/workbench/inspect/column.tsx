// One node's column of the matrix, and one cell of it worked out: the formula of a priority with the node's numbers.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { Table } from "../../kit/table.tsx";
import { Lru } from "../../lib/lru.ts";
import type { Explanation, PrioritiesPart, ScoreRow, ScoreStep, Terms } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { useAnswer, useInTab } from "../view/asking.tsx";
import { capital, termsOf } from "../playback/terms.ts";
import type { View } from "../view/view.ts";
import { nodeLink } from "../view/nouns.tsx";
import type { RankedRow, Ranking } from "./ranked.ts";
import { Stack } from "./scores.tsx";

const KEPT = 60; // explanations
const SOON = 60; // ms to wait before asking: who plays passes many cycles
/** What a kind of scoring is, and its two stages. */
const KINDS: Record<ScoreRow["kind"], [words: string, first: string, second: string]> = {
  function: ["Function: one call scores the whole list of nodes, so there is no map step.", "Function", "Compared"],
  map: ["Map alone: each node is valued by itself, and the value is the score.", "Map", ""],
  "map/reduce": ["Map and Reduce: each node is valued by itself, then the values are compared.", "Map", "Reduce"],
  plugin: [
    "Score and NormalizeScore: each node is scored by itself, then the scores may be brought to one scale.",
    "Score",
    "NormalizeScore",
  ],
  extender: ["The extender scores the nodes from 0 to 10, which is brought to 0 to 100.", "Prioritize", "Scaled"],
};

type ColumnProps = {
  view: View;
  ranked: PrioritiesPart;
  made: Ranking;
  /** The priority whose score is worked out, -1 for none. */
  picked: number;
  pick: (index: number) => void;
  /** Scroll to the formula once it is there, if it cannot be seen: a priority was chosen for it. */
  reveal: RefObject<boolean>;
};

export function NodeColumn(props: ColumnProps) {
  const { view, ranked, made, picked } = props;
  useInTab(view.store, "priorities", view.store.selection);
  const node = made.at.has(view.node) ? view.node : (ranked.winner ?? made.nodes[made.order[0]]);
  return (
    <div class="score-detail">
      <Formula {...props} row={made.rows[picked]} node={node} />
      <Contributions {...props} node={node} />
    </div>
  );
}

// --- a cell worked out ---------------------------------------------------------------------

type Worked = { answer: Explanation; row: RankedRow; node: string };

function Formula({
  view,
  ranked,
  made,
  row,
  node,
  reveal,
}: ColumnProps & { row: RankedRow | undefined; node: number }) {
  const { playback } = view;
  const { column, scorers } = termsOf(ranked.release);
  const known = useRef(new Lru(KEPT) as Map<string, Worked>).current;
  const element = useRef<HTMLElement>(null);
  const key = row ? `${playback.index}/${node}/${row.index}` : "";
  const ask = async (): Promise<Worked> => {
    const { source, index, socket, nodes } = playback;
    const answer = await socket.call("scores.explain", {
      source,
      cycle: index,
      node,
      priority: (row as RankedRow).index,
    });
    return { answer, row: row as RankedRow, node: nodes.names[node] };
  };
  const answered = useAnswer<Worked>(key, ask, { wait: SOON, known });
  const waits = key !== "" && answered?.key !== key;
  useLayoutEffect(() => {
    if (!reveal.current || waits) return;
    reveal.current = false;
    element.current?.scrollIntoView({ block: "nearest" });
  });
  return (
    <section ref={element} class={waits ? "formula waiting" : "formula"} aria-live="polite">
      {!row ? (
        <p class="dim fine">
          {made.rows.length
            ? `Choose a ${column} here or in the matrix to see how its score was computed.`
            : ranked.release
              ? `The profile enables no ${scorers}.`
              : `The policy names no ${scorers}, so every feasible node gets the total 1.`}
        </p>
      ) : answered?.error ? (
        <p class="stale-text">{`This could not be computed: ${answered.error}`}</p>
      ) : answered?.value ? (
        <Arithmetic {...answered.value} terms={termsOf(ranked.release)} />
      ) : null}
    </section>
  );
}

function Arithmetic({ answer, row, node, terms: { all, reference, column } }: Worked & { terms: Terms }) {
  const [words, first, second] = KINDS[answer.kind];
  const [low, high] = answer.range;
  return (
    <>
      <h3>
        {`${row.label} ${answer.name} `}
        <small class="dim">{`on ${node}`}</small>{" "}
        <a
          class="ref"
          href={`${reference}#${encodeURIComponent(answer.reference ?? all)}`}
          target="_blank"
          rel="noopener"
          title={`${answer.reference ?? capital(all)} in the reference`}
        >
          Reference
          <span class="sr">{` of ${answer.name}, opens another page`}</span>
        </a>
      </h3>
      <p>{answer.prefers}</p>
      <p class="dim fine">{words}</p>
      <Stage
        name={first}
        lines={answer.value}
        result={answer.map === null ? "" : `${first.toLowerCase()} gave ${count(answer.map)}`}
      />
      {second ? <Stage name={second} lines={answer.scale} result={`score ${answer.score}`} /> : null}
      <Stage
        name="Weight"
        lines={[
          {
            of: "adds",
            formula: "score × weight",
            numbers: `${answer.score} × ${count(answer.weight)}`,
            exact: "",
            value: count(answer.weighted),
          },
        ]}
        result={share(answer.weighted, answer.total)}
      />
      {low === high ? (
        <p class="dim">
          <Icon name="warn" />
          {` Every feasible node scored ${low} here, so this ${column} did not tell them apart.`}
        </p>
      ) : (
        <p>{`The feasible nodes scored ${low} to ${high} here.`}</p>
      )}
    </>
  );
}

function share(points: number, total: number) {
  if (!total) return "";
  const part = (points / total) * 100;
  return `${part > 0 && part < 0.1 ? "less than 0.1" : Number(part.toFixed(1))} % of the total ${count(total)}`;
}

/** The lines of one stage: what, in words, with numbers, and what it gives. */
const Stage = ({ name, lines, result }: { name: string; lines: ScoreStep[]; result: string }) => (
  <section class="stage-of">
    <h4>
      {name}
      {result ? <small class="dim num">{` ${result}`}</small> : null}
    </h4>
    <ol>
      {lines.map((line) => (
        <li>
          <span class="of">{line.of}</span>
          <span class="words dim">{line.formula}</span>
          <span class="sum num">
            {line.numbers ? <code>{line.numbers}</code> : null}
            {between(line)}
            <b>{line.value}</b>
          </span>
        </li>
      ))}
    </ol>
  </section>
);

/**
 * What leads from the numbers to the value: the sum itself where an integer division within it truncates; else the
 * exact result.
 */
function between({ numbers, exact }: ScoreStep) {
  const part = exact.includes(" ");
  const gives = part || !(exact || /[<>≤≥]/.test(numbers)) ? "= " : "→ ";
  return [exact ? ` ${part ? "→" : "="} ${exact} ` : " ", <span aria-hidden="true">{gives}</span>];
}

// --- the node's column ---------------------------------------------------------------------

function Contributions({ view, ranked, made, node, picked, pick }: ColumnProps & { node: number }) {
  const { names } = view.playback.nodes;
  const terms = termsOf(ranked.release);
  const { column, filters } = terms;
  const i = made.at.get(node) ?? 0;
  const total = made.totals[i];
  const behind = made.best - total;
  const same = made.rows.filter((row) => row.flat);
  const common = same.reduce((sum, row) => sum + row.score[i] * row.weight, 0);
  const varied = made.rows.length > same.length;
  const place = node === ranked.winner ? "chosen" : behind ? `${count(behind)} behind the best` : "equal to the best";
  return (
    <section class="column-of">
      <h3>
        <span>
          {`N${made.number[i]} `}
          {nodeLink(view, node)}
        </span>
        <small class="dim num">{`rank ${count(made.rank[i])} of ${count(made.nodes.length)}, ${place}`}</small>
      </h3>
      {view.node >= 0 && view.node !== node ? (
        <p class="fine">
          {nodeLink(view, names[view.node])}
          {` has no scores, because it did not pass the ${filters}. `}
          <button type="button" class="link" onClick={() => view.setTab("predicates")}>
            See which
          </button>
        </p>
      ) : null}
      {varied ? (
        <div aria-hidden="true">
          <Stack made={made} i={i} />
        </div>
      ) : null}
      {made.rows.length ? (
        <Table
          rows={made.rows.map((row) => (
            <tr
              key={row.name}
              class={`${row.flat ? "same" : ""} ${row.index === picked ? "picked" : ""}`.trim() || undefined}
            >
              <th scope="row">
                <button
                  type="button"
                  class="link"
                  aria-pressed={row.index === picked}
                  data-priority={row.index}
                  title="How the score was computed"
                  onClick={() => pick(row.index)}
                >
                  {`${row.label} ${row.short}`}
                </button>
                {row.flat ? <small class="dim">{" same for all"}</small> : null}
              </th>
              <td class="dim">{row.kind}</td>
              <td class="num">{row.score[i]}</td>
              <td class="num dim">{`× ${count(row.weight)}`}</td>
              <td class="num">
                <b>{count(row.score[i] * row.weight)}</b>
              </td>
            </tr>
          ))}
          heads={[column, "kind", ...["score", "× weight", "adds"].map((text) => ({ text, class: "num" }))]}
          caption={`What each ${column} adds to the total of ${names[node]}`}
          class="list tight contributions"
          title={<h4>{`What each ${column} adds`}</h4>}
          name="adds"
          foot={
            <tr>
              <th scope="row" colSpan={4}>
                Combine, their sum
              </th>
              <td class="num">
                <b>{count(total)}</b>
              </td>
            </tr>
          }
        />
      ) : null}
      {same.length ? <p class="dim fine">{alike(same, common, varied ? total - common : null, terms)}</p> : null}
    </section>
  );
}

/** Which rules gave every node the same; `others` is the rest, which the bar shows, null where there is no bar. */
function alike(rows: RankedRow[], each: number, others: number | null, { scorer, scorers }: Terms) {
  const names = rows.map((row) => row.short).join(", ");
  const bar = others === null ? "" : `; the bar shows the other ${count(others)}`;
  return (
    `${plural(rows.length, scorer, scorers)} could not tell the nodes apart: ${names}. `
    + `${rows.length > 1 ? "They give" : "It gives"} every feasible node ${count(each)}${bar}.`
  );
}

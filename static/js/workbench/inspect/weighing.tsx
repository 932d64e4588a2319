// Weights live: a slider for each priority, and at once which node would have won this cycle, the ranking, and where
// the winner flips.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { $, announce, toast } from "../../lib/dom.ts";
import type { PrioritiesPart } from "../../lib/protocol.js";
import { count, ellipsis, plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { useRedraw } from "../view/asking.tsx";
import { termsOf } from "../playback/terms.ts";
import type { View } from "../view/view.ts";
import { Lines } from "./lines.tsx";
import { rankedOf, type Ranking } from "./ranked.ts";
import { Best, Outcome } from "./weighing/outcome.tsx";
import { reachOf, WeightSlider } from "./weighing/slider.tsx";
import { MOST_WEIGHT, choiceOf, exact, flipsOf, nearest, scalesOf, topOf, totalsWith, type Scales } from "./weights.ts";

const NAME = 24; // characters of a node's name in a row
let opened = false; // kept while the page is: a change of the policy draws the tab again

type WeighingProps = { view: View; ranked: PrioritiesPart };
type Named = (position: number, most?: number) => string;

export function Weighing({ view, ranked }: WeighingProps) {
  const redraw = useRedraw();
  const { names } = view.playback.nodes;
  const made = rankedOf(ranked, names);
  const scales = scalesOf(ranked, made, names);
  const key = `${view.playback.index}/${made.rows.map((row) => `${row.name}×${row.weight}`).join()}`;
  const name: Named = (position, most = NAME) => ellipsis(names[made.nodes[position]], most);
  const sums = exact(scales, scales.weights);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the key names what it is made of
  const teaser = useMemo(() => (sums ? nearestOf(made, scales, name) : ""), [key]);
  if (!made.rows.length) return null;
  return (
    <section class="weighing" aria-label="Weights">
      <h3>
        <button
          type="button"
          class="weigh-open"
          aria-expanded={opened}
          onClick={() => {
            opened = !opened;
            redraw();
          }}
        >
          <Icon name="right" />
          Try other weights
        </button>{" "}
        <small class="dim num">{teaser}</small>
      </h3>
      <div class="weigh-body" hidden={!opened}>
        {!opened ? null : sums ? (
          <Tried {...{ view, ranked, made, scales, cycle: key, name }} />
        ) : (
          <p class="story weigh-result">
            The browser cannot add these weights exactly. The engine's own sums are in the matrix below.
          </p>
        )}
      </div>
    </section>
  );
}

/** The nearest flip of all: what a small change would have done. */
function nearestOf(made: Ranking, scales: Scales, name: Named) {
  const [found] = made.rows
    .filter((row) => !row.flat)
    .flatMap((row) => {
      const flip = nearest(flipsOf(scales, scales.weights, row.index), row.weight);
      return flip ? [{ row, ...flip, far: Math.abs(flip.weight - row.weight) / Math.max(1, row.weight) }] : [];
    })
    .sort((a, b) => a.far - b.far);
  if (!found) return "no single weight would have changed the choice";
  const { row, weight, winner } = found;
  return `${row.label} ${row.short} at ${count(weight)} instead of ${count(row.weight)}: ${name(winner)} wins`;
}

type TriedProps = WeighingProps & { made: Ranking; scales: Scales; cycle: string; name: Named };

/** The sliders, and what their weights would have brought; what is tried stays while the cycle is the same. */
function Tried({ view, ranked, made, scales, cycle, name }: TriedProps) {
  const began = performance.now();
  const redraw = useRedraw();
  const state = useRef({ cycle: "", weights: [] as number[], reach: [] as number[], row: 0, rowName: "" }).current;
  if (state.cycle !== cycle) {
    const row = made.rows[state.row];
    if (state.rowName !== row?.name || row.flat)
      state.row = Math.max(
        0,
        made.rows.findIndex((one) => one.name === state.rowName && !one.flat),
        made.rows.findIndex(({ flat }) => !flat),
      );
    state.cycle = cycle;
    state.weights = [...scales.weights];
    state.reach = made.rows.map((one, r) => reachOf(flipsOf(scales, scales.weights, r), one.weight));
  }
  const { weights, row: r } = state;
  const summed = exact(scales, weights);
  const totals = totalsWith(scales, weights);
  const choice = choiceOf(scales, totals);
  const flips = summed ? made.rows.map((_, one) => flipsOf(scales, weights, one, totals)) : [];
  const asDecided = weights.every((weight, one) => weight === scales.weights[one]);
  const decided = ranked.winner === null ? undefined : made.at.get(ranked.winner);
  const said = useRef({ cycle, winner: choice.winner });
  useLayoutEffect(() => {
    if (summed && said.current.cycle === cycle && said.current.winner !== choice.winner)
      announce(`${name(choice.winner, 80)} would win with ${count(choice.best)}.`);
    said.current = { cycle, winner: choice.winner };
    if (window.podstep) window.podstep.weighing = { took: performance.now() - began }; // for the browser tests
  });
  const choose = (index: number) => {
    if (state.row === index && state.rowName === made.rows[index].name) return;
    Object.assign(state, { row: index, rowName: made.rows[index].name });
    redraw();
  };
  const attempt = (index: number, weight: number) => {
    Object.assign(state, { row: index, rowName: made.rows[index].name });
    weights[index] = Math.min(MOST_WEIGHT, Math.max(0, Math.floor(weight)));
    redraw();
  };
  const sliders = (flat: boolean) => (
    <ul class="weigh-rows">
      {made.rows
        .filter((row) => row.flat === flat)
        .map((row) => (
          <WeightSlider
            key={row.name}
            row={row}
            weight={weights[row.index]}
            reach={Math.max(state.reach[row.index], weights[row.index])}
            flips={flips[row.index] ?? []}
            winner={choice.winner}
            name={name}
            drawn={row.index === r}
            attempt={(weight) => attempt(row.index, weight)}
            choose={() => choose(row.index)}
          />
        ))}
    </ul>
  );
  const alike = made.rows.filter(({ flat }) => flat).length;
  const { scorer, scorers } = termsOf(ranked.release);
  const outcome = { view, ranked, made, scales, totals, choice, asDecided };
  return (
    <>
      <p class={`story weigh-result${!asDecided && choice.winner !== decided ? " other" : ""}`}>
        {summed ? <Outcome {...outcome} /> : "The browser cannot add these weights exactly."}
      </p>
      {sliders(false)}
      {alike ? (
        <details class="weigh-alike">
          <summary>
            {`${alike === made.rows.length ? "" : "and "}${plural(alike, scorer, scorers)} that `
              + "score every node alike here, so that no weight of theirs matters"}
          </summary>
          {sliders(true)}
        </details>
      ) : null}
      {summed ? (
        <Figure {...outcome} {...state} name={name} flips={flips[r]} onWeight={(to) => attempt(r, to)} />
      ) : null}
      <div class="weigh-ranking">{summed ? <Best {...outcome} /> : null}</div>
      <Acts
        view={view}
        ranked={ranked}
        made={made}
        weights={weights}
        asDecided={asDecided}
        heap={scales.heap}
        reset={() => {
          state.weights = [...scales.weights];
          redraw();
          $(`#weigh-${r}`)?.focus();
        }}
      />
    </>
  );
}

type FigureProps = Parameters<typeof Outcome>[0] & {
  weights: number[];
  reach: number[];
  row: number;
  name: Named;
  flips: ReturnType<typeof flipsOf>;
  onWeight: (weight: number) => void;
};

/** The lines of the priority that was turned to: who wins, who was chosen, who is selected, and the best. */
function Figure({ view, ranked, made, scales, totals, choice, weights, row, name, flips, ...more }: FigureProps) {
  const { label, short, name: what } = made.rows[row];
  const weight = weights[row];
  const reach = Math.max(more.reach[row], weight);
  const score = scales.scores[row];
  const drawn = [
    choice.winner,
    ...flips.filter(({ from }) => from <= reach).map(({ winner }) => winner),
    ranked.winner === null ? undefined : made.at.get(ranked.winner),
    made.at.get(view.node),
    ...topOf(scales, totals, 3),
  ].filter((one) => one !== undefined);
  return (
    <Lines
      view={view}
      title={`${label} ${short}`}
      what={what}
      weight={weight}
      asIs={scales.weights[row]}
      reach={reach}
      flips={flips}
      series={[...new Set(drawn)].map((id) => ({ id, slope: score[id], base: totals[id] - weight * score[id] }))}
      winner={choice.winner}
      name={(one) => name(one, 80)}
      nodeOf={(one) => made.nodes[one]}
      onWeight={more.onWeight}
    />
  );
}

/** The ways to put weights in force: when, icon, text and hint. */
const ways = (form: string) => ({
  mine: [
    [
      "start",
      "check",
      "Apply from the start",
      `Write these weights into the ${form}: the simulation restarts with them`,
    ],
    [
      "before",
      "here",
      "Apply before this cycle",
      "An operation right before this cycle restarts the scheduler with these weights",
    ],
  ],
  copied: [
    ["start", "fork", "Apply in a copy", `A draft of your own with these weights in its ${form}`],
    [
      "before",
      "here",
      "In a copy, before this cycle",
      "A draft of yours, whose scheduler restarts with these weights right before this cycle",
    ],
  ],
});

type ActsProps = WeighingProps & {
  made: Ranking;
  weights: number[];
  asDecided: boolean;
  heap: boolean;
  reset: () => void;
};

function Acts({ view, ranked, made, weights, asDecided, heap, reset }: ActsProps) {
  const [busy, setBusy] = useState(false);
  const { settings } = view;
  const { mine, copied } = ways(heap ? "KubeSchedulerConfiguration" : "Policy");
  const offered = settings?.mine ? mine : settings?.canFork ? copied : [];
  const apply = async (when: string) => {
    const changed = made.rows.filter((row, r) => weights[r] !== row.weight);
    setBusy(true);
    try {
      const tried = Object.fromEntries(changed.map((row) => [row.name, weights[row.index]]));
      await settings?.weigh(tried, when, ranked.profile ?? "");
    } catch (error) {
      const { body, message } = refusalOf(error);
      toast(body?.errors?.[0]?.message ?? message, { name: "warn", ms: 7000 });
      setBusy(false);
    }
  };
  return (
    <div class="weigh-acts">
      <button type="button" class="btn quiet" disabled={asDecided} onClick={reset}>
        Reset
      </button>
      {offered.map(([when, icon, text, title]) => (
        <button
          type="button"
          class="btn"
          data-weigh={when}
          title={title}
          disabled={busy || asDecided || weights.every((weight) => weight === 0)}
          onClick={() => void apply(when)}
        >
          <Icon name={icon} />
          {text}
        </button>
      ))}
      {offered.length ? (
        <p class="dim fine weigh-note">
          Applied from the start, earlier pods may be placed differently too. Applied before this cycle, the scheduler
          restarts: it retries all pending pods{heap ? "" : ", and its tie-break counter is reset to 0"}.
        </p>
      ) : null}
    </div>
  );
}

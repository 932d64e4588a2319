// The Cache tab, Worth it?: what no cache, a cache and batching cost on this very scenario, and where another mode
// decides otherwise.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { Select } from "../../kit/select.tsx";
import { Table } from "../../kit/table.tsx";
import type { Commands, Cost } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { CACHE_SETTINGS } from "../policy/cache_settings.ts";
import type { View } from "../view/view.ts";
import { Parting, type Chosen } from "./worthother.tsx";
import { LINES, looks, METRICS, verdict } from "./worthwords.tsx";

const GIVEN_UP = "request.superseded";
const REMEDIED = "generations";
const IDLE = new Set(["off", "batching"]); // modes that keep no results

type Asked = "worth.cost" | "worth.other";
/** How far it is. */
type Progress = { done: number; total: number; strategy: string };

export function Worth({ view }: { view: View }) {
  const { playback } = view;
  const own = playback.policy?.cache ?? "off";
  const remedy = playback.policy?.staleWrites ?? REMEDIED;
  // The most instructive comparison: with the bugs, or without.
  const [chosen, setChosen] = useState<Record<string, string>>({
    cache: own === "sound" && remedy === REMEDIED ? "v1.11" : "sound",
    equivalenceClass: playback.policy?.equivalenceClass ?? "controller",
    staleWrites: REMEDIED,
  });
  const [busy, setBusy] = useState<Asked | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [shown, setShown] = useState<Partial<Record<Asked, ComponentChildren>>>({});
  useLayoutEffect(
    () =>
      playback.socket.on("worth.progress", ({ source, ...now }) => {
        if (JSON.stringify(source) === JSON.stringify(playback.source)) setProgress(now);
      }),
    [playback],
  );
  const asker = useRef<HTMLElement | null>(null); // the button that was pressed; Cancel has the focus meanwhile
  useLayoutEffect(() => {
    if (busy || !asker.current) return;
    if (!document.activeElement || document.activeElement === document.body)
      asker.current.focus({ preventScroll: true });
    asker.current = null;
  }, [busy]);
  async function ask<C extends Asked>(
    command: C,
    payload: Omit<Commands[C]["asks"], "source">,
    draw: (answer: Commands[C]["answers"]) => ComponentChildren,
  ) {
    if (busy) return;
    const { activeElement } = document;
    asker.current = activeElement instanceof HTMLButtonElement ? activeElement : null;
    setBusy(command);
    setProgress(null);
    let content: ComponentChildren;
    try {
      const asks = { source: playback.source, ...payload } as Commands[C]["asks"];
      content = draw(await playback.socket.call(command, asks));
    } catch (error) {
      const { code, message } = refusalOf(error);
      content =
        code === GIVEN_UP ? (
          <p class="dim" role="status">
            Given up.
          </p>
        ) : (
          <p class="worth-wrong" role="status">
            <Icon name="warn" />
            {message}
          </p>
        );
    }
    setShown((before) => ({ ...before, [command]: content }));
    setBusy(null);
  }
  const result = (command: Asked) => (
    <div class="worth-result">
      {busy === command ? <Computing view={view} progress={progress} held={asker.current !== null} /> : shown[command]}
    </div>
  );
  const idle = IDLE.has(chosen.cache);
  const settings: Chosen = idle ? { cache: chosen.cache } : (chosen as Chosen);
  const does = CACHE_SETTINGS.find(({ key }) => key === "cache")?.choices.find(
    ([value]) => value === chosen.cache,
  )?.[2];
  return (
    <div class="worth" aria-busy={busy ? true : undefined}>
      <section aria-labelledby="worth-costs">
        <h3 id="worth-costs">Was it worth it?</h3>
        <p class="dim">
          This scenario is run with no cache, with its own mode, with <code>sound</code> and with batching, and
          everything is counted.
        </p>
        <div class="worth-act">
          <button
            type="button"
            class="btn primary"
            disabled={busy !== null}
            onClick={() => void ask("worth.cost", {}, ({ rows }) => <Costs view={view} rows={rows} />)}
          >
            <Icon name="chart" />
            Measure
          </button>
        </div>
        {result("worth.cost")}
      </section>
      <section aria-labelledby="worth-other">
        <h3 id="worth-other">Run it in another mode</h3>
        <p class="dim">
          Both runs are computed to the end, with every hit checked by the audit. The first cycle with a different
          decision is shown with both.
        </p>
        <form
          class="worth-form"
          onSubmit={(event) => {
            event.preventDefault();
            void ask("worth.other", settings, (answer) => <Parting view={view} answer={answer} chosen={settings} />);
          }}
        >
          <div class="worth-fields">
            {CACHE_SETTINGS.filter(({ key }) => key !== "audit").map(({ key, label, choices }) => (
              <label>
                <span>{label}</span>
                <Select
                  name={key}
                  options={choices}
                  value={chosen[key] ?? ""}
                  disabled={idle && key !== "cache"}
                  onChange={(value) => setChosen({ ...chosen, [key]: value })}
                  aria-describedby={key === "cache" ? "worth-does" : undefined}
                />
              </label>
            ))}
          </div>
          <p class="dim fine" id="worth-does">
            {does}
          </p>
          <div class="worth-act">
            <button class="btn primary" disabled={busy !== null}>
              <Icon name="play" />
              Run both
            </button>
            <p class="dim fine">{`It runs with cache ${own} here.`}</p>
          </div>
        </form>
        {result("worth.other")}
      </section>
    </div>
  );
}

/** What is worked out, how far it is, and the way to give it up. */
function Computing({ view, progress, held }: { view: View; progress: Progress | null; held: boolean }) {
  const [stopped, setStopped] = useState(false);
  const stop = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (held) stop.current?.focus({ preventScroll: true });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- as it appears
  }, []);
  return (
    <div class="worth-progress">
      <progress
        aria-label="Progress"
        {...(progress
          ? { max: Math.max(progress.total, 1), value: Math.min(progress.done, progress.total) }
          : undefined)}
      />
      <span class="num dim" role="status">
        {progress
          ? `${count(progress.done)} of about ${plural(progress.total, "cycle")} · ${progress.strategy}`
          : "Waiting…"}
      </span>
      <button
        ref={stop}
        type="button"
        class="btn"
        disabled={stopped}
        onClick={() => {
          setStopped(true);
          view.playback.socket.call("worth.cancel", {}).catch(() => {});
        }}
      >
        <Icon name="close" />
        Cancel
      </button>
    </div>
  );
}

const Costs = ({ view, rows }: { view: View; rows: Cost[] }) => (
  <>
    {verdict(view, rows).map((sentence) => (
      <p class="story worth-verdict">{sentence}</p>
    ))}
    <div class="worth-bars" role="group" aria-label="Strategies side by side; the table below has the numbers">
      {METRICS.map(({ label, value, text }) => {
        const most = Math.max(...rows.map(value), 0);
        return (
          <figure class="worth-metric">
            <figcaption>{label}</figcaption>
            {rows.map((row) => {
              const { label: name, mark } = looks(row.strategy);
              const width = value(row) && most ? Math.max((value(row) / most) * 100, 0.5) : 0;
              return (
                <div class="worth-bar">
                  <span class="name">{name}</span>
                  <span class="track" aria-hidden="true">
                    <i class={mark} style={{ width: `${width}%` }} />
                  </span>
                  <span class="num">{text(value(row))}</span>
                </div>
              );
            })}
          </figure>
        );
      })}
    </div>
    <Table
      rows={LINES.map(({ label, hint, text, sub }) => (
        <tr>
          <th scope="row" title={hint} class={sub ? "sub" : undefined}>
            {label}
          </th>
          {rows.map((row, i) => (
            <td class="num">{text(row, i === 0, view)}</td>
          ))}
        </tr>
      ))}
      heads={["", ...rows.map(({ strategy }) => ({ text: looks(strategy).label, class: "num" }))]}
      caption="Evaluations, memory and time of each strategy"
      class="list tight worth-table"
      title={<h4>In numbers</h4>}
      sorts={false}
    />
    <p class="dim fine">
      Evaluations are pairs of predicate and node. Time is the processor’s, of this simulator: it evaluates a predicate
      on all nodes in one go, so an evaluation costs it far less than a scheduler that goes from node to node. Of
      batching, a lookup is a pod that asks for a kept ranking.
    </p>
  </>
);

// Steps as files: the stage, a matrix, the ladder or a chart as a picture, and a range of steps as a slide deck; the
// server draws them. The film of a range is in film/.

import type { ComponentChildren } from "preact";
import { openDialog } from "../../kit/dialog.tsx";
import { focused } from "../../kit/focus.ts";
import type { Terms } from "../../lib/protocol.js";
import { THEMES, theme } from "../../lib/theme.ts";
import type { Playback } from "../playback/playback.ts";
import { capital, termsIn } from "../playback/terms.ts";

export const SLIDES = 60; // of a deck, as the server bounds it
const viewsOf = ({ filter, scorer }: Terms): [view: string, label: string][] => [
  ["matrix", `Node × ${filter} matrix`],
  ["scores", `Node × ${scorer} matrix`],
  ["ladder", `${capital(filter)} ladder`],
  ["chart", "Chart of all cycles"],
  ["stage", "Stage"],
];

/** What the server calls the source of what is played, as its addresses name it. */
export function sourceOf({ source }: Playback) {
  const { revision: _, ...named } = source;
  const [[kind, id] = []] = Object.entries(named);
  return `${kind}:${id}`;
}

/** Download the stage after the step on screen. */
export function exportStage(playback: Playback, format: "svg" | "png") {
  const query = new URLSearchParams({ source: sourceOf(playback), step: String(playback.wantedCycle), format });
  location.assign(`/picture?${query}`);
}

/** Ask which view of the step on screen becomes a picture, and in which format; the tab that is open comes first. */
export function exportView(playback: Playback, tab: string) {
  const step = playback.wantedCycle;
  const first = { predicates: "matrix", priorities: "scores" }[tab] ?? (step ? "matrix" : "chart");
  openDialog("Export as a picture", (close) => (
    <>
      <p class="dim">{step ? `Step ${step} as a file.` : "The state before the first step as a file."}</p>
      <Download action="/picture" playback={playback} close={close}>
        <input type="hidden" name="step" value={step} />
        <Choice name="view" label="View " options={viewsOf(termsIn(playback))} value={first} focus />
        <label class="share-check">
          <input type="checkbox" name="bare" />A PNG without its scenario: otherwise it opens where it is dropped on a
          start page
        </label>
        {["svg", "png"].map((format) => (
          <button key={format} class={format === "svg" ? "btn primary" : "btn"} name="format" value={format}>
            {format.toUpperCase()}
          </button>
        ))}
      </Download>
    </>
  ));
}

/** Ask for the range of a slide deck, the next steps from the one on screen. */
export const exportDeck = (playback: Playback) =>
  openDialog("Slide deck", (close) => (
    <>
      <p class="dim">{`One HTML file with a slide for each step, at most ${SLIDES}. It prints a page a slide.`}</p>
      <Download action="/deck" playback={playback} close={close}>
        <RangeFields playback={playback} />
        <ThemeField />
        <button class="btn primary">Download</button>
      </Download>
    </>
  ));

type DownloadProps = { action: string; playback: Playback; close: () => void; children: ComponentChildren };

const Download = ({ action, playback, close, children }: DownloadProps) => (
  <form class="deck-form" method="get" action={action} onSubmit={() => setTimeout(close)}>
    <input type="hidden" name="source" value={sourceOf(playback)} />
    {children}
  </form>
);

/** Two fields for a range of steps: the next ones from the step on screen. */
export function RangeFields({ playback: { wantedCycle, cycles } }: { playback: Playback }) {
  const from = Math.max(0, Math.min(wantedCycle, cycles - 1));
  const number = (name: string, label: string, value: number, ref?: typeof focused) => (
    <label>
      {label}
      <input ref={ref} class="field" type="number" name={name} min={0} max={cycles} defaultValue={value} required />
    </label>
  );
  return (
    <>
      {number("from", "From step ", from, focused)}
      {number("to", "To step ", Math.min(cycles, from + 9))}
    </>
  );
}

type ChoiceProps = {
  name: string;
  label: string;
  options: readonly (readonly [value: string, text: string])[];
  /** The one that is chosen at first. */
  value: string;
  focus?: boolean;
};

/** A choice of a form. */
const Choice = ({ name, label, options, value, focus = false }: ChoiceProps) => (
  <label>
    {label}
    <select ref={focus ? focused : undefined} class="field" name={name}>
      {options.map(([key, text]) => (
        <option key={key} value={key} selected={key === value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

/** A choice between dark and light, the page's own first. */
export const ThemeField = () => (
  <Choice
    name="theme"
    label="Theme "
    options={THEMES.map((value) => [value, value === "dark" ? "Dark" : "Light"] as const)}
    value={theme() ?? ""}
  />
);

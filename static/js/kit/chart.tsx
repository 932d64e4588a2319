import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { download, plotly } from "../lib/plotly.ts";
import { debounce } from "../lib/dom.ts";
import { textSize, token } from "../lib/theme.ts";

/** What Plotly draws. */
export type Drawn = { data: unknown[]; layout: Record<string, any> };
/** The same for a file of this name. */
export type Figure = Drawn & { title: string; name: string };

type ChartProps = {
  /** The address of Plotly, which is loaded once a chart is shown. */
  library: string;
  /** What is seen in it, for who sees nothing: a table of its numbers must be at hand. */
  label: string;
  class: string;
  /** What is drawn, as a key: it is drawn again where that, its width or the theme has changed. */
  of: string;
  figure: (width: number) => Drawn;
  /** Where it marks the present, without being drawn again. */
  now?: number | null;
  hidden?: boolean;
  /** Milliseconds that a change of `of` may wait for the next. */
  wait?: number;
  onPoint?: (point: any, since?: number) => void;
};

const STILL = { displayModeBar: false, responsive: false, scrollZoom: false, doubleClick: false };
const WIDER = 60; // milliseconds after the last change of its width

/** A chart of Plotly. */
export function Chart({ label, class: name, hidden = false, ...props }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const [error, setError] = useState("");
  const latest = useRef(props);
  latest.current = props;
  const state = useRef({ drawn: "", ready: false, timer: 0 });
  const keyOf = () => `${host.current?.clientWidth}/${latest.current.of}`;
  const draw = async () => {
    const element = host.current;
    const width = element?.clientWidth;
    const key = keyOf();
    if (!element || !width || key === state.current.drawn) return;
    state.current.drawn = key;
    try {
      const Plotly = await plotly(latest.current.library);
      if (key !== state.current.drawn || !element.isConnected) return;
      const { data, layout } = latest.current.figure(width);
      Plotly.react(element, data, { ...layout, width, shapes: shapesAt(latest.current.now) }, STILL);
    } catch (failed) {
      state.current.drawn = "";
      setError((failed as Error).message);
      return;
    }
    if (state.current.ready) return;
    state.current.ready = true;
    element.dataset.drawn = "yes";
    (element as any).on("plotly_click", ({ points: [point], event }: any) => {
      if (point) latest.current.onPoint?.(point, event?.timeStamp);
    });
  };
  const { now, of, wait = 0 } = props;
  useLayoutEffect(() => {
    if (hidden || keyOf() === state.current.drawn) return;
    clearTimeout(state.current.timer);
    if (wait && state.current.ready) state.current.timer = setTimeout(draw, wait);
    else void draw();
  });
  useLayoutEffect(() => {
    if (now === undefined || !state.current.ready || hidden) return;
    if (host.current) window.Plotly.relayout(host.current, { shapes: shapesAt(now) });
  }, [now, of, hidden]);
  useLayoutEffect(() => {
    const own = state.current;
    const again = () => {
      own.drawn = "";
      void draw();
    };
    const wider = debounce(() => void draw(), WIDER);
    const observer = new ResizeObserver(wider);
    if (host.current) observer.observe(host.current);
    addEventListener("podstep:theme", again);
    return () => {
      observer.disconnect();
      wider.cancel();
      clearTimeout(own.timer);
      removeEventListener("podstep:theme", again);
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- draw reads what refs hold
  }, []);
  return (
    <>
      {error ? <p class="note error">{error}</p> : null}
      <div ref={host} class={name} role="img" aria-label={label} hidden={hidden} />
    </>
  );
}

/** A line at the present. */
const shapesAt = (now: number | null | undefined) =>
  now === null || now === undefined
    ? []
    : [
        {
          type: "line",
          xref: "x",
          yref: "paper",
          x0: now,
          x1: now,
          y0: 0,
          y1: 1,
          line: { color: token("--accent"), width: 1.5 },
        },
      ];

/** What all charts of a tab look like: axes, their titles, and the rest. */
export function look() {
  const font = (colour: string) => ({ color: token(colour), size: textSize() });
  return {
    axis: {
      fixedrange: true,
      gridcolor: token("--line"),
      zerolinecolor: token("--line"),
      linecolor: token("--line-strong"),
      tickfont: font("--dim"),
    },
    title: (text: string) => ({ text, font: font("--dim"), standoff: 4 }),
    plain: {
      dragmode: false,
      hovermode: "closest",
      hoverdistance: -1,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: token("--font"), ...font("--ink") },
      showlegend: false,
      hoverlabel: {
        bgcolor: token("--raise-2"),
        bordercolor: token("--line-strong"),
        font: { family: token("--font"), ...font("--ink") },
      },
    },
  };
}

/** The buttons that download a chart as it is drawn, an SVG and a PNG; `what` is its name, which they are read with. */
export const FigureButtons = ({ what, library, figure, class: more = "" }: FigureButtonsProps) => (
  <>
    {(["svg", "png"] as const).map((format) => {
      const label = `${format.toUpperCase()}: download “${what}”`;
      return (
        <button
          type="button"
          class={`btn quiet ${more}`.trim()}
          aria-label={label}
          title={label}
          onClick={() => void download(library, figure(), format)}
        >
          {format.toUpperCase()}
        </button>
      );
    })}
  </>
);
type FigureButtonsProps = { what: string; library: string; figure: () => Figure; class?: string };

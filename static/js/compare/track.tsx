// Both timelines over each other: the left run's cycles stand up, the right one's hang down, and where they decide
// differently a diamond is between them. One slider moves both.

import { useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { penOf, perFrame } from "../lib/dom.ts";
import { token } from "../lib/theme.ts";
import { LETTERS, RESULTS } from "../workbench/playback/marks.ts";
import type { Rows } from "./rows.ts";
import type { Side } from "./side.tsx";

const HEIGHT = 74;
const MIDDLE = HEIGHT / 2;
const GAP = 7; // between the middle and the marks: for the diamonds
const WIDEST = 26; // pixels of a row
const TALL = [0.2, 0.42, 0.68, 0.84, 1, 0.56]; // by result, as on the timeline of the workbench
const tones = () => ["--track", "--pass", "--fail", "--stale", "--victim", "--wait"].map(token);

/** Both runs at a row. */
type Stepped = { rows: Rows; sides: readonly Side[]; row: number; goto: (row: number) => void };

export function Track({ stepper }: { stepper: Stepped }) {
  const { rows, sides, row } = stepper;
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useLayoutEffect(() => {
    const again = () => redraw(0);
    const observer = new ResizeObserver(again);
    if (host.current) observer.observe(host.current);
    addEventListener("podstep:theme", again);
    return () => {
      observer.disconnect();
      removeEventListener("podstep:theme", again);
    };
  }, []);
  const width = host.current?.clientWidth ?? 0;
  const scale = rows.count ? Math.min(WIDEST, width / rows.count) : WIDEST;
  const versions = sides.map(({ playback }) => playback.marks.version).join("/");
  const ink = token("--ink");
  useLayoutEffect(() => {
    if (width && canvas.current) paint(canvas.current, rows, sides, width, scale);
  }, [rows, sides, width, scale, versions, ink]);
  const seek = useMemo(() => perFrame((to: number) => to !== stepper.row && stepper.goto(to)), [stepper]);
  const at = (event: PointerEvent) => {
    const x = event.clientX - (host.current?.getBoundingClientRect().left ?? 0);
    return Math.max(0, Math.min(rows.count, Math.floor(x / scale) + 1));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(10, Math.round(rows.count / 20));
    const keys: Record<string, number> = {
      ArrowUp: row + 1,
      ArrowDown: row - 1,
      PageUp: row + page,
      PageDown: row - page,
      Home: 0,
      End: rows.count,
    };
    const to = keys[event.key];
    if (to === undefined || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    stepper.goto(to);
  };
  return (
    <div
      ref={host}
      class="both-track"
      role="slider"
      tabIndex={0}
      aria-label="Cycle of both runs"
      aria-valuemin={0}
      aria-valuemax={rows.count}
      aria-valuenow={row}
      aria-valuetext={said(stepper)}
      onPointerDown={(event) => {
        if (event.button) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        stepper.goto(at(event));
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) seek(at(event));
      }}
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <div
        class="playhead"
        aria-hidden="true"
        style={{
          transform: `translateX(${row ? (row - 1) * scale : -4}px)`,
          width: `${row ? Math.max(3, scale - (scale > 6 ? 2 : 0)) : 3}px`,
        }}
      />
    </div>
  );
}

function said({ rows, sides, row }: Stepped) {
  if (!row) return "before the first cycle";
  const pair = rows.at(row);
  const words = sides.map(({ name, playback }) => {
    const letter = LETTERS[playback.marks.result[pair[name]] ?? 0] as keyof typeof RESULTS | "";
    return pair[name] ? `${name} cycle ${pair[name]}${letter ? `, ${RESULTS[letter]}` : ""}` : `${name}: none`;
  });
  return [...words, ...(rows.different.includes(row) ? ["decided differently"] : [])].join("; ");
}

function paint(canvas: HTMLCanvasElement, rows: Rows, sides: readonly Side[], width: number, scale: number) {
  const ratio = Math.min(2, devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  const pen = penOf(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const colours = tones();
  const wide = Math.max(1, scale - (scale > 6 ? 2 : scale >= 3 ? 1 : 0));
  rows.each((row, pair) => {
    sides.forEach(({ name, playback }, at) => {
      const index = pair[name];
      if (!index) return;
      const result = index < playback.marks.result.length ? playback.marks.result[index] : 0;
      const tall = TALL[result] * (MIDDLE - GAP - 2);
      pen.fillStyle = colours[result];
      pen.fillRect((row - 1) * scale, at ? MIDDLE + GAP : MIDDLE - GAP - tall, wide, tall);
    });
  });
  pen.fillStyle = token("--line");
  pen.fillRect(0, MIDDLE - 0.5, Math.min(width, rows.count * scale), 1);
  pen.fillStyle = token("--ink");
  const half = GAP - 2;
  let last = -GAP * 2;
  for (const row of rows.different) {
    const x = (row - 0.5) * scale - (scale > 6 ? 1 : 0);
    if (x - last < Math.min(half, Math.max(2, scale))) continue; // where they are dense, the first of a place
    last = x;
    pen.beginPath();
    pen.moveTo(x, MIDDLE - half);
    pen.lineTo(x + half, MIDDLE);
    pen.lineTo(x, MIDDLE + half);
    pen.lineTo(x - half, MIDDLE);
    pen.fill();
  }
}

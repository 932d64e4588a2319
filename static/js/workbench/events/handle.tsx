// The mark of one event on its axis: a slider that is dragged, or moved by the arrow keys, to another cycle or second.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { EventProps } from "./list.ts";

const SETTLE = 700; // milliseconds after the last arrow until the event is moved
const PAGE = 10;

export function Handle({ row, list }: EventProps) {
  const { scale, moving, stop, moveTo } = list;
  const timer = useRef(0);
  useLayoutEffect(() => () => clearTimeout(timer.current), []);
  const start = scale.of(row);
  const now = () => (moving.value?.id === row.id ? moving.value.value : start);
  const put = (value: number | null) => {
    clearTimeout(timer.current);
    timer.current = 0;
    moving.value = value === null || value === start ? null : { id: row.id, value, open: true };
  };
  const commit = () => {
    clearTimeout(timer.current);
    timer.current = 0;
    if (now() === start) return;
    moving.value = { id: row.id, value: now(), open: false };
    void moveTo(row, now());
  };
  const value = now();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = (event.shiftKey ? PAGE : 1) * scale.unit;
    const moves: Record<string, number> = {
      ArrowLeft: now() - by,
      ArrowRight: now() + by,
      PageUp: now() + PAGE * scale.unit,
      PageDown: now() - PAGE * scale.unit,
      Home: 0,
      End: scale.span,
    };
    const to = moves[event.key];
    if (event.key === "Enter") commit();
    else if (event.key === "Escape" && now() !== start) put(null);
    else if (to !== undefined) {
      put(scale.round(to));
      timer.current = window.setTimeout(commit, SETTLE);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="event-track">
      <div
        class={`event-handle ${row.during ? "inside" : ""} ${value === start ? "" : "moving"}`}
        role="slider"
        tabIndex={stop.value === row.id ? 0 : -1}
        data-handle={row.id}
        aria-label={`When: ${row.words}`}
        aria-valuemin={0}
        aria-valuemax={scale.span}
        aria-valuenow={value}
        aria-valuetext={scale.words(value)}
        title="Drag it, or press ← and →"
        style={{ left: `${(scale.fraction(value) * 100).toFixed(3)}%` }}
        onPointerDown={(event) => {
          if (event.button) return;
          event.preventDefault();
          event.currentTarget.setPointerCapture(event.pointerId);
          event.currentTarget.focus();
        }}
        onPointerMove={(event) => {
          const { currentTarget: handle } = event;
          if (!handle.hasPointerCapture(event.pointerId)) return;
          const box = handle.parentElement?.getBoundingClientRect() as DOMRect;
          put(scale.at((event.clientX - box.left) / box.width));
        }}
        onPointerUp={commit}
        onPointerCancel={() => put(null)}
        onBlur={() => timer.current && commit()}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

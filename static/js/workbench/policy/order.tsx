// A list whose rows can be moved: dragged by their handle, by Alt+↑ and Alt+↓, and by buttons; moves are announced.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { $$, announce } from "../../lib/dom.ts";

type Move = (from: number, to: number) => void;
type RowProps = {
  name: string;
  /** Its place from 0 of `size`. */
  at: number;
  size: number;
  /** It stays where it is. */
  off?: boolean;
  children: ComponentChildren;
  /** What stands behind its buttons. */
  after?: ComponentChildren;
};

export function MovableRow({ name, at, size, off = false, children, after }: RowProps) {
  const mover = (by: number, label: string, sign: string) => (
    <button
      type="button"
      class="mover"
      aria-label={`${name}: ${label}`}
      title={`${label} (Alt ${sign})`}
      disabled={off || at + by < 0 || at + by >= size}
      data-move={by}
      data-control={`move:${name}:${by}`}
    >
      {sign}
    </button>
  );
  const grip = { class: "grip", "aria-hidden": "true" } as const;
  return (
    <li data-name={name}>
      {off ? (
        <span {...grip} />
      ) : (
        <span {...grip} title="Drag to another place" data-grip="">
          <Icon name="grip" />
        </span>
      )}
      <span class="place num">{at + 1}</span>
      {children}
      <span class="movers">
        {mover(-1, "earlier", "↑")}
        {mover(1, "later", "↓")}
      </span>
      {after}
    </li>
  );
}

/** The list of such rows; `move(from, to)` puts it in force. */
export function MovableList({ move, children }: { move: Move; children: ComponentChildren }) {
  const list = useRef<HTMLOListElement>(null);
  const rows = (): HTMLElement[] => $$(":scope > li", list.current as HTMLOListElement);
  const rowOf = (target: EventTarget | null) => rows().indexOf((target as Element).closest("li") as HTMLElement);
  const go = (from: number, to: number) => {
    const all = rows();
    const row = all[from];
    if (!row || to < 0 || to >= all.length || from === to) return;
    announce(`${row.dataset.name}, place ${to + 1} of ${all.length}.`);
    move(from, to);
  };
  return (
    <ol
      ref={list}
      class="policy-rows"
      onClick={({ target }) => {
        const by = Number((target as Element).closest<HTMLElement>("[data-move]")?.dataset.move);
        if (by) go(rowOf(target), rowOf(target) + by);
      }}
      onKeyDown={(event) => {
        const by = event.altKey && !event.ctrlKey && !event.metaKey ? (BY[event.key] ?? 0) : 0;
        if (!by || rowOf(event.target) < 0 || !event.currentTarget.querySelector("[data-grip]")) return;
        event.preventDefault();
        event.stopPropagation();
        go(rowOf(event.target), rowOf(event.target) + by);
      }}
      onPointerDown={(event) => {
        if (event.button !== 0 || !(event.target as Element).closest("[data-grip]")) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(rows(), rowOf(event.target), go);
      }}
    >
      {children}
    </ol>
  );
}

const BY: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 };

function drag(rows: HTMLElement[], from: number, go: Move) {
  const row = rows[from] as HTMLElement;
  const ends = new AbortController();
  let to = from;
  const mark = (place: number) => {
    to = place;
    rows.forEach((one, i) => {
      one.classList.toggle("drop-before", i === place && place < from);
      one.classList.toggle("drop-after", i === place && place > from);
    });
  };
  const over = ({ clientY }: PointerEvent) => {
    const at = rows.findIndex((one) => clientY < one.getBoundingClientRect().bottom);
    mark(at < 0 ? rows.length - 1 : at);
  };
  const end = (place: number) => {
    ends.abort();
    mark(from);
    row.classList.remove("dragged");
    go(from, place);
  };
  const escape = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    end(from);
  };
  row.classList.add("dragged");
  addEventListener("pointermove", over, ends);
  addEventListener("pointerup", () => end(to), ends);
  addEventListener("pointercancel", () => end(from), ends);
  addEventListener("keydown", escape, { capture: true, signal: ends.signal });
}

/** `list` with what stood at `from` at `to`. */
export function moved<T>(list: T[], from: number, to: number): T[] {
  const made = [...list];
  made.splice(to, 0, ...made.splice(from, 1));
  return made;
}

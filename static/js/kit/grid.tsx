import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Grid as Rows, type Column, type GridOptions } from "../lib/grid.ts";

export type GridRows = Rows;
export type { Column };

type GridProps = {
  columns: Column[];
  /** Their ids; null: what was shown stays. */
  rows: number[] | null;
  /** What is said where there is no row. */
  none?: string;
  selected?: number;
  hovered?: number;
  /** Gets the table, to sort it, to point at a row and to read it. */
  grid?: RefObject<Rows | null>;
} & Omit<GridOptions, "signal" | "element">;

/** A matrix whose rows may be thousands: those in view are in the document. Its cells are painted, not components. */
export function Grid({ columns, rows, none, selected, hovered, grid, className = "", ...options }: GridProps) {
  const host = useRef<HTMLDivElement>(null);
  const own = useRef<Rows | null>(null);
  useLayoutEffect(() => {
    const end = new AbortController();
    own.current = new Rows({ ...options, signal: end.signal, element: host.current as HTMLElement });
    if (grid) grid.current = own.current;
    return () => end.abort();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- made once: below it gets what has changed
  }, []);
  useLayoutEffect(() => {
    if (!own.current) return;
    Object.assign(own.current, options, { selected, hovered });
    if (rows) own.current.show(columns, rows, none);
  });
  return <div ref={host} class={`grid-scroll ${className}`.trim()} />;
}

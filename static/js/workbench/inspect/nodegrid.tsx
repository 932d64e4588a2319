// A matrix whose rows are nodes: pointing at one lights it on the stage and the other way round, and it is selected
// where the node is.

import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Grid, type Column, type GridRows } from "../../kit/grid.tsx";
import type { List } from "../view/lists.ts";
import type { View } from "../view/view.ts";
import { follow } from "../playback/store.ts";

type NodeGridProps = {
  view: View;
  columns: Column[];
  rows: number[] | null;
  none?: string;
  label: string;
  className: string;
  /** How it is sorted. */
  list: List;
  grid: RefObject<GridRows | null>;
  onSelect: (node: number, key: string) => void;
  onHead?: (key: string) => void;
};

export function NodeGrid({ view, list, grid, ...props }: NodeGridProps) {
  useLayoutEffect(() => {
    const ends = [
      follow(view.store.hovered, (node) => grid.current?.hover(node)),
      follow(view.store.selection, () => {
        grid.current?.select(view.node);
        if (view.node >= 0 && grid.current?.element.isConnected) grid.current.reveal(view.node);
      }),
    ];
    return () => ends.forEach((end) => end());
  }, [view, grid]);
  return (
    <Grid
      {...props}
      grid={grid}
      kept={list}
      selected={view.node}
      hovered={view.hovered}
      onSort={() => view.lists.changed()}
      onUnknown={() => view.lists.unknown(list, "matrix")}
      onHover={(node) => view.hover(node)}
    />
  );
}

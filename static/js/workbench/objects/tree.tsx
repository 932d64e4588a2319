// A tree with one tab stop, which is where the focus was last, and the arrow keys of one.

import { Component } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { $$, targetOf } from "../../lib/dom.ts";
import { tailOf } from "../../lib/quantity.ts";

const TAIL = 12; // characters at the end of a name that stay when it is cut: real names differ there

export type Row = {
  key: string;
  level: number;
  label: string;
  title?: string;
  /** A class of the colour of the pods that it stands for. */
  colour?: string;
  /** What is beside the name, the whole of it where it is cut, and whether it is bad news. */
  beside: string;
  whole?: string;
  fails?: boolean;
  /** Of a branch alone. */
  open?: boolean;
  selected?: boolean;
  /** What a click does; on a branch, what one on its label does as well. */
  act?: (() => void) | undefined;
  hover?: (is: boolean) => void;
};

/** A line about rows, none itself. */
export type More = { more: string; level: number };

type TreeProps = {
  label: string;
  rows: (Row | More)[];
  /** The branches that are open. */
  opened: ReadonlySet<string>;
  onToggle: (key: string) => void;
  onContextMenu: (event: MouseEvent) => void;
};

export function Tree({ label, rows, opened, onToggle, onContextMenu }: TreeProps) {
  const [last, setLast] = useState("");
  const items = rows.filter((row): row is Row => "key" in row);
  const stop = items.some(({ key }) => key === last) ? last : items[0]?.key;

  const press = (event: MouseEvent) => {
    const key = targetOf(event).closest<HTMLElement>("[data-key]")?.dataset.key;
    const row = items.find((one) => one.key === key);
    if (!row) return;
    const branch = row.open !== undefined;
    const twisted = branch && targetOf(event).closest(".twist") !== null;
    if (!twisted) row.act?.();
    if (branch && (twisted || !row.act || !opened.has(row.key))) onToggle(row.key);
  };

  const move = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const drawn = $$("[role=treeitem]", event.currentTarget);
    const at = drawn.findIndex((item) => item === targetOf(event).closest("[role=treeitem]"));
    const row = items[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys: Record<string, () => unknown> = {
      ArrowDown: () => at + 1,
      ArrowUp: () => at - 1,
      Home: () => 0,
      End: () => items.length - 1,
      ArrowRight: () => (row.open === false ? onToggle(row.key) : at + 1),
      ArrowLeft: () =>
        row.open ? onToggle(row.key) : items.findLastIndex(({ level }, i) => i < at && level < row.level),
      Enter: () => drawn[at]?.click(),
      " ": () => drawn[at]?.click(),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    const to = act();
    if (typeof to === "number") drawn[to]?.focus();
  };

  return (
    <div class="tree" role="tree" aria-label={label} onClick={press} onKeyDown={move} onContextMenu={onContextMenu}>
      {rows.map((row) =>
        "key" in row ? (
          <Item key={row.key} row={row} stop={row.key === stop} onFocus={setLast} />
        ) : (
          <div class={`more level-${row.level}`}>{row.more}</div>
        ),
      )}
    </div>
  );
}

type ItemProps = { row: Row; stop: boolean; onFocus: (key: string) => void };

const DRAWN = ["level", "label", "title", "colour", "beside", "whole", "fails", "open", "selected"] as const;

/** A row; of the hundreds that a search finds, few change from step to step. */
class Item extends Component<ItemProps> {
  override shouldComponentUpdate({ row, stop }: ItemProps) {
    return stop !== this.props.stop || DRAWN.some((field) => row[field] !== this.props.row[field]);
  }

  override render({ row, stop, onFocus }: ItemProps) {
    const { key, level, label, title = label, colour, beside, whole, fails, open, selected, hover } = row;
    return (
      <div
        class={`item level-${level} ${selected ? "selected" : ""}`}
        role="treeitem"
        aria-level={level}
        aria-expanded={open}
        aria-selected={selected || undefined}
        data-key={key}
        data-name={label}
        tabIndex={stop ? 0 : -1}
        onFocus={() => onFocus(key)}
        onPointerEnter={hover && (() => hover(true))}
        onPointerLeave={hover && (() => hover(false))}
      >
        {open === undefined ? null : <Icon name="right" class="twist" />}
        {colour ? <i class={`dot ${colour}`} /> : null}
        <span class="label" title={title}>
          {label.length > 2 * TAIL ? (
            <>
              <span class="sr">{label}</span>
              <span class="head" aria-hidden="true">
                {label.slice(0, -tailOf(label, TAIL))}
              </span>
              <span aria-hidden="true">{label.slice(-tailOf(label, TAIL))}</span>
            </>
          ) : (
            label
          )}
        </span>
        <span class={`n num ${fails ? "fail-text" : ""}`} title={whole}>
          {beside}
        </span>
      </div>
    );
  }
}

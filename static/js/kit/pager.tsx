import { useLayoutEffect, useRef } from "preact/hooks";
import { $ } from "../lib/dom.ts";
import { count } from "../lib/quantity.ts";
import { Icon } from "./icon.tsx";

type PagerProps = {
  from: number;
  total: number;
  size: number;
  shown: number;
  what: string;
  go: (to: number) => void;
  /** What there is, where that says more than how many. */
  of?: string;
  /** What the buttons are called. */
  turns?: [back: string, on: string];
};

/** Turns pages; nothing where one page holds all. */
export function Pager({
  from,
  total,
  size,
  shown,
  what,
  go,
  of = count(total),
  turns: [back, on] = ["Previous page", "Next page"],
}: PagerProps) {
  const pages = useRef<HTMLSpanElement>(null);
  // At an end the button that was pressed is off: the other one gets its focus.
  useLayoutEffect(() => {
    const held = document.activeElement;
    if (held instanceof HTMLButtonElement && held.disabled && pages.current?.contains(held))
      $("button:not([disabled])", pages.current)?.focus();
  });
  if (total <= size && from === 0) return <span class="pager" />;
  const turn = (to: number, label: string, name: string, off: boolean) => (
    <button
      type="button"
      class="btn quiet square"
      aria-label={label}
      title={label}
      disabled={off}
      data-turn={name}
      onClick={() => go(to)}
    >
      <Icon name={name} />
    </button>
  );
  return (
    <span ref={pages} class="pager" role="group" aria-label={`Page of ${what}`}>
      {turn(Math.max(0, from - size), back, "left", from <= 0)}
      <span class="num" role="status">
        {`${count(from + 1)} to ${count(from + shown)} of ${of}`}
      </span>
      {turn(from + size, on, "right", from + shown >= total)}
    </span>
  );
}

import { count } from "../lib/quantity.js";
import { Icon } from "./icon.tsx";

type PagerProps = { from: number; total: number; size: number; shown: number; what: string; go: (to: number) => void };

/** Turns pages; nothing where one page holds all. */
export function Pager({ from, total, size, shown, what, go }: PagerProps) {
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
    <span class="pager" role="group" aria-label={`Page of ${what}`}>
      {turn(Math.max(0, from - size), "Previous page", "left", from <= 0)}
      <span class="num" role="status">
        {`${count(from + 1)} to ${count(from + shown)} of ${count(total)}`}
      </span>
      {turn(from + size, "Next page", "right", from + shown >= total)}
    </span>
  );
}

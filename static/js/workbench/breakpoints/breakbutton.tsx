// The button that sets a breakpoint, or clears it, where its condition is shown.

import { Icon } from "../../kit/icon.tsx";
import { words } from "./conditions.ts";
import type { View } from "../view/view.ts";

export function BreakButton({ view: { actions, store }, at }: { view: View; at: string }) {
  const on = store.breakpoints.value.some(({ text }) => text === at);
  const label = `Stop when ${words(at)}`;
  return (
    <button
      type="button"
      class="btn small break-here square quiet"
      aria-label={label}
      title={label}
      aria-pressed={on}
      data-break={at}
      onClick={() => actions.breakpoint(at)}
    >
      <Icon name="break" />
    </button>
  );
}

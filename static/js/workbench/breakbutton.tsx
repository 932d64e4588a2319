// The button that sets a breakpoint, or clears it, where its condition is shown.

import { Icon } from "../kit/icon.tsx";
import { toast } from "../lib/dom.ts";
import { FULL } from "./breakpoints.ts";
import { words } from "./conditions.ts";
import { reads } from "./store.ts";
import type { View } from "./view.ts";

export function BreakButton({ view: { breakpoints, store }, at }: { view: View; at: string }) {
  reads(store.breakpoints);
  const label = `Stop when ${words(at)}`;
  const toggle = () => {
    if (!breakpoints?.toggle(at)) {
      toast(FULL, { name: "warn" });
      return;
    }
    toast(`${breakpoints.has(at) ? "Breakpoint" : "Breakpoint removed"}: ${words(at)}.`, { name: "break" });
  };
  return (
    <button
      type="button"
      class="btn small break-here square quiet"
      aria-label={label}
      title={label}
      aria-pressed={breakpoints?.has(at) ?? false}
      data-break={at}
      onClick={toggle}
    >
      <Icon name="break" />
    </button>
  );
}

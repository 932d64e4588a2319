// Timers that count in virtual time. While Play runs, the time from one cycle to the next passes evenly between them;
// else, and where motion is unwelcome, it stands at the cycle that is shown.

import { useSignal, type ReadonlySignal } from "../../kit/signals.ts";
import { useLayoutEffect } from "preact/hooks";
import { age, clock } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { follow } from "../playback/store.ts";

const FOR_EVER = 1e11; // and more seconds
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The virtual time, as a signal that counts while Play runs. */
export type Now = ReadonlySignal<number>;

/** A moment of virtual time: `t = 90s`. */
export const moment = (seconds: number) => (seconds > FOR_EVER ? "for ever" : `t = ${clock(seconds)}`);

/** How long something still lasts: a clock that runs down rounds up, so that 10s are left until they are less. */
export function left(until: number, now: number) {
  const rest = until - now;
  if (until > FOR_EVER) return "for ever";
  return rest < 0.05 ? "now" : `${age(rest > 9.95 ? Math.ceil(rest - 0.05) : Math.round(rest * 10) / 10)} left`;
}

/** How long something still lasts. */
export const until = (seconds: number, now: Now, className = "") => (
  <span class={`num ${className}`.trim()} data-until={seconds} title={moment(seconds)}>
    <Left until={seconds} now={now} />
  </span>
);
const Left = ({ until: seconds, now }: { until: number; now: Now }) => <>{left(seconds, now.value)}</>;

/** The time as it counts. */
export const Standing = ({ now }: { now: Now }) => <>{moment(now.value)}</>;

/** A bar from one moment to another, on an axis that ends at `horizon`; it shrinks as time passes. */
export const UntilBar = (props: BarProps) => (
  <span class="until-bar" aria-hidden="true">
    <Bar {...props} />
  </span>
);
type BarProps = { until: number; now: Now; from: number; horizon: number; class: string };
function Bar({ until: seconds, now, from, horizon, class: className }: BarProps) {
  const share = (seconds - now.value) / Math.max(1e-9, horizon - from);
  return (
    <i class={className} data-until-bar={seconds} style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
  );
}

/** The time that counts from `time`, the moment of what a component of a tab shows. */
export function useNow(view: View, tab: string, time: number): Now {
  const now = useSignal(time);
  // Before it is drawn: what stands at the time of another cycle would be drawn twice.
  if (now.peek() !== time && !view.pace) now.value = time;
  const since = useSignal(0);
  useLayoutEffect(() => follow(view.store.step, () => (since.value = performance.now())), [view, since]);
  useLayoutEffect(() => {
    let frame = 0;
    const tick = () => {
      const next = view.playback.light(view.playback.index + 1)?.time ?? time;
      const passed = Math.min(1, (performance.now() - since.peek()) / view.pace);
      now.value = time + Math.max(0, next - time) * passed;
      frame = requestAnimationFrame(tick);
    };
    const run = () => {
      cancelAnimationFrame(frame);
      if (view.pace && !still.matches && view.tab === tab) frame = requestAnimationFrame(tick);
      else now.value = time;
    };
    run();
    const ends = [follow(view.store.pace, run), follow(view.store.tab, run)];
    return () => {
      cancelAnimationFrame(frame);
      for (const end of ends) end();
    };
  }, [view, time, tab, now, since]);
  return now;
}

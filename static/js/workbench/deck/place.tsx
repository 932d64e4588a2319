// Where one is: the cycle of how many, the moment or phase in it, the scenario's step and the virtual time.

import { clock, count } from "../../lib/quantity.ts";
import { reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";

export function Place({ view: { playback, store } }: { view: View }) {
  reads(store.scenario, store.wanted, store.known, ...store.shown);
  if (!playback.nodes) return <span class="at-state" role="status" />;
  const { wanted, index, cycles = 0, complete, phase, at } = playback;
  const shown = index === wanted;
  const light = shown ? playback.current : null;
  const time = shown ? playback.time : null;
  const end = playback.end && wanted > cycles;
  const within = !shown ? "" : phase ? phase : at > 0 ? `moment ${at}` : "";
  return (
    <>
      <span class="at">
        {/* What stands beside it must not move with every digit. */}
        <span class="at-index" style={{ minWidth: `${2 * count(cycles).length + 3}ch` }}>
          <b>{end ? "End" : count(wanted)}</b>
          {end ? "" : ` / ${count(cycles)}${complete === false ? "…" : ""}`}
        </span>
        <span class="at-within" hidden={!within}>
          {within}
        </span>
        <span
          class="at-step"
          hidden={!light}
          title="The scenario's step (it advances with every change from outside), and the attempt within it"
        >
          {light ? `scenario step ${light.step}` : ""}
        </span>
        <span
          class="at-time"
          hidden={time === null}
          title={time === null ? undefined : `virtual time: ${time} seconds since the start`}
        >
          {time === null ? "" : `t = ${clock(time)}`}
        </span>
      </span>
      <span class="at-state" role="status">
        {complete === false ? "computing…" : ""}
      </span>
    </>
  );
}

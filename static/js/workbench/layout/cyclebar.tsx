// The line above the stage: the pod in flight, what it asks for, and the phases of its cycle.

import { render } from "preact";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import type { Light } from "../../lib/protocol.js";
import { clock, cpu, memory, plural, short } from "../../lib/quantity.ts";
import { BreakButton } from "../breakpoints/breakbutton.tsx";
import { condition } from "../breakpoints/conditions.ts";
import type { Layout } from "./layout.ts";
import { PHASES, TAB_OF, phaseWord, phasesOf } from "../playback/phases.ts";
import { follow, reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";

const TAB: Record<string, string> = TAB_OF;
const TABS = new Set(Object.values(TAB));

/** Show it in its place. */
export function cycleBar(host: HTMLElement, view: View, layout: Layout) {
  const { playback, store } = view;
  let followed = ""; // the step and phase whose tab was opened
  // Who reads the tab of a phase goes on to the next phase's; an address names its tab itself.
  follow([store.step, store.moment], () => {
    const { index, phase, wish } = playback;
    const place = `${index}/${phase}`;
    if (place === followed) return;
    followed = place;
    const tab = TAB[phase];
    if (tab && !wish.linked && TABS.has(view.tab)) view.setTab(tab, { push: false });
  });
  host.replaceChildren();
  render(<Bar view={view} layout={layout} />, host);
}

function Bar({ view, layout }: { view: View; layout: Layout }) {
  const toggle = (name: string, side: string, label: string) => (
    <Button look="quiet square" icon={`panel-${side}`} label={label} act={() => layout.toggle(name)} />
  );
  return (
    <>
      {toggle("build", "left", "Hide or show Build ([)")}
      <div class="cycle-main">
        <Standing view={view} />
      </div>
      {toggle("inspect", "right", "Hide or show Inspect (])")}
    </>
  );
}

function Standing({ view }: { view: View }) {
  const { playback, store } = view;
  reads(store.scenario, store.known, ...store.shown);
  const { current: light, atEnd, index, veiled, cycles, reached, timed, time } = playback;
  if (atEnd)
    return (
      <>
        <b>End</b>
        <Moment time={playback.parts?.time} />
        <span class="dim ends">
          {cycles ? "the run is over: there are no more cycles" : "there was no pod to schedule"}
        </span>
      </>
    );
  if (!light && index) return <b>…</b>;
  if (!light)
    return (
      <>
        <b>Before the first cycle</b>
        <span class="dim">
          {veiled === 0
            ? "the first cycle is hidden until the answer is revealed"
            : cycles
              ? `${plural(cycles, "cycle")} ${cycles === 1 ? "follows" : "follow"}`
              : "no pod is waiting"}
        </span>
      </>
    );
  if (!reached.tried)
    // It is open which pod will be tried.
    return (
      <>
        <b>Before the attempt</b>
        <span class="pill outcome accent">not tried yet</span>
        <Moment time={timed ? (time ?? 0) : undefined} label="t = " />
      </>
    );
  return <Attempt view={view} light={light} />;
}

/** The virtual time; nothing where it is not known. */
const Moment = ({ time, label = "" }: { time: number | undefined; label?: string }) =>
  time === undefined ? null : (
    <span class="dim nowrap num virtual-time" title={`virtual time: ${time} seconds since the start`}>
      {`${label}${clock(time)}`}
    </span>
  );

function Attempt({ view, light }: { view: View; light: Light }) {
  const { playback } = view;
  const { pods, time, timed } = playback;
  const { pod } = light;
  const key = pods.keys[pod];
  const priority = pods.priority[pod];
  return (
    <>
      <i class={`dot ${view.colour(pod)}`} />
      <button
        type="button"
        class="link plain"
        title={priority ? `${key}, priority ${priority}` : key}
        onClick={() => view.selectPod(pod)}
      >
        <b>{short(key)}</b>
      </button>
      {light.profile ? (
        <span class="dim nowrap asks by-profile" title="The profile that tries it, by spec.schedulerName">
          {`by ${light.profile}`}
        </span>
      ) : null}
      {priority ? <span class="dim nowrap ranks">{`priority ${priority}`}</span> : null}
      <span class="dim nowrap asks">{`${cpu(pods.cpu[pod])} cpu · ${memory(pods.memory[pod])}`}</span>
      <Outcome light={light} over={playback.reached.over} />
      <Moment time={time || timed ? (time ?? 0) : undefined} label="t = " />
      <BreakButton view={view} at={condition("cycle", String(playback.index))} />
      <span class="grow" />
      <Phases view={view} light={light} />
    </>
  );
}

function Outcome({ light, over }: { light: Light; over: boolean }) {
  if (!over) return <span class="pill outcome accent">in flight</span>;
  const waits = light.result === "waiting";
  const [tone, sign, words] =
    light.node === null
      ? ["fail", "cross", light.result]
      : waits
        ? ["wait", "pause", "waits at Permit"]
        : ["pass", "check", "scheduled"];
  return (
    <span class={`pill outcome ${tone}`}>
      <Icon name={sign} />
      {words}
    </span>
  );
}

function Phases({ view, light }: { view: View; light: Light }) {
  const { playback } = view;
  const { drawn, ran, open } = phasesOf(light, playback.timed);
  const shown = playback.phase || drawn.findLast((phase) => ran.has(phase)) || "";
  const failed = playback.reached.over && light.node === null;
  const rank = PHASES.indexOf(shown);
  const stateOf = (phase: string) => {
    if (!ran.has(phase) || PHASES.indexOf(phase) > rank) return "off";
    return phase !== shown ? "done" : failed ? "now failed" : "now";
  };
  return (
    <ol class="phases" aria-label="Phases of this cycle">
      {drawn.map((phase) => {
        const text = phaseWord(phase, light.release);
        const tab = TAB[phase];
        return (
          <li key={phase} class={stateOf(phase)} aria-current={phase === shown && playback.phase ? "step" : undefined}>
            {tab ? (
              <button type="button" onClick={() => view.setTab(tab)}>
                {text}
              </button>
            ) : (
              <span>{text}</span>
            )}
          </li>
        );
      })}
      {open ? (
        <li class="off">
          <span title="Later decisions are still open at this moment">
            <span aria-hidden="true">…</span>
            <span class="sr">later phases are open</span>
          </span>
        </li>
      ) : null}
    </ol>
  );
}

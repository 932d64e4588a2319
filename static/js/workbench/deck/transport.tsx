// The transport: first, back, step, play with a speed, last; where one is; and what "next" goes to.

import { render } from "preact";
import { Button } from "../../kit/button.tsx";
import { Hosted } from "../../kit/hosted.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Select } from "../../kit/select.tsx";
import type { Deck } from "./deck.ts";
import { Moments } from "./moments.tsx";
import { reads } from "../playback/store.ts";
import { UNITS } from "./walk.ts";
import { TimelineLegend } from "./legend.tsx";
import { Place } from "./place.tsx";

const SPEEDS = ["0.5", "1", "2", "5", "20"].map((value) => [value, `${value}×`] as const);

/** Draw the deck into its place. */
export const drawDeck = (host: HTMLElement, deck: Deck) =>
  render(
    <>
      <Transport deck={deck} />
      <Hosted element={deck.timeline.element} />
      <Moments view={deck.view} />
      <TimelineLegend view={deck.view} />
    </>,
    host,
  );

function Transport({ deck }: { deck: Deck }) {
  const { view } = deck;
  const { playback, store } = view;
  reads(store.scenario, store.known);
  const { playing, speed, unit, byPhase } = store.transport.value;
  const go = (icon: string, label: string, to: () => number, look = "") => (
    <Button
      look={look}
      icon={icon}
      label={label}
      onClick={({ timeStamp }) => {
        deck.pause();
        playback.goto(to(), timeStamp);
      }}
    />
  );
  const set = store.breakpoints.value.filter(({ on }) => on).length;
  const breaks = set ? `Breakpoints: ${set}` : "Breakpoints";
  const far = UNITS[unit]?.[0];
  return (
    <div class="transport" role="group" aria-label="Transport">
      {go("first", "To the start (Home)", () => 0)}
      {go("back", "Back (←)", () => playback.wanted - 1, "back")}
      <Button look="primary step" data-step-forward title="Step (→)" onClick={(event) => deck.onward(event.timeStamp)}>
        <span>Step</span>
        <Icon name="step" />
      </Button>
      <Button
        look="quiet"
        data-whole
        title="Step goes from phase to phase here; let it go from cycle to cycle"
        hidden={!byPhase}
        act={() => deck.stepByCycle()}
      >
        By whole cycles
      </Button>
      <Button
        look="play"
        icon={playing ? "pause" : "play"}
        data-play
        aria-label={playing ? "Pause" : "Play"}
        title="Play or pause (Space)"
        act={() => deck.toggle()}
      >
        <span>{playing ? "Pause" : "Play"}</span>
      </Button>
      {/* In virtual time the end comes after the last cycle. */}
      {go("last", playback.timed ? "To the end (End)" : "To the last cycle (End)", () => playback.last)}
      <Place view={view} />
      <span class="grow" />
      <div class="jump">
        <Button
          look="square"
          icon="spark"
          data-interesting
          aria-label="Next interesting cycle"
          title="Next interesting cycle (n)"
          onClick={({ timeStamp }) => deck.stops?.run("interesting", 1, timeStamp)}
        />
        <Button
          look="square points"
          icon="break"
          data-breakpoints
          aria-haspopup="dialog"
          aria-label={breaks}
          title={`${breaks} (b)`}
          act={() => deck.onPoints?.()}
        >
          <em class="num">{set || ""}</em>
        </Button>
        <div class="walk" role="group" aria-label="Walk by a unit">
          <Button
            look="square"
            icon="left"
            data-previous
            aria-label={`Previous ${far}`}
            title={`Previous ${far} (,)`}
            onClick={({ timeStamp }) => deck.step(-1, timeStamp)}
          />
          <Select
            class="unit"
            aria-label="Unit of next and previous"
            title="What , and . go to"
            options={Object.entries(UNITS).map(([key, [text]]) => [key, text] as const)}
            value={unit}
            onChange={(key) => deck.choose(key)}
          />
          <Button
            data-next
            aria-label={`Next ${far}`}
            title={`Next ${far} (.)`}
            onClick={({ timeStamp }) => deck.step(1, timeStamp)}
          >
            <span>Next</span>
            <Icon name="right" />
          </Button>
        </div>
        <Select
          class="speed"
          aria-label="Speed"
          options={SPEEDS}
          value={String(speed)}
          onChange={(times) => deck.goAt(Number(times))}
        />
      </div>
    </div>
  );
}

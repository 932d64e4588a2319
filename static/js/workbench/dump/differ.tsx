// Why the result may differ from a real cluster: fields that are not honored, a dump that lacks pods, and conditions
// that the cluster itself recorded. A bar over the stage, and on a phone a note in Story.

import { render, type ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { plural, short } from "../../lib/quantity.ts";
import type { Problem, RecordedAnswer } from "../../lib/protocol.js";
import { Recorded } from "./recorded.tsx";
import { follow, reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";

type Reveal = (line: number) => void;
type Note = { title: ComponentChildren; entry: (reveal: Reveal) => ComponentChildren };

/** The notes, the most general first: each one as a title and as an entry of the list. */
function notesOf(view: View): Note[] {
  const warnings = view.playback.warnings ?? []; // none before it is opened
  return [
    ...mistyped(warnings),
    ...warnings.filter(({ incomplete }) => incomplete).map(missing),
    ...view.store.recorded.value.filter(({ agrees }) => !agrees).map((answer) => disagreeing(answer, view)),
    ...warnings.filter(({ unhonored }) => unhonored).map(unhonored),
  ];
}

/** A warning about what was written, rather than about what another cluster would do. */
export const isUnclear = ({ incomplete, unhonored }: Problem) => !incomplete && !unhonored;

/** A warning about what changes no answer. */
export const isHarmless = ({ message }: Problem) =>
  message.includes("scheduling does not read") && !message.includes("are missing");

/** One note of all fields that are likely misspelled: they have no effect, which changes decisions. */
function mistyped(warnings: Problem[]): Note[] {
  const found = warnings.filter((one) => isUnclear(one) && one.message.includes("did you mean"));
  if (!found.length) return [];
  const entry = (reveal: Reveal) => (
    <ul class="may-differ-typed">
      {found.map(({ message, line }) => (
        <li>
          {`${sentence(message).replace(/\?\.$/, "?")} `}
          {line ? (
            <button type="button" class="link nowrap" onClick={() => reveal(line)}>
              {`line ${line}`}
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  );
  const path = found[0]?.path;
  const many = found.length > 1 ? `${found.length} fields are likely misspelled` : "A field is likely misspelled";
  return [
    {
      title: [
        <b>{many}</b>,
        <span>
          {", such as "}
          <code>{path?.split(".").at(-1)}</code>
        </span>,
      ],
      entry,
    },
  ];
}

const missing = (problem: Problem): Note => ({
  title: INCOMPLETE,
  entry: () => <Missing problem={problem} />,
});

export const INCOMPLETE = [<b>The dump is incomplete</b>, <span>: this result may differ</span>];

/** What a dump lacks; what several notes sum up unfolds. */
export const Missing = ({ problem: { message, details } }: { problem: Problem }) =>
  details ? <Folded title={sentence(message)} of={details} /> : <>{sentence(message)}</>;

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** A summary that unfolds to what it sums up. */
const Folded = ({ title, of }: { title: string; of: string[] }) => (
  <details>
    <summary>{title}</summary>
    <ul>
      {of.map((text) => (
        <li key={text}>{sentence(text)}</li>
      ))}
    </ul>
  </details>
);

const disagreeing = (answer: RecordedAnswer, view: View): Note => ({
  title: [
    <b>The cluster recorded another answer</b>,
    <span>
      {" for "}
      <code>{short(answer.pod)}</code>
    </span>,
  ],
  entry: () => [
    <code>{answer.pod}</code>,
    <button type="button" class="link nowrap" onClick={() => view.actions.why({ pod: answer.pod })}>
      Why?
    </button>,
    <Recorded answer={answer} />,
  ],
});

const unhonored = ({ unhonored: name, message, line }: Problem): Note => ({
  title: [
    <b>This result may differ</b>,
    <span>
      {" on a cluster that honors "}
      <code>{name}</code>
    </span>,
  ],
  entry: (reveal) => [
    <code>{name}</code>,
    ` ${message.slice(message.indexOf(String(name)) + String(name).length).trim()}`,
    line ? (
      <button type="button" class="link nowrap" onClick={() => reveal(line)}>
        {`line ${line}`}
      </button>
    ) : null,
  ],
});

/** The text of a summary: the first note, and how many more there are. */
const Title = ({ notes }: { notes: Note[] }) => (
  <>
    <Icon name="warn" />
    <span class="may-differ-title">
      {notes[0]?.title}
      {notes.length > 1 ? <span class="dim">{` · ${plural(notes.length - 1, "more note")}`}</span> : null}
    </span>
  </>
);

/** Each note; `reveal` leads to a line of the text. */
const Rows = ({ notes, reveal }: { notes: Note[]; reveal: Reveal }) => (
  <ul>
    {notes.map(({ entry }) => (
      <li>{entry(reveal)}</li>
    ))}
  </ul>
);

/** The note of Story, for who does not see the stage beside it; nothing where nothing differs. */
export function DifferNote({ view }: { view: View }) {
  const notes = notesOf(view);
  return notes.length ? (
    <details class="may-differ in-story">
      <summary>
        <Title notes={notes} />
      </summary>
      <div class="may-differ-list">
        <Rows notes={notes} reveal={view.actions.reveal} />
      </div>
    </details>
  ) : null;
}

/** Put the bar before `host`; what the dump recorded is compared whenever a source is opened. */
export function differ(host: HTMLElement, view: View) {
  const place = document.createElement("div");
  place.className = "may-differ-place";
  host.before(place);
  render(<Bar view={view} />, place);
  follow(view.store.scenario, () => void compare(view));
}

/** Compare what the dump recorded; it takes as long as all cycles do. */
async function compare(view: View) {
  const { source, recorded, socket } = view.playback;
  view.store.recorded.value = [];
  if (!recorded) return;
  try {
    const { answers } = await socket.call("scenario.recorded", { source });
    if (source !== view.playback.source) return;
    view.store.recorded.value = answers;
  } catch {
    /* the simulation can be stepped without it */
  }
}

/** The bar over the stage. Its list lies over the stage, so that nothing moves when it opens. */
function Bar({ view }: { view: View }) {
  reads(view.store.scenario);
  const bar = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (bar.current) bar.current.open = false;
  };
  useLayoutEffect(() => {
    const beside = (event: PointerEvent) => {
      if (!bar.current?.contains(event.target as Node)) close();
    };
    document.addEventListener("pointerdown", beside);
    return () => document.removeEventListener("pointerdown", beside);
  }, []);
  const notes = notesOf(view);
  if (!notes.length) return null;
  const reveal = (line: number) => {
    close();
    view.actions.reveal(line);
  };
  return (
    <details
      ref={bar}
      class="may-differ"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !bar.current?.open) return;
        event.stopPropagation();
        close();
        bar.current.querySelector("summary")?.focus();
      }}
    >
      <summary>
        <Title notes={notes} />
      </summary>
      <div class="may-differ-list" tabIndex={-1}>
        <Rows notes={notes} reveal={reveal} />
      </div>
    </details>
  );
}

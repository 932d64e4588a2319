// The page on which a lesson is written.

import { render } from "preact";
import { $, announce, copy, toast } from "../../lib/dom.ts";
import { plural } from "../../lib/quantity.ts";
import { Icon } from "../icon.tsx";
import { About, StopPanel } from "./panels.tsx";
import { Suggestions } from "./question.tsx";
import {
  act,
  check,
  checkingFailed,
  failed,
  lesson,
  open,
  problems,
  refresh,
  sending,
  stop,
  undo,
  undone,
  type Found,
} from "./state.ts";
import { Stops } from "./stops.tsx";

/** Whether everything is stored. */
const Saved = () => (
  <p class="author-saved" role="status">
    {failed.value ? (
      <span class="fail-text">Not saved: {failed.value}</span>
    ) : sending.value ? (
      "Saving …"
    ) : (
      <span class="dim">Saved on this server</span>
    )}
  </p>
);

async function publish() {
  if (await act("publish")) announce("Published");
}

async function withdraw() {
  if (!confirm("Nobody will reach this lesson by its present link any more. Take it back?")) return;
  if (await act("withdraw")) announce("Withdrawn");
}

async function copyLink(link: string) {
  if (await copy(new URL(link, location.href).href)) toast("The link is copied.");
}

/** The address at which learners play it. */
function Published() {
  const { link, published, revision } = lesson.value;
  const found = problems.value?.length ?? 0;
  const can = problems.value !== null && !found && lesson.value.stops.length > 0;
  return (
    <section class="card author-publish" aria-label="Publish">
      {link ? (
        <>
          <p class="author-link">
            <a href={link}>{new URL(link, location.href).href}</a>
          </p>
          <p class="dim">
            Whoever has this link can play it{published === revision ? "." : ", as it was when you last published it."}
          </p>
          <p class="author-acts">
            {published !== revision && (
              <button type="button" class="btn primary" disabled={!can} onClick={() => void publish()}>
                Publish the changes
              </button>
            )}
            <button type="button" class="btn" onClick={() => void copyLink(link)}>
              <Icon name="copy" />
              Copy the link
            </button>
            <button type="button" class="btn quiet" onClick={() => void withdraw()}>
              Take the link back
            </button>
          </p>
        </>
      ) : (
        <>
          <p class="dim">Not published: only you can open it.</p>
          <p class="author-acts">
            <button type="button" class="btn primary" disabled={!can} onClick={() => void publish()}>
              Publish and get a link
            </button>
            {!can && problems.value !== null && <span class="dim">First solve what the tests find.</span>}
          </p>
        </>
      )}
    </section>
  );
}

function go(found: Found) {
  open.value = lesson.value.stops.find(({ file }) => file === found.file)?.key ?? "";
  document.querySelector<HTMLElement>("[data-author-panel]")?.focus();
}

/** What the tests of lessons find. */
function Problems() {
  const found = problems.value;
  const words =
    checkingFailed.value
    || (found === null
      ? "Playing its scenarios …"
      : found.length
        ? plural(found.length, "problem")
        : "No problems found");
  return (
    <section class="card author-problems" aria-labelledby="author-problems">
      <h2 id="author-problems">
        <span role="status">{words}</span>
      </h2>
      {found && found.length > 0 && (
        <ul class="problems">
          {found.map((one) => (
            <li key={`${one.file}:${one.line}:${one.message}`}>
              <button type="button" onClick={() => go(one)}>
                <span class="where">{one.line ? `${one.file}:${one.line}` : one.file}</span>
                <span class="what">{one.message}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {found && !found.length && <p class="dim">These are the checks that the shipped lessons pass.</p>}
    </section>
  );
}

const Undo = () => (
  <button type="button" class="btn" disabled={!undone.value.length} onClick={() => void undo()}>
    <Icon name="undo" />
    Undo
  </button>
);

const Page = () => (
  <div class="author-grid">
    <div class="author-side">
      <div class="author-side-head">
        <Undo />
        <Saved />
      </div>
      <Stops />
      <Problems />
      <Published />
    </div>
    <section
      class="card author-panel"
      data-author-panel
      tabIndex={-1}
      aria-label={open.value ? "Stop" : "About the lesson"}
    >
      {stop.value ? <StopPanel key={stop.value.key} stop={stop.value} /> : <About />}
    </section>
    <Suggestions />
  </div>
);

render(<Page />, $("[data-author]"));
void check();
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void refresh();
});
addEventListener("focus", () => void refresh());

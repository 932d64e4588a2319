// The page on which a lesson is written.

import { render } from "preact";
import { $, announce, copy, toast } from "../../lib/dom.ts";
import { plural } from "../../lib/quantity.ts";
import { Icon } from "../icon.tsx";
import { idOf } from "./fields.tsx";
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
  if (!confirm("The link of this lesson will stop working. Unpublish it?")) return;
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
              Unpublish
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
            {!can && problems.value !== null && <span class="dim">Fix the problems above first.</span>}
          </p>
        </>
      )}
    </section>
  );
}

/** Open the field that a finding is about. */
function go(found: Found) {
  open.value = stopOf(found)?.key ?? "";
  requestAnimationFrame(() => {
    const field = document.getElementById(idOf(open.value, found.path.split(".")));
    (field ?? document.querySelector<HTMLElement>("[data-author-panel]"))?.focus();
  });
}

const stopOf = ({ file }: Found) => lesson.value.stops.find((one) => one.file === file);

/** Where a finding is, in words: the stop by its title, and the field by its label where it is on the page. */
function placeIn(found: Found) {
  const at = lesson.value.stops.findIndex((one) => one.file === found.file);
  const title = lesson.value.stops[at]?.head.title;
  if (at < 0) return found.file === "lesson.yaml" ? "About the lesson" : found.file;
  return [`Stop ${at + 1}${title ? `, “${String(title)}”` : ""}`, FIELDS[found.path]].filter(Boolean).join(": ");
}

const FIELDS: { [path: string]: string } = {
  title: "title",
  text: "text",
  step: "step",
  phase: "last phase shown",
  views: "tabs of Inspect",
  task: "question",
  "task.question": "question",
  "task.answer": "the fact that answers it",
  "task.accept": "accepted when",
  "task.why": "what makes it right",
  "task.hints": "hints",
  "task.choices": "choices",
};

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
                <span class="where">{placeIn(one)}</span>
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

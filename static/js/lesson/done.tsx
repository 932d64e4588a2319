// The end of a lesson: the receipts of its right answers are exchanged for a completion code.

import { useSignal } from "@preact/signals";
import { render } from "preact";
import { $, copy, toast } from "../lib/dom.ts";
import { code } from "./api.ts";
import { change, done, load, onChange, type Outline, type Progress } from "./progress.ts";
import { sync } from "./sync.ts";
import { gettext, ngettext } from "./words.ts";

const lesson: Outline = JSON.parse($("#progress").textContent ?? "null");
const receiptsIn = (progress: Progress) =>
  lesson.asked.map((key) => progress.lessons[lesson.slug]?.stops[key]?.receipt ?? "");
const openIn = (progress: Progress) => {
  const receipts = receiptsIn(progress);
  return lesson.asked.filter((_, place) => !receipts[place]);
};
/** The link of a code that was made before, here or on another device. */
const codeIn = (progress: Progress) => {
  const made = progress.lessons[lesson.slug]?.code;
  return made ? `${location.origin}/learn/code/${made}/` : "";
};

/** The questions that are still open, with the way back to the first of them. */
const Open = ({ open }: { open: string[] }) => (
  <p>
    {ngettext("One question is still open.", "{number} questions are still open.", open.length)}{" "}
    <a href={`/learn/${lesson.slug}/${open[0]}/`}>
      {open.length === 1 ? gettext("Go back to it") : gettext("Go back to the first")}
    </a>
  </p>
);

const Code = () => {
  const name = useSignal("");
  const found = useSignal(codeIn(load()));
  const failed = useSignal("");
  const ask = async (event: Event) => {
    event.preventDefault();
    try {
      const made = await code(lesson.slug, receiptsIn(load()), name.value.trim());
      found.value = made.url;
      change((progress) => {
        Object.assign(progress.lessons[lesson.slug], { code: made.code, coded: new Date().toISOString() });
      });
      failed.value = "";
    } catch (error) {
      failed.value = (error as Error).message;
    }
  };
  if (found.value)
    return (
      <div class="code-found" role="status">
        <p>{gettext("Whoever opens this link sees what you completed:")}</p>
        <p class="copy-row">
          <input
            class="field"
            readOnly
            value={found.value}
            aria-label={gettext("Link of the code")}
            onFocus={(event) => event.currentTarget.select()}
          />
          <button
            type="button"
            class="btn primary"
            onClick={async () => {
              toast((await copy(found.value)) ? gettext("Copied.") : gettext("Select the link and copy it."));
            }}
          >
            {gettext("Copy")}
          </button>
        </p>
        <p class="dim">
          <a href={found.value}>{gettext("Look at it")}</a> ·{" "}
          <button
            type="button"
            class="btn quiet"
            onClick={() => {
              found.value = "";
            }}
          >
            {gettext("Make one with another name")}
          </button>
        </p>
      </div>
    );
  return (
    <form class="code-form" onSubmit={ask}>
      <p class="dim">
        {gettext("You answered every question correctly. A signed link proves it, with or without your name.")}
      </p>
      <label>
        {gettext("Name (optional)")}
        <input
          class="field"
          maxLength={60}
          autoComplete="name"
          value={name.value}
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value;
          }}
        />
      </label>
      <button class="btn primary">{gettext("Make the code")}</button>
      {failed.value && (
        <p class="note error" role="alert">
          {failed.value}
        </p>
      )}
    </form>
  );
};

const place = $("[data-code]");
place.replaceChildren();

function show() {
  const progress = load();
  const open = openIn(progress);
  render(open.length ? <Open open={open} /> : <Code />, place);
  document.body.classList.toggle("completed", !open.length && done(progress, lesson) === lesson.stops.length);
}

show();
onChange(show);
void sync();

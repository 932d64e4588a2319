// The gallery of lessons: how far one is with each, and progress as a file.

import { $, $$, h } from "../lib/dom.ts";
import { done, due, keep, load, merge, onChange, read, type Outline, type Progress } from "./progress.ts";
import { onTrouble, sync } from "./sync.ts";
import { gettext, ngettext } from "./words.ts";

const lessons: Outline[] = JSON.parse($("#progress").textContent ?? "[]");
const note = $("[data-kept-note]");

function show(progress: Progress) {
  let finished = 0;
  for (const lesson of lessons) {
    const count = done(progress, lesson);
    const all = count === lesson.stops.length;
    if (all) finished += 1;
    for (const place of $$(`[data-lesson="${lesson.slug}"] [data-progress]`)) {
      place.classList.toggle("done", all);
      const stops = lesson.stops.length;
      const begun = count
        ? gettext("{count} of {all}", { count, all: stops })
        : ngettext("{number} stop", "{number} stops", stops);
      const words = all ? gettext("done") : begun;
      const bar = h("progress", { max: lesson.stops.length, value: count, "aria-hidden": "true" });
      place.replaceChildren(...(count ? [bar] : []), h("span", { class: count ? "" : "dim", text: words }));
    }
  }
  $("[data-kept]").hidden = false;
  $("[data-total]").textContent = ngettext(
    "{finished} of {number} lesson done",
    "{finished} of {number} lessons done",
    lessons.length,
    { finished },
  );
  onward(progress);
  const waiting = due(progress).length;
  const review = $("[data-due]");
  if (review) {
    review.hidden = !waiting;
    review.textContent = ngettext("Review {number} prediction", "Review {number} predictions", waiting);
  }
}

/** The first button goes on with the lesson that was begun last, else with the first that is not done. */
function onward(progress: Progress) {
  const button = $("a[data-continue]");
  if (!button) return;
  const when = (slug: string) => Date.parse(progress.lessons[slug]?.when ?? "") || 0;
  const begun = Object.keys(progress.lessons).sort((one, other) => when(one) - when(other));
  const open = lessons.filter((one) => done(progress, one) < one.stops.length);
  const next =
    open.find(({ slug }) => slug === begun.at(-1)) ?? open.find(({ slug }) => begun.includes(slug)) ?? open[0];
  if (!next || !begun.length) return;
  button.href = `/learn/${next.slug}/`;
  button.textContent = begun.includes(next.slug)
    ? gettext("Continue: {title}", { title: next.title })
    : gettext("Next: {title}", { title: next.title });
}

$("[data-export]").addEventListener("click", () => {
  const file = new Blob([JSON.stringify(load(), null, 1)], { type: "application/json" });
  const link = h("a", { href: URL.createObjectURL(file), download: "podstep-lessons.json" });
  link.click();
  URL.revokeObjectURL(link.href);
});

const input = $("input[data-import]");
input.addEventListener("change", async () => {
  const [file] = input.files ?? [];
  if (!file) return;
  const given = file.size > 1_000_000 ? null : read(await file.text());
  input.value = "";
  if (!given) {
    note.textContent = gettext("This is not a progress file. Export creates one.");
    return;
  }
  const progress = load();
  merge(progress, given);
  note.textContent = keep(progress)
    ? gettext("Imported and merged with your progress.")
    : gettext("Imported for this visit: this browser stores nothing.");
  show(progress);
});

show(load());
onChange(() => show(load()));
onTrouble((message) => {
  note.textContent = message;
});
void sync();

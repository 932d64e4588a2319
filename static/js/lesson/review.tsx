// The predictions that are due: each leads to the same question about other numbers.

import { render } from "preact";
import { $ } from "../lib/dom.ts";
import { due, load, onChange, type Progress } from "./progress.ts";
import { sync } from "./sync.ts";
import { gettext, ngettext } from "./words.ts";

interface Known {
  lessons: Record<string, { title: string; stops: Record<string, string> }>;
  seeds: number;
}

const { lessons, seeds }: Known = JSON.parse($("#review").textContent ?? "null");
const DAY = 86_400_000;

/** Another variant each time: how often it was asked chooses it. */
const seedOf = (progress: Progress, slug: string, stop: string) =>
  1 + ((progress.lessons[slug]?.stops[stop]?.tries ?? 0) % seeds);

const listed = (keys: string[]) =>
  keys.flatMap((key) => {
    const [slug, stop] = key.split("/");
    const lesson = lessons[slug];
    const found = lesson?.stops[stop];
    return found ? [{ key, slug, stop, lesson: lesson.title, title: found }] : [];
  });

const days = (date: string) => Math.max(1, Math.round((Date.parse(date) - Date.now()) / DAY));

const Review = ({ progress }: { progress: Progress }) => {
  const waiting = listed(due(progress).map(([key]) => key));
  const later = Object.entries(progress.cards)
    .filter(([key, card]) => Date.parse(card.due) > Date.now() && listed([key]).length)
    .sort(([, a], [, b]) => Date.parse(a.due) - Date.parse(b.due));
  return (
    <>
      {waiting.length ? (
        <ol class="card lessons">
          {waiting.map(({ key, slug, stop, lesson, title }) => (
            <li key={key} class="lesson-row">
              <div class="lesson-words">
                <h2>
                  <a href={`/learn/review/${slug}/${stop}/${seedOf(progress, slug, stop)}/`}>{title}</a>
                </h2>
                <p class="lesson-question">{lesson}</p>
              </div>
            </li>
          ))}
        </ol>
      ) : (
        <div class="card empty runs-empty">
          <b>{gettext("Nothing is due.")}</b>
          <span>
            {later.length
              ? ngettext(
                  "The next prediction comes back in {number} day.",
                  "The next prediction comes back in {number} days.",
                  days(later[0][1].due),
                )
              : gettext("Predictions of lessons come back here once you have answered them.")}
          </span>
          <a class="btn" href="/learn/">
            {gettext("To the lessons")}
          </a>
        </div>
      )}
    </>
  );
};

const show = () => render(<Review progress={load()} />, $("[data-review]"));
show();
onChange(show);
void sync();

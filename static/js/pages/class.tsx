// The page of who teaches in a room: who is where, what they answered, by question and by misconception, the notes and
// the time. It asks every few seconds; nothing of it is in the page that others can open.

import { signal } from "@preact/signals";
import { render } from "preact";
import { $ } from "../lib/dom.ts";
import { gettext, ngettext } from "../lesson/words.ts";
import { takeToken } from "../workbench/rooms/kept.ts";

const EVERY = 2500; // milliseconds
const host = $("[data-class]");
const room = host.dataset.class ?? "";
const token = takeToken(room, location.hash);

interface Given {
  question: number;
  label: string;
  right: boolean | null;
  misconception: string;
}

interface Report {
  title: string;
  ended: boolean;
  watching: number;
  elapsed: number;
  lesson: {
    slug: string;
    title: string;
    at: string;
    minutes: number;
    stops: { key: string; title: string; asks: boolean; seconds: number }[];
    notes: string;
  } | null;
  people: {
    person: string;
    name: string;
    here: boolean;
    place: string;
    lost: string;
    right: number;
    answers: Given[];
  }[];
  questions: {
    number: number;
    stop: string;
    text: string;
    revealed: boolean;
    votes: number;
    share: number | null;
    before: number | null;
    answers: { label: string; votes: number; before: number | null; right: boolean | null; misconception: string }[];
  }[];
  misconceptions: { key: string; text: string; answers: number; people: number }[];
}

const report = signal<Report | null>(null);
const trouble = signal("");
const named = signal(true);

const headers = (): HeadersInit => (token ? { Authorization: `Bearer ${token}` } : {});
const percent = (share: number | null) => (share === null ? "–" : `${Math.round(100 * share)} %`);
const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

async function ask() {
  try {
    const answer = await fetch(`/api/rooms/${room}/class?lang=${document.documentElement.lang}`, {
      headers: headers(),
    });
    const found = await answer.json();
    if (!answer.ok) {
      trouble.value =
        answer.status === 403
          ? gettext(
              "Only the room’s leader sees this page: open it in the leader’s browser, or with the leader’s link.",
            )
          : (found.errors?.[0]?.message ?? gettext("The server answered {status}.", { status: answer.status }));
      if (answer.status < 429) return;
    } else {
      report.value = found;
      trouble.value = "";
      if (found.ended) return;
    }
  } catch {
    trouble.value = gettext("The server cannot be reached; trying again.");
  }
  setTimeout(ask, EVERY);
}

/** Save what a call answers as a file. */
async function save(address: string, name: string) {
  const answer = await fetch(address, { headers: headers() });
  if (!answer.ok) {
    trouble.value = gettext("The server answered {status}.", { status: answer.status });
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

const Facts = ({ found }: { found: Report }) => (
  <p class="class-facts">
    <span>
      <b class="num">{found.ended ? gettext("Over") : found.watching}</b> {found.ended ? "" : gettext("watching")}
    </span>
    <span>
      <b class="num">{found.people.length}</b> {gettext("took part")}
    </span>
    {found.lesson && (
      <span class={found.elapsed > found.lesson.minutes * 60 ? "late" : ""}>
        <b class="num">{clock(found.elapsed)}</b>{" "}
        {gettext("of {minutes} minutes planned", { minutes: found.lesson.minutes })}
      </span>
    )}
    <span class="grow" />
    <label class="check">
      <input
        type="checkbox"
        checked={named.value}
        onChange={({ currentTarget }) => {
          named.value = currentTarget.checked;
        }}
      />{" "}
      {gettext("Names")}
    </label>
    <button
      type="button"
      class="btn"
      onClick={() => save(`/api/rooms/${room}/answers.csv${named.value ? "" : "?names=0"}`, `answers-${room}.csv`)}
    >
      {gettext("Answers as CSV")}
    </button>
    <button
      type="button"
      class="btn"
      title={gettext("Statements for a learning record store: answered, completed")}
      onClick={() => save(`/api/rooms/${room}/statements${named.value ? "" : "?names=0"}`, `statements-${room}.json`)}
    >
      xAPI
    </button>
  </p>
);

const Stops = ({ lesson }: { lesson: NonNullable<Report["lesson"]> }) => (
  <ol class="class-stops">
    {lesson.stops.map(({ key, title, seconds }) => (
      <li key={key} aria-current={key === lesson.at ? "step" : undefined}>
        <span>{title}</span>
        <span class="num dim">{seconds ? clock(seconds) : "–"}</span>
      </li>
    ))}
  </ol>
);

const Question = ({
  place,
  one,
  misconceptions,
}: {
  place: number;
  one: Report["questions"][number];
  misconceptions: Map<string, string>;
}) => (
  <section class="card class-question" aria-label={one.text}>
    <h3>
      {place}. {one.text}
    </h3>
    <p class="dim num">
      {ngettext("{number} vote", "{number} votes", one.votes)} ·{" "}
      {gettext("{share} right", { share: percent(one.share) })}
      {one.before !== null && gettext(", {share} before the discussion", { share: percent(one.before) })}
      {!one.revealed && ` · ${gettext("open")}`}
    </p>
    <table class="list tight">
      <thead>
        <tr>
          <th scope="col">{gettext("answer")}</th>
          {one.before !== null && (
            <th scope="col" class="num">
              {gettext("before")}
            </th>
          )}
          <th scope="col" class="num">
            {gettext("votes")}
          </th>
        </tr>
      </thead>
      <tbody>
        {one.answers.map(({ label, votes, before, right, misconception }) => (
          <tr key={label} class={right ? "right" : ""}>
            <th scope="row">
              {label} {right && <span class="pill pass">{gettext("right")}</span>}
              {misconception && <span class="dim class-belief">{misconceptions.get(misconception)}</span>}
            </th>
            {one.before !== null && <td class="num">{before}</td>}
            <td class="num">{votes}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const sign = (right: boolean | null | undefined) =>
  right === undefined ? "" : right === null ? "·" : right ? "✓" : "✗";

function whereabouts({ here, place, lost }: Report["people"][number]): string {
  if (!here) return gettext("away");
  if (lost) return gettext("cannot follow: {why}", { why: lost });
  return place ? gettext("alone at {place}", { place }) : gettext("with you");
}

const People = ({ found }: { found: Report }) => (
  <section class="card" aria-labelledby="people-title">
    <h2 id="people-title">{gettext("Who is where")}</h2>
    {found.people.length ? (
      <div class="class-scroll class-people">
        <table class="list tight">
          <thead>
            <tr>
              <th scope="col">{gettext("learner")}</th>
              <th scope="col">{gettext("is")}</th>
              {found.questions.map(({ number, text }, at) => (
                <th key={number} scope="col" class="num" title={text}>
                  {at + 1}
                </th>
              ))}
              <th scope="col" class="num">
                {gettext("right")}
              </th>
            </tr>
          </thead>
          <tbody>
            {found.people.map((one) => (
              <tr key={one.person} class={one.here ? "" : "dim"}>
                <th scope="row">
                  {(named.value && one.name) || <span class="mono dim">{one.person.slice(0, 6)}</span>}
                </th>
                <td>{whereabouts(one)}</td>
                {found.questions.map(({ number }) => {
                  const given = one.answers.find(({ question }) => question === number);
                  return (
                    <td
                      key={number}
                      class={`num ${given?.right ? "right" : ""}`}
                      title={given?.label ?? gettext("no answer")}
                    >
                      <span aria-hidden="true">{sign(given?.right)}</span>
                      <span class="sr">
                        {given
                          ? `${given.label}, ${given.right ? gettext("right") : gettext("wrong")}`
                          : gettext("no answer")}
                      </span>
                    </td>
                  );
                })}
                <td class="num">{one.right}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    ) : (
      <p class="dim">{gettext("Nobody has joined yet. Invite them in the room.")}</p>
    )}
  </section>
);

const Class = () => {
  const found = report.value;
  if (!found)
    return <p class={trouble.value ? "note error" : "dim"}>{trouble.value || gettext("Loading the class…")}</p>;
  const known = new Map(found.misconceptions.map(({ key, text }) => [key, text]));
  return (
    <>
      {trouble.value && (
        <p class="note error" role="alert">
          {trouble.value}
        </p>
      )}
      <Facts found={found} />
      <div class={found.lesson ? "class-grid" : "class-grid alone"}>
        <div class="class-main">
          <section aria-labelledby="questions-title">
            <h2 id="questions-title">{gettext("Questions")}</h2>
            {found.questions.length ? (
              [...found.questions]
                .reverse()
                .map((one, back, { length }) => (
                  <Question key={one.number} place={length - back} one={one} misconceptions={known} />
                ))
            ) : (
              <p class="dim">{gettext("Nothing was asked yet.")}</p>
            )}
          </section>
          {found.misconceptions.length > 0 && (
            <section class="card" aria-labelledby="beliefs-title">
              <h2 id="beliefs-title">{gettext("Misconceptions")}</h2>
              <table class="list tight">
                <thead>
                  <tr>
                    <th scope="col">{gettext("what they believe")}</th>
                    <th scope="col" class="num">
                      {gettext("learners")}
                    </th>
                    <th scope="col" class="num">
                      {gettext("answers")}
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {found.misconceptions.map(({ key, text, people, answers }) => (
                    <tr key={key}>
                      <th scope="row">{text}</th>
                      <td class="num">{people}</td>
                      <td class="num">{answers}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          )}
          <People found={found} />
        </div>
        {found.lesson && (
          <aside class="class-side">
            <section class="card" aria-labelledby="stops-title">
              <h2 id="stops-title">{gettext("Stops")}</h2>
              <Stops lesson={found.lesson} />
            </section>
            <section class="card prose" aria-labelledby="notes-title">
              <h2 id="notes-title">{gettext("Notes")}</h2>
              <div class="prose" ref={(place) => notes(place, found.lesson?.notes ?? "")} />
            </section>
          </aside>
        )}
      </div>
    </>
  );
};

/** The notes as the server made them of Markdown without HTML; the parser runs nothing of it. */
function notes(place: HTMLElement | null, text: string) {
  if (!place || place.dataset.text === text) return;
  place.dataset.text = text;
  place.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
}

render(<Class />, host);
void ask();

// The question that a room is asked, over the stage: viewers vote, who leads sees how many have, and once it is
// revealed everybody sees the tally and the scheduler's answer.

import { render } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Button, attempt } from "../../kit/button.tsx";
import { announce } from "../../lib/dom.ts";
import type { Answer, Question } from "../../lib/protocol.js";
import { count, plural, short } from "../../lib/quantity.ts";
import { reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";
import { KINDS } from "./ask.tsx";
import { Ballot } from "./ballot.tsx";
import type { Room } from "./room.ts";
import { Tally } from "./tally.tsx";
import { worded } from "./worded.ts";

const VOTE = "podstep.vote"; // of this tab: the answer that was given last

type Given = { number: number; answer: Answer };
type QuestionProps = { room: Room; view: View };

/** Show the questions of a room in `root`. */
export function showQuestions(root: HTMLElement, room: Room, view: View) {
  const host = document.createElement("div");
  host.className = "question-place";
  root.append(host);
  render(<Prediction room={room} view={view} />, host);
}

const titleOf = ({ kind, text }: Question) => text || (kind === "lesson" ? "A question" : KINDS[kind][0]);

function Prediction({ room, view }: QuestionProps) {
  reads(view.store.room, view.store.scenario);
  const [small, fold] = useState(false);
  useLayoutEffect(
    () =>
      room.asked.on((asked: Question | null) => {
        if (!asked) return;
        fold(false);
        announce(`A question: ${titleOf(asked)}`);
      }),
    [room],
  );
  const { question, leads, watching } = room;
  if (!question || !view.playback.nodes) return null;
  const { votes, revealed, number, pod, index, round } = question;
  const about = [pod ? `Cycle ${index}: ${short(pod)}` : "", round === 2 ? "second vote" : ""];
  return (
    <section
      class={`question ${revealed ? "revealed" : leads || room.projects ? "" : "voting"}`}
      aria-label="Prediction"
    >
      <header>
        <div>
          <h2>{titleOf(question)}</h2>
          <span class="dim">{about.filter(Boolean).join(" · ")}</span>
        </div>
        <span class="grow" />
        <span class="question-votes num" role="status">
          {(leads || room.projects) && !revealed
            ? `${count(votes)} of ${count(Math.max(votes, watching))} voted`
            : plural(votes, "vote")}
        </span>
        <Button
          look="quiet square"
          icon={small ? "plus" : "minus"}
          label={small ? "Expand the question" : "Collapse the question"}
          aria-expanded={!small}
          act={() => fold(!small)}
        />
      </header>
      <div class="question-body" hidden={small}>
        <Body key={number} room={room} view={view} question={question} />
        {leads ? <Acts room={room} question={question} /> : null}
      </div>
    </section>
  );
}

function Body({ room, view, question }: QuestionProps & { question: Question }) {
  const [kept, setKept] = useState(() => voteIn(room.id));
  const { number, revealed, answer } = question;
  const given = kept?.number === number ? kept.answer : undefined;
  const said = revealed && answer !== null ? `The scheduler's answer: ${worded(question, answer)}` : "";
  useLayoutEffect(() => {
    if (said) announce(said);
  }, [said]);
  const vote = (answer: Answer) =>
    attempt(async () => {
      const { number } = await room.vote(answer);
      setKept(keep(room.id, { number, answer }));
      announce(`You said ${worded(question, answer)}.`);
    });
  if (revealed) return <Tally question={question} given={given} />;
  if (room.leads || room.projects) return null;
  return (
    <>
      <Ballot question={question} view={view} given={given} vote={vote} />
      <p class="dim question-note">
        {given === undefined
          ? "You see the cluster as the cycle finds it; what follows is hidden until the leader reveals it."
          : `You said ${worded(question, given)}. You can change it until the leader reveals the result.`}
      </p>
    </>
  );
}

/** What who leads can do with it. */
const Acts = ({ room, question: { revealed, round } }: { room: Room; question: Question }) => (
  <div class="question-acts">
    {revealed ? null : (
      <Button look="primary big" icon="check" act={() => room.reveal()}>
        Reveal
      </Button>
    )}
    {revealed || round === 2 ? null : (
      <Button
        look="big"
        icon="redo"
        title="Discuss, then vote again: both results are shown with the answer"
        act={() => room.again()}
      >
        Vote again
      </Button>
    )}
    <Button look="big" icon="close" act={() => room.close()}>
      Dismiss
    </Button>
  </div>
);

function voteIn(room: string): Given | null {
  try {
    return JSON.parse(sessionStorage.getItem(`${VOTE}.${room}`) ?? "null");
  } catch {
    return null;
  }
}

function keep(room: string, given: Given) {
  try {
    sessionStorage.setItem(`${VOTE}.${room}`, JSON.stringify(given));
  } catch {
    /* until the page is left */
  }
  return given;
}

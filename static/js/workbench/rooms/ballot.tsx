// The ballot of a question: large buttons where there are few answers, with a filter above where there are many, and
// for a lesson's question what its form wants.

import type { FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import type { Answer, Question } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { optionsOf } from "./options.ts";

const PROGRESS = "podstep.lessons"; // where a lesson's page keeps its receipts, static/js/lesson/progress.ts
const MANY = ["nodes", "pods"]; // forms with several answers
const FEW = 12; // that need no filter
const SHOWN = 60;
const LONG = 24; // characters of an answer that stands on a line of its own

type BallotProps = { question: Question; view: View; given: Answer | undefined; vote: (answer: Answer) => unknown };

/** Gets the answer that was given, and votes. */
export function Ballot(props: BallotProps) {
  const { kind, form = "" } = props.question;
  const Form = (kind === "lesson" && FORMS[form]) || Buttons;
  return <Form {...props} />;
}

function Buttons({ question, view, given, vote }: BallotProps) {
  const { kind, form = "" } = question;
  const [typed, setTyped] = useState("");
  const [chosen, choose] = useState<Answer[]>(Array.isArray(given) ? given : given === undefined ? [] : [given]);
  const all = optionsOf(question, view);
  const evicts = kind === "victims";
  const many = evicts || (kind === "lesson" && MANY.includes(form));
  const found = all.filter(({ label, detail = "" }) => `${label} ${detail}`.toLowerCase().includes(typed));
  const press = (answer: Answer) => {
    if (!many) return vote(answer);
    choose(chosen.includes(answer) ? chosen.filter((one) => one !== answer) : [...chosen, answer]);
  };
  return (
    <div class="ballot-box">
      {all.length > FEW ? (
        <input
          class="field"
          type="search"
          aria-label="Filter the answers"
          placeholder="Filter"
          onInput={(event) => setTyped(event.currentTarget.value.trim().toLowerCase())}
        />
      ) : null}
      <div
        class="ballot"
        data-kind={form === "yesno" ? "fits" : all.some(({ label }) => label.length > LONG) ? "long" : kind}
      >
        {found.slice(0, SHOWN).map(({ answer, label, detail }) => (
          <Button
            key={answer}
            look="ballot-answer"
            label={label}
            title={detail}
            aria-pressed={many ? chosen.includes(answer) : answer === given}
            act={() => press(answer)}
          >
            <span>{label}</span>
            {detail ? <small class="dim num">{detail}</small> : null}
          </Button>
        ))}
        {found.length > SHOWN ? (
          <p class="dim">{`and ${found.length - SHOWN} more: type a part of the name.`}</p>
        ) : null}
        {found.length ? null : <p class="dim">{evicts && !typed ? "No pod has a lower priority." : "No match."}</p>}
      </div>
      {many ? (
        <Button look="primary big" act={() => vote(chosen.map(String).sort())}>
          {voting(chosen.length, evicts ? "evicted" : form)}
        </Button>
      ) : null}
    </div>
  );
}

/** What the button says of several answers: "Vote for 3 nodes". */
function voting(number: number, form: string) {
  if (form === "evicted") return number ? `Vote for ${plural(number, "victim")}` : "Vote for no victim";
  return number ? `Vote for ${plural(number, form.replace(/s$/, ""))}` : "Vote for none of them";
}

function Typed({ question: { text, unit = "" }, given, vote }: BallotProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    vote(String(new FormData(event.currentTarget as HTMLFormElement).get("answer")).trim());
  };
  return (
    <form class="ballot-typed" onSubmit={submit}>
      <input
        class="field num"
        name="answer"
        inputMode="decimal"
        autocomplete="off"
        maxlength={40}
        required
        aria-label={`${text}${unit ? `, in ${unit}` : ""}`}
        defaultValue={given === undefined ? "" : String(given)}
      />
      {unit ? <span>{unit}</span> : null}
      <button class="btn primary big">Vote</button>
    </form>
  );
}

function Ordered({ question: { text, options = [] }, given, vote }: BallotProps) {
  const [chosen, choose] = useState<string[]>(Array.isArray(given) ? given : []);
  return (
    <div class="ballot-box">
      {options.length ? (
        <>
          <p class="dim">Press them in order.</p>
          <div class="ballot">
            {options.map(([key, label]) => {
              const at = chosen.indexOf(key);
              return (
                <Button
                  key={key}
                  look="ballot-answer"
                  aria-pressed={at >= 0}
                  act={() => choose(at >= 0 ? chosen.filter((one) => one !== key) : [...chosen, key])}
                >
                  <span>{at >= 0 ? `${at + 1}. ${label}` : label}</span>
                </Button>
              );
            })}
          </div>
        </>
      ) : (
        <textarea
          class="field"
          rows={4}
          maxlength={4000}
          aria-label={`${text} One name a line`}
          defaultValue={chosen.join("\n")}
          onInput={(event) => choose(event.currentTarget.value.split("\n").flatMap((line) => line.trim() || []))}
        />
      )}
      <Button
        look="primary big"
        disabled={options.length > 0 && chosen.length !== options.length}
        act={() => vote(chosen)}
      >
        Vote
      </Button>
    </div>
  );
}

/** An edit is made on the lesson's own page; its receipt, which this browser keeps, is the vote. */
function Solved({ question: { lesson = "", stop = "" }, given, vote }: BallotProps) {
  const latest = useRef(vote);
  latest.current = vote;
  const open = given === undefined;
  useEffect(() => {
    if (!open) return;
    const look = () => {
      const receipt = receiptOf(lesson, stop);
      if (receipt) latest.current(receipt);
    };
    const seen = ({ key }: StorageEvent) => key === PROGRESS && look();
    look();
    addEventListener("storage", seen);
    return () => removeEventListener("storage", seen);
  }, [open, lesson, stop]);
  return (
    <div class="ballot-box">
      <a class="btn primary big" href={`/learn/${lesson}/${stop}/`} target="_blank" rel="noopener">
        <Icon name="edit" />
        Open the task
      </a>
      <p class="dim">Edit the cluster on the lesson's page. Once it is right there, it counts here.</p>
      <p class="dim" role="status">
        {open ? "" : "You have solved it."}
      </p>
    </div>
  );
}

function receiptOf(lesson: string, stop: string): string {
  try {
    const receipt = JSON.parse(localStorage.getItem(PROGRESS) ?? "null")?.lessons?.[lesson]?.stops?.[stop]?.receipt;
    return typeof receipt === "string" ? receipt : "";
  } catch {
    return "";
  }
}

/** What the forms of a lesson's answers want that are not pressed. */
const FORMS: Record<string, FunctionComponent<BallotProps>> = {
  number: Typed,
  order: Ordered,
  edit: Solved,
  claim: Solved,
};

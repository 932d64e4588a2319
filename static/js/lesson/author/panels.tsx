import { useRef } from "preact/hooks";
import { Icon } from "../icon.tsx";
import { Field, Select, Several } from "./fields.tsx";
import { Question } from "./question.tsx";
import { lesson, problems, words, type AuthoredStop, type Json } from "./state.ts";

const LEVELS: [string, string][] = ["beginner", "intermediate", "advanced"].map((level) => [level, level]);
const lines = (value: Json | undefined) => (Array.isArray(value) ? value.map(String).join("\n") : "");
const listed = (text: string): Json =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
const whole = (text: string): Json => (/^\d{1,4}$/.test(text.trim()) ? Number(text) : text);

/** What is said of the whole lesson. */
export function About() {
  const { head, notes, error } = lesson.value;
  if (error) return <Broken file="lesson.yaml" error={error} />;
  return (
    <div class="author-form">
      <Field label="Title" path={["title"]} value={head.title} />
      <Field label="Question shown in the gallery" path={["question"]} value={head.question} />
      <div class="author-row">
        <Select label="Level" path={["level"]} value={String(head.level ?? "")} options={LEVELS} />
        <Field label="Minutes" path={["minutes"]} value={head.minutes} read={whole} />
      </div>
      <Field
        label="What it teaches, one to five lines"
        path={["outcomes"]}
        value={head.outcomes}
        rows={3}
        read={listed}
        write={lines}
        empty={[]}
      />
      <Several label="Tracks" path={["tracks"]} value={head.tracks} options={Object.entries(words.tracks)} />
      <details>
        <summary>Terms of the glossary</summary>
        <Several
          label="Explained below each stop"
          path={["terms"]}
          value={head.terms}
          options={words.terms.map((term) => [term, term])}
        />
      </details>
      <Field
        label="Notes for the teacher"
        path={["notes.md"]}
        value={notes}
        rows={8}
        hint="Timing, misconceptions, what to say. They are printed on the teacher's sheet."
      />
    </div>
  );
}

/** A stop: its moment, its text, and what it asks. */
export function StopPanel({ stop }: { stop: AuthoredStop }) {
  if (stop.error) return <Broken file={stop.file} error={stop.error} />;
  const { head, key } = stop;
  return (
    <div class="author-form">
      <Field label="Title" path={["title"]} value={head.title} stop={key} />
      <Field
        label="Text"
        path={["text"]}
        value={stop.text}
        stop={key}
        rows={7}
        hint='Markdown. A number is a fact: {{ free("n1", "cpu") }}. Names stand in backticks: `n1`.'
      />
      <Question stop={stop} />
      <details class="author-moment">
        <summary>
          What is shown: {head.step ? `step ${String(head.step)}` : "before the first cycle"}
          {head.phase ? `, to the end of ${String(head.phase)}` : ""}
        </summary>
        <div class="author-row">
          <Field label="Step, such as 1.1" path={["step"]} value={head.step} stop={key} empty={null} />
          <Field label="Last phase shown" path={["phase"]} value={head.phase} stop={key} empty={null} />
        </div>
        <Select
          label="Scenario"
          path={["scenario"]}
          value={String(head.scenario ?? "scenario.yaml")}
          options={lesson.value.scenarios.map((name) => [name, name])}
          stop={key}
        />
        <Several
          label="Tabs of Inspect"
          path={["views"]}
          value={head.views}
          options={words.views.map((view) => [view, view])}
          stop={key}
        />
      </details>
      <Preview stop={stop} />
      <p class="author-acts">
        <a class="btn" href={stop.preview} target="_blank" rel="noopener">
          <Icon name="external" />
          Preview as a learner
        </a>
      </p>
    </div>
  );
}

/** The stop as a learner sees it, as soon as the tests find nothing wrong in it. */
function Preview({ stop }: { stop: AuthoredStop }) {
  const found = problems.value;
  const shown = useRef("");
  if (found && !found.some(({ file }) => file === stop.file || file === "lesson.yaml"))
    shown.current = `${stop.preview}embed/?revision=${lesson.value.revision}`;
  return (
    <details class="author-preview" open>
      <summary>As a learner sees it</summary>
      {shown.current ? (
        <iframe class="author-stage" src={shown.current} title="Preview of the stop" loading="lazy" />
      ) : (
        <p class="dim">It is shown here once the checks pass.</p>
      )}
    </details>
  );
}

const Broken = ({ file, error }: { file: string; error: string }) => (
  <div class="note error" role="alert">
    <Icon name="warn" />
    <p>
      <code>{file}</code> cannot be read: {error}. Export the lesson, mend the file and import it again, or remove this
      stop.
    </p>
  </div>
);

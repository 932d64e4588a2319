import { Icon } from "../icon.tsx";
import { Field, Select } from "./fields.tsx";
import { Pick } from "./pick.tsx";
import { send, words, type AuthoredStop, type Json } from "./state.ts";

type Task = { [key: string]: Json };

const FORMS: Record<string, [string, string][]> = {
  predict: [
    ["node", "a node"],
    ["nodes", "nodes"],
    ["pods", "pods"],
    ["order", "an order"],
    ["number", "a number"],
    ["yesno", "yes or no"],
    ["choice", "a choice"],
    ["reason", "a reason"],
  ],
  find: [
    ["cell", "a cell"],
    ["node", "a node"],
    ["pods", "pods"],
    ["event", "an event"],
  ],
  explain: [["choice", "a choice"]],
};
const KINDS: [string, string][] = [
  ["predict", "Predict"],
  ["find", "Find"],
  ["explain", "Explain"],
];
const CHOOSING = ["choice", "reason"];
const HINTS = ["Where to look", "The rule", "The computed fact (without it the engine says one)"];

const empty = (kind: string): Task => ({
  kind,
  form: FORMS[kind]?.[0]?.[0] ?? "node",
  question: "What happens?",
  ...(kind === "explain" ? { choices: [choice(1), choice(2)] } : { answer: "" }),
});
const choice = (number: number): Json => ({ key: `choice-${number}`, label: "", holds: "", separates: "" });

/** What a stop asks: its question, the fact that answers it, hints and choices. */
export function Question({ stop }: { stop: AuthoredStop }) {
  const task = (stop.head.task ?? null) as Task | null;
  const put = (now: Json) => send({ kind: "value", path: ["task"], was: task, now, stop: stop.key });
  if (!task)
    return (
      <p class="author-acts">
        <button type="button" class="btn" onClick={() => void put(empty("predict"))}>
          <Icon name="plus" />
          Ask a question here
        </button>
        <span class="dim">Or ask about a cell, a node, a pod or an event in the workbench: it knows the fact.</span>
      </p>
    );
  const kind = String(task.kind);
  const form = String(task.form ?? "");
  const editing = kind in FORMS;
  return (
    <section class="author-task" aria-label="Question">
      {editing ? (
        <div class="author-row">
          <Select label="The learner" path={["task", "kind"]} value={kind} options={KINDS} stop={stop.key} />
          <Select
            label="The answer is"
            path={["task", "form"]}
            value={form}
            options={[...(form ? [] : ([["", "…"]] as [string, string][])), ...FORMS[kind]]}
            stop={stop.key}
          />
        </div>
      ) : (
        <p class="dim">
          A task of kind <b>{kind}</b> has files of its own, such as its solution: export the lesson to change those.
        </p>
      )}
      <Text stop={stop} name="question" label="Question" rows={2} />
      {"answer" in task && (
        <Text stop={stop} name="answer" label="The fact that answers it" mono facts={words.facts} rows={2} />
      )}
      {"answer" in task && kind !== "explain" && <Pick stop={stop} />}
      {"accept" in task && <Text stop={stop} name="accept" label="Accepted when" mono facts={words.facts} rows={2} />}
      {form === "number" && <Text stop={stop} name="unit" label="Unit, the word beside the number" />}
      {(CHOOSING.includes(form) || Array.isArray(task.choices)) && <Choices stop={stop} task={task} />}
      <Text stop={stop} name="why" label="What makes it right, with a fact" rows={2} />
      <Hints stop={stop} task={task} />
      <p class="author-acts">
        <button type="button" class="btn quiet" onClick={() => void put(null)}>
          Remove the question
        </button>
      </p>
    </section>
  );
}

type TextProps = {
  stop: AuthoredStop;
  name: string;
  label: string;
  rows?: number;
  mono?: boolean;
  list?: string;
  facts?: string[];
};

const Text = ({ stop, name, ...more }: TextProps) => (
  <Field
    {...more}
    stop={stop.key}
    path={["task", name]}
    value={(stop.head.task as Task)[name]}
    empty={name === "question" || name === "answer" ? "" : null}
  />
);

function Hints({ stop, task }: { stop: AuthoredStop; task: Task }) {
  const hints = Array.isArray(task.hints) ? task.hints.map(String) : [];
  const put = (now: Json) =>
    send({ kind: "value", path: ["task", "hints"], was: task.hints ?? null, now, stop: stop.key });
  if (!hints.length)
    return (
      <p class="author-acts">
        <button type="button" class="btn" onClick={() => void put(["", ""])}>
          <Icon name="plus" />
          Add hints
        </button>
      </p>
    );
  return (
    <fieldset class="author-group">
      <legend>Hints, given one by one</legend>
      {hints.map((hint, place) => (
        <Field
          key={place}
          label={HINTS[place] ?? `Hint ${place + 1}`}
          path={["task", "hints", place]}
          value={hint}
          stop={stop.key}
          rows={2}
        />
      ))}
      <p class="author-acts">
        {hints.length < 3 && (
          <button type="button" class="btn quiet" onClick={() => void put([...hints, ""])}>
            <Icon name="plus" />
            Write the third
          </button>
        )}
        <button type="button" class="btn quiet" onClick={() => void put(hints.length > 2 ? hints.slice(0, 2) : null)}>
          {hints.length > 2 ? "Let the engine write the third hint" : "No hints"}
        </button>
      </p>
    </fieldset>
  );
}

function Choices({ stop, task }: { stop: AuthoredStop; task: Task }) {
  const choices = (Array.isArray(task.choices) ? task.choices : []) as Task[];
  const explains = task.kind === "explain";
  const put = (now: Json) =>
    send({ kind: "value", path: ["task", "choices"], was: (task.choices as Json) ?? null, now, stop: stop.key });
  const part = (place: number, name: string, label: string, more: object = {}) => (
    <Field
      label={label}
      path={["task", "choices", place, name]}
      value={choices[place][name]}
      stop={stop.key}
      empty={name === "misconception" ? null : ""}
      {...more}
    />
  );
  return (
    <fieldset class="author-group">
      <legend>Choices{explains && ": all are true, and one alone separates"}</legend>
      <ol class="author-choices">
        {choices.map((one, place) => (
          <li key={String(one.key)}>
            {part(place, "label", `Choice ${place + 1}`, { rows: 2 })}
            <div class="author-row">
              {explains && part(place, "holds", "True because", { mono: true, facts: words.facts })}
              {explains
                && part(place, "separates", "True of the correct answer alone", { mono: true, facts: words.facts })}
              {!explains && part(place, "key", "Key, which the answer names", { mono: true })}
              {part(place, "misconception", "Misconception", { list: "author-misconceptions" })}
            </div>
            <p class="author-acts">
              <button
                type="button"
                class="btn quiet"
                onClick={() => void put(choices.filter((_, other) => other !== place) as Json)}
              >
                Remove this choice
              </button>
            </p>
          </li>
        ))}
      </ol>
      <p class="author-acts">
        <button type="button" class="btn" onClick={() => void put([...choices, choice(choices.length + 1)] as Json)}>
          <Icon name="plus" />
          Add a choice
        </button>
      </p>
    </fieldset>
  );
}

/** The misconceptions that fields suggest. */
export const Suggestions = () => (
  <datalist id="author-misconceptions">
    {Object.entries(words.misconceptions).map(([key, sentence]) => (
      <option key={key} value={key}>
        {sentence}
      </option>
    ))}
  </datalist>
);

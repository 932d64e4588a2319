import { useEffect, useRef } from "preact/hooks";
import { answer } from "./api.ts";
import { busy, given, passed, player, sure, trouble, verdict, type Asked } from "./asked.ts";
import { Edit } from "./edit.tsx";
import { Hints } from "./hints.tsx";
import { Icon } from "./icon.tsx";
import { Inline } from "./inline.tsx";
import { Many, One, Pick } from "./options.tsx";
import { Order } from "./order.tsx";
import { change, load, stopIn } from "./progress.ts";
import { Claim, Names, NumberField } from "./typed.tsx";

/** The form of an answer. */
const Form = ({ task }: { task: Asked }) => {
  const { form, options, unit } = task;
  if (form === "edit") return <Edit task={task} />;
  if (form === "claim") return <Claim />;
  if (form === "number") return <NumberField unit={unit} />;
  if (form === "nodes") return <Many options={options} none="None of them" />;
  if (form === "pods") return <Many options={options} none="No pod" />;
  if (form === "order") return options.length ? <Order options={options} /> : <Names />;
  if (form === "cell" || form === "event") return <Pick options={options} />;
  return <One options={options} />;
};

/** How sure one is: a right guess comes back sooner. */
const Sure = () => (
  <fieldset class="sure">
    <legend class="sr">How sure are you?</legend>
    {([true, false] as const).map((value) => (
      <label key={String(value)} class="choice">
        <input
          type="radio"
          name="sure"
          checked={sure.value === value}
          disabled={passed.value}
          onChange={() => {
            sure.value = value;
          }}
        />
        <span>{value ? "I am sure" : "I guess"}</span>
      </label>
    ))}
  </fieldset>
);

async function send(task: Asked) {
  if (given.value === null || busy.value || passed.value) return;
  busy.value = true;
  trouble.value = "";
  const { lesson, stop, seed } = player;
  const key = `${lesson}/${stop}`;
  const card = load().cards[key];
  try {
    const found = await answer(lesson, stop, {
      answer: given.value,
      ...(sure.value === null ? {} : { sure: sure.value }),
      ...(seed ? { seed } : {}),
      ...(seed && card ? { card } : {}),
    });
    change((progress) => {
      const known = stopIn(progress, lesson, stop);
      known.tries += 1;
      // A card is made at the first try, and changed by a review: trying again until it is right is no proof of knowing.
      if (task.kind === "predict" && found.card && verdict.value === null && (seed || !card))
        progress.cards[key] = found.card;
      if (found.right && !seed) Object.assign(known, { right: true, receipt: found.receipt });
    });
    verdict.value = found;
  } catch (error) {
    trouble.value = (error as Error).message;
  } finally {
    busy.value = false;
  }
}

/** What the engine says of the answer. */
const Said = ({ task }: { task: Asked }) => {
  const found = verdict.value;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (found?.right) place.current?.focus();
  }, [found]);
  return (
    <div class="said" aria-live="polite">
      {trouble.value && (
        <div class="verdict wrong">
          <p>{trouble.value}</p>
        </div>
      )}
      {found && (
        <div class={`verdict ${found.right ? "right" : "wrong"}`} ref={place} tabIndex={-1}>
          <p class="verdict-word">
            <Icon name={found.right ? "check" : "cross"} />
            {found.right ? (sure.value === false ? "Right, and a guess" : "Right") : "Not what the scheduler says"}
          </p>
          <p>
            <Inline text={found.sentence} />
          </p>
          {found.edits !== null && (
            <p class="dim num">
              {found.edits} {found.edits === 1 ? "edit" : "edits"}
              {found.par !== null && `, the fewest known: ${found.par}`}
            </p>
          )}
          {!found.right && <p class="dim">{task.hints ? "Try again, or take a hint." : "Try again."}</p>}
        </div>
      )}
    </div>
  );
};

/** The question of a stop: its form, the hints and the verdict. */
export const Task = ({ task }: { task: Asked }) => (
  <form
    class="task-form"
    onSubmit={(event) => {
      event.preventDefault();
      void send(task);
    }}
  >
    <h2 id="task-title" class="task-question">
      <Inline text={task.question} />
    </h2>
    {task.kind === "find" && !passed.value && (
      <p class="dim">Click it in the cluster, or press Enter on it there; or choose it here:</p>
    )}
    <Form task={task} />
    <Said task={task} />
    {!passed.value && (
      <div class="task-acts">
        {task.kind === "predict" && <Sure />}
        <span class="grow" />
        <button class="btn primary big" disabled={given.value === null || busy.value || verdict.value?.right === false}>
          {busy.value ? "Asking the scheduler …" : task.form === "edit" ? "Check my cluster" : "Check"}
        </button>
      </div>
    )}
    <Hints number={task.hints} />
  </form>
);

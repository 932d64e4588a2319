import { useEffect, useRef } from "preact/hooks";
import { answer, type Verdict } from "./api.ts";
import { busy, given, kept, passed, player, sure, trouble, verdict, type Asked } from "./asked.ts";
import { Edit } from "./edit.tsx";
import { Hints } from "./hints.tsx";
import { Icon } from "./icon.tsx";
import { Inline } from "../kit/prose.tsx";
import { Many, One, Pick } from "./options.tsx";
import { Order } from "./order.tsx";
import { change, load, stopIn } from "./progress.ts";
import { Claim, Names, NumberField } from "./typed.tsx";
import { gettext, ngettext, spoken } from "./words.ts";

/** The form of an answer. */
const Form = ({ task }: { task: Asked }) => {
  const { form, options, unit } = task;
  if (form === "edit") return <Edit task={task} />;
  if (form === "claim") return <Claim />;
  if (form === "number") return <NumberField unit={unit} />;
  if (form === "nodes") return <Many options={options} none={gettext("None of them")} />;
  if (form === "pods") return <Many options={options} none={gettext("No pod")} />;
  if (form === "order") return options.length ? <Order options={options} /> : <Names />;
  if (form === "cell" || form === "event") return <Pick options={options} />;
  return <One options={options} />;
};

/** How sure one is: a right guess comes back sooner. */
const Sure = () => (
  <fieldset class="sure">
    <legend class="sr">{gettext("How sure are you?")}</legend>
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
        <span>{value ? gettext("I am sure") : gettext("I guess")}</span>
      </label>
    ))}
  </fieldset>
);

/** Whether there is nothing to check. A button that were disabled would lose the focus after a wrong answer. */
const waits = () => given.value === null || busy.value || verdict.value?.right === false;

async function send(task: Asked) {
  if (waits() || passed.value) return;
  busy.value = true;
  trouble.value = "";
  const { lesson, stop, seed, launch } = player;
  const key = `${lesson}/${stop}`;
  const card = load().cards[key];
  try {
    const found = await answer(lesson, stop, {
      answer: given.value,
      ...(sure.value === null ? {} : { sure: sure.value }),
      ...(seed ? { seed } : {}),
      ...(launch ? { launch } : {}),
      ...(seed && card ? { card } : {}),
    });
    change((progress) => {
      const known = stopIn(progress, kept, stop);
      known.tries += 1;
      // A card is made at the first try, and changed by a review: trying until it is right is no proof of knowing.
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

function word({ right }: Verdict): string {
  if (!right) return gettext("Not what the scheduler says");
  return sure.value === false ? gettext("Right, but you were not sure") : gettext("Right");
}

function act({ form }: Asked): string {
  if (busy.value) return gettext("Asking the scheduler …");
  return form === "edit" ? gettext("Check my cluster") : gettext("Check");
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
            {word(found)}
          </p>
          <p>
            <span lang={spoken("en")}>
              <Inline text={found.sentence.slice(0, found.sentence.length - found.why.length)} />
            </span>
            <span lang={spoken(player.language)}>
              <Inline text={found.why} />
            </span>
          </p>
          {found.edits !== null && (
            <p class="dim num">
              {ngettext("{number} edit", "{number} edits", found.edits)}
              {found.par !== null && gettext(", the fewest known: {number}", { number: found.par })}
            </p>
          )}
          {!found.right && (
            <p class="dim">{task.hints ? gettext("Try again, or take a hint.") : gettext("Try again.")}</p>
          )}
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
      <p class="dim">{gettext("Click it in the cluster, or press Enter on it there; or choose it here:")}</p>
    )}
    <Form task={task} />
    <Said task={task} />
    {!passed.value && (
      <div class="task-acts">
        {task.kind === "predict" && <Sure />}
        <span class="grow" />
        <button class="btn primary big" aria-disabled={waits()}>
          {act(task)}
        </button>
      </div>
    )}
    <Hints number={task.hints} />
  </form>
);

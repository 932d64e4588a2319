// Questions to Kueue: why a Workload or a Job waits, and who is preempted if another one is submitted.

import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import type { KueueAnswer, KueuePart } from "../../lib/protocol.js";
import { short } from "../../lib/quantity.ts";
import { useAnswer } from "../view/asking.tsx";
import type { View } from "../view/view.ts";

/** What is asked: about a Workload, or what a manifest that is submitted does. */
export type Wish = { about: string } | { manifest: string };

type AskedProps = { view: View; wish: Wish; onClose?: () => void };

/** The answer to a question at the step on screen. */
export function Asked({ view, wish, onClose }: AskedProps) {
  const { playback } = view;
  const { source, socket } = playback;
  const step = String(Math.max(0, Math.min(playback.wantedCycle, playback.cycles)));
  const key = JSON.stringify([wish, step]);
  const found = useAnswer<KueueAnswer>(key, () =>
    "about" in wish
      ? socket.call("kueue.why", { source, step, ...wish })
      : socket.call("kueue.submit", { source, step, ...wish }),
  );
  const { value, error } = found?.key === key ? found : {};
  return (
    <div class="kueue-answer" role="status" aria-busy={!value && !error}>
      {onClose ? <Button look="quiet square" icon="close" label="Close the answer" act={onClose} /> : null}
      {value ? <Answered answer={value} /> : <p class={error ? "note error" : "dim"}>{error ?? "Asking Kueue…"}</p>}
    </div>
  );
}

function Answered({ answer: { sentences, sections } }: { answer: KueueAnswer }) {
  return (
    <>
      {sentences.map((text) => (
        <p>{text}</p>
      ))}
      {sections.map((section) => (
        <section key={`${section.title} ${section.sentences[0]}`}>
          <h4>{section.title}</h4>
          <ul>
            {section.sentences.map((text) => (
              <li>{text.startsWith("kubectl ") ? <code>{text}</code> : text}</li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** The button that asks about a Workload, and the answer below it. */
export function WhyWaits({ view, about }: { view: View; about: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="small" icon="help" aria-expanded={open} act={() => setOpen(!open)}>
        Why?<span class="sr">{` ${short(about)}`}</span>
      </Button>
      {open ? <Asked view={view} wish={{ about }} /> : null}
    </>
  );
}

type Form = { queue: string; pods: string; cpu: string; memory: string; priority: string; text: string };

/** The forms of questions: about any Workload or Job by its name, and about one that is not there yet. */
export function Questions({ view, part: { localQueues } }: { view: View; part: KueuePart }) {
  const [about, setAbout] = useState("");
  const first = localQueues[0]?.[0] ?? "";
  const [form, setForm] = useState<Form>({ queue: first, pods: "1", cpu: "1", memory: "", priority: "0", text: "" });
  const [wish, setWish] = useState<Wish | null>(null);
  const set = (part: Partial<Form>) => setForm({ ...form, ...part });
  const ask = (event: SubmitEvent, made: Wish) => {
    event.preventDefault();
    setWish(made);
  };
  return (
    <section class="kueue-questions">
      <h3>Ask Kueue</h3>
      <form onSubmit={(event) => ask(event, { about: about.trim() })}>
        <TextField
          label="Why is it not admitted?"
          hint="a Workload (namespace/name), or Job namespace/name"
          name="about"
          value={about}
          placeholder="Job default/train"
          onInput={setAbout}
        />
        <button class="btn" disabled={!about.trim()}>
          Ask
        </button>
      </form>
      <form onSubmit={(event) => ask(event, { manifest: form.text.trim() || JSON.stringify(manifestOf(form)) })}>
        <p>Who is preempted if this is submitted now? Nothing is changed.</p>
        <div class="kueue-form">
          <TextField
            label="LocalQueue"
            name="queue"
            value={form.queue}
            known={localQueues.map(([key]) => key)}
            onInput={(queue) => set({ queue })}
          />
          <TextField label="Pods" name="pods" value={form.pods} inputMode="numeric" onInput={(pods) => set({ pods })} />
          <TextField label="cpu of each" name="cpu" value={form.cpu} onInput={(cpu) => set({ cpu })} />
          <TextField label="Memory of each" name="memory" value={form.memory} onInput={(memory) => set({ memory })} />
          <TextField
            label="Priority"
            name="priority"
            value={form.priority}
            inputMode="numeric"
            onInput={(priority) => set({ priority })}
          />
        </div>
        <details>
          <summary>or a manifest</summary>
          <textarea
            class="field mono"
            aria-label="Manifest of a Job or a Workload"
            rows={8}
            maxLength={100_000}
            spellcheck={false}
            value={form.text}
            onInput={(event) => set({ text: event.currentTarget.value })}
          />
        </details>
        <button class="btn" disabled={!form.queue && !form.text.trim()}>
          Submit to a copy
        </button>
      </form>
      {wish ? <Asked view={view} wish={wish} onClose={() => setWish(null)} /> : null}
    </section>
  );
}

/** The Workload of a form. */
function manifestOf({ queue, pods, cpu, memory, priority }: Form) {
  const [namespace, queueName] = queue.includes("/") ? queue.split("/") : ["default", queue];
  const requests = { ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}) };
  const spec = { restartPolicy: "Never", containers: [{ name: "c", image: "x", resources: { requests } }] };
  const podSets = [{ name: "main", count: Math.max(1, Math.trunc(Number(pods)) || 1), template: { spec } }];
  return {
    apiVersion: "kueue.x-k8s.io/v1beta2",
    kind: "Workload",
    metadata: { name: "submitted", namespace },
    spec: { queueName, priority: Math.trunc(Number(priority)) || 0, podSets },
  };
}

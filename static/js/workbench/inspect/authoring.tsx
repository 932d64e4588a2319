// Stops of a lesson, made of what is on screen: the view as it is, or with a question about what is pointed at.

import { useSignal } from "@preact/signals";
import { h, toast } from "../../lib/dom.ts";
import type { AuthoredLesson, Proposal } from "../../lib/protocol.js";
import { refusalOf } from "../../lib/socket.ts";
import { Icon } from "../../kit/icon.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { openMenu } from "../../kit/menu.tsx";
import { Inline } from "../../kit/prose.tsx";
import { POINT, POINTED, type Pointed } from "../view/picking.ts";
import type { View } from "../view/view.ts";

const KEPT = "podstep.author"; // the lesson that the last stop was added to
const TITLE = 120;

/** What is asked about at a step. */
type AskedPlace = {
  kind: "cycle" | "node" | "filter" | "score" | "pod" | "event";
  node?: string;
  rule?: string;
  pod?: string;
  reason?: string;
};
type Stop = Partial<Omit<Proposal, "label">>;

const warn = (error: unknown) => void toast(refusalOf(error).message, { name: "warn", ms: 8000 });

/** The step on screen, "" before the first; after the last cycle it is the last one. */
function stepOf({ playback }: View): string {
  const { index, cycles } = playback;
  return (index > 0 && (playback.current ?? playback.light(Math.min(index, cycles)))?.step) || "";
}

/** What is shown: the step, how far of it, and the open tab. */
function shown(view: View): Stop {
  const { playback } = view;
  const step = stepOf(view);
  return { step, phase: step && playback.phase ? playback.phase : "", views: [view.tab] };
}

/** Where a stop is added: a lesson of one's own, and under which title. */
function Where({
  view,
  stop,
  lessons,
  close,
}: {
  view: View;
  stop: Stop;
  lessons: AuthoredLesson[];
  close: () => void;
}) {
  const kept = localStorage.getItem(KEPT) ?? "";
  const lesson = useSignal(lessons.some(({ id }) => id === kept) ? kept : "");
  const title = useSignal(stop.title ?? "");
  const busy = useSignal(false);
  const wrong = useSignal("");
  const question = typeof stop.task?.question === "string" ? stop.task.question : "";

  async function add(event: Event) {
    event.preventDefault();
    busy.value = true;
    const { source, socket } = view.playback;
    try {
      const made = await socket.call("authoring.add", {
        source,
        stop: { ...stop, title: title.value.trim() },
        ...(lesson.value ? { lesson: lesson.value } : {}),
      });
      localStorage.setItem(KEPT, made.id);
      close();
      const note = toast(`Added to “${made.title}”.`, { name: "check", ms: 10_000 });
      note?.append(h("a", { class: "btn small", href: made.url, text: "Open the lesson" }));
    } catch (error) {
      wrong.value = refusalOf(error).message;
      busy.value = false;
    }
  }

  return (
    <form class="stop-form" onSubmit={(event) => void add(event)}>
      {question && (
        <p class="stop-question">
          <Inline text={question} />
        </p>
      )}
      {typeof stop.task?.answer === "string" && (
        <p class="dim">
          The engine answers it: <code>{stop.task.answer}</code>
        </p>
      )}
      <label for="stop-title">Title of the stop</label>
      <input
        id="stop-title"
        class="field"
        required
        maxLength={TITLE}
        autoComplete="off"
        value={title.value}
        onInput={({ currentTarget }) => (title.value = currentTarget.value)}
      />
      <label for="stop-lesson">Lesson</label>
      <select
        id="stop-lesson"
        class="field"
        value={lesson.value}
        onChange={({ currentTarget }) => (lesson.value = currentTarget.value)}
      >
        <option value="">A new lesson</option>
        {lessons.map(({ id, title: name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <p class="dim">
        {stop.step
          ? `It shows step ${stop.step}${stop.phase ? `, to the end of ${stop.phase}` : ""}`
          : "It shows the cluster before the first cycle"}
        , and the scenario as it is now.
      </p>
      {wrong.value && (
        <p class="note error" role="alert">
          {wrong.value}
        </p>
      )}
      <div class="room-form-end">
        <button class="btn primary" disabled={busy.value}>
          <Icon name="plus" />
          {busy.value ? "Adding …" : "Add the stop"}
        </button>
      </div>
    </form>
  );
}

async function place(view: View, stop: Stop) {
  try {
    const { lessons } = await view.playback.socket.call("authoring.lessons", {});
    openDialog("Add to a lesson", (close) => <Where view={view} stop={stop} lessons={lessons} close={close} />);
  } catch (error) {
    warn(error);
  }
}

/** Add what is on screen as a stop. */
export function addView(view: View) {
  const stop = shown(view);
  const pod =
    view.playback.current && view.playback.index > 0 ? view.playback.pods.keys[view.playback.current.pod] : "";
  const title = pod ? `The cycle of ${pod.replace(/^default\//, "")}` : "The cluster";
  void place(view, { ...stop, title });
}

type Wish = { node?: number; pod?: number };

/** What a question is about: the cell, event, node or pod that is pointed at, else what is selected, else the cycle. */
function asked(target: EventTarget | null, view: View, wish: Wish): [place: AskedPlace, step: string] {
  const { playback } = view;
  const element = target instanceof Element ? target : null;
  const cell = element?.closest<HTMLElement>("[data-ask]")?.dataset;
  if (cell?.ask === "event") {
    const step = playback.light(Number(cell.cycle))?.step ?? stepOf(view);
    return [{ kind: "event", reason: cell.reason ?? "", pod: cell.pod ?? "" }, step];
  }
  const step = stepOf(view);
  if (cell?.ask === "filter" || cell?.ask === "score")
    return [{ kind: cell.ask, rule: cell.rule ?? "", node: playback.nodes.names[Number(cell.of)] ?? "" }, step];
  const [kind, index] = (element?.closest<HTMLElement>("[data-key]")?.dataset.key ?? "").split(":");
  const row = element?.closest<HTMLElement>(".matrix [data-id]")?.dataset.id;
  const drawn = (kind: "node" | "pod") => element?.closest<HTMLElement>(`[data-${kind}]`)?.dataset[kind];
  const onStage = drawn("pod") ?? (kind === "pod" ? index : undefined);
  const under = onStage === undefined ? (drawn("node") ?? row) : undefined;
  const node = wish.node ?? (kind === "node" ? Number(index) : under !== undefined ? Number(under) : view.node);
  const pod = wish.pod ?? (onStage !== undefined ? Number(onStage) : under !== undefined ? -1 : view.pod);
  if (pod >= 0 && wish.node === undefined && kind !== "node")
    return [{ kind: "pod", pod: playback.pods.keys[pod] }, step];
  if (node >= 0) return [{ kind: "node", node: playback.nodes.names[node] }, step];
  return [{ kind: "cycle" }, step];
}

const about = ({ kind, node, rule, pod, reason }: AskedPlace) =>
  ({ cycle: "this cycle", node: node, filter: `${rule} on ${node}`, score: `${rule} on ${node}`, pod, event: reason })[
    kind
  ];

/** Offer what may be asked about what is pointed at; what is chosen becomes a stop. */
export async function askHere(view: View, target: EventTarget | null, at?: { x: number; y: number }, wish: Wish = {}) {
  const { source, socket } = view.playback;
  const [wanted, step] = asked(target, view, wish);
  const box = target instanceof Element && target !== document.body ? target : null;
  try {
    const { proposals } = await socket.call("authoring.propose", { source, place: wanted, ...(step ? { step } : {}) });
    const entries = proposals.map(({ label, ...stop }) => ({
      text: label,
      icon: "help",
      title: String(stop.task.question ?? ""),
      run: () => void place(view, stop),
    }));
    const plain = { text: "Add this view without a question", icon: "plus", run: () => addView(view) };
    const heading = entries.length ? `Ask about ${about(wanted)}` : `Nothing to ask about ${about(wanted)}`;
    openMenu("Ask here", [{ heading, entries: [...entries, plain] }], at ?? box ?? { x: innerWidth / 3, y: 120 });
  } catch (error) {
    warn(error);
  }
}

/** In the frame of an author's page a click says what is asked about; only that page is listened to. */
export function pointing(view: View) {
  const tell = (place?: AskedPlace, step = "") =>
    parent.postMessage({ type: POINTED, place, step } satisfies Pointed, location.origin);
  let on = false;
  addEventListener("message", ({ data, origin, source }: MessageEvent) => {
    if (source === parent && origin === location.origin && data?.type === POINT) on = true;
  });
  document.addEventListener("click", ({ target }) => {
    const element = target instanceof Element ? target.closest(POINTABLE) : null;
    if (on && element) tell(...asked(element, view, {}));
  });
  tell();
}

const POINTABLE = "[data-ask], [data-key], [data-node], [data-pod], .matrix [data-id]";

/** A right click on a cell or an event asks about it; the sheet's buttons do by an event of the view. */
export function askByPointer(view: View, region: HTMLElement) {
  region.addEventListener("contextmenu", (event) => {
    if (!(event.target instanceof Element) || !event.target.closest("[data-ask]")) return;
    event.preventDefault();
    void askHere(view, event.target, { x: event.clientX, y: event.clientY });
  });
  view.actions.question.on(
    ({ target, ...wish }: Wish & { target: Element }) => void askHere(view, target, undefined, wish),
  );
}

// The events of this scenario: what happens from outside, each with its moment, on an axis of cycles or of virtual
// time; to add, move, change, repeat or remove, one or several at once.

import { render } from "preact";
import { Button } from "../../kit/button.tsx";
import { signal, type Signal } from "../../kit/signals.ts";
import { $$, targetOf, toast } from "../../lib/dom.ts";
import type { Operation, OperationList } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import { address } from "../edit/when.tsx";
import { Branches } from "../branches/panel.tsx";
import type { Edit } from "../edit/edit.ts";
import { EventForm } from "../events/form.tsx";
import { Outcomes } from "../events/outcomes.ts";
import { EDIT } from "../view/actions.ts";
import type { EventList } from "../events/list.ts";
import { EventRow, changes } from "../events/row.tsx";
import { Scale } from "../events/scale.ts";
import { GROUP } from "../edit/templates.ts";
import { Group } from "../add/group.tsx";
import type { View } from "../view/view.ts";
import { follow } from "../playback/store.ts";

const NONE = "\n"; // no event's id: none is left, so what is above the list takes the focus
const KINDS = ["Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "Service", "Policy", "SimulationSettings"];
const UNAPPLIED = "The YAML has changes that are not applied. Apply or discard them first.";

type Wish = { action: string; step?: string; seconds?: string; during?: string };

const during = (row: Operation) => (row.during ? { during: "evaluation" } : {});

export class History {
  readonly element = document.createElement("div");
  readonly #events = document.createElement("section");
  readonly #form: EventForm | null = null;
  readonly #outcomes: Outcomes;
  readonly #at = signal(0);
  readonly #now = signal(0);
  readonly #stop = signal("");
  readonly #chosen = signal<ReadonlySet<string>>(new Set());
  readonly #moving: EventList["moving"] = signal(null);
  #scale: Scale;
  #listed: OperationList | null = null;
  #error = "";
  #complete = false;
  #turn = 0;
  #focus = ""; // the event that is to have the focus once the list is there again

  constructor(
    private readonly view: View,
    private readonly edit: Edit | null,
    private readonly mine: boolean,
  ) {
    const { playback } = view;
    if (edit && mine) {
      view.actions.group.on(() => new Group(view, edit).open());
      this.#form = new EventForm(view, edit);
    }
    this.#scale = new Scale(playback, []);
    this.#outcomes = new Outcomes(playback);
    this.#events.className = "history";
    this.#events.setAttribute("aria-labelledby", "history-heading");
    this.element.className = "history-parts";
    this.element.append(this.#events, new Branches(view, edit, mine).element);
    follow(playback.store.scenario, () => this.load());
    follow(playback.store.known, () => {
      if (!playback.complete || this.#complete) return;
      this.#complete = true;
      if (this.#listed) void this.load();
    });
    follow(playback.store.step, () => this.#mark());
    follow(view.store.edits, () => this.#draw());
  }

  async load() {
    const { playback } = this.view;
    const turn = ++this.#turn;
    this.#complete = playback.complete;
    try {
      const listed = await playback.socket.call("operations.list", { source: playback.source });
      if (turn !== this.#turn) return;
      const ids = listed.operations.map(({ id }) => id);
      this.#listed = listed;
      this.#error = "";
      this.#chosen.value = new Set(ids.filter((id) => this.#chosen.value.has(id)));
      this.#draw();
      this.#focus = "";
      if (playback.complete)
        void this.#outcomes.begin(listed.operations.filter(({ action }) => action !== "done").map(({ id }) => id));
    } catch (error) {
      if (turn !== this.#turn || superseded(error)) return;
      this.#error = refusalOf(error).message;
      this.#draw();
    }
  }

  #draw() {
    if (!this.#listed && !this.#error) return;
    const { view, edit, mine } = this;
    const { operations, count: all } = this.#listed ?? { operations: [], count: 0 };
    this.#scale = new Scale(view.playback, operations);
    this.#mark();
    const moving = this.#moving.value;
    if (!moving?.open || !operations.some(({ id }) => id === moving.id)) this.#moving.value = null;
    if (!operations.some(({ id }) => id === this.#stop.value)) this.#stop.value = operations[0]?.id ?? "";
    const list: EventList = {
      playback: view.playback,
      scale: this.#scale,
      outcomes: this.#outcomes,
      own: Boolean(mine && edit),
      at: this.#at,
      now: this.#now,
      stop: this.#stop,
      chosen: this.#chosen,
      moving: this.#moving,
      edit: (row) => this.view.actions.operation(row),
      here: (rows) => void this.#here(rows),
      again: (rows) => void this.#again(rows),
      remove: (rows) => void this.#remove(rows),
      moveTo: (row, value) => void this.#moveTo(row, value),
    };
    render(
      <>
        <div class="history-head">
          <h3 id="history-heading">
            Events <small class="dim">{all ? count(all) : ""}</small>
          </h3>
          <span class="grow" />
          {this.#form ? (
            <Button look="small" icon="plus" act={() => this.#form?.open()}>
              Event
            </Button>
          ) : null}
          {edit ? <Create view={view} hint={mine ? "" : ", in a copy"} /> : null}
        </div>
        <Several operations={operations} list={list} none={() => this.#none()} />
        <Axis operations={operations.filter(({ action }) => action !== "done")} list={list} />
        <ol class="history-rows" onKeyDown={(event) => this.#key(event, list)} onFocusIn={(event) => this.#came(event)}>
          {this.#error ? <li class="note error">{this.#error}</li> : null}
          {operations.map((row) => (
            <EventRow key={row.id} row={row} list={list} />
          ))}
          {all > operations.length ? <li class="dim fine">{`and ${count(all - operations.length)} more`}</li> : null}
          {all || this.#error ? null : <li class="dim fine">{this.#invitation()}</li>}
        </ol>
      </>,
      this.#events,
    );
    this.#refocus();
  }

  #mark() {
    this.#at.value = this.view.playback.index;
    this.#now.value = this.#scale.now;
  }

  #invitation() {
    if (!this.edit) return "There are no operations.";
    const how = this.mine ? "Add an event, or select" : "Select";
    return `There are no operations yet. ${how} a node or a pod and choose “${EDIT[this.mine ? "draft" : "copy"]}”.`;
  }

  #find = (selector: string) => this.#events.querySelector<HTMLElement>(selector);

  /** What had the focus may be gone, as a row that was taken out. */
  #refocus() {
    if (!this.#focus || this.#find(".history-rows :focus")) return;
    const row = `[data-row="${CSS.escape(this.#focus)}"]`;
    this.#find(
      this.#focus === NONE ? ".history-head button" : `${row} :is([data-event]:enabled, [data-handle])`,
    )?.focus();
  }

  #came(event: FocusEvent) {
    const id = targetOf(event).closest<HTMLElement>("[data-row]")?.dataset.row;
    if (!id) return;
    this.#stop.value = id;
    void this.#outcomes.ask(id);
  }

  #none() {
    this.#chosen.value = new Set();
    this.#find("[data-event]")?.focus();
  }

  // ---- changing

  /** Do a wish for each of the rows, as one change: the last first, so that those before stay what they were. */
  async #change(rows: Operation[], wish: (row: Operation) => Wish, done: string) {
    const { edit, view } = this;
    const [first] = rows;
    if (!edit || !first) return;
    const asked = (row: Operation) => ({ id: row.id, ...(row.step ? { landed: row.step } : {}), ...wish(row) });
    const several = plural(rows.length, "event");
    try {
      if (rows.length === 1) await edit.operate(asked(first));
      else {
        const all = async (before: string) => {
          let text = before;
          let step: string | null = null; // where the previous one was put: that counts from there
          for (const row of rows.toReversed()) {
            const one = asked(row);
            const there: { step?: string } = step && one.action === "move" && one.step ? { step } : {};
            ({ text, step } = await view.playback.socket.call("bundle.operate", { text, ...one, ...there }));
          }
          return { text };
        };
        await edit.change(all, { words: `${done.toLowerCase()}: ${several}` });
      }
      this.#chosen.value = new Set();
      edit.notify(`${done}: ${rows.length === 1 ? first.words : several}.`);
    } catch (error) {
      const { body, message } = refusalOf(error);
      const text = body?.errors?.[0]?.message ?? message;
      toast(text.charAt(0).toUpperCase() + text.slice(1), { name: "warn", ms: 8000 });
      this.#draw();
    }
  }

  /** Begin to change rows: the focus will be at the event `focus`. */
  #ready(focus: string | undefined) {
    if (this.edit?.options.dirty()) {
      toast(UNAPPLIED, { name: "warn", ms: 6000 });
      this.#draw();
      return false;
    }
    this.#focus = focus ?? NONE;
    return true;
  }

  async #moveTo(row: Operation, value: number) {
    if (this.#ready(row.id)) await this.#put([row], value, this.#scale.timed);
  }

  /** To the step on screen: in virtual time one that goes by the clock comes at its second. */
  async #here(rows: Operation[]) {
    if (!this.#ready(rows[0]?.id)) return;
    const byClock = this.#scale.timed && rows.every(({ seconds }) => seconds !== null);
    await this.#put(rows, byClock ? this.#scale.now : this.view.playback.wantedCycle, byClock);
  }

  async #put(rows: Operation[], value: number, byClock: boolean) {
    const { timed } = this.#scale;
    const cycle = value ? `after cycle ${count(value)}` : "before the first cycle";
    const done = `Moved to ${timed && !byClock ? cycle : this.#scale.words(value)}`;
    if (byClock) {
      await this.#change(rows, () => ({ action: "move", seconds: String(value) }), done);
      return;
    }
    const step = value ? await address(this.view.playback, value) : "1.0";
    if (step) await this.#change(rows, (row) => ({ action: "move", step, ...during(row) }), done);
    else {
      toast("That cycle is not loaded yet.");
      this.#draw();
    }
  }

  async #again(rows: Operation[]) {
    if (!this.#ready(rows[0]?.id)) return;
    const clocked = ({ seconds }: Operation) =>
      this.#scale.timed && seconds !== null ? { seconds: String(seconds) } : {};
    await this.#change(rows, (row) => ({ action: "duplicate", ...clocked(row), ...during(row) }), "Once more");
  }

  async #remove(rows: Operation[]) {
    const all = this.#listed?.operations ?? [];
    const last = rows.at(-1);
    const at = last ? all.indexOf(last) : -1;
    const stays = (row: Operation) => !rows.includes(row);
    if (!this.#ready((all.slice(at + 1).find(stays) ?? all.slice(0, at).findLast(stays))?.id)) return;
    await this.#change(rows, () => ({ action: "remove" }), "Taken out");
  }

  /**
   * Arrow keys move through the events and their buttons; Delete removes one, e edits it, m moves it here, d repeats
   * it, x selects it.
   */
  #key(event: KeyboardEvent, list: EventList) {
    const target = targetOf(event);
    const item = target.closest<HTMLElement>("[data-row]");
    const row = this.#listed?.operations.find(({ id }) => id === item?.dataset.row);
    if (!item || !row || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = $$("[data-row]", this.#events);
    const at = rows.indexOf(item);
    const within = $$("[data-event], .history-tools button", item);
    const here = within.findIndex((one) => one === target);
    const on = target.hasAttribute("data-handle") ? "[data-handle]" : "[data-event]:enabled, [data-handle]";
    const beside = (other: HTMLElement | undefined) => other?.querySelector<HTMLElement>(on)?.focus();
    const own = changes({ row, list });
    const acts: Record<string, false | (() => unknown)> = {
      ArrowDown: () => beside(rows[at + 1]),
      ArrowUp: () => beside(rows[at - 1]),
      ArrowRight: () => within[here + 1]?.focus(),
      ArrowLeft: () => within[here - 1]?.focus(),
      Home: () => beside(rows[0]),
      End: () => beside(rows.at(-1)),
      Delete: own && (() => list.remove([row])),
      e: own && (() => list.edit(row)),
      m: own && (() => list.here([row])),
      d: own && (() => list.again([row])),
      x: own && (() => item.querySelector<HTMLInputElement>("input[type=checkbox]")?.click()),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

function Create({ view, hint }: { view: View; hint: string }) {
  const label = "Create an object at this step";
  return (
    <select
      class="field"
      aria-label={label}
      title={`${label}${hint}`}
      onChange={({ currentTarget: field }) => {
        const kind = field.value;
        field.value = "";
        view.actions.edit({ create: kind });
      }}
    >
      <option value="">Create…</option>
      <option value={GROUP}>PodGroup and its workload</option>
      {KINDS.map((kind) => (
        <option key={kind} value={kind}>
          {kind}
        </option>
      ))}
    </select>
  );
}

type PartProps = { operations: Operation[]; list: EventList };

/** What can be done with the chosen ones. */
function Several({ operations, list, none }: PartProps & { none: () => void }) {
  const rows = operations.filter(({ id }) => list.chosen.value.has(id));
  if (!rows.length) return null;
  const button = (icon: string, text: string, act: (rows: Operation[]) => void) => (
    <Button look="small" icon={icon} act={() => act(rows)}>
      {text}
    </Button>
  );
  return (
    <div class="event-several" role="group" aria-label="With the chosen events">
      <span class="dim fine">{`${count(rows.length)} chosen`}</span>
      {button("here", "Move here", list.here)}
      {button("copy", "Once more", list.again)}
      {button("cross", "Take out", list.remove)}
      <Button look="quiet square" icon="close" label="Choose none" act={none} />
    </div>
  );
}

const left = (scale: Scale, value: number) => ({ left: `${scale.fraction(value) * 100}%` });

function Axis({ operations, list: { scale, now } }: PartProps) {
  if (!operations.length) return null;
  return (
    <div class="event-axis" aria-hidden="true">
      {operations.map((row) => (
        <i key={row.id} class={`event-tick ${row.during ? "inside" : ""}`} style={left(scale, scale.of(row))} />
      ))}
      <Now key="now" scale={scale} now={now} />
      <span>{scale.timed ? "0" : "start"}</span>
      <span class="end">{scale.timed ? `${count(scale.span)} s` : `cycle ${count(scale.span)}`}</span>
    </div>
  );
}

const Now = ({ scale, now }: { scale: Scale; now: Signal<number> }) => (
  <i class="event-now" style={left(scale, now.value)} />
);

// The dialog of a form whose outcome is seen while one types, and so is what is wrong.

import type { ComponentChildren } from "preact";
import { Button } from "../../kit/button.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { Hosted } from "../../kit/hosted.tsx";
import { ProblemList } from "../../kit/problems.tsx";
import { signal } from "../../kit/signals.ts";
import { announce, debounce } from "../../lib/dom.js";
import { Editor } from "../../lib/editor.js";
import type { Field, FieldProblem, Problem } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.js";
import { refusalOf, superseded } from "../../lib/socket.js";
import type { Edit } from "../edit.js";
import type { View } from "../view.js";
import { offered, RowField, type Known, type RowFieldProps, type Texts } from "./fields.tsx";
import { address, since, When } from "./when.tsx";

const ASK_AFTER = 160;
const PROBLEMS = 5;
const FOLDED = new Set(["Where they may run", "More"]); // sections that are closed until they are asked for

type Answer = { errors: FieldProblem[] };
type Place = { path?: string } & Pick<RowFieldProps, "doubt" | "id" | "disabled" | "wide">;

/** One is made for each time that it is opened. */
export abstract class FormPanel<A extends Answer> {
  readonly answer = signal<A | null>(null);
  readonly typed = signal<Texts>({}); // by field
  readonly wrong = signal<Texts>({}); // at a field, by its path
  readonly said = signal<ComponentChildren>(null); // of no field
  readonly known = signal<Known>({});
  box!: HTMLDialogElement;
  protected readonly kind: string = "form";
  protected pressed = false;
  #asked = 0;
  protected readonly draft = debounce(() => this.ask(), ASK_AFTER);

  abstract readonly heading: string;
  /** What is filled in, the buttons, and beside them how it stands and what it does. */
  abstract readonly Fields: () => ComponentChildren;
  abstract readonly Buttons: () => ComponentChildren;
  abstract readonly Shown: () => ComponentChildren;
  readonly State = (): ComponentChildren => null;

  /** The fields by the paths that problems have. */
  abstract paths(): Set<string>;
  abstract request(): Promise<A>;
  abstract apply(): unknown;

  protected build(title: string) {
    const submit = (event: Event) => {
      event.preventDefault();
      void this.submit();
    };
    const { kind, heading, Fields, Buttons, State, Shown, said } = this;
    const Problems = () => (
      <div class="edit-problems" role="alert">
        {said.value}
      </div>
    );
    this.box = openDialog(title, (close) => (
      <div class={`${kind}-body`}>
        <form
          class={kind === "form" ? "form-fields" : `${kind}-form`}
          noValidate
          onSubmit={submit}
          onInput={this.draft}
          onChange={this.draft}
        >
          <Fields />
          <Problems />
          <div class="edit-bar">
            <Buttons />
            <Button look="quiet" act={close}>
              Cancel
            </Button>
            <kbd>Ctrl Enter</kbd>
          </div>
        </form>
        <section class={`${kind}-preview`} aria-label={heading}>
          <div class={`${kind}-preview-head`}>
            <h3>{heading}</h3>
            <State />
          </div>
          <Shown />
        </section>
      </div>
    ));
    this.box.classList.add("edit-panel", `${kind}-panel`);
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
    });
    this.box.addEventListener("close", () => {
      this.draft.cancel();
      this.#asked += 1;
    });
  }

  /** A field of a form; `typed` holds its value by its name. */
  field(row: Field, { path = row.name, ...more }: Place = {}, typed = this.typed) {
    return (
      <RowField
        key={row.name}
        {...{ row, path, ...more }}
        known={this.known.value}
        error={this.wrong.value[path]}
        value={typed.value[row.name] ?? ""}
        onInput={(text) => (typed.value = { ...typed.value, [row.name]: text })}
      />
    );
  }

  at<E extends HTMLElement = HTMLInputElement>(path: string) {
    return this.box.querySelector<E>(`[data-field="${path}"]`);
  }

  /** Whether the server has told what the fields do; only the newest answer is shown. */
  async ask() {
    const turn = ++this.#asked;
    try {
      const answer = await this.request();
      if (turn === this.#asked) this.show(answer);
    } catch (error) {
      if (turn !== this.#asked || superseded(error)) return true;
      this.say([refusalOf(error)]);
      return false;
    }
    return true;
  }

  /** Show an answer: what is wrong stands at its field. */
  protected show(answer: A) {
    const paths = this.paths();
    const wrong: Texts = {};
    for (const { field, message } of answer.errors)
      if (paths.has(field) && !this.quiet(field)) wrong[field] ??= message;
    this.answer.value = answer;
    this.wrong.value = wrong;
    this.say(answer.errors.filter(({ field }) => !paths.has(field)));
  }

  /** Whether a field is not begun, and so not wrong. */
  protected quiet(_path: string) {
    return false;
  }

  say(problems: { message: string }[]) {
    this.said.value = problems.map(({ message }) => <p class="stale-text">{message}</p>);
  }

  /** Apply the form, unless its latest check failed; show here what the server then refuses. */
  async submit(apply = () => this.apply()) {
    if (this.box.ariaBusy) return;
    this.box.ariaBusy = "true"; // also while it is asked: Enter may be pressed twice
    this.pressed = true;
    this.draft.cancel();
    try {
      if (!(await this.ask()) || !this.answer.value || this.refused(this.answer.value)) return;
      await apply();
    } catch (error) {
      const { body, message } = refusalOf(error);
      this.rejected(body?.errors ?? [{ message } as Problem]);
      this.box.querySelector(".edit-problems")?.scrollIntoView({ block: "nearest" });
    } finally {
      this.box.ariaBusy = null;
    }
  }

  protected rejected(problems: Problem[]) {
    this.say(problems.slice(0, PROBLEMS));
  }

  /** Whether nothing can be applied; then the first field that something is wrong with has the focus. */
  protected refused({ errors }: A): boolean {
    if (!errors.length) return false;
    const paths = this.paths();
    const input = this.at(errors.find(({ field }) => paths.has(field))?.field ?? "");
    for (let at = input?.closest("details"); at; at = at.parentElement?.closest("details")) at.open = true;
    input?.focus();
    announce(this.refusal(errors));
    return true;
  }

  protected refusal(errors: { message: string }[]) {
    return `Nothing was added: ${plural(errors.length, "error")}.`;
  }
}

/** A form that adds documents, which are previewed. */
export abstract class DocumentPanel<
  A extends Answer & { documents: string; notes: string[]; doubts?: FieldProblem[] },
> extends FormPanel<A> {
  readonly heading = "What it adds";
  readonly index: number;
  readonly step = signal("");
  readonly stands = signal("");
  #step = ""; // the one on screen
  readonly preview = new Editor({ label: "YAML that is added", readOnly: true });

  constructor(
    readonly view: View,
    readonly edit: Edit,
  ) {
    super();
    this.index = view.playback.wantedCycle;
  }

  abstract readonly rows: readonly Field[];

  /** The fields without a section have no heading; a section that most do not need is folded. */
  readonly Fields = () => (
    <>
      <When index={this.index} step={this.#step} chosen={this.step} />
      {[...new Set(this.rows.map(({ section }) => section))].map((heading) => {
        const rows = this.rows.filter(({ section }) => section === heading);
        const grid = <div class={`${this.kind}-grid`}>{rows.map((row) => this.field(row))}</div>;
        if (!heading) return grid;
        return FOLDED.has(heading) ? (
          <details class="form-more">
            <summary>{heading}</summary>
            {grid}
          </details>
        ) : (
          <fieldset>
            <legend>{heading}</legend>
            {grid}
          </fieldset>
        );
      })}
    </>
  );

  readonly Buttons = () => (
    <Button type="submit" look="primary" icon="check" data-add>
      Add
    </Button>
  );

  readonly State = () => (
    <span class="dim fine" role="status">
      {this.stands.value}
    </span>
  );

  readonly Shown = () => (
    <>
      <Hosted element={this.preview.element} />
      <ul class={`${this.kind}-notes fine`}>
        {this.notes().map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </>
  );

  /** Open it, with the name to be typed over. */
  protected async openAs(title: string) {
    this.#step = await address(this.view.playback, this.index);
    this.build(title);
    this.at("name")?.focus();
    this.at("name")?.select();
    void this.preview.enrich();
  }

  protected notes() {
    return this.answer.value?.notes ?? [];
  }

  /** What the server is asked. */
  protected get asked() {
    const step = this.step.value;
    return { source: this.view.playback.source, fields: this.typed.value, ...(step ? { step } : {}) };
  }

  paths() {
    return new Set(this.rows.map(({ name }) => name));
  }

  protected quiet(path: string) {
    return !this.pressed && !this.typed.value[path] && (path === "name" || path === "selector");
  }

  protected know(known: Known) {
    this.known.value = known;
    this.typed.value = offered(this.rows, this.typed.value, known);
  }

  protected show(answer: A) {
    super.show(answer);
    const { documents, errors } = answer;
    // The last valid preview stays in view until the errors are fixed.
    if (documents && this.preview.value !== documents) this.preview.value = documents;
    this.preview.element.classList.toggle("old", !documents);
    this.stands.value = !errors.length
      ? plural(documents.split(/^---$/m).length, "document")
      : errors.every(({ field }) => this.quiet(field))
        ? "once the required fields are set"
        : plural(errors.length, "error");
  }

  async apply() {
    const step = this.step.value;
    const { documents, doubts = [] } = this.answer.value as A;
    const { words, cost } = await this.edit.operate({ documents, ...(step ? { step } : {}) }, "bundle.add");
    const notes = doubts.map(({ message }) => ` ${message}`).join("");
    this.edit.added(this.box, `${since(step, this.index)}: ${words}.${cost}${notes}`);
  }

  protected rejected(errors: Problem[]) {
    this.preview.mark(errors);
    this.said.value = (
      <>
        <p class="stale-text">{this.refusal(errors)}</p>
        <ProblemList problems={errors} kind="error" editor={this.preview} />
      </>
    );
  }
}

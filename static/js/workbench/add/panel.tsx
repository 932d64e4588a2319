// The dialog of a form whose outcome is seen while one types, and so is what is wrong.

import type { ComponentChildren } from "preact";
import { Button } from "../../kit/button.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { Hosted } from "../../kit/hosted.tsx";
import { ProblemList } from "../../kit/problems.tsx";
import { signal } from "../../kit/signals.ts";
import { announce, debounce } from "../../lib/dom.ts";
import { Editor } from "../../editor/editor.ts";
import type { Field, FieldProblem, Problem } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import type { Edit } from "../edit/edit.ts";
import type { View } from "../view/view.ts";
import { offered, RowField, type Known, type Place, type Texts } from "./fields.tsx";
import { Since, When } from "../edit/when.tsx";

const ASK_AFTER = 160;
const FORM = "edit-form"; // its buttons stand outside of it
const PROBLEMS = 5;
const FOLDED = new Set(["Where they may run", "More"]); // sections that are closed until they are asked for

type Answer = { errors: FieldProblem[] };

/** One is made for each time that it is opened. */
export abstract class FormPanel<A extends Answer> {
  readonly answer = signal<A | null>(null);
  readonly typed = signal<Texts>({}); // by field
  readonly wrong = signal<Texts>({}); // at a field, by its path
  readonly said = signal<ComponentChildren>(null); // of no field
  readonly known = signal<Known>({});
  readonly stands = signal(""); // the outcome
  box!: HTMLDialogElement;
  protected readonly kind: string = "form";
  protected readonly done: string = "added";
  protected pressed = false;
  #asked = 0;
  protected readonly draft = debounce(() => this.ask(), ASK_AFTER);

  abstract readonly heading: string;
  /** What is filled in, and what it does. */
  abstract readonly Fields: () => ComponentChildren;
  abstract readonly Shown: () => ComponentChildren;
  abstract request(): Promise<A>;
  abstract apply(): unknown;

  readonly Buttons = (): ComponentChildren => (
    <Button type="submit" form={FORM} look="primary" icon="check">
      {this.label()}
    </Button>
  );

  protected label() {
    return "Add";
  }

  protected build(title: string) {
    const submit = (event: Event) => {
      event.preventDefault();
      void this.submit();
    };
    const { kind, heading, Fields, Buttons, Shown } = this;
    this.box = openDialog(title, (close) => (
      <>
        <div class={`${kind}-body`}>
          <form
            id={FORM}
            class={kind === "form" ? "form-fields" : `${kind}-form`}
            noValidate
            onSubmit={submit}
            onInput={this.draft}
            onChange={this.draft}
          >
            <Fields />
          </form>
          <section class={`${kind}-preview`} aria-label={heading}>
            <div class={`${kind}-preview-head`}>
              <h3>{heading}</h3>
              <span class="dim fine" role="status">
                {this.stands}
              </span>
            </div>
            <Shown />
          </section>
        </div>
        <div class="edit-foot">
          <div class="edit-problems" role="alert">
            {this.said}
          </div>
          <div class="edit-bar">
            <Buttons />
            <Button look="quiet" act={close}>
              Cancel
            </Button>
            <kbd>Ctrl Enter</kbd>
          </div>
        </div>
      </>
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
  field(row: Field, place: Partial<Place> = {}, typed = this.typed) {
    const { path = row.name } = place;
    const [known, error, value = ""] = [this.known.value, this.wrong.value[path], typed.value[row.name]];
    const onInput = (text: string) => (typed.value = { ...typed.value, [row.name]: text });
    return <RowField key={row.name} {...{ row, known, error, value, onInput, ...place, path }} />;
  }

  at(path: string) {
    return this.box.querySelector<HTMLInputElement>(`[data-field="${CSS.escape(path)}"]`);
  }

  /** Whether the server has answered what the fields do; only the newest answer is shown. */
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
    const wrong: Texts = {};
    for (const { field, message } of answer.errors) if (!this.quiet(field)) wrong[field] ??= message;
    this.answer.value = answer;
    this.wrong.value = wrong;
    this.say(answer.errors.filter(({ field }) => !this.at(field)));
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
    const input = errors.map(({ field }) => this.at(field)).find(Boolean);
    for (let at = input?.closest("details"); at; at = at.parentElement?.closest("details")) at.open = true;
    input?.focus();
    if (errors.length) announce(this.nothing(errors));
    return errors.length > 0;
  }

  protected nothing(errors: unknown[]) {
    return `Nothing was ${this.done}: ${plural(errors.length, "error")}.`;
  }
}

/** A form that adds documents, which are previewed. */
export abstract class DocumentPanel<
  A extends Answer & { documents: string; notes: string[]; doubts?: FieldProblem[] },
> extends FormPanel<A> {
  readonly heading = "What it adds";
  readonly since: Since;
  readonly preview = new Editor({ label: "YAML that is added", readOnly: true });

  constructor(
    readonly view: View,
    readonly edit: Edit,
  ) {
    super();
    this.since = new Since(view.playback);
  }

  abstract readonly rows: readonly Field[];

  /** The fields without a section have no heading; a section that most do not need is folded. */
  readonly Fields = () => (
    <>
      <When since={this.since} legend="When it is created" alone="It exists from the start." />
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
    await this.since.find();
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
    return { source: this.view.playback.source, fields: this.typed.value, ...this.since.wish };
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
    const { documents, doubts = [] } = this.answer.value as A;
    const { words, cost } = await this.edit.operate({ documents, ...this.since.wish }, "bundle.add");
    const notes = doubts.map(({ message }) => ` ${message}`).join("");
    this.edit.added(this.box, `${this.since.words()}: ${words}.${cost}${notes}`);
  }

  protected rejected(errors: Problem[]) {
    this.preview.mark(errors);
    this.said.value = (
      <>
        <p class="stale-text">{this.nothing(errors)}</p>
        <ProblemList problems={errors} kind="error" editor={this.preview} />
      </>
    );
  }
}

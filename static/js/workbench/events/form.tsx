// Add an event: what happens, to what, and when; errors are shown at their fields.

import { Button } from "../../kit/button.tsx";
import { Field, TextField } from "../../kit/field.tsx";
import { Hosted } from "../../kit/hosted.tsx";
import { ProblemList } from "../../kit/problems.tsx";
import { signal } from "../../kit/signals.ts";
import { announce } from "../../lib/dom.ts";
import { Editor } from "../../editor/editor.ts";
import type { Problem } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { TEMPLATES } from "../edit/templates.ts";
import type { Edit, Rewriting } from "../edit/edit.ts";
import { capital } from "../playback/terms.ts";
import { asSentence, wishOf } from "../verbs/dialog.tsx";
import type { View } from "../view/view.ts";
import { kindsFor, targetOf, type EventKind } from "./kinds.ts";
import { Moment, MomentFields, type When } from "../edit/moment.tsx";
import { eventPanel } from "../edit/eventpanel.tsx";

/** What is wrong: at a field, or of none and perhaps in the YAML. */
type Wrong = { field: string; text: string; errors?: Problem[] | undefined };

const FIRST = "cordon";
const NOTHING: Wrong = { field: "", text: "" };

export class EventForm {
  #kinds = new Map<string, EventKind>();
  #box: HTMLDialogElement | null = null;
  #editor: Editor | null = null;
  readonly #what = signal(FIRST);
  readonly #typed = signal<Record<string, string>>({}); // by field
  readonly #known = signal<string[]>([]); // that it can be about
  readonly #wrong = signal<Wrong>(NOTHING);

  constructor(
    readonly view: View,
    readonly edit: Edit,
  ) {}

  open() {
    this.view.actions.hold();
    this.#kinds = kindsFor(this.view);
    void this.#choose(FIRST);
    const moment = new Moment(this.view.playback);
    const box = eventPanel(
      "Add an event",
      () => this.#add(box, moment),
      (close) => <this.Content moment={moment} close={close} />,
    );
    this.#box = box;
    this.#focus("what");
  }

  get #kind() {
    return this.#kinds.get(this.#what.value) as EventKind;
  }

  #focus(field: string) {
    this.#box?.querySelector<HTMLElement>(`[data-field=${field}]`)?.focus();
  }

  #refuse(field: string, text: string) {
    this.#wrong.value = { field, text };
    this.#focus(field);
  }

  /** Show the fields of what was chosen. */
  async #choose(what: string) {
    this.#wrong.value = NOTHING;
    this.#what.value = what;
    const { about, fields = [], create } = this.#kind;
    this.#typed.value = {
      ...Object.fromEntries(fields.map(([name, , , , , value = ""]) => [name, value])),
      ...(about ? { target: about.selected?.(this.view) ?? "" } : {}),
    };
    this.#editor = create ? new Editor({ label: `${create} as YAML`, beside: () => this.edit.options.text() }) : null;
    if (this.#editor) this.#editor.value = TEMPLATES[create as keyof typeof TEMPLATES];
    void this.#editor?.enrich();
    this.#known.value = [];
    const known = about ? await about.known(this.view) : [];
    if (this.#what.value === what) this.#known.value = known;
  }

  /** A field of text: what it is about, or what it needs. */
  #field(name: string, label: string, placeholder: string, known: string[]) {
    const { field, text } = this.#wrong.value;
    return (
      <TextField
        key={name}
        name={name}
        label={label}
        placeholder={placeholder}
        known={known}
        value={this.#typed.value[name] ?? ""}
        onInput={(value) => (this.#typed.value = { ...this.#typed.value, [name]: value })}
        error={field === name ? text : ""}
      />
    );
  }

  readonly Content = ({ moment, close }: { moment: Moment; close: () => void }) => {
    const { verb, about, fields = [] } = this.#kind;
    const kinds = [...this.#kinds];
    const { field, text, errors } = this.#wrong.value;
    return (
      <>
        <div class="form-grid">
          <Field
            label="What happens"
            hint={verb ? `${capital(verb.help)}.` : ""}
            wide
            control={(its) => (
              <select
                {...its}
                class="field"
                data-field="what"
                value={this.#what.value}
                onChange={(event) => void this.#choose(event.currentTarget.value)}
              >
                {[...new Set(kinds.map(([, { group }]) => group))].map((label) => (
                  <optgroup label={label}>
                    {kinds
                      .filter(([, { group }]) => group === label)
                      .map(([name, { title }]) => (
                        <option value={name}>{title}</option>
                      ))}
                  </optgroup>
                ))}
              </select>
            )}
          />
        </div>
        <div class="event-rest" key={this.#what.value}>
          {about || fields.length ? (
            <div class="form-grid">
              {about ? this.#field("target", about.label, about.placeholder, this.#known.value) : null}
              {fields.map(([name, label, placeholder, known]) => this.#field(name, label, placeholder, known))}
            </div>
          ) : null}
          {this.#editor ? <Hosted element={this.#editor.element} /> : null}
        </div>
        <MomentFields moment={moment} />
        <div class="edit-problems" role="alert">
          {text && !field ? (
            <>
              <p class="stale-text">{`Nothing was added: ${plural(errors?.length ?? 1, "error")}.`}</p>
              {this.#editor && errors ? (
                <ProblemList problems={errors} kind="error" editor={this.#editor} />
              ) : (
                <p class="stale-text">{text}</p>
              )}
            </>
          ) : null}
        </div>
        <div class="edit-bar">
          <Button type="submit" look="primary" icon="check">
            Add the event
          </Button>
          <Button look="quiet" act={close}>
            Cancel
          </Button>
          <kbd>Ctrl Enter</kbd>
        </div>
      </>
    );
  };

  async #add(box: HTMLDialogElement, moment: Moment) {
    if (box.ariaBusy) return;
    this.#wrong.value = NOTHING;
    const kind = this.#kind;
    const typed = this.#typed.value;
    const target = typed.target?.trim() ?? "";
    if (kind.about && !target) {
      const { kind: one } = kind.about;
      return this.#refuse("target", `Choose ${one ? `a ${one.toLowerCase()}` : "an object"}.`);
    }
    const empty = kind.fields?.find(([name, , , , optional]) => !optional && !typed[name]);
    if (empty) return this.#refuse(empty[0], "This is needed.");
    box.ariaBusy = "true"; // also while the moment is read: Enter may be pressed twice
    try {
      const when = await moment.read();
      if (!when) return;
      if (kind.yaml) {
        box.close();
        this.view.playback.goto(when.index);
        this.view.actions.edit({ target });
        return;
      }
      const { words = "" } = await this.edit.operate(...(await this.#wish(kind, target, when)));
      box.close();
      this.edit.notify(`${capital(words)}.`);
    } catch (error) {
      this.#failed(error, moment);
    } finally {
      box.ariaBusy = null;
    }
  }

  /**
   * What the server is asked, by which command: of a common change, how the object stands at that moment, and how it
   * shall.
   */
  async #wish(kind: EventKind, typed: string, when: When): Promise<[wish: object, command: Rewriting]> {
    const { socket, source } = this.view.playback;
    const { index, ...moment } = when;
    const { key = "", value = "" } = this.#typed.value;
    if (kind.verb)
      return [wishOf(this.view, kind.verb, { targets: [typed], kind: "", label: "" }, when, value), "bundle.verb"];
    if (!kind.about) return [{ action: "create", object: this.#editor?.value, ...moment }, "bundle.operate"];
    const target = targetOf(kind.about, typed);
    const found = await socket.call("object.get", { source, target, step: String(index) });
    const known = { target, base: found.yaml, step: found.step, ...moment };
    if (kind.remove) return [{ action: "delete", ...known }, "bundle.operate"];
    const { object } = await socket.call("object.revise", {
      object: found.yaml,
      what: kind.revise as string,
      key,
      value,
    });
    return [{ action: "patch", object, ...known }, "bundle.operate"];
  }

  /** Say it at the field that it is about. */
  #failed(error: unknown, moment: Moment) {
    const { message, code, body: { field, errors } = {} } = refusalOf(error);
    const text = asSentence(errors?.[0]?.message ?? message);
    const { about, fields = [] } = this.#kind;
    const names = fields.map(([name]) => name);
    if (field === "step" || field === "seconds") moment.showError(text);
    else if ((code === "object.not-found" || field === "target") && about) this.#refuse("target", text);
    else if (field === "value" && names.length) {
      const first = names.includes("key") && !/quantity|replicas|condition/i.test(text);
      this.#refuse(names.at(first ? 0 : -1) as string, text);
    } else {
      if (this.#editor && errors) this.#editor.mark(errors);
      this.#wrong.value = { field: "", text, errors };
    }
    announce(`Nothing was added. ${text}`);
  }
}

// The policy as text beside its controls: what is typed is checked as it is typed, its errors are shown on their line,
// and the controls follow it.

import { render } from "preact";
import { useRef } from "preact/hooks";
import { announce, debounce } from "../../lib/dom.ts";
import { Editor } from "../../editor/editor.ts";
import type { OtherForm, PolicyDocument, Problem } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import { Hosted } from "../../kit/hosted.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Problems } from "../../kit/problems.tsx";

const CHECK_AFTER = 250;
const PLACEHOLDER = `Nothing is configured:
the defaults run,
as shown below.

Write a Policy or a
KubeSchedulerConfiguration,
or use the controls.`;

/** What is known of a text: the answer about it, or what refused it. */
type Known = { text?: string; errors: Problem[]; warnings: Problem[]; profile?: PolicyDocument["profile"] };

type Options = {
  check: (text: string) => Promise<PolicyDocument>;
  /** Put a text in force that was typed over `based`. */
  apply: (text: string, based?: string) => Promise<void>;
  /** The draft's text that is shown. */
  seen: () => Promise<string>;
  changed: () => void;
  /** The text of what runs by default. */
  unwritten: () => string;
};

type Versions = readonly (readonly [name: string, releases: string])[];

/** The same in the other form, and what is lost by it. */
type Other = {
  other: OtherForm;
  editable: boolean;
  /** Write it as a kind, in a version; "" is the one that loses least. */
  turn: (kind: string, version: string) => void;
  versions: Versions;
};

export class PolicyText {
  #shown = ""; // what is in force
  #based: Promise<string> | null = null; // the draft's text over which the policy was typed
  #editable = false;
  #applying = false;
  #marked: Known = { errors: [], warnings: [] };
  #other: Other | null = null;
  #unwritten = ""; // what nothing written amounts to, once it was asked for
  known: PolicyDocument | null = null; // the answer about what is typed, if it differs from what is in force
  element = document.createElement("details");
  editor = new Editor({ label: "Policy as YAML", placeholder: PLACEHOLDER, onInput: () => this.#typed() });
  check = debounce(() => void this.#check(), CHECK_AFTER);

  constructor(private options: Options) {
    this.element.addEventListener("toggle", () => {
      if (this.element.open) void this.editor.enrich();
      this.#draw();
    });
    this.editor.element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      void this.apply();
    });
    this.#draw();
  }

  get text() {
    return this.editor.value;
  }

  get dirty() {
    return this.text !== this.#shown;
  }

  /** Whether what is typed cannot be used, or is not known to be. */
  get wrong() {
    return this.dirty && !(this.known && this.known.text === this.text && !this.known.errors.length);
  }

  get #appliable() {
    return this.dirty && !this.wrong && !this.#applying && Boolean(this.text.trim());
  }

  /** Show what is in force, and that in the other form; what is typed and not applied stays. */
  show(answer: PolicyDocument, editable: boolean, other: Other | null) {
    const typed = this.dirty;
    if (answer.text !== this.#shown) {
      this.#shown = answer.text;
      if (!typed) {
        this.editor.value = answer.text;
        this.known = null;
      }
    }
    if (!this.dirty) this.#based = null;
    this.editor.readOnly = !editable;
    this.#editable = editable;
    this.#other = other;
    this.#mark(this.known ?? answer);
  }

  /** Put in what a control made of what is typed. */
  async take(text: string) {
    this.#begin();
    this.editor.value = text;
    await this.#check();
  }

  /** Something is typed over what is shown: another tab may change that before it is applied. */
  #begin() {
    this.#based ??= this.options.seen();
    this.#based.catch(() => {}); // reported where it is applied
  }

  #typed() {
    this.#begin();
    this.#draw();
    if (this.dirty) this.check();
    else this.#discard();
  }

  #discard() {
    this.check.cancel();
    this.editor.value = this.#shown;
    this.#based = null;
    this.known = null;
    this.#mark({ errors: [], warnings: [] });
    this.options.changed();
  }

  async #check() {
    const { text } = this;
    try {
      const answer = await this.options.check(text);
      if (text !== this.text) return;
      this.known = this.dirty ? answer : null;
      this.#mark(answer);
    } catch (error) {
      if (superseded(error) || text !== this.text) return;
      this.#mark({ errors: [{ message: refusalOf(error).message }], warnings: [] });
    }
    this.options.changed();
  }

  #mark(marked: Known) {
    this.#marked = marked;
    this.editor.mark(marked.errors, marked.warnings);
    this.#draw();
  }

  /** Put what is typed in force. */
  async apply() {
    if (!this.#appliable) return;
    this.#applying = true;
    this.#draw();
    try {
      const { text } = this;
      await this.options.apply(text, (await this.#based) ?? undefined);
      this.#shown = text;
      this.#based = null;
      this.known = null;
    } catch (error) {
      const { message, body } = refusalOf(error);
      const errors = (body?.errors as Problem[] | undefined) ?? [{ message }];
      this.#mark({ errors, warnings: [] });
      announce(`${plural(errors.length, "error")}. Nothing was applied.`);
      if (errors[0]?.line) this.editor.jump(errors[0].line);
    } finally {
      this.#applying = false;
      this.#draw();
    }
  }

  /** How what is typed stands to what is in force. */
  get #note() {
    if (!this.dirty) return this.#shown ? "" : "nothing written: the defaults";
    if (!this.wrong) return "not applied; the controls show and change it";
    return this.known?.errors.length ? "not applied, has errors" : "checking…";
  }

  #draw() {
    const { dirty, element, editor } = this;
    if (element.open && !this.#shown) this.#unwritten ||= this.options.unwritten();
    const unwritten = this.#shown || dirty ? "" : this.#unwritten;
    element.className = ["policy-part policy-text", dirty && "typed", unwritten && "unwritten"]
      .filter(Boolean)
      .join(" ");
    render(
      <>
        <summary data-control="text">
          <b>As text</b> <span class="dim">{this.#note}</span>
        </summary>
        <div class="policy-text-body">
          <div class="yaml-bar" hidden={!this.#editable}>
            <button
              type="button"
              class="btn primary small"
              disabled={!this.#appliable}
              onClick={() => void this.apply()}
            >
              <Icon name="check" />
              Apply the text
            </button>
            <button type="button" class="btn quiet small" hidden={!dirty} onClick={() => this.#discard()}>
              Discard
            </button>
            <span class="grow" />
            <kbd>Ctrl Enter</kbd>
          </div>
          <Hosted element={editor.element} />
          <pre
            class="policy-pre dim"
            tabIndex={0}
            hidden={!unwritten}
            aria-label="The defaults as text, which is not written"
          >
            {unwritten}
          </pre>
          <div class="edit-problems" role="status">
            <Problems errors={this.#marked.errors} warnings={this.#marked.warnings} editor={editor} />
          </div>
          <div class="policy-other">{this.#other ? <AsOther {...this.#other} /> : null}</div>
        </div>
      </>,
      element,
    );
  }
}

function AsOther({ other, editable, turn, versions }: Other) {
  const version = useRef<HTMLSelectElement>(null);
  const { kind, text, lost, notes } = other;
  const toConfiguration = kind !== "Policy";
  return (
    <>
      <div class="policy-turn">
        <button
          type="button"
          class="btn small"
          disabled={!editable}
          data-control="turn"
          onClick={() => turn(kind, version.current?.value ?? "")}
        >
          Write it as a {kind}
        </button>
        {toConfiguration && editable ? (
          <select ref={version} class="field" aria-label="Version" data-control="version">
            <option value="">that loses least</option>
            {versions.map(([name, releases]) => (
              <option key={name} value={name}>
                {name} (Kubernetes {releases})
              </option>
            ))}
          </select>
        ) : null}
      </div>
      {toConfiguration ? (
        <p class="dim fine">It then runs in virtual time, with the framework’s queue and scores.</p>
      ) : null}
      <details>
        <summary data-control="other">Converted to a {kind}</summary>
        <pre class="policy-pre" tabIndex={0} aria-label={`As a ${kind}`}>
          {text}
        </pre>
      </details>
      {lost.length ? (
        <div class="note warning">
          <Icon name="warn" />
          <div>
            <p>What a {kind} cannot say:</p>
            <Lines texts={lost} />
          </div>
        </div>
      ) : (
        <p class="dim fine">The conversion loses nothing.</p>
      )}
      {notes.length ? <Lines texts={notes} look="dim fine" /> : null}
    </>
  );
}

const Lines = ({ texts, look = "" }: { texts: string[]; look?: string }) => (
  <ul class={`plain-list ${look}`.trim()}>
    {texts.map((text, at) => (
      <li key={at}>{text}</li>
    ))}
  </ul>
);

// The YAML editor: CodeMirror with podstep's look, keys and marks. `lib/editor.ts` loads it when a text is first looked
// at.

import { $ } from "../lib/dom.ts";
import { cameByTab } from "../lib/tabbed.ts";
import {
  Compartment,
  EditorState,
  EditorView,
  Prec,
  Transaction,
  acceptCompletion,
  autocompletion,
  bracketMatching,
  closeBrackets,
  closeBracketsKeymap,
  codeFolding,
  completionKeymap,
  defaultKeymap,
  drawSelection,
  dropCursor,
  foldGutter,
  foldKeymap,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSelectionMatches,
  highlightSpecialChars,
  history,
  historyKeymap,
  indentLess,
  indentMore,
  indentOnInput,
  indentUnit,
  keymap,
  lineNumbers,
  lintGutter,
  nextDiagnostic,
  placeholder as placeholderText,
  search,
  searchKeymap,
  setDiagnostics,
  yaml,
} from "../../vendor/codemirror.js";
import { complete } from "./complete.ts";
import { enter, enterTyped } from "./enter.ts";
import { help } from "./help.ts";
import { diagnostics } from "./problems.ts";
import { loadSchema, within } from "./schema.ts";
import { scalars } from "./scalars.ts";
import { changesBetween } from "./smallest.ts";
import { theme } from "./theme.ts";
import type { Command } from "@codemirror/view";
import type { EditorOptions } from "./options.ts";
import type { Problem } from "../lib/protocol.js";
import type { Offer } from "./complete.ts";
import type { Knows } from "./schema.ts";

const MOST_COMPARED = 8_000_000; // characters; beyond, a changed text replaces the previous one whole

// Ctrl Enter belongs to the page. F1 is bound with the help.
const KEYS = [
  ...closeBracketsKeymap,
  ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"),
  ...searchKeymap,
  ...historyKeymap,
  ...foldKeymap,
  ...completionKeymap,
  { key: "F8", run: nextDiagnostic },
];

const NONCE = $('meta[name="style-nonce"]')?.nonce ?? "";

export class Code {
  readOnly: boolean;
  label: {
    "aria-describedby"?: string | undefined;
    "aria-label": string;
    tabindex: string;
    spellcheck: string;
    autocorrect: string;
    autocapitalize: string;
  };
  knows: Knows;
  view: EditorView;
  dom: HTMLElement;
  #attributes = new Compartment();
  #mode = new Compartment(); // what only a text that can be changed has
  // Escapes since the last other key: after one, Tab leaves the editor, however long that takes. 0 until then, so that
  // Tab indents; a visitor who moves through the page by Tab passes through its editors too.
  #escapes = 0;
  #invalid: boolean | null = null;

  /**
   * `context` is what the text is part of: "operation" of a Scenario, otherwise whole documents. `beside()` returns the
   * text whose names may be used.
   */
  constructor({
    text,
    label,
    placeholder,
    readOnly,
    describedBy,
    context,
    beside,
    onInput,
  }: EditorOptions & { text: string }) {
    this.readOnly = Boolean(readOnly);
    this.label = {
      "aria-label": label,
      tabindex: "0",
      spellcheck: "false",
      autocorrect: "off",
      autocapitalize: "off",
      ...(describedBy ? { "aria-describedby": describedBy } : {}),
    };
    this.knows = within(loadSchema(), context ?? "");
    const { knows } = this;
    Promise.resolve(beside?.()).then(
      (whole) => {
        knows.beside = whole ?? "";
      },
      () => {
        /* its own names, then */
      },
    );
    this.view = new EditorView({
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.domEventHandlers({
            focus: () => {
              this.#escapes = cameByTab() ? 1 : 0;
            },
            mousedown: () => {
              this.#escapes = 0;
            },
            keydown: ({ key }) => {
              if (!["Tab", "Shift"].includes(key)) this.#escapes = key === "Escape" ? this.#escapes + 1 : 0;
            },
          }),
          EditorView.cspNonce.of(NONCE), // it writes its rules into a <style>
          lineNumbers(),
          lintGutter(),
          foldGutter({ markerDOM: foldMarker }),
          codeFolding(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSpecialChars(),
          history(),
          drawSelection(),
          dropCursor(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightSelectionMatches({ minSelectionLength: 2 }),
          indentUnit.of("  "),
          EditorState.tabSize.of(2),
          yaml(),
          scalars,
          search({ top: true }),
          theme,
          Prec.highest(keymap.of([{ key: "Enter", run: enterTyped }])), // before the completion's own
          this.#mode.of(this.#modeOf()),
          help(knows),
          keymap.of([{ key: "Enter", run: enter }, ...KEYS, { key: "Escape", run: () => this.#escape() }]),
          placeholder ? placeholderText(placeholder) : [],
          this.#attributes.of(this.#attributesOf()),
          EditorView.updateListener.of((update) => {
            if (
              update.docChanged
              && update.transactions.some((one) => one.docChanged && !one.annotation(Transaction.remote))
            )
              onInput?.();
          }),
        ],
      }),
    });
    this.dom = this.view.dom;
    // A list of problems that comes below takes room: the cursor stays in view.
    new ResizeObserver(() => {
      if (this.view.hasFocus)
        this.view.dispatch({ effects: EditorView.scrollIntoView(this.view.state.selection.main.head) });
    }).observe(this.dom);
  }

  #modeOf() {
    if (this.readOnly) return EditorState.readOnly.of(true);
    return [
      autocompletion({
        override: [(context) => complete(context, this.knows)],
        icons: false,
        maxRenderedOptions: 60,
        optionClass: ({ mark }: Offer) => (mark ? `cm-field-${mark}` : ""),
      }),
      keymap.of(this.#tab()),
    ];
  }

  #attributesOf() {
    return EditorView.contentAttributes.of({
      ...this.label,
      ...(this.readOnly ? { inputmode: "none", "aria-readonly": "true" } : {}),
      ...(this.#invalid === null ? {} : { "aria-invalid": String(this.#invalid) }),
    });
  }

  setReadOnly(is: boolean) {
    this.readOnly = is;
    this.view.dispatch({
      effects: [this.#mode.reconfigure(this.#modeOf()), this.#attributes.reconfigure(this.#attributesOf())],
    });
  }

  selectAll() {
    this.view.dispatch({ selection: { anchor: 0, head: this.view.state.doc.length } });
  }

  /**
   * In a dialog the first Escape belongs to the editor, as the first half of leaving it: one key must not close the
   * dialog over what was typed.
   */
  #escape() {
    return !this.readOnly && this.#escapes === 1 && Boolean(this.view.dom.closest("dialog"));
  }

  /** Tab takes the completion that is offered, or indents; after Escape it moves on, as everywhere. */
  #tab() {
    const unless = (run: Command) => (view: EditorView) => !this.#escapes && run(view);
    return [
      { key: "Tab", run: unless(acceptCompletion) },
      { key: "Tab", run: unless(indentMore), shift: unless(indentLess) },
    ];
  }

  get length() {
    return this.view.state.doc.length;
  }

  /** Add to the end, as what came from elsewhere. */
  append(text: string) {
    this.view.dispatch({
      changes: { from: this.length, insert: text },
      annotations: [Transaction.addToHistory.of(false), Transaction.remote.of(true)],
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  /** Make the text this one; what stays keeps its place and the cursor. `undoable`: by the editor's own undo. */
  become(text: string, undoable = false) {
    const before = this.text;
    if (before === text) return;
    const changes =
      before.length + text.length > MOST_COMPARED
        ? [{ from: 0, to: before.length, insert: text }]
        : changesBetween(before, text);
    this.view.dispatch({ changes, annotations: [Transaction.addToHistory.of(undoable), Transaction.remote.of(true)] });
  }

  /** Mark problems on their lines. */
  mark(errors: Problem[], warnings: Problem[]) {
    const { state } = this.view;
    this.view.dispatch(setDiagnostics(state, diagnostics(state.doc, errors, warnings)));
    this.#invalid = errors.length > 0;
    this.view.dispatch({ effects: this.#attributes.reconfigure(this.#attributesOf()) });
  }

  /** Select a line, in the middle of the view; `focus`: and go there. */
  reveal(number: number, focus: boolean) {
    const { doc } = this.view.state;
    const line = doc.line(Math.max(1, Math.min(number, doc.lines)));
    this.view.dispatch({
      ...(focus ? { selection: { anchor: line.from, head: line.to } } : {}),
      effects: EditorView.scrollIntoView(line.from, { y: "center", x: "start" }),
    });
    if (focus) this.view.focus();
  }

  /**
   * Continue where another editor was: its selection, its topmost line and the focus. Only the text scrolls, the page
   * stays where it is.
   */
  resume(focused: boolean, from: number, to: number, top: number) {
    const { view } = this;
    const { doc } = view.state;
    view.dispatch({ selection: { anchor: Math.min(from, doc.length), head: Math.min(to, doc.length) } });
    const line = Math.min(top, doc.lines);
    if (line > 1)
      view.requestMeasure({
        read: () => view.lineBlockAt(doc.line(line).from).top,
        write: (offset) => {
          view.scrollDOM.scrollTop = offset;
        },
      });
    if (focused) view.focus();
  }
}

function foldMarker(open: boolean) {
  const mark = document.createElement("span");
  mark.textContent = open ? "⌄" : "›";
  mark.title = open ? "Fold" : "Unfold";
  return mark;
}

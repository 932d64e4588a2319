// A text editor: a textarea with line numbers, YAML colours for the lines in view and errors on their line. `enrich`
// puts CodeMirror in its place (code.ts), which completes and explains; where that does not load, the textarea
// stays.

import "../lib/tabbed.ts";
import { h, fill, perFrame } from "../lib/dom.ts";
import { asGiven, plain } from "../lib/lines.ts";

import type { Code } from "./code.ts";
import type { EditorOptions } from "./options.ts";
import type { Problem } from "../lib/protocol.js";

const LINE = 19;
const PAD = 10;
const READ_KEYS = [
  ["F1", "explains"],
  ["Ctrl F", "finds"],
];
const KEYS = [
  ["Esc Tab", "leaves"],
  ["Ctrl Space", "completes"],
  ["F1", "explains"],
  ["Tab", "indents"],
]; // the first ones are seen in a narrow panel too
let hints = 0;

/** Split one YAML (or JSON) line into `[class, text]` pieces. */
function pieces(line: string): [name: string, text: string][] {
  const out: [string, string][] = [];
  const match = /^(\s*(?:- )*)("?[\w./~-]+"?\s*:)(?=\s|$)(.*)$/.exec(line);
  let rest = line;
  if (match) {
    out.push(["", match[1]], ["y-key", match[2]]);
    rest = match[3];
  }
  const comment = /(^|\s)#.*$/.exec(rest);
  const value = comment ? rest.slice(0, comment.index) : rest;
  if (/^\s*(["']).*\1,?\s*$/.test(value)) out.push(["y-str", value]);
  else if (/^\s*-?\d[\d.]*(m|[KMGTPE]i?|s)?,?\s*$/.test(value) || /^\s*(true|false|null|~),?\s*$/.test(value))
    out.push(["y-num", value]);
  else if (/^(---|\.\.\.)\s*$/.test(value)) out.push(["y-com", value]);
  else out.push(["", value]);
  if (comment) out.push(["y-com", rest.slice(comment.index)]);
  return out;
}

export class Editor {
  options: EditorOptions;
  area: HTMLTextAreaElement;
  numbers: HTMLPreElement;
  ink: HTMLPreElement;
  gutter: HTMLDivElement;
  element: HTMLDivElement;
  keys: HTMLParagraphElement;
  draw: () => void;
  #lines = [""];
  #given = ""; // what came from elsewhere last, with the line ends that no editor keeps
  #problems: Map<number, "bad" | "warn"> = new Map(); // by line
  // what was marked last, for the editor that takes the textarea's place
  #marked: [errors: Problem[], warnings: Problem[]] = [[], []];
  #code: Code | null = null;
  #coming: Promise<void> | null = null;
  #composing = false; // an input method is at work: the textarea is not taken away from under it

  /** `options`: `{label, placeholder, readOnly, describedBy, onInput()}`, and of the rich one `{context, beside()}`. */
  constructor(options: EditorOptions) {
    const { label, placeholder = "", readOnly = false, onInput, describedBy } = options;
    this.options = options;
    this.area = h("textarea", {
      "aria-label": label,
      placeholder,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      wrap: "off",
      readonly: readOnly || undefined,
      "aria-describedby": describedBy,
    });
    this.numbers = h("pre", { "aria-hidden": "true" });
    this.ink = h("pre", { "aria-hidden": "true" });
    this.gutter = h("div", { class: "gutter", "aria-hidden": "true" }, this.numbers);
    this.element = h("div", { class: "editor" }, this.gutter, h("div", { class: "paper" }, this.ink, this.area));
    this.keys = h("p", { class: "editor-keys" });
    this.draw = perFrame(() => this.#draw());
    this.area.addEventListener("input", () => {
      this.#lines = this.area.value.split("\n");
      this.#clear();
      this.draw();
      onInput?.();
    });
    this.area.addEventListener("scroll", this.draw, { passive: true });
    this.area.addEventListener("keydown", (event) => this.#key(event));
    this.area.addEventListener("compositionstart", () => {
      this.#composing = true;
    });
    this.area.addEventListener("compositionend", () => {
      this.#composing = false;
    });
    new ResizeObserver(this.draw).observe(this.element);
  }

  /** Load CodeMirror, once, and put it in the textarea's place with all that is in it. */
  enrich() {
    this.#coming ??= import("./code.ts").then(
      ({ Code }) => this.#become(Code),
      () => {
        /* the textarea stays */
      },
    );
    return this.#coming;
  }

  #become(Code: typeof import("./code.ts").Code) {
    if (this.#composing) {
      this.area.addEventListener("compositionend", () => setTimeout(() => this.#become(Code)), { once: true });
      return;
    }
    const { label, placeholder, describedBy, onInput, context, beside } = this.options;
    const { area } = this;
    const { readOnly } = area;
    const id = `editor-keys-${(hints += 1)}`;
    const focused = document.activeElement === area;
    const [from, to, top] = [area.selectionStart, area.selectionEnd, area.scrollTop];
    const code = new Code({
      text: area.value,
      label,
      placeholder,
      readOnly,
      describedBy: [describedBy, id].filter(Boolean).join(" "),
      context,
      beside,
      onInput: () => onInput?.(),
    });
    this.keys.id = id;
    this.#showKeys(readOnly);
    this.element.replaceChildren(code.dom, this.keys);
    this.element.classList.add("rich");
    this.#code = code;
    code.mark(...this.#marked);
    code.resume(focused, from, to, Math.floor(top / LINE) + 1);
  }

  #showKeys(readOnly: boolean) {
    fill(
      this.keys,
      (readOnly ? READ_KEYS : KEYS).map(([keys, does]) => h("span", null, h("kbd", { text: keys }), ` ${does} `)),
    );
  }

  focus() {
    if (this.#code) this.#code.view.focus();
    else this.area.focus({ preventScroll: true });
  }

  selectAll() {
    if (this.#code) this.#code.selectAll();
    else this.area.select();
  }

  set readOnly(is: boolean) {
    if (this.area.readOnly === is) return;
    this.area.readOnly = is;
    if (!this.#code) return;
    this.#code.setReadOnly(is);
    this.#showKeys(is);
  }

  /** How many characters there are: of a long text to ask for it costs more than to know its length. */
  get length() {
    return this.#code ? this.#code.length : this.area.value.length;
  }

  /** Add to the end of a text that comes in parts; `enrich` is done by then, and the reader may be anywhere in it. */
  append(text: string) {
    this.#code?.append(text);
  }

  /** Take a text that arrived in parts as the given one; it is set again where the parts do not add up to it. */
  came(text: string) {
    const whole = plain(text);
    if (this.#code?.length !== whole.length) {
      this.value = text;
      return;
    }
    this.#given = text;
  }

  /** The text, with the line ends that it came with wherever it was not typed over. */
  get value() {
    return asGiven(this.#given, this.#code ? this.#code.text : this.area.value);
  }

  /** Replace the text by one that came from elsewhere: what is the same keeps its place, and so does the caret. */
  set value(text: string) {
    this.#set(text, false);
  }

  /** Replace the text as if it had been typed, so that the editor's undo brings the previous one back. */
  retype(text: string) {
    this.#set(text, true);
  }

  #set(text: string, undoable: boolean) {
    this.#marked = [[], []];
    this.#given = text;
    text = plain(text);
    if (this.#code) {
      this.#code.become(text, undoable);
      this.#code.mark([], []);
      return;
    }
    this.area.value = text;
    this.#lines = this.area.value.split("\n");
    this.#clear();
    this.draw();
  }

  /** Changed text is not known to be wrong any more. */
  #clear() {
    this.#problems.clear();
    this.area.removeAttribute("aria-invalid");
  }

  /** Mark lines: `[{line}]` of errors and of warnings. */
  mark(errors: Problem[], warnings: Problem[] = []) {
    this.#marked = [errors, warnings];
    if (this.#code) {
      this.#code.mark(errors, warnings);
      return;
    }
    this.#problems.clear();
    for (const { line } of warnings) if (line) this.#problems.set(line, "warn");
    for (const { line } of errors) if (line) this.#problems.set(line, "bad");
    this.area.setAttribute("aria-invalid", errors.length > 0 ? "true" : "false");
    this.draw();
  }

  /** Put the caret on a line and bring it into view. */
  jump(line: number) {
    if (this.#code) {
      this.#code.reveal(line, true);
      return;
    }
    let from = 0;
    for (let i = 0; i < line - 1 && i < this.#lines.length; i += 1) from += this.#lines[i].length + 1;
    this.area.focus();
    this.area.setSelectionRange(from, from + (this.#lines[line - 1]?.length ?? 0));
    this.area.scrollTop = Math.max(0, (line - 1) * LINE - this.area.clientHeight / 2);
    this.area.scrollLeft = 0;
    this.draw();
  }

  /** Bring a line into view; the caret and the focus stay where they are. */
  show(line: number) {
    if (this.#code) {
      this.#code.reveal(line, false);
      return;
    }
    this.area.scrollTop = Math.max(0, (line - 1) * LINE - this.area.clientHeight / 2);
    this.draw();
  }

  #draw() {
    const { scrollTop, scrollLeft, clientHeight } = this.area;
    const first = Math.max(0, Math.floor((scrollTop - PAD) / LINE));
    const last = Math.min(this.#lines.length, first + Math.ceil(clientHeight / LINE) + 2);
    const ink = document.createDocumentFragment();
    const numbers = document.createDocumentFragment();
    const empty = this.area.value === "";
    for (let i = first; i < last; i += 1) {
      const state = this.#problems.get(i + 1) ?? "";
      const line = h("span", { class: `line ${state}` });
      for (const [name, text] of pieces(this.#lines[i].slice(0, 2000))) {
        if (!text) continue;
        line.append(name ? h("span", { class: name, text }) : text);
      }
      ink.append(line, "\n");
      numbers.append(
        state ? h("span", { class: state, text: `${state === "bad" ? "●" : "▲"} ${i + 1}` }) : String(i + 1),
        "\n",
      );
    }
    const shift = first * LINE - scrollTop;
    fill(this.ink, empty ? "" : ink);
    fill(this.numbers, numbers);
    this.ink.style.setProperty("transform", `translate(${-scrollLeft}px, ${shift}px)`);
    this.numbers.style.setProperty("transform", `translateY(${shift}px)`);
    this.gutter.style.setProperty("width", `${Math.max(38, String(this.#lines.length).length * 8 + 30)}px`);
  }

  #key(event: KeyboardEvent) {
    // Enter keeps the indentation; Tab leaves the field, as people who use the keyboard alone expect.
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || this.area.readOnly) return;
    const before = this.area.value.slice(0, this.area.selectionStart);
    const indent = /(?:^|\n)([^\S\n]*)[^\n]*$/.exec(before)?.[1];
    if (!indent) return;
    event.preventDefault();
    this.area.setRangeText(`\n${indent}`, this.area.selectionStart, this.area.selectionEnd, "end");
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

// Building and changing elements. Text goes in as text nodes only: nothing a user wrote is parsed as HTML.

export type Child = Node | string | null | undefined | false | Child[];

/** What `h` and `set` take of an element: attributes, `text`, `style`, `dataset`, and listeners by `on…`. */
export type Props<E extends Element> = {
  [K in keyof HTMLElementEventMap as `on${K}`]?: ((event: HTMLElementEventMap[K] & { target: E }) => void) | null;
} & { class?: string; text?: string | number; style?: Record<string, string> } & Record<string, unknown>;

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: `h("button", {class: "btn", onclick: f, "aria-label": "Close"}, "text", child)`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props?: Props<HTMLElementTagNameMap[K]> | null,
  ...children: Child[]
) {
  const element = document.createElement(tag);
  if (props) set(element, props);
  append(element, children);
  return element;
}

/** Set attributes, listeners (`onclick`), dataset, style (through CSSOM, as the CSP wants). */
export function set<E extends HTMLElement>(element: E, props: Props<E>) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) {
      if (value === false) element.removeAttribute(name);
      continue;
    }
    if (name === "class") element.className = String(value);
    else if (name === "text") element.textContent = String(value);
    else if (name === "style") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return element;
}

function append(element: Element, children: Child[]) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child);
  }
}

/** Replace all children. */
export function fill<E extends Element>(element: E, ...children: Child[]) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** An icon of the sprite in templates/icons.html. */
export function icon(name: string, className = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `icon ${className}`.trim());
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** A class attribute: the names given, and of the object that comes last those whose value is truthy. */
export function classes(...names: any[]) {
  const some = names.pop();
  return [...names, ...Object.keys(some).filter((name) => some[name])].join(" ");
}

/** What a selector finds, by the tag that it ends in: `"form input:checked"` an HTMLInputElement. */
export type Found<S extends string> = S extends `${string} ${infer Last}`
  ? Found<Last>
  : S extends `${infer Tag}${"[" | ":" | "." | "#"}${string}`
    ? Found<Tag>
    : S extends keyof HTMLElementTagNameMap
      ? HTMLElementTagNameMap[S]
      : HTMLElement;

/** The first element that a selector finds, which the caller knows to be there, or looks whether it is. */
export const $ = <S extends string>(selector: S, root: ParentNode = document): Found<S> =>
  root.querySelector(selector) as any;

/** All elements that a selector finds. */
export const $$ = <S extends string>(selector: S, root: ParentNode = document): Found<S>[] =>
  [...root.querySelectorAll(selector)] as any[];

/** The element that an event is about. */
export const targetOf = (event: Event) => event.target as HTMLElement;

/** The element that has the focus. */
export const focusedNow = () => document.activeElement as HTMLElement | null;

/** What draws on a canvas. */
export function penOf(canvas: HTMLCanvasElement) {
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("This browser draws on no canvas.");
  return pen;
}

/**
 * A short notice at the bottom. It is announced to screen readers, and goes when it is pressed: on a phone it covers
 * much.
 */
export function toast(text: string, { name = "check", ms = 3200 }: { name?: string; ms?: number } = {}) {
  const host = $("[data-toasts]");
  if (!host) return;
  const note = h("div", { class: "toast" }, icon(name), h("span", { text }));
  host.append(note);
  while (host.children.length > 3) host.firstElementChild?.remove();
  if (ms) {
    setTimeout(() => note.remove(), ms);
    note.classList.add("passing");
    note.addEventListener("click", (event) => {
      if (!targetOf(event).closest("button, a")) note.remove();
    });
  }
  return note;
}

const BURST = 120; // milliseconds in which the newest announcement of a kind wins
const HOLD = 1000; // that one stands before one of another kind takes its place
const queued: Map<string, string> = new Map(); // by kind, the oldest first
let standing = { kind: "", until: 0 };
let announceTimer = 0;

/**
 * Announce something to screen readers. Of one kind the newest of a burst wins: "result" for the result of an action,
 * "place" for where the visitor is, "computing" for how far the server is. Another kind waits until the one
 * before was spoken.
 */
export function announce(text: string, kind: "result" | "place" | "computing" = "result") {
  queued.set(kind, text);
  clearTimeout(announceTimer);
  announceTimer = setTimeout(announceNext, BURST);
}

function announceNext() {
  const host = $("[data-announce]");
  const first = queued.entries().next().value;
  if (!host || !first) {
    queued.clear();
    return;
  }
  const [kind, text] = first;
  const left = kind === standing.kind ? 0 : standing.until - performance.now();
  if (left > 0) {
    announceTimer = setTimeout(announceNext, left);
    return;
  }
  queued.delete(kind);
  host.textContent = text;
  standing = { kind, until: performance.now() + HOLD };
  if (queued.size) announceTimer = setTimeout(announceNext, HOLD);
}

/** Whether a key event belongs to a field that is being typed in. */
export function typing(event: Event) {
  const target = event.target;
  return (
    target instanceof HTMLElement
    && (target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select") || target.isContentEditable)
  );
}

/** Copy text; falls back to a selection where the clipboard API is refused. */
export async function copy(text: string) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "sr", "aria-hidden": "true" });
    area.value = text;
    (document.querySelector("dialog[open]") || document.body).append(area);
    area.select();
    let done;
    try {
      done = document.execCommand("copy");
    } catch {
      done = false;
    }
    area.remove();
    return done;
  }
}

/**
 * Pass the focus on to `to` if `from`, which is about to be removed, has it: otherwise it would begin at the top of the
 * page again.
 */
export function passFocus(from: Element, to: HTMLElement | SVGElement) {
  if (from.contains(document.activeElement)) to.focus({ preventScroll: true });
}

/** Run `f` at most once a frame, with the newest arguments. */
export function perFrame<A extends any[]>(f: (...args: A) => void): (...args: A) => void {
  let queued = false;
  let args: A;
  return (...next) => {
    args = next;
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      f(...args);
    });
  };
}

/** Run `f` when no call has come for `ms`. */
export function debounce<A extends any[]>(f: (...args: A) => void, ms: number) {
  let timer = 0;
  const run = (...args: A) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), ms);
  };
  run.cancel = () => clearTimeout(timer);
  return run;
}

/** A dialog with a heading and a close button; removed from the page when it closes. */
export function dialog(title: string, ...body: Child[]) {
  const id = `dialog-${Math.random().toString(36).slice(2, 8)}`;
  const element = h(
    "dialog",
    { "aria-labelledby": id },
    h(
      "div",
      { class: "dialog-head" },
      h("h2", { id, text: title }),
      h("span", { class: "grow" }),
      h(
        "button",
        { type: "button", class: "btn quiet square", "aria-label": "Close", onclick: () => element.close() },
        icon("close"),
      ),
    ),
    h("div", { class: "dialog-body" }, ...body),
  );
  element.addEventListener("close", () => element.remove());
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  });
  document.body.append(element);
  element.showModal();
  return element;
}

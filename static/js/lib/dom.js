// Building and changing elements. Text goes in as text nodes only: nothing a user wrote is parsed as HTML.

/** @typedef {Node | string | null | undefined | false | Child[]} Child */

/**
 * What `h` and `set` take of an element: attributes, `text`, `style`, `dataset`, and listeners by `on…`.
 *
 * @template {Element} E
 * @typedef {{
 *   [K in keyof HTMLElementEventMap as `on${K}`]?: ((event: HTMLElementEventMap[K] & { target: E }) => void) | null
 * } & { class?: string, text?: string | number, style?: Record<string, string> } & Record<string, unknown>} Props
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element: `h("button", {class: "btn", onclick: f, "aria-label": "Close"}, "text", child)`.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props<HTMLElementTagNameMap[K]> | null} [props]
 * @param {...Child} children
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  if (props) set(element, props);
  append(element, children);
  return element;
}

/**
 * Set attributes, listeners (`onclick`), dataset, style (through CSSOM, as the CSP wants).
 *
 * @template {HTMLElement} E
 * @param {E} element
 * @param {Props<E>} props
 */
export function set(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) {
      if (value === false) element.removeAttribute(name);
      continue;
    }
    if (name === "class") element.className = String(value);
    else if (name === "text") element.textContent = String(value);
    else if (name === "style") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return element;
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child);
  }
}

/**
 * Replace all children.
 *
 * @template {Element} E
 * @param {E} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/**
 * An icon of the sprite in templates/icons.html.
 *
 * @param {string} name
 * @param {string} [className]
 */
export function icon(name, className = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `icon ${className}`.trim());
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/**
 * A class attribute: the names given, and of the object that comes last those whose value is truthy.
 *
 * @param {...any} names
 */
export function classes(...names) {
  const some = names.pop();
  return [...names, ...Object.keys(some).filter((name) => some[name])].join(" ");
}

/**
 * What a selector finds, by the tag that it ends in: `"form input:checked"` an HTMLInputElement.
 *
 * @template {string} S
 * @typedef {S extends `${string} ${infer Last}`
 *   ? Found<Last>
 *   : S extends `${infer Tag}${"[" | ":" | "." | "#"}${string}`
 *     ? Found<Tag>
 *     : S extends keyof HTMLElementTagNameMap
 *       ? HTMLElementTagNameMap[S]
 *       : HTMLElement} Found
 */

/**
 * The first element that a selector finds, which the caller knows to be there, or looks whether it is.
 *
 * @template {string} S
 * @param {S} selector
 * @param {ParentNode} [root]
 * @returns {Found<S>}
 */
export const $ = (selector, root = document) => /** @type {any} */ (root.querySelector(selector));

/**
 * All elements that a selector finds.
 *
 * @template {string} S
 * @param {S} selector
 * @param {ParentNode} [root]
 * @returns {Found<S>[]}
 */
export const $$ = (selector, root = document) => /** @type {any[]} */ ([...root.querySelectorAll(selector)]);

/**
 * The element that an event is about.
 *
 * @param {Event} event
 */
export const targetOf = (event) => /** @type {HTMLElement} */ (event.target);

/** The element that has the focus. */
export const focusedNow = () => /** @type {HTMLElement | null} */ (document.activeElement);

/**
 * What draws on a canvas.
 *
 * @param {HTMLCanvasElement} canvas
 */
export function penOf(canvas) {
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("This browser draws on no canvas.");
  return pen;
}

/**
 * A short notice at the bottom. It is announced to screen readers, and goes when it is pressed: on a phone it covers
 * much.
 *
 * @param {string} text
 * @param {{name?: string, ms?: number}} [options]
 */
export function toast(text, { name = "check", ms = 3200 } = {}) {
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
/** @type {Map<string, string>} */
const queued = new Map(); // by kind, the oldest first
let standing = { kind: "", until: 0 };
let announceTimer = 0;

/**
 * Announce something to screen readers. Of one kind the newest of a burst wins: "result" for the result of an action,
 * "place" for where the visitor is, "computing" for how far the server is. Another kind waits until the one
 * before was spoken.
 *
 * @param {string} text
 * @param {"result" | "place" | "computing"} [kind]
 */
export function announce(text, kind = "result") {
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

/**
 * Whether a key event belongs to a field that is being typed in.
 *
 * @param {Event} event
 */
export function typing(event) {
  const target = event.target;
  return (
    target instanceof HTMLElement
    && (target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select") || target.isContentEditable)
  );
}

/**
 * Copy text; falls back to a selection where the clipboard API is refused.
 *
 * @param {string} text
 */
export async function copy(text) {
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
 *
 * @param {Element} from
 * @param {HTMLElement | SVGElement} to
 */
export function passFocus(from, to) {
  if (from.contains(document.activeElement)) to.focus({ preventScroll: true });
}

/**
 * Run `f` at most once a frame, with the newest arguments.
 *
 * @template {any[]} A
 * @param {(...args: A) => void} f
 * @returns {(...args: A) => void}
 */
export function perFrame(f) {
  let queued = false;
  /** @type {A} */
  let args;
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

/**
 * Run `f` when no call has come for `ms`.
 *
 * @template {any[]} A
 * @param {(...args: A) => void} f
 * @param {number} ms
 */
export function debounce(f, ms) {
  let timer = 0;
  const run = (/** @type {A} */ ...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), ms);
  };
  run.cancel = () => clearTimeout(timer);
  return run;
}

/**
 * A dialog with a heading and a close button; removed from the page when it closes.
 *
 * @param {string} title
 * @param {...Child} body
 */
export function dialog(title, ...body) {
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

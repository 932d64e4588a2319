// Elements as people find them, by role, name and text, and what people do with them.

import assert from "node:assert/strict";

/** A whole name, or what it matches. */
export type Name = string | RegExp;

const PATIENCE = +(process.env.PATIENCE ?? 30_000); // milliseconds in which what is expected has come on a busy machine

/** What has a role without saying so. */
const IMPLICIT: Record<string, string> = {
  button: "button, summary",
  cell: "td",
  checkbox: "input[type=checkbox]",
  columnheader: "th",
  combobox: "select",
  complementary: "aside",
  dialog: "dialog",
  group: "fieldset, details",
  heading: "h1, h2, h3, h4, h5",
  link: "a[href]",
  list: "ul, ol",
  listitem: "li",
  main: "main",
  navigation: "nav",
  progressbar: "progress",
  radio: "input[type=radio]",
  region: "section[aria-label], section[aria-labelledby]",
  row: "tr",
  rowheader: "th",
  searchbox: "input[type=search]",
  slider: "input[type=range]",
  spinbutton: "input[type=number]",
  switch: "input[role=switch]",
  table: "table",
  textbox: "input:not([type]), input[type=text], textarea",
};
/** What is not named by what it holds. */
const CONTAINERS = "table, ul, ol, section, aside, main, nav, dialog, [role=tabpanel], [role=group], [role=grid]";

/** What an element says, in one line. */
export const text = (element: Element) => (element.textContent ?? "").replace(/\s+/g, " ").trim();

export const texts = (elements: Iterable<Element>) => [...elements].map(text);

/** What a label says beside the control that it holds. */
function labelling(label: Element) {
  const words = label.cloneNode(true) as Element;
  for (const control of words.querySelectorAll("input, select, textarea")) control.remove();
  return text(words);
}

/** The accessible name, as far as the pages use its rules. */
export function nameOf(element: Element): string {
  const by = element.getAttribute("aria-labelledby");
  const named =
    by
    && by
      .split(" ")
      .map((id) => element.ownerDocument.getElementById(id))
      .map((it) => it && text(it));
  if (named) return named.join(" ");
  const label = element.getAttribute("aria-label");
  if (label) return label;
  if (element.matches("input, select, textarea")) {
    const id = element.getAttribute("id");
    const labels = [element.closest("label"), id && element.ownerDocument.querySelector(`label[for="${id}"]`)];
    const own = labels.find(Boolean) as Element | undefined;
    return own ? labelling(own) : (element.getAttribute("title") ?? element.getAttribute("placeholder") ?? "");
  }
  const caption = element.querySelector(":scope > caption, :scope > legend");
  if (caption) return text(caption);
  return element.matches(CONTAINERS) ? "" : text(element) || (element.getAttribute("title") ?? "");
}

/** What describes an element. */
export const descriptionOf = (element: Element) =>
  (element.getAttribute("aria-describedby") ?? "")
    .split(" ")
    .map((id) => element.ownerDocument.getElementById(id))
    .map((it) => (it ? text(it) : ""))
    .join(" ")
    .trim();

/** Whether it is neither hidden nor in what is folded; styles are not looked at. */
export function shown(element: Element) {
  if (element.closest("[hidden], [aria-hidden=true], template")) return false;
  const folded = element.parentElement?.closest("details:not([open])");
  return !folded || Boolean(element.closest("summary")?.parentElement === folded);
}

const fits = (found: string, name: Name) => (typeof name === "string" ? found === name : name.test(found));

/** Everything of a role in an element that is shown, of a name where one is given. */
export function all(root: ParentNode, role: string, name?: Name): HTMLElement[] {
  const implicit = (IMPLICIT[role] ?? "").split(", ").filter(Boolean);
  const selector = [`[role=${role}]`, ...implicit.map((one) => `${one}:not([role])`)].join(", ");
  const heads = (element: Element) => !element.matches("th") || Boolean(element.closest("thead")) === (role[0] === "c");
  const found = [...root.querySelectorAll<HTMLElement>(selector)].filter((element) => shown(element) && heads(element));
  return name === undefined ? found : found.filter((element) => fits(nameOf(element), name));
}

/** The only one of them. */
export function one(root: ParentNode, role: string, name?: Name): HTMLElement {
  const found = all(root, role, name);
  if (found.length !== 1) {
    const others = found.length ? texts(found) : all(root, role).map(nameOf);
    assert.fail(`${found.length} of role ${role} named ${name}; there are ${others.join(" | ")}`);
  }
  return found[0] as HTMLElement;
}

/** The field with a label. */
export function field(root: ParentNode, label: Name) {
  const found = [...root.querySelectorAll<HTMLInputElement>("input, select, textarea")].filter(shown);
  const named = found.filter((element) => fits(nameOf(element), label));
  if (named.length !== 1) assert.fail(`${named.length} labelled ${label}; there are ${found.map(nameOf).join(" | ")}`);
  return named[0] as HTMLInputElement;
}

/** The first of some elements that has these words. */
export function among<E extends Element>(elements: Iterable<E>, words: string): E {
  const found = [...elements].find((element) => text(element).includes(words));
  if (!found) assert.fail(`none has ${words}: ${texts(elements).join(" | ")}`);
  return found as E;
}

/** The deepest elements that say so. */
export const saying = (root: ParentNode, words: Name) =>
  [...root.querySelectorAll<HTMLElement>("*")].filter(
    (element) => fits(text(element), words) && ![...element.children].some((child) => fits(text(child), words)),
  );

/** The rows of a table's body, each as the texts of its cells. */
export const rowsOf = (table: Element) =>
  [...table.querySelectorAll("tbody > tr")].map((row) => texts(row.querySelectorAll(":scope > th, :scope > td")));

export function send(element: Element, kind: string, type: string, options: object = {}) {
  const window = element.ownerDocument.defaultView as any;
  element.dispatchEvent(new window[kind](type, { bubbles: true, cancelable: true, ...options }));
}

/** What was done has been drawn, as it is before a person goes on. */
export const drawn = () =>
  new Promise<void>((resolve) => {
    setTimeout(resolve);
  });

/** Expect the focus on an element. */
export function focused(element: Element) {
  const { activeElement } = element.ownerDocument;
  assert.ok(activeElement === element, `the focus is on ${activeElement && nameOf(activeElement)}`);
}

export function click(element: HTMLElement) {
  assert.ok(!element.matches(":disabled"), `${nameOf(element)} is disabled`);
  element.focus();
  element.click();
  return drawn();
}

/** Put a mouse's pointer on an element. */
export function hover(element: Element) {
  for (const type of ["pointerover", "pointerenter"]) send(element, "PointerEvent", type, { pointerType: "mouse" });
  return drawn();
}

export function leave(element: Element) {
  for (const type of ["pointerout", "pointerleave"]) send(element, "PointerEvent", type, { pointerType: "mouse" });
  return drawn();
}

export function press(element: Element, key: string, options: { ctrlKey?: boolean; shiftKey?: boolean } = {}) {
  send(element, "KeyboardEvent", "keydown", { key, ...options });
  return drawn();
}

/** Type a text in the place of what is there. */
export function fill(element: HTMLInputElement, value: string) {
  element.focus();
  element.value = value;
  send(element, "Event", "input");
  send(element, "Event", "change");
  return drawn();
}

/** Type a text and press Enter. */
export async function enter(element: HTMLInputElement, value: string) {
  await fill(element, value);
  await press(element, "Enter");
}

/** Choose an option by its text, or by its value. */
export async function choose(element: HTMLElement, option: string) {
  const select = element as HTMLSelectElement;
  const found = [...select.options].find((one) => text(one) === option || one.value === option);
  assert.ok(found !== undefined, `there are ${texts(select.options).join(" | ")}`);
  select.focus();
  select.value = found!.value;
  send(select, "Event", "input");
  send(select, "Event", "change");
  await drawn();
}

/** Look until it holds. */
export async function eventually<T>(look: () => T | Promise<T>): Promise<T> {
  const end = Date.now() + PATIENCE;
  for (let pause = 2; ; pause = Math.min(2 * pause, 50)) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, pause);
    });
  }
}

// The workbench without a browser: its page, its script and its socket, in happy-dom's document. Nothing is laid out or
// painted there: what is about places, sizes, colours or a canvas is a test of tests/browser/.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach } from "node:test";
import { Script } from "node:vm";
import { Browser } from "happy-dom";
import { click, drawn, eventually, nameOf, one, send, type Name } from "./queries.ts";

const { SITE, MADE } = process.env;
const script = new Script(readFileSync(`${MADE}/workbench.js`, "utf8"), { filename: "workbench.js" });
const SETTINGS = {
  enableJavaScriptEvaluation: true,
  suppressInsecureJavaScriptEnvironmentWarning: true,
  disableJavaScriptFileLoading: true,
  handleDisabledFileLoadingAsSuccess: true,
  errorCapture: "disabled",
};
/** Where nothing is painted: every call of a canvas' pen does nothing. */
const PEN = new Proxy({}, { get: () => () => ({ width: 0, addColorStop() {} }), set: () => true });
/** Of everything, so that pictures have room and tables rows. */
const SIZE = { width: 600, height: 400 };
const open = new Set<any>();

/** What a page needs and happy-dom leaves out. */
function furnish(window: any) {
  window.HTMLCanvasElement.prototype.getContext = () => PEN;
  Object.assign(window, { MessageChannel, structuredClone });
  window.ResizeObserver = class {
    constructor(public changed: (entries: object[]) => void) {}
    observe(target: Element) {
      window.requestAnimationFrame(() => this.changed([{ target, contentRect: SIZE }]));
    }
    unobserve() {}
    disconnect() {
      this.changed = () => {};
    }
  };
  Object.defineProperty(window.HTMLElement.prototype, "ariaLabel", {
    configurable: true,
    set(this: Element, label: string) {
      this.setAttribute("aria-label", label);
    },
  });
  Object.defineProperty(window.HTMLTableSectionElement.prototype, "rows", {
    configurable: true,
    get(this: Element) {
      return [...this.children];
    },
  });
  for (const kind of ["client", "offset"]) {
    Object.defineProperty(window.HTMLElement.prototype, `${kind}Width`, { get: () => SIZE.width });
    Object.defineProperty(window.HTMLElement.prototype, `${kind}Height`, { get: () => SIZE.height });
  }
}

afterEach(async () => {
  for (const browser of open) await browser.close();
  open.clear();
});

/** By name: tests/javascript/texts.py. */
export const texts: Record<string, string> = JSON.parse(readFileSync(`${MADE}/texts.json`, "utf8"));

export class Workbench {
  private constructor(private readonly tab: any) {}

  /** Store a scenario, by its name or as a text, and open its page at a query, as `step=3&tab=cache`. */
  static async open(scenario: string, query = "") {
    const body = JSON.stringify({ bundle: texts[scenario] ?? scenario, title: "A scenario" });
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${SITE}/api/scenarios`, { method: "POST", headers, body });
    const { id } = await answer.json();
    assert.ok(id, `${answer.status}`);
    const page = Workbench.#browser();
    await page.goto(`/s/${id}/?${query}`);
    return page;
  }

  /** Open an example as the start page does. */
  static example(slug: string, query = "") {
    return Workbench.another(`/examples/${slug}/?${query}`);
  }

  /** Open an address in a browser that was not there before. */
  static async another(path: string) {
    const page = Workbench.#browser();
    await page.goto(path);
    return page;
  }

  /** Store a scenario as a draft of the page's visitor, as the start page does, and open it. */
  static async draft(scenario: string, query = "") {
    const page = Workbench.#browser();
    await page.tab.goto(`${SITE}/`);
    const token = page.document.querySelector<HTMLInputElement>("[name=csrfmiddlewaretoken]")!.value;
    const body = new URLSearchParams({ csrfmiddlewaretoken: token, text: texts[scenario] ?? scenario, title: "Mine" });
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const { url } = await page.window.fetch("/import/", { method: "POST", headers, body: body.toString() });
    assert.match(url, /\/p\//, "it is refused");
    await page.goto(`${url.slice(SITE!.length)}?${query}`);
    return page;
  }

  static #browser() {
    const browser = new Browser({ settings: SETTINGS, console });
    open.add(browser);
    return new Workbench(browser.newPage());
  }

  async goto(path: string) {
    await this.tab.goto(`${SITE}${path}`);
    furnish(this.window);
    script.runInContext(this.window);
    await this.settled();
  }

  get window() {
    return this.tab.mainFrame.window;
  }

  get document(): Document {
    return this.window.document;
  }

  get playback() {
    return this.window.podstep.playback;
  }

  /** Wait until what was asked for is computed and shown. */
  async settled() {
    await eventually(() => {
      const { ready, playback } = this.window.podstep;
      const whole = playback?.locked || (playback?.complete && playback.marks.known >= playback.cycles);
      assert.ok(ready && whole, "it is not open");
      assert.equal(playback.index, playback.wanted);
      assert.ok(playback.index === 0 || playback.parts, "the parts of the step have not come");
    });
    await drawn();
  }

  async at(index: number) {
    await eventually(() => assert.equal(this.playback.wanted, index));
    await this.settled();
  }

  /** Go to a step, as by the timeline. */
  step(index: number) {
    this.playback.goto(index);
    return this.at(index);
  }

  /** The open panel of Inspect. */
  get panel() {
    return one(this.inspect, "tabpanel");
  }

  /** Open a tab of Inspect; return its panel. */
  async tabbed(name: Name) {
    await click(one(this.inspect, "tab", name));
    return this.panel;
  }

  get build() {
    return this.#region("aside[aria-label=Build]");
  }

  get stage() {
    return this.#region("main[aria-label=Stage]");
  }

  get inspect() {
    return this.#region("section[aria-label=Inspect]");
  }

  get timeline() {
    return this.#region("[role=slider][aria-label=Cycle]");
  }

  get marks() {
    return this.#region("[aria-label='Marks of the timeline']");
  }

  #region(selector: string) {
    return this.document.querySelector(selector) as HTMLElement;
  }

  /** A node's card on the stage. */
  node(name: string) {
    return one(this.stage, "button", new RegExp(`^${name}, cpu `));
  }

  /** Open a node's menu on the stage, by the right button. */
  menu(name: string) {
    send(one(this.stage, "button", new RegExp(`^${name}\\b`)), "MouseEvent", "contextmenu");
    return eventually(() => one(this.document, "menu"));
  }

  /** Nodes on the stage of a class, as `hovered`, by their names. */
  nodes(className: string) {
    return [...this.stage.querySelectorAll(`.node.${className}`)].map((node) => nameOf(node).split(",")[0]);
  }

  /** Open the address again, as somebody does who is given it. */
  reload() {
    return this.goto(`${this.window.location.pathname}${this.address}`);
  }

  /** The stored text of the draft. */
  text() {
    return this.get(`${this.window.location.pathname}bundle`);
  }

  /** The text of another page. */
  async get(path: string) {
    return (await this.window.fetch(`${SITE}${path}`)).text();
  }

  get address() {
    return this.window.location.search;
  }
}

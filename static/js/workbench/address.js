// The address bar holds what is on screen: step, tab and its view, node, pod, how the stage is looked at, and what Why? is asked. Stepping replaces, selecting pushes, Back works.

import { debounce } from "../lib/dom.js";
import { USUAL } from "./stage/look.js";

const RUN_PATH = /^(\/runs\/[^/]+\/at\/)[^/]*\/?$/;
const TABS = new Set(["story", "predicates", "cache", "priorities", "preemption", "podgroups", "queue", "events"]);
const WITH_VIEWS = new Set(["cache", "priorities", "podgroups"]); // tabs with views of their own
const WRITE_AFTER = 120; // browsers limit how often the address may change

export class Address {
  #pushed = "";

  constructor(view) {
    this.view = view;
    this.replace = debounce(() => history.replaceState(null, "", this.href()), WRITE_AFTER);
    for (const name of ["step", "moment", "parts"]) view.playback.on(name, () => this.replace());
    view.on("selection", ({ push }) => this.#write(push));
    view.on("tab", ({ push } = {}) => this.#write(push));
    view.on("sub", ({ push }) => this.#write(push));
    view.on("look", () => { if (view.playback.nodes) this.#write(false); });
    view.on("whyed", ({ push }) => this.#write(push));
    addEventListener("popstate", () => this.#back());
  }

  /** What the address asks for: `{step, at, phase, tab, sub, node, pod, colour, group, why, on}` as text; `at` is a moment of the step, `sub` a view of the tab, `why` is a pod that is asked about, `on` the node. */
  static read(fallback = "") {
    const query = new URLSearchParams(location.search);
    const run = RUN_PATH.exec(location.pathname);
    const inPath = run ? decodeURIComponent(location.pathname.slice(run[1].length).replace(/\/$/, "")) : "";
    return { step: query.get("step") || inPath || fallback, at: query.get("at") ?? "", phase: query.get("phase") ?? "", tab: query.get("tab") ?? "", sub: query.get("view") ?? "", node: query.get("node") ?? "", pod: query.get("pod") ?? "", colour: query.get("colour") ?? "", group: query.get("group") ?? "", why: query.get("why") ?? "", on: query.get("on") ?? "" };
  }

  /** The moment or phase of a wish, as `Playback.goto` takes it. */
  static place({ at, phase }) {
    return /^\d{1,4}$/.test(at) && Number(at) > 0 ? { at: Number(at) } : { phase: /^[a-zA-Z]{1,16}$/.test(phase) ? phase : "" };
  }

  /** This view as a link, on `path` (that of the page, unless a share has its own). */
  href(path = location.pathname) {
    const { view } = this;
    const { playback } = view;
    const query = new URLSearchParams();
    const run = RUN_PATH.exec(path);
    const step = playback.end && playback.wanted > playback.cycles ? "end" : String(playback.wanted);
    const at = playback.wanted === playback.index ? playback.at : playback.wish.at;
    if (!run && playback.wanted > 0) query.set("step", step);
    if (at > 0) query.set("at", String(at));
    if (playback.wish.phase) query.set("phase", playback.wish.phase);
    if (view.tab !== "story") query.set("tab", view.tab);
    if (view.sub && WITH_VIEWS.has(view.tab)) query.set("view", view.sub);
    if (view.node >= 0) query.set("node", playback.nodes.names[view.node]);
    if (view.pod >= 0) query.set("pod", playback.pods.keys[view.pod]);
    for (const [name, usual] of Object.entries(USUAL)) if (view.look[name] !== usual) query.set(name, view.look[name]);
    const asked = view.why?.shown;
    if (asked) query.set("why", asked.pod);
    if (asked?.node) query.set("on", asked.node);
    const search = query.toString().replaceAll("%2F", "/");
    return (run ? run[1] + step : path) + (search ? `?${search}` : "");
  }

  #write(push) {
    this.replace.cancel();
    const href = this.href();
    if (push && href !== this.#pushed && href !== location.pathname + location.search) history.pushState(null, "", href);
    else history.replaceState(null, "", href);
    this.#pushed = href;
  }

  /** Show what the address says of tab, node and pod. */
  select({ tab, sub, node, pod, colour, group }) {
    const { view } = this;
    const { playback } = view;
    view.setLook({ colour, group }, { push: false });
    view.setTab(TABS.has(tab) ? tab : "story", { push: false });
    view.setSub(sub, { push: false });
    view.selectNode(playback.nodeIndex.get(node) ?? -1, { push: false });
    if (pod) view.selectPod(playback.podIndex.get(pod) ?? -1, { push: false });
    else if (view.pod >= 0) view.selectPod(-1, { push: false });
  }

  /** Open or close Why? as the address says. */
  ask({ why, on }) {
    if (why) this.view.why?.open({ pod: why, node: on }, { push: false });
    else this.view.why?.close();
  }

  #back() {
    const { playback } = this.view;
    if (!playback.nodes) return;
    this.replace.cancel();
    const wish = Address.read();
    const index = wish.step === "" ? 0 : wish.step === "end" ? playback.last : Number(wish.step);
    const href = location.pathname + location.search;
    this.select(wish);
    if (Number.isInteger(index)) playback.goto(index, undefined, Address.place(wish));
    this.ask(wish);
    this.#pushed = href;
    this.replace.cancel();
  }
}

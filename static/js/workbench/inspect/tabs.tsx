// The tabs of Inspect, a row each: what it is called, when it is offered, what stands beside its title, the part of the
// record that it shows, and what draws it.

import { releaseOf } from "../../lib/releases.ts";
import type { TabKey, Terms } from "../../lib/protocol.js";
import { BreakButton } from "../breakpoints/breakbutton.tsx";
import { condition } from "../breakpoints/conditions.ts";
import type { View } from "../view/view.ts";
import { Ask } from "./ask.tsx";
import { Availability } from "./availability.tsx";
import { Cache } from "./cache.tsx";
import { percent, rate } from "./cachewords.ts";
import { Contracts } from "./contracts.tsx";
import { Descheduling } from "./descheduling.tsx";
import { Events } from "./events.tsx";
import { Hints } from "./hints.tsx";
import { Kueue } from "./kueue.tsx";
import { Network } from "./network.tsx";
import type { Content, Framed } from "./panel.tsx";
import { PodGroups } from "./podgroups.tsx";
import { Predicates } from "./predicates.tsx";
import { Preemption } from "./preemption.tsx";
import { Priorities } from "./priorities.tsx";
import { Queue } from "./queue.tsx";
import { Session } from "./session.tsx";
import { Story } from "./story.tsx";
import { Views } from "./views.tsx";
import { Weighing } from "./weighing.tsx";

/** What stands beside a title, and the class that gives it its colour. */
type Badge = string | [text: string, tone: string];

export type Tab = {
  key: TabKey;
  title: string;
  /** Which of the release's terms it is called by. */
  term?: keyof Terms;
  /** Whether it is offered; undefined where that is not known at this step. An open tab always is. */
  offered?: (view: View) => boolean | undefined;
  /** It stays offered once it was, until something else is opened. */
  stays?: boolean;
  badge?: (view: View) => Badge;
} & Omit<Framed, "key">;

const Filtered = ({ view }: { view: View }) => (
  <Predicates view={view} rung={(name) => <BreakButton view={view} at={condition("predicate", name)} />} />
);
const Scored = (props: Content<"priorities">) => (
  <Priorities {...props} weights={(ranked) => <Weighing view={props.view} ranked={ranked} />} />
);

export const TABS: Tab[] = [
  { key: "story", title: "Story", component: Story },
  { key: "predicates", title: "Predicates", term: "filterTab", badge: feasible, component: Filtered },
  { key: "cache", title: "Cache", term: "cacheTab", badge: hitRate, part: "cache", component: Cache, always: true },
  { key: "priorities", title: "Priorities", term: "scoreTab", part: "priorities", component: Scored },
  { key: "preemption", title: "Preemption", badge: victims, part: "preemption", component: Preemption },
  {
    key: "podgroups",
    title: "PodGroups",
    offered: groups,
    stays: true,
    badge: waiting,
    part: "podgroups",
    component: PodGroups,
  },
  { key: "queue", title: "Queue", badge: queued, part: "queue", component: Queue },
  { key: "events", title: "Events", component: Events },
  {
    key: "session",
    title: "Session",
    offered: has("session", "number"),
    stays: true,
    part: "session",
    component: Session,
  },
  {
    key: "network",
    title: "Flow",
    offered: has("network", "number"),
    stays: true,
    part: "network",
    component: Network,
  },
  { key: "hints", title: "Hints", offered: hinting, part: "hints", component: Hints },
  { key: "kueue", title: "Kueue", offered: has("kueue", "tree"), stays: true, part: "kueue", component: Kueue },
  { key: "views", title: "Views", offered: has("views", "lanes"), stays: true, part: "views", component: Views },
  {
    key: "descheduler",
    title: "Descheduler",
    offered: ({ playback }) => Boolean(playback.descheduler),
    part: "descheduler",
    component: Descheduling,
    class: "descheduling-tab",
  },
  { key: "ask", title: "Ask", offered: ({ playback }) => playback.veiled === null, component: Ask },
  {
    key: "contracts",
    title: "Contracts",
    offered: ({ playback }) => playback.veiled === null,
    component: Contracts,
  },
  { key: "availability", title: "Over time", offered: ({ playback }) => playback.timed, component: Availability },
];

/** Whether a part of the step holds more than why it is empty. */
function has(part: "session" | "network" | "views" | "kueue", field: string) {
  return ({ playback }: View) => {
    const found = playback.parts?.[part];
    return found ? field in found || undefined : undefined;
  };
}

/** Without PodGroups, and without Coscheduling, their tab would only take the others' room. */
function groups({ playback }: View) {
  const part = playback.parts?.podgroups;
  if (part && "native" in part) return true;
  return part ? "groups" in part && Boolean(part.groups.length || part.coscheduling) : undefined;
}

function hinting({ playback: { release, schedulers } }: View) {
  const running = [release, ...(schedulers?.listed ?? []).map(({ runs }: { runs: string }) => runs)];
  return running.some((one) => releaseOf(one).hasHints);
}

function queued({ playback }: View) {
  const light = playback.current;
  if (!light?.queue || !playback.reached.tried) return "";
  return String(light.queue[0] + light.queue[1] + (playback.reached.over && light.node === null ? 1 : 0));
}

function waiting({ facts }: View): Badge {
  return [facts.waiting.size ? String(facts.waiting.size) : "", "wait-text"];
}

function victims({ playback }: View) {
  const count = playback.current?.nominated?.[1].length;
  return count ? String(count) : "";
}

function hitRate({ playback }: View): Badge {
  const cache = playback.current?.cache;
  if (!cache) return "";
  const [hits, evaluations, , stale] = cache;
  return stale ? [`${stale} stale`, "stale-text"] : percent(rate(hits, evaluations));
}

function feasible({ playback }: View) {
  const light = playback.current;
  if (!light?.ladder.length && light?.result !== "unschedulable") return "";
  return `${light.ladder.at(-1)?.[2] ?? 0}/${light.ladder[0]?.[1] ?? 0}`;
}

// One PodGroup: its state, its members, its phase, upcoming events, and the arithmetic of PreFilter, Permit and
// PostFilter.

import type { ComponentChildren } from "preact";
import { Heading } from "../../kit/heading.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import { More } from "../../kit/more.tsx";
import { Table } from "../../kit/table.tsx";
import type { GroupRecord, Permit, PodGroupsPart, PostFilter } from "../../lib/protocol.js";
import { age, count, plural, short } from "../../lib/quantity.ts";
import { UntilBar, moment, until, type Now } from "./countdown.tsx";
import type { View } from "../view/view.ts";
import { ResourceCheck } from "./gangcheck.tsx";
import { Phases } from "./gangphases.tsx";
import { aboutNode, nodeLink, nodesLink, podLink } from "../view/nouns.tsx";
import { sentence } from "../view/sentence.tsx";

/** Of each state of a member: its tone, and its name; in the order of the strip. */
const STATES: Record<string, [tone: string, name: string]> = {
  running: ["pass", "running"],
  bound: ["pass", "bound"],
  waiting: ["wait", "waiting at Permit"],
  active: ["queued", "queued"],
  backoff: ["fail", "backing off"],
  unschedulable: ["fail", "unschedulable"],
  gated: ["off", "gated"],
  pending: ["off", "not queued"],
  Succeeded: ["ended", "succeeded"],
  Failed: ["stale", "failed"],
};
const SIGNS: Record<string, string> = { pass: "check", fail: "cross", wait: "pause", stale: "warn", ended: "check" };
const CELLS = 60; // of the strip; a larger group is drawn in proportion
const HOLDING = new Set(["running", "bound", "waiting"]);

export type GangProps = { view: View; part: PodGroupsPart; group: GroupRecord; now: Now };

export function Gang({ view, part, group, now }: GangProps) {
  const { key, phase } = group;
  return (
    <section class="gang" aria-label={`PodGroup ${key}`}>
      <h3>
        {`PodGroup ${short(key)} `}
        {phase === null ? (
          <span class="pill fail">
            <Icon name="cross" />
            does not exist
          </span>
        ) : (
          <span class="pill accent">{phase || "no phase yet"}</span>
        )}
        {group.attempted ? null : <Tried view={view} group={group} />}
      </h3>
      <div class="story outlook">
        {sentence(view, group.outlook.now)}
        <Strip view={view} group={group} />
      </div>
      <Phases view={view} part={part} group={group} />
      <Next view={view} group={group} now={now} />
      <Messages group={group} />
      <Members view={view} group={group} now={now} />
      <ResourceCheck view={view} check={group.resourceCheck} />
      <Refused view={view} title="Denied groups" rows={group.denials} total={group.denialCount} now={now} />
      <Refused view={view} title="Backed-off groups" rows={group.backOffs} total={group.backOffCount} now={now} />
    </section>
  );
}

type GroupProps = Pick<GangProps, "view" | "group">;

/** Of a group that is not in flight: the last cycle that tried one of its pods. */
function Tried({ view: { playback }, group }: GroupProps) {
  const members = new Set(group.members.map(({ pod }) => playback.podIndex.get(pod)));
  let at = Math.min(playback.index - (playback.reached.tried ? 0 : 1), playback.cycles);
  while (at > 0 && !members.has(playback.marks.pod[at])) at -= 1;
  if (!at) return <small class="dim end">not tried yet</small>;
  return (
    <small class="dim end">
      last tried in cycle{" "}
      <Inline act={(event) => playback.goto(at, event.timeStamp)} class="link num">
        {count(at)}
      </Inline>
    </small>
  );
}

const cell = (tone: string) => <i class={`gang-cell ${tone}`} />;

/** Members as cells, those that hold a node first, with a line behind the minMember-th. */
function Strip({ view, group: { states, members, minMember, memberCount } }: GroupProps) {
  const running = members.filter(({ state }) => state === "running").length; // bound ones of these
  const counts: Record<string, number> = {
    ...states,
    ...(running ? { running, bound: (states.bound ?? 0) - running } : {}),
  };
  const most = Math.max(memberCount, minMember ?? 0);
  const scale = Math.min(1, CELLS / Math.max(1, most));
  const present = Object.entries(STATES).flatMap(([state, [tone, name]]) => {
    const number = counts[state] ?? 0;
    return number > 0 ? [{ tone, name, number }] : [];
  });
  const absent = Math.max(0, (minMember ?? 0) - memberCount);
  const cells = present.flatMap(({ tone, number }) =>
    Array.from({ length: Math.max(1, Math.round(number * scale)) }, () => cell(tone)),
  );
  cells.push(...Array.from({ length: Math.round(absent * scale) }, () => cell("none")));
  if (minMember && minMember <= most) cells.splice(Math.round(minMember * scale), 0, <b class="needed" />);
  const names = members.flatMap(({ state, node }) => (HOLDING.has(state) && node ? [node] : []));
  const legend = (sign: ComponentChildren, text: ComponentChildren) => (
    <span class="nowrap">
      {sign}
      {text}
    </span>
  );
  return (
    <div class="gang-strip">
      <div class="cells" aria-hidden="true">
        {cells}
      </div>
      <p class="fine">
        {present.map(({ tone, name, number }) => legend(cell(tone), `${count(number)} ${name}`))}
        {absent ? legend(cell("none"), `${count(absent)} not there`) : null}
        {minMember ? legend(<b class="needed" />, `minMember ${count(minMember)}`) : null}
        {names.length
          ? legend(null, nodesLink(view, `on ${plural(new Set(names).size, "node")}`, names, "PodGroup"))
          : null}
      </p>
    </div>
  );
}

/** Upcoming events: what has a time with a bar until then, on one axis, and what only an event brings. */
function Next({ view, group, now }: Omit<GangProps, "part">) {
  const { time } = group;
  const { next } = group.outlook;
  if (!next.length) return null;
  const times = next.flatMap(([at]) => (at !== null && at > time && at < 1e11 ? [at] : []));
  const horizon = Math.max(time, ...times);
  return (
    <section class="gang-next">
      <h4>{view.playback.atEnd ? "What would happen next if the run continued" : "Upcoming events"}</h4>
      <ol>
        {next.map(([at, kind, text]) => (
          <li class={kind}>
            <span class="when">
              {at === null ? (
                <span class="dim">on an event</span>
              ) : kind === "active" ? (
                <b>at once</b>
              ) : (
                [until(at, now, "left"), <span class="num dim fine">{moment(at)}</span>]
              )}
            </span>
            {at === null || at <= time || at > 1e11 ? null : (
              <UntilBar until={at} now={now} from={time} horizon={horizon} class={kind} />
            )}
            {sentence(view, text)}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What a PreFilter that passes adds, by its reason. */
const PASSED: Record<string, string> = {
  enough: "; all nodes together have what minResources asks for",
  permitted: "; the resource check passed lately and is skipped",
  "no-min-resources": "; no minResources to check",
};

/** How Permit lets a member wait. */
function waiting({ seconds, activatedCount }: Permit) {
  const most = seconds === null ? "" : ` for ${age(seconds)} at most`;
  return `it waits${most}${activatedCount ? `; ${plural(activatedCount, "sibling")} activated` : ""}`;
}

/** Whom Permit lets go on beside the member itself. */
const releasing = ({ allowedCount }: Permit) =>
  allowedCount ? `: ${plural(allowedCount, "waiting member")} may be bound too` : "";

/** What PreFilter, Permit and PostFilter answered the pod in flight. */
function Messages({ group }: { group: GroupRecord }) {
  const { preFilter, permit, postFilter } = group;
  if (!preFilter && !permit && !postFilter) return null;
  const needed = count(group.minMember ?? 0);
  const held = permit?.assigned ?? 0;
  return (
    <table class="list tight gang-messages">
      <caption>Message to the pod in flight</caption>
      <tbody>
        {preFilter ? (
          <Message point="PreFilter" fine={preFilter.code === "Success"}>
            {preFilter.message
              || `${plural(preFilter.siblings ?? group.memberCount, "member")} of at least ${needed}${
                PASSED[preFilter.why] ?? ""
              }`}
          </Message>
        ) : null}
        {permit ? (
          <Message point="Permit" fine={permit.code === "Wait" ? null : permit.code === "Success"}>
            {permit.message
              || `${count(held)} of ${needed} ${held < 2 ? "holds" : "hold"} a node${
                permit.code === "Wait" ? `: ${waiting(permit)}` : releasing(permit)
              }`}
          </Message>
        ) : null}
        {postFilter ? (
          <Message
            point="PostFilter"
            fine={postFilter.deniedUntil !== null || postFilter.why === "rejected" ? false : null}
          >
            {postFilter.message
              || (postFilter.why === "extra"
                ? "enough members have a node: this one is surplus"
                : "the group continues to wait")}
            <Fraction minMember={group.minMember} {...postFilter} />
          </Message>
        ) : null}
      </tbody>
    </table>
  );
}

/** The answer of an extension point; `fine` is null where it is neither good nor bad. */
function Message({ point, fine, children }: { point: string; fine: boolean | null; children: ComponentChildren }) {
  const tone = fine === null ? "wait" : fine ? "pass" : "fail";
  return (
    <tr>
      <th scope="row">{point}</th>
      <td>
        <span class={`sign ${tone}-text`}>
          <Icon name={SIGNS[tone] ?? ""} />
        </span>
        {children}
      </td>
    </tr>
  );
}

/** The rule of the share that may be missing, with its numbers and as a bar with the threshold on it. */
function Fraction(props: PostFilter & { minMember: number | null }) {
  const { minMember, assigned, missingPercent, thresholdPercent, rejectedCount, why } = props;
  if (missingPercent === null || thresholdPercent === null || !minMember || why === "extra") return null;
  const percent = Math.round(missingPercent * 10) / 10;
  const over = missingPercent > thresholdPercent;
  return (
    <div class="fraction">
      <span class="fraction-bar" aria-hidden="true">
        <i class={over ? "fail" : "wait"} style={{ width: `${Math.min(100, percent)}%` }} />
        <b style={{ left: `${thresholdPercent}%` }} />
      </span>
      <span>
        {`(${count(minMember)} − ${count(assigned ?? 0)}) / ${count(minMember)} = `}
        <b>{`${percent} %`}</b>
        {` are missing, ${over ? "more than" : "not more than"} ${thresholdPercent} %: `}
        {over
          ? `the group is rejected${rejectedCount ? `, ${plural(rejectedCount, "waiting member")} with it` : ""}`
          : "waiting members continue to wait"}
      </span>
    </div>
  );
}

function Members({ view, group, now }: Omit<GangProps, "part">) {
  const { pod: flying, time: began = group.time } = view.playback.current ?? {};
  const rows = group.members.map(({ pod, state, node, deadline, rejected, since, attempts, refusedBy, retryAt }) => {
    const [tone, text] = STATES[state] ?? ["off", state];
    const ends = state === "waiting" ? deadline : retryAt;
    const notes = [
      rejected ? ((since ?? 0) < began ? `rejected at ${moment(since ?? 0)}` : "rejected in this cycle") : "",
      refusedBy.length ? `refused by ${refusedBy.join(", ")}` : "",
    ].filter(Boolean);
    return (
      <tr
        key={pod}
        class={group.attempted && view.playback.podIndex.get(pod) === flying ? "now" : undefined}
        {...(node ? aboutNode(view, node) : {})}
      >
        <td>{podLink(view, pod)}</td>
        <td>
          <span class={`pill ${tone}`}>
            {SIGNS[tone] ? <Icon name={SIGNS[tone]} /> : null}
            {text}
          </span>
          {node ? [<span class="dim"> on </span>, nodeLink(view, node)] : null}
          {notes.length ? <small class="dim member-note">{notes.join("; ")}</small> : null}
        </td>
        <td class="num" data-value={ends ?? ""}>
          {ends === null ? <span class="dim">–</span> : until(ends, now)}
        </td>
        <td class="num dim">{attempts ? count(attempts) : ""}</td>
      </tr>
    );
  });
  return (
    <section class="gang-members">
      <Table
        rows={rows}
        heads={[
          "member",
          "state",
          { text: "time left", class: "num", title: "at Permit, or until its queue tries it again" },
          { text: "tries", class: "num", title: "failed attempts" },
        ]}
        caption={`Members of ${group.key}`}
        class="list tight members"
        title={<Heading text="Members" count={group.memberCount} level={4} />}
        filter="Filter members"
        kept={view.lists.of("podgroups")}
        name="members"
        total={group.memberCount}
      />
    </section>
  );
}

type RefusedProps = { view: View; title: string; rows: { group: string; until: number }[]; total: number; now: Now };

/** Groups that PreFilter turns away for a while: denied ones (classic), backed-off ones (current). */
function Refused({ view, title, rows, total, now }: RefusedProps) {
  if (!rows.length) return null;
  return (
    <section class="gang-denials">
      <Heading text={title} count={total} level={4} />
      <ul>
        {rows.map(({ group, until: end }) => (
          <li key={group}>
            <Inline act={() => view.setSub(group)}>{short(group)}</Inline> {until(end, now, "fail-text")}
            <span class="num dim">{` until ${moment(end)}`}</span>
          </li>
        ))}
      </ul>
      <More of={total} shown={rows.length} />
    </section>
  );
}

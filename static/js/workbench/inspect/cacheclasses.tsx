// The Cache tab, Classes: every class with its members, and whether two pods are of one.

import { useRef } from "preact/hooks";
import { Filter } from "../../kit/filter.tsx";
import { Heading } from "../../kit/heading.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import { Pager } from "../../kit/pager.tsx";
import { Table } from "../../kit/table.tsx";
import type { CacheMembers } from "../../lib/protocol.js";
import { count, ellipsis, plural } from "../../lib/quantity.ts";
import { useAnswer, useRedraw } from "../view/asking.tsx";
import type { List } from "../view/lists.ts";
import type { View } from "../view/view.ts";
import { CacheEqual } from "./cacheequal.tsx";
import { Fetched, nodeLink } from "./cacheparts.tsx";
import { sorting } from "./cachewords.ts";
import { aboutNode, podLink } from "../view/nouns.tsx";

const AT_ONCE = 25;
const MEMBERS = 50;
const WHERE: Record<string, string> = { "-1": "pending", "-2": "deleted or not created yet" };

/** A class as it is listed; of one that is not on the page the entries are not known. */
type Listed = { hash: string; name: string; members: number; entries: number | null };

export function CacheClasses({ view }: { view: View }) {
  const { playback, lists } = view;
  const redraw = useRedraw();
  const kept = lists.of("cache");
  const list = lists.list("cache", "classes");
  const page = lists.list("cache", "members");
  const state = useRef({ paged: false }).current; // whether there are more than one page: then the server sorts
  const narrow = (which: List, change: Partial<List>) => {
    Object.assign(which, change);
    lists.changed();
    redraw();
  };
  const [, open = "", ...pods] = view.sub.split("/");
  const show = (hash: string) => {
    page.page = 0;
    view.setSub(pods.length === 2 ? ["classes", hash, ...pods].join("/") : hash ? `classes/${hash}` : "classes");
  };
  const find = list.typed.trim();
  const sort = sorting(state.paged && kept.classes, { class: "name", pods: "members", entries: "entries" });
  const asked = { source: playback.source, cycle: playback.asOf };
  const wish = [playback.asOf, list.page, find, sort].join("/");
  const answered = useAnswer(wish, async () => {
    const found = await playback.socket.call("cache.classes", {
      ...asked,
      from: list.page * AT_ONCE,
      count: AT_ONCE,
      ...(find ? { find } : {}),
      ...(sort ? { sort } : {}),
    });
    state.paged = found.count > found.rows.length;
    return found;
  });
  const people = useAnswer(open && [playback.asOf, open, page.page].join("/"), () =>
    playback.socket.call("cache.members", { ...asked, hash: open, from: page.page * MEMBERS, count: MEMBERS }),
  )?.value;
  const members = people?.hash === open ? people : null;
  const { cache } = playback.parts ?? {};
  const here = cache && "class" in cache ? cache.class?.hash : undefined;
  const narrowing = (
    <Filter
      label="Filter classes by name"
      placeholder="Filter classes"
      state={list}
      onChange={() => narrow(list, { page: 0 })}
    />
  );
  return (
    <div class="cache-classes">
      <section>
        <Fetched of={answered} wish={wish}>
          {(found) => {
            const listed = found.rows.some((row) => row.hash === open);
            const apart: Listed[] =
              members && !listed ? [{ hash: open, name: members.name, members: members.count, entries: null }] : [];
            const rows = [...apart, ...found.rows];
            const without = found.without ? `, and ${plural(found.without, "pod")} without one` : "";
            return (
              <Table
                rows={rows.flatMap((row) => [
                  rowOf(view, row, row.hash === open, row.hash === here, show),
                  <tr key={`${row.hash}+`} class="run-row follows" id={`class-${row.hash}`} hidden={row.hash !== open}>
                    <td colSpan={3}>
                      {row.hash === open ? (
                        <Members
                          view={view}
                          members={members}
                          turn={(to) => narrow(page, { page: Math.floor(to / MEMBERS) })}
                        />
                      ) : null}
                    </td>
                  </tr>,
                ])}
                heads={[
                  "class",
                  { text: "pods", class: "num" },
                  { text: "entries", class: "num", title: "Valid entries of the cache after this cycle" },
                ]}
                caption="Equivalence classes, most members first"
                class="list tight classes"
                kept={kept}
                name="classes"
                title={
                  <>
                    <Heading text="Classes" count={plural(found.count, "class", "classes") + without} live />
                    <Pager
                      from={found.from}
                      total={found.count}
                      size={AT_ONCE}
                      shown={found.rows.length}
                      what="classes"
                      go={(to) => narrow(list, { page: Math.floor(to / AT_ONCE) })}
                    />
                  </>
                }
                tools={narrowing}
                elsewhere={state.paged ? () => narrow(list, { page: 0 }) : null}
                none={
                  find
                    ? `No class matches ${find}.`
                    : "No pod of this cluster has a class: pods without a controller take the normal path."
                }
              />
            );
          }}
        </Fetched>
      </section>
      <CacheEqual view={view} />
    </div>
  );
}

function rowOf(view: View, row: Listed, open: boolean, here: boolean, show: (hash: string) => void) {
  return (
    <tr key={row.hash} class={open ? "won" : undefined}>
      <th scope="row">
        <span class="candidate">
          <button
            type="button"
            class="expander"
            aria-expanded={open}
            aria-controls={`class-${row.hash}`}
            aria-label={`Members of ${row.name}`}
            data-class={row.hash}
            onClick={() => show(open ? "" : row.hash)}
          >
            <Icon name="right" />
          </button>
          <span class="class-name">
            <span title={row.name}>{ellipsis(row.name, 44)}</span> <small class="mono dim">{row.hash}</small>
            {here ? [" ", <span class="pill accent">this cycle</span>] : null}
          </span>
        </span>
      </th>
      <td class="num">{count(row.members)}</td>
      <td class="num" data-value={row.entries ?? ""}>
        {row.entries ? (
          <Inline act={() => view.setSub(`map/class/${row.hash}`)} title="browse them in the map" class="link num">
            {count(row.entries)}
          </Inline>
        ) : (
          <span class="nil">{row.entries === null ? "" : "0"}</span>
        )}
      </td>
    </tr>
  );
}

type MembersProps = { view: View; members: CacheMembers | null; turn: (to: number) => void };

function Members({ view, members, turn }: MembersProps) {
  if (!members) return <p class="dim">Loading its members…</p>;
  return (
    <div class="members">
      <ul>
        {members.rows.map(([key, node]) => (
          <li key={key} {...aboutNode(view, node)}>
            {podLink(view, key)}
            {node >= 0 ? (
              <small>
                <span class="dim">{"on "}</span>
                {nodeLink(view, node, 18)}
              </small>
            ) : (
              <small class="dim">{WHERE[node] ?? ""}</small>
            )}
          </li>
        ))}
      </ul>
      <Pager
        from={members.from}
        total={members.count}
        size={MEMBERS}
        shown={members.rows.length}
        what="members"
        go={turn}
      />
    </div>
  );
}

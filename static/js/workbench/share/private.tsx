// Share, "Private": links that nobody can guess, with a name and a date, and the list of one's own.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button, attempt } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import { copy } from "../../lib/dom.ts";
import type { PrivateLink } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { Named, Refused, type Shared } from "./common.tsx";

const LISTED = 50;
const DAYS: [days: string, label: string][] = [
  ["", "after nobody has opened it for the retention period"],
  ["1", "in a day"],
  ["7", "in a week"],
  ["30", "in 30 days"],
  ["365", "in a year"],
];
const DAY = 86_400_000; // milliseconds

const dayOf = (date: string) => new Date(date).toLocaleDateString(undefined, { dateStyle: "medium" });

export async function privately(shared: Shared) {
  const { links } = await shared.playback.socket.call("link.list", {});
  return <Private shared={shared} first={links} />;
}

function Private({ shared, first }: { shared: Shared; first: PrivateLink[] }) {
  const { socket, source } = shared.playback;
  const [links, setLinks] = useState(first);
  const [state, setState] = useState<ComponentChildren>(null);
  const show = async () => setLinks((await socket.call("link.list", {})).links);
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const asked = new FormData(event.currentTarget as HTMLFormElement);
    const [title, kept] = [String(asked.get("name")).trim(), Number(asked.get("days"))];
    try {
      if (!(await shared.settle())) return;
      setState(<p class="dim">Computing its decisions…</p>);
      const query = shared.query();
      const without = shared
        .without()
        .filter((part) => part !== "names")
        .join(" ");
      const asking = { source, title, query, without, ...(kept ? { days: kept } : {}) };
      const made = await socket.call("link.create", asking);
      const copied = await copy(location.origin + made.url);
      setState(<p class="dim">{copied ? "Created and copied to the clipboard." : "Created."}</p>);
      await show();
    } catch (error) {
      setState(<Refused what="The link could not be created" why={refusalOf(error).message} />);
    }
  };
  return (
    <>
      <p class="dim">
        Its address cannot be guessed and is listed only for you. It records today's decisions, and reports when a later
        version decides differently.
      </p>
      <form class="private-form" onSubmit={create}>
        <div>
          <label for="private-name">Name</label>
          <input
            class="field"
            id="private-name"
            name="name"
            maxlength={120}
            autocomplete="off"
            defaultValue={shared.title}
          />
        </div>
        <div>
          <label for="private-days">It expires</label>
          <select class="field" id="private-days" name="days">
            {DAYS.map(([value, text]) => (
              <option value={value}>{text}</option>
            ))}
          </select>
        </div>
        <button class="btn primary">
          <Icon name="plus" />
          Create a private link
        </button>
      </form>
      <div role="status">{state}</div>
      <Named name="Yours">
        <ul class="private-links">
          {links.slice(0, LISTED).map((link) => (
            <Row key={link.link} shared={shared} link={link} show={show} />
          ))}
          {links.length > LISTED ? <li class="dim">{`and ${links.length - LISTED} older ones`}</li> : null}
          {links.length ? null : <li class="dim">You have no private links yet.</li>}
        </ul>
      </Named>
    </>
  );
}

/** A link of one's own, which can be copied, named and revoked. */
function Row({ shared, link, show }: { shared: Shared; link: PrivateLink; show: () => Promise<void> }) {
  const { socket } = shared.playback;
  const [copied, setCopied] = useState<boolean | null>(null);
  const [sure, setSure] = useState(false);
  const title = link.title || "Untitled";
  const left = Math.max(0, Math.ceil((Date.parse(link.expires) - Date.now()) / DAY));
  const rename = (title: string) => attempt(() => socket.call("link.rename", { link: link.link, title }));
  const revoke = async () => {
    if (!sure) return setSure(true);
    await socket.call("link.revoke", { link: link.link });
    await show();
  };
  return (
    <li>
      <input
        class="field"
        aria-label={`Name of ${title}`}
        maxlength={120}
        defaultValue={link.title}
        placeholder="Untitled"
        onChange={(event) => rename(event.currentTarget.value)}
      />
      <a class="mono" href={link.url} target="_blank" rel="noopener">{`/l/${link.link}/`}</a>
      <span class="dim" title={`${plural(left, "day")}${link.fixed ? "" : ", counted again when it is opened"}`}>
        {`until ${dayOf(link.expires)}`}
      </span>
      <span class="private-acts">
        <Button
          look="quiet square"
          icon={copied === null ? "copy" : copied ? "check" : "warn"}
          label={`Copy the link ${title}`}
          title="Copy the link"
          act={async () => setCopied(await copy(location.origin + link.url))}
        />
        <Button
          look={`quiet ${sure ? "danger" : "square"}`}
          icon={sure ? undefined : "close"}
          label={`Revoke ${title}`}
          title="Revoke"
          act={revoke}
        >
          {sure ? "Revoke?" : null}
        </Button>
      </span>
    </li>
  );
}

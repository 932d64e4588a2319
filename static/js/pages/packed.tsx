// A link that holds a scenario itself: what is behind its "#" is opened as a draft of whoever follows it.

import type { ComponentChildren } from "preact";
import { Icon } from "../kit/icon.tsx";
import { place } from "../kit/place.ts";
import { unpack } from "../lib/packed.ts";
import { Socket, refusalOf } from "../lib/socket.ts";

/** Open what the address holds, in the place of the page's content. */
export async function openPacked(host: HTMLElement) {
  say(host, "inbox", "Opening the scenario that this link holds…");
  const socket = new Socket();
  try {
    const { text, title, query, release } = await unpack(location.hash);
    const { url } = await socket.call("bundle.open", { text, title, release });
    const { pathname } = new URL(url, location.origin);
    location.replace(query ? `${pathname}?${query}` : pathname);
  } catch (error) {
    const { message, body } = refusalOf(error);
    const texts = [message, ...(body?.errors ?? []).slice(0, 5).map((problem) => problem.message)];
    say(host, "warn", "This link cannot be opened.", [
      ...texts.map((text) => <span>{text}</span>),
      <a class="btn" href="/">
        To the start page
      </a>,
    ]);
    socket.close();
  }
}

const say = (host: HTMLElement, glyph: string, text: string, rest?: ComponentChildren) =>
  place(
    <div class="empty run-empty" role="status">
      <Icon name={glyph} />
      <b>{text}</b>
      {rest}
    </div>,
    host,
  );

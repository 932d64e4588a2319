// A copy of what is open, as a draft of the visitor's own at the same step.

import { toast } from "../../lib/dom.ts";
import { isRecording, openLive } from "../../lib/recorded.ts";
import { refusalOf } from "../../lib/socket.ts";
import type { EditWish } from "../view/actions.ts";
import type { Address } from "../address/address.ts";
import type { Playback } from "../playback/playback.ts";

/** Go on in a copy; with an edit, its editor opens there. */
export async function forked({ socket, source }: Playback, address: Address, edit?: EditWish) {
  if (isRecording()) return openLive();
  try {
    const { url } = await socket.call("scenario.fork", { source });
    const to = new URL(address.href(new URL(url, location.origin).pathname), location.origin);
    if (edit?.create) to.searchParams.set("create", edit.create);
    else if (edit) to.searchParams.set("edit", edit.target ?? "");
    location.assign(to.pathname + to.search);
  } catch (error) {
    toast(`It could not be copied: ${refusalOf(error).message}`, { name: "warn", ms: 6000 });
  }
}

// What the visitor must know of the connection, of steps that failed to load, and of the input.

import { $, toast } from "../../lib/dom.ts";
import { plural } from "../../lib/quantity.ts";
import type { Playback } from "../playback/playback.ts";
import { follow } from "../playback/store.ts";

type Toast = ReturnType<typeof toast>;

export function notices(playback: Playback) {
  const { socket } = playback;
  let lost: Toast | null = null;
  socket.on("down", () => {
    lost ??= toast("Connection lost. Reconnecting; loaded cycles remain available.", { name: "warn", ms: 0 });
  });
  socket.on("up", (first) => {
    lost?.remove();
    lost = null;
    if (!first) toast("Connected again.");
  });
  let away: Toast | null = null;
  let saving = false;
  socket.on("unavailable", ({ command, message }) => {
    if (away && (saving || command !== "draft.save")) return;
    away?.remove();
    saving = command === "draft.save";
    const why = message.split(". ")[0] || "The database does not respond";
    const meanwhile = saving
      ? "Your change is not saved yet; trying again. It is kept meanwhile."
      : "Trying again; loaded cycles remain available.";
    away = toast(`${why}. ${meanwhile}`, { name: "warn", ms: 0 });
  });
  socket.on("available", () => {
    away?.remove();
    away = null;
    saving = false;
    toast("The server is reachable again.");
  });
  playback.failed.on((error) => {
    if (error.code !== "draft.stale") toast(error.message, { name: "warn", ms: 6000 });
  });
  // Warnings are no news that covers the stage: the YAML tab counts them, and on a phone the region that it is in.
  follow(playback.store.scenario, () => {
    const { length } = playback.warnings;
    const build: HTMLElement | null = $('[data-view-tab="build"]');
    if (!build) return;
    build.classList.toggle("warned", length > 0);
    build.title = length ? `${plural(length, "warning")} about the input: see the YAML tab` : "";
  });
}

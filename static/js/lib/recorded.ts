import { $ } from "./dom.ts";

/** Whether this page is a recording: a file with its answers, and no server (recorded/). */
export const isRecording = () => document.body.classList.contains("recorded");

/** Offer the way to an engine, as the button in the head of a recording does. */
export const openLive = () => $("[data-live]")?.click();

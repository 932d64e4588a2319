/** Reads signals without depending on them; signals.ts sets it, where a page has any. */
export const reading = { untracked: <T>(read: () => T): T => read() };

// The page's one connection, made when somebody first needs it.

import { Socket } from "../lib/socket.ts";

let socket: Socket | null = null;

/** Return the connection of this page. */
export function link() {
  if (!socket) {
    socket = new Socket();
    window.podstep = { ...window.podstep, socket };
  }
  return socket;
}

// QR codes of this server's addresses, which it draws; what is behind a "#" is never among them.

import { h } from "./dom.js";

const MOST = 600; // characters of an address, as the server draws them: a phone still reads that off a projector

/**
 * The QR code of an address, null where that is too long for one.
 *
 * @param {string} address
 * @param {string} label
 */
export function qrCode(address, label) {
  if (address.length > MOST) return null;
  const { pathname, search } = new URL(address);
  const src = `/qr.svg?${new URLSearchParams({ path: pathname + search })}`;
  return h("img", { class: "qr", src, alt: label, width: 200, height: 200 });
}

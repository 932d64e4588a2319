const MOST = 600; // characters of an address, as the server draws them: a phone still reads that off a projector

/** The QR code of an address of this server, which draws it without what is behind a "#"; null of one too long. */
export function qrCode(address: string, label: string) {
  if (address.length > MOST) return null;
  const { pathname, search } = new URL(address);
  const src = `/qr.svg?${new URLSearchParams({ path: pathname + search })}`;
  return <img class="qr" src={src} alt={label} width={200} height={200} />;
}

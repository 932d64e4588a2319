// QR codes, drawn as one SVG path. The encoder is loaded where one is shown.

const SVG = "http://www.w3.org/2000/svg";
const QUIET = 4; // modules of white around a code, as readers need it
const MOST = 1500; // bytes: a code of more is too fine for the camera of a phone

/**
 * A QR code; null where a text is too long for one, or the encoder is not there.
 *
 * @param {string} text
 * @param {string} label
 * @returns {Promise<SVGSVGElement | null>}
 */
export async function qrCode(text, label) {
  if (new TextEncoder().encode(text).length > MOST) return null;
  try {
    const { encode } = await import("../../vendor/qr.js");
    return drawn(encode(text, { ecc: "M", border: QUIET }), label);
  } catch {
    return null;
  }
}

/**
 * @param {{ size: number, data: boolean[][] }} code
 * @param {string} label
 */
function drawn({ size, data }, label) {
  let path = "";
  data.forEach((row, y) => {
    for (let x = 0; x < size; x += 1) {
      const from = x;
      while (row[x]) x += 1;
      if (x > from) path += `M${from} ${y}h${x - from}v1h${from - x}z`;
    }
  });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("class", "qr");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.setAttribute("shape-rendering", "crispEdges");
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

// How large cards can be so that all of them fit the stage: as large as the room allows, in the columns that leave
// least of it empty.

const LARGEST = 30; // pixels of a card's text
const STEP = 0.5;
const NARROWEST = 14.6; // em of a card
const ACROSS = 6; // groups beside each other at most
const PER_ROW = 8; // cards of a group beside each other at most
const HEADING = 2.1; // em above each row of groups, in the text's size
const BETWEEN_GROUPS = 14;
const BETWEEN_CARDS = 10;
const FRAME = 3.9; // em of a card but for its bars, pods and reason
const BAR = 1.3;
const BLOCK = 1.45; // of a pod, with the gap beside it
const SCORE = 5; // beside the pods
const REASON = 26; // em that a reason takes on one line
const LINE = 1.15;

/**
 * `{font, across, per, tall, from}` for groups of so many cards, null where not all fit even with the smallest text,
 * `least` pixels; `from` is the column in which the last group begins.
 */
export function fit(sizes, { width, height, least, bars, pods }) {
  let best = null;
  const cards = sizes.reduce((sum, size) => sum + size, 0);
  const most = Math.max(...sizes);
  for (let across = 1; across <= Math.min(sizes.length, ACROSS); across += 1) {
    const room = (width - BETWEEN_GROUPS * (across - 1)) / across;
    const from = (sizes.length - 1) % across; // the last group takes what is left of its line
    const wider = cards + sizes.at(-1) * (across - 1 - from);
    for (let per = 1; per <= Math.min(most, PER_ROW); per += 1) {
      const card = (room - BETWEEN_CARDS * (per - 1)) / per;
      let rows = 0;
      let bands = 0;
      for (let at = 0; at < sizes.length; at += across) {
        rows += Math.ceil(Math.max(...sizes.slice(at, at + across)) / per);
        bands += 1;
      }
      const tall = Math.floor(
        (height - bands * HEADING * least - (bands - 1) * BETWEEN_GROUPS - (rows - bands) * BETWEEN_CARDS) / rows,
      );
      const filled = (wider * card * tall) / (width * height);
      for (let font = LARGEST; font >= least; font -= STEP) {
        if (card < NARROWEST * font || tall < heightOf(card / font, bars, pods) * font) continue;
        if (font * filled > (best?.worth ?? 0))
          best = { worth: font * filled, font, across, per, tall, from: from + 1 };
        break;
      }
    }
  }
  return best;
}

/**
 * The height of a card that is so wide, in em.
 *
 * @param {number} pods
 */
function heightOf(wide, bars, pods) {
  return FRAME + BAR * bars + BLOCK * Math.ceil((pods * BLOCK) / (wide - SCORE)) + LINE * Math.ceil(REASON / wide);
}

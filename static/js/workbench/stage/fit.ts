// How large cards can be so that all of them fit the stage: as large as the room allows, in the columns that leave
// least of it empty. Where not all fit with everything that a card shows, they are small: name, pods and one line.

const LARGEST = 30; // pixels of a card's text
const STEP = 0.5;
const NARROWEST = 11.3; // em of a card
const ACROSS = 6; // groups beside each other at most
const PER_ROW = 12; // cards of a group beside each other at most
const HEADING = 2.1; // em above each row of groups, in the text's size
const BETWEEN_GROUPS = 14;
const BETWEEN_CARDS = 10;
const FRAME = 4.6; // em of a card but for its pods, bars and reason
const ROOM = 4.5; // for the pods, at least
const SHARE = 0.36; // and of a card's height
const BAR = 1.3;
const UNDER = 14.6; // em of a card whose bars stand under their words
const BESIDE = 27; // em of a card whose bars stand beside each other, three to a row
const ROW = 2;
const REASON = 26; // em that a reason takes on one line
const LINE = 1.15;

// Small cards.
const SMALL_NARROWEST = 4.8;
const SMALL_FRAME = 3.7;
const SMALL_ROOM = 1.5;
const BETWEEN_SMALL = 6;
const SHAPELY = 1.5; // how much wider than high the pods of a card are at best
const TOWERING = 2; // how much higher than wide a card is at most
const [WIDE, TALL] = [13.5, 10.5]; // em of a small card whose text grows
const SIZED = 13; // em of one that has room for the node's size beside its name

/** with the least size of a text */
export type Room = { width: number; height: number; least: number; bars: number };
/** The columns of groups, and in them the cards of each group beside each other, `per`. */
export type Columns = {
  columns: number[];
  per: number[];
  /** the column in which the last group begins */
  from: number;
  /** the width of one */
  card: number;
  /** how many cards would fill what is taken */
  drawn: number;
  rows: number;
  bands: number;
};
/** of a card */
export type Shape = {
  font: number;
  tall: number;
  worth: number;
  small: boolean;
  sized: boolean;
  lines?: number;
};

/**
 * How groups of so many cards stand, null where not all fit even with the smallest text, `least` pixels: `{font, tall,
 * lines, small, sized}` of a card, of each group how many cards are beside each other, `per`, and the widths of the
 * `columns` of groups; `from` is the column in which the last group begins.
 */
export function fit(sizes: number[], room: Room) {
  const large = best(sizes, room, BETWEEN_CARDS, whole);
  return large ?? best(sizes, room, BETWEEN_SMALL, small);
}

/**
 * The columns in which a card is worth most: `of(card, tall, room)` returns its font and its worth, or null where it
 * has no room.
 */
function best(
  sizes: number[],
  room: Room,
  between: number,
  of: (card: number, tall: number, room: Room) => Shape | null,
) {
  let found: (Columns & Shape) | null = null;
  for (const columns of [...even(sizes, room, between), ...weighted(sizes, room, between)]) {
    const { bands, rows, card, drawn } = columns;
    const tall = Math.floor(
      (room.height - bands * HEADING * room.least - (bands - 1) * BETWEEN_GROUPS - (rows - bands) * between) / rows,
    );
    const one = of(card, tall, room);
    const worth = one ? one.worth * ((drawn * card * one.tall) / (room.width * room.height)) : 0;
    if (one && worth > (found?.worth ?? 0)) found = { ...columns, ...one, worth };
  }
  return found;
}

/** Groups beside and below each other in columns of one width; the last one takes what is left of its line. */
function* even(sizes: number[], { width }: Room, between: number): Generator<Columns> {
  const cards = sizes.reduce((sum, size) => sum + size, 0);
  for (let across = 1; across <= Math.min(sizes.length, ACROSS); across += 1) {
    const column = (width - BETWEEN_GROUPS * (across - 1)) / across;
    const from = (sizes.length - 1) % across;
    for (let per = 1; per <= Math.min(Math.max(...sizes), PER_ROW); per += 1) {
      let [rows, bands] = [0, 0];
      for (let at = 0; at < sizes.length; at += across) {
        rows += Math.ceil(Math.max(...sizes.slice(at, at + across)) / per);
        bands += 1;
      }
      yield {
        columns: Array(across).fill(column),
        per: sizes.map(() => per),
        from: from + 1,
        card: (column - between * (per - 1)) / per,
        drawn: cards + sizes[sizes.length - 1] * (across - 1 - from),
        rows,
        bands,
      };
    }
  }
}

/** All groups beside each other, each as wide as its cards in so many rows. */
function* weighted(sizes: number[], { width }: Room, between: number): Generator<Columns> {
  const cards = sizes.reduce((sum, size) => sum + size, 0);
  if (sizes.length === 1 || sizes.length > ACROSS) return;
  for (let rows = 1; rows <= Math.max(...sizes); rows += 1) {
    const per = sizes.map((size) => Math.ceil(size / rows));
    const all = per.reduce((sum, one) => sum + one, 0);
    const card = (width - BETWEEN_GROUPS * (sizes.length - 1) - between * (all - sizes.length)) / all;
    const columns = per.map((one) => one * card + (one - 1) * between);
    yield { columns, per, from: sizes.length, card, drawn: cards, rows, bands: 1 };
  }
}

/** A card with all that it shows: the larger the text the better. */
function whole(card: number, tall: number, { least, bars }: Room): Shape | null {
  for (let font = LARGEST; font >= least; font -= STEP)
    if (card >= NARROWEST * font && tall >= heightOf(card / font, bars) * font)
      return { font, tall, worth: font, small: false, sized: true, lines: linesOf(card / font) };
  return null;
}

/** A small card: the more its pods can be made out the better. */
function small(card: number, tall: number, { least }: Room): Shape | null {
  const high = tall - SMALL_FRAME * least;
  if (card < SMALL_NARROWEST * least || high < SMALL_ROOM * least) return null;
  const font = Math.max(least, Math.min(LARGEST, card / WIDE, tall / TALL));
  return {
    font,
    tall: Math.min(tall, TOWERING * card),
    worth: Math.min(card, SHAPELY * high),
    small: true,
    sized: card >= SIZED * font,
  };
}

/**
 * The lines that are kept free for a reason, so that the pods stay as large whatever the reason.
 *
 * @param wide em
 */
const linesOf = (wide: number) => Math.ceil(REASON / wide);

/** The height of a card that is so wide, in em. */
function heightOf(wide: number, bars: number) {
  const content =
    FRAME + (wide < UNDER ? ROW * bars : wide < BESIDE ? BAR * bars : ROW * Math.ceil(bars / 3)) + LINE * linesOf(wide);
  return Math.max(content + ROOM, content / (1 - SHARE));
}

// Numbers in text fields.

/** A number as it is typed: what is none is kept as text, so that the engine reports what is wrong with it. */
export const typedNumber = (text: string) => (/^-?\d+$/.test(text.trim()) ? Number(text) : text.trim() || undefined);

/** The same of a number that may have decimals. */
export const typedDecimal = (text: string) =>
  /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text.trim() || undefined;

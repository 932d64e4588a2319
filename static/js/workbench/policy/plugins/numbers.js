// Numbers in text fields.

/**
 * A number as it is typed: what is none is kept as text, so that the engine reports what is wrong with it.
 *
 * @param {string} text
 */
export const typedNumber = (text) => (/^-?\d+$/.test(text.trim()) ? Number(text) : text.trim() || undefined);

/**
 * The same of a number that may have decimals.
 *
 * @param {string} text
 */
export const typedDecimal = (text) => (/^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text.trim() || undefined);

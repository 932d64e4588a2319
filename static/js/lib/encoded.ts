// Percent-encoded texts of addresses, as anybody may write them.

/** A text without its percent-encoding; one whose encoding is not valid stays as it is. */
export function decoded(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

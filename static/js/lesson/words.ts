// What the pages of lessons say, in the page's language: the server sends the words that differ from the English ones
// (playground/locale, the catalogue djangojs). A call has its English words in place, for the extraction of messages.

type Values = Record<string, string | number>;

const known: Record<string, string | string[]> = JSON.parse(document.querySelector("#words")?.textContent ?? "{}");

const filled = (text: string, values: Values) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

/** A sentence, with values for its `{names}`. */
export const gettext = (text: string, values: Values = {}) => filled(String(known[text] ?? text), values);

/** The form of a sentence for `{number}`: every language here has one for 1, and one for all others. */
export const ngettext = (one: string, many: string, number: number, values: Values = {}) => {
  const forms = known[one] ?? [one, many];
  return filled(number === 1 ? forms[0] : forms[1], { number, ...values });
};

/** For an element whose words are of another language than the page: a screen reader has to know. */
export const spoken = (language: string) => (language === document.documentElement.lang ? undefined : language);

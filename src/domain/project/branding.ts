/** The appearance of the connect page for a project's customers. */
import { z } from 'zod';

const URL_LENGTH_MAX = 2_048;
/** The maximum length of a language tag. No registered tag with all of its subtags is as long. */
const TAG_LENGTH_MAX = 64;

/** The members of a project's input that set the appearance. Null clears a value. */
export const brandingInput = {
  logoUrl: z
    .url({ protocol: /^https$/, error: 'must be an https URL.' })
    .max(URL_LENGTH_MAX)
    .nullish()
    .describe(
      `The https URL of the logo on the connect page, at most ${URL_LENGTH_MAX} characters; null for none. Browsers of customers load it.`,
    ),
  accentColor: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color like #4f46e5: a # and six hexadecimal digits.')
    .transform((color) => color.toLowerCase())
    .nullish()
    .describe(
      'The color of buttons and links on the connect page, like `#4f46e5`; null for the default color. The page makes it darker or lighter where texts would be hard to read.',
    ),
  locale: z
    .string()
    .max(TAG_LENGTH_MAX)
    .refine(isLanguageTag, 'must be a BCP 47 language tag, like en-GB or de.')
    .transform((tag) => Intl.getCanonicalLocales(tag)[0] as string)
    .nullish()
    .describe(
      "The language of the connect page as a BCP 47 tag, like `de` or `en-GB`, with the form of its times and numbers; null for the language of the customer's browser. The page has texts in English and German, and uses English for other languages.",
    ),
};

function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

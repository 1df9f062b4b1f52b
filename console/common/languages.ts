/** The languages in which customers see texts. The console itself is in English. */

const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Returns the language of a BCP 47 tag. English if the language has no texts. */
export function getLanguage(tag: string): Language {
  return LANGUAGES.find((language) => language === getPrimarySubtag(tag)) ?? 'en';
}

/** Returns the first tag whose language has texts. English if there is none. */
export function chooseLocale(tags: readonly string[]): string {
  return tags.find((tag) => getLanguage(tag) === getPrimarySubtag(tag)) ?? 'en';
}

function getPrimarySubtag(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}

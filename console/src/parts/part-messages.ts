/** Texts of parts that the connect page shows too, in its languages. The console itself is in English. */
import { useLocale } from 'react-aria-components';

const en = {
  loading: 'Loading…',
  retry: 'Try again',
  choose: 'Choose…',
  rejected: 'The gateway rejected the input:',
  now: 'now',
  records: (count: number, text: string) => `${text} ${count === 1 ? 'record' : 'records'}`,
  recordsOfAbout: (completed: string, total: string) => `${completed} of about ${total} records`,
  alwaysRead: (fields: string) => `Always read: ${fields}.`,
  yourField: (field: string) => `${field}: your field`,
  optional: 'Optional',

  fields: 'Fields',
  field: 'Field',
  before: 'Before',
  after: 'After',
  changed: 'changed',
  added: 'added',
  removed: 'removed',
  empty: 'empty',
};

type PartMessages = typeof en;

const de: PartMessages = {
  loading: 'Wird geladen …',
  retry: 'Erneut versuchen',
  choose: 'Auswählen …',
  rejected: 'Die Eingabe wurde nicht angenommen:',
  now: 'jetzt',
  records: (count, text) => `${text} ${count === 1 ? 'Datensatz' : 'Datensätze'}`,
  recordsOfAbout: (completed, total) => `${completed} von etwa ${total} Datensätzen`,
  alwaysRead: (fields) => `Immer gelesen: ${fields}.`,
  yourField: (field) => `${field}: Ihr Feld`,
  optional: 'Optional',

  fields: 'Felder',
  field: 'Feld',
  before: 'Vorher',
  after: 'Nachher',
  changed: 'geändert',
  added: 'neu',
  removed: 'entfernt',
  empty: 'leer',
};

/** The languages in which the connect page has texts. */
export type Language = 'en' | 'de';

const MESSAGES: Record<Language, PartMessages> = { en, de };

/** The language of a BCP 47 tag. English if the pages have no texts in it. */
export function getLanguage(tag: string): Language {
  const [language = ''] = tag.toLowerCase().split('-');
  return language in MESSAGES ? (language as Language) : 'en';
}

export function usePartMessages(): PartMessages {
  return MESSAGES[getLanguage(useLocale().locale)];
}

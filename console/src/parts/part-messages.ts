/** Texts of components that the console and the connect page share, in the languages of the connect page. */
import { useLocale } from 'react-aria-components';
import { getLanguage, type Language } from '../../common/languages.ts';

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

const MESSAGES: Record<Language, PartMessages> = { en, de };

export function usePartMessages(): PartMessages {
  return MESSAGES[getLanguage(useLocale().locale)];
}

/** The texts of the connect page in the language of its locale. */
import { useLocale } from 'react-aria-components';
import { getMessages, type Messages } from '../common/customer-messages.ts';

export type { Messages } from '../common/customer-messages.ts';

export function useMessages(): Messages {
  return getMessages(useLocale().locale);
}

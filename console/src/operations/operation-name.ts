/** Names an operation by its action and objects, like "Read contacts" or "Subscribe to contacts". */
import { formatWords } from '../parts/status.tsx';

export function getOperationName(actionType: string, objects: readonly string[]): string {
  const preposition = actionType === 'SUBSCRIBE' ? ' to' : '';
  return `${formatWords(actionType)}${preposition} ${objects.join(', ')}`;
}

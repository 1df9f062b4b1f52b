/** Names of event types and actions, as people see them. */
import { formatWords } from '../parts/status.tsx';

/** Events whose API names are not clear to people. */
const EVENT_NAMES: Record<string, string> = {
  READ_BACKFILL_DONE: 'First read finished',
  READ_TRIGGERED_DONE: 'Triggered read finished',
  READ_TRIGGERED_ERROR: 'Triggered read failed',
  READ_SCHEDULE_PAUSED: 'Scheduled reads paused',
  WRITE_ASYNC_DONE: 'Asynchronous write finished',
  CONNECTION_ERROR: 'Credentials rejected',
  SUBSCRIBE_CREATE_ERROR: 'Subscription failed',
  DESTINATION_WEBHOOK_DISABLED: 'Webhook disabled',
  DESTINATION_WEBHOOK_FAILING: 'Webhook failing',
  TEST_MESSAGE: 'Test message',
};

/** Converts `READ_BACKFILL_DONE` to `First read finished`, and `DELIVERY_FAILED` to `Delivery failed`. */
export function getEventName(eventType: string): string {
  return EVENT_NAMES[eventType] ?? formatWords(eventType);
}

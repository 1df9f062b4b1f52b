import { EVENT_MEANINGS } from '../../domain/event/notification-event.ts';
import { enumType } from '../schema/inputs.ts';

export const NotificationEventType = enumType(
  'NotificationEventType',
  'What happened, each with the name that messages carry.',
  EVENT_MEANINGS,
);

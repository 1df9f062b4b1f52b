import { EVENT_MEANINGS } from '../../domain/event/notification-event.ts';
import { enumType } from '../schema/inputs.ts';

export const NotificationEventType = enumType(
  'NotificationEventType',
  'What happened. Each description begins with the name that messages carry.',
  EVENT_MEANINGS,
);

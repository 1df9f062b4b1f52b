/** The subscribe choices of a customer's config, which override the events of the integration. */
import { z } from 'zod';
import {
  allFields,
  CONTENT_LIMITS,
  contentText,
} from '../../integration/integration-content-input.ts';
import { orElse, orNull } from '../../optional-value.ts';

const enabled = z.enum(['ALWAYS', 'NEVER']).meta({
  id: 'EventChoice',
  description: '`NEVER`: there are no such events for the installation.',
});

const toggleInput = z
  .object({ enabled })
  .meta({ id: 'EventToggleChoiceInput', description: 'Whether there are events of a kind.' });

const updateInput = z
  .object({
    enabled,
    watchFieldsAuto: orNull(allFields).describe(
      'If given, every update is an event. Not together with requiredWatchFields.',
    ),
    requiredWatchFields: orElse(z.array(contentText).max(CONTENT_LIMITS.fields), []).describe(
      'The fields whose changes are events. Default: as the integration says.',
    ),
  })
  .meta({ id: 'UpdateEventChoiceInput', description: 'Which updates are events.' });

export const subscribeConfigInput = z
  .object({
    objectName: contentText.describe("The provider's name of the object, like `contacts`."),
    destination: orNull(contentText).describe(
      "Replaces the integration's destination of the events: the name of a destination of the project.",
    ),
    inheritFieldsAndMapping: orNull(z.boolean()).describe(
      "Only a check: whether fields and names are those of the read object. A value other than the integration's is refused.",
    ),
    createEvent: orNull(toggleInput).describe(
      'Events of new records. Default: as the integration says.',
    ),
    updateEvent: orNull(updateInput).describe(
      'Events of changed records. Default: as the integration says.',
    ),
    deleteEvent: orNull(toggleInput).describe(
      'Events of deleted records. Default: as the integration says.',
    ),
    otherEvents: orNull(z.array(contentText).max(CONTENT_LIMITS.fields)).describe(
      "Which of the integration's other events are sent. Default: all of them.",
    ),
  })
  .meta({
    id: 'InstallationSubscribeConfigInput',
    description: 'The choices of the customer for the events of one object.',
  });

/** The subscribe choices of a customer's config, which override the events of the integration. */
import { z } from 'zod';
import { orElse, orNull } from '../../../base/input-schemas.ts';
import { computed, enumeration, resource, toEnumName } from '../../../base/resource.ts';
import {
  allFields,
  CONTENT_LIMITS,
  contentText,
  fieldsAuto,
} from '../../integration/integration-content-input.ts';

const eventChoice = enumeration('EventChoice', 'Whether events of a kind are sent.', {
  ALWAYS: 'Events are sent, as the integration defines.',
  NEVER: 'No events are sent for the installation.',
});
const enabled = eventChoice.describe('Whether events of this kind are sent.');

const SUBSCRIBE = 'The choices of the customer for the events of one object.';
const TOGGLE = 'Whether events of a kind are sent.';
const UPDATE = 'The updates that are events.';

const toggleInput = z
  .object({ enabled })
  .meta({ id: 'EventToggleChoiceInput', description: TOGGLE });

const updateInput = z
  .object({
    enabled,
    watchFieldsAuto: orNull(allFields).describe(
      'If set, every update is an event. Cannot be combined with requiredWatchFields.',
    ),
    requiredWatchFields: orElse(z.array(contentText).max(CONTENT_LIMITS.fields), []).describe(
      'The fields whose changes are events. Default: as the integration defines.',
    ),
  })
  .meta({ id: 'UpdateEventChoiceInput', description: UPDATE });

export const subscribeConfigInput = z
  .object({
    objectName: contentText.describe("The provider's name of the object, like `contacts`."),
    destination: orNull(contentText).describe(
      "Replaces the integration's destination of the events: the name of a destination of the project.",
    ),
    inheritFieldsAndMapping: orNull(z.boolean()).describe(
      "Whether fields and names are those of the read object, as a check. A value other than the integration's is refused.",
    ),
    createEvent: orNull(toggleInput).describe(
      'Events of new records. Default: as the integration defines.',
    ),
    updateEvent: orNull(updateInput).describe(
      'Events of changed records. Default: as the integration defines.',
    ),
    deleteEvent: orNull(toggleInput).describe(
      'Events of deleted records. Default: as the integration defines.',
    ),
    otherEvents: orNull(z.array(contentText).max(CONTENT_LIMITS.fields)).describe(
      "Which of the integration's other events are sent. Default: all of them.",
    ),
  })
  .meta({
    id: 'InstallationSubscribeConfigInput',
    description: SUBSCRIBE,
  });

export type SubscribeConfig = z.output<typeof subscribeConfigInput>;

const toggleResource = resource('EventToggleChoice', TOGGLE, { enabled });

const updateResource = resource('UpdateEventChoice', UPDATE, {
  enabled,
  watchFieldsAuto: computed(
    fieldsAuto.nullable().describe('If set, every update is an event; otherwise null.'),
    ({ watchFieldsAuto }: NonNullable<SubscribeConfig['updateEvent']>) =>
      watchFieldsAuto && toEnumName(watchFieldsAuto),
  ),
  requiredWatchFields: z
    .array(z.string())
    .describe('The fields whose changes are events. Empty if the integration decides.'),
});

export const subscribeConfigResource = resource('InstallationSubscribeConfig', SUBSCRIBE, {
  objectName: z.string().describe("The provider's name of the object, like `contacts`."),
  destination: z
    .string()
    .nullable()
    .describe("The name of the destination of the events; null for the integration's."),
  inheritFieldsAndMapping: z
    .boolean()
    .nullable()
    .describe(
      'Whether fields and names are those of the read object; null if the integration decides.',
    ),
  createEvent: toggleResource
    .nullable()
    .describe('Events of new records; null if the integration decides.'),
  updateEvent: updateResource
    .nullable()
    .describe('Events of changed records; null if the integration decides.'),
  deleteEvent: toggleResource
    .nullable()
    .describe('Events of deleted records; null if the integration decides.'),
  otherEvents: z
    .array(z.string())
    .nullable()
    .describe("The integration's other events that are sent; null for all."),
});

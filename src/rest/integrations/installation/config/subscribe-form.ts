/** The choices for the events of an object, in the reference API's form. */
import { z } from 'zod';
import { boundedName } from '../../../../domain/base/names.ts';
import { toEnumName, toStoredWord } from '../../../../domain/base/resource.ts';
import type { SubscribeConfigInput } from '../../../../domain/integrations/installation/choice/installation-config-input.ts';
import type { SubscribeConfig } from '../../../../domain/integrations/installation/choice/subscribe-choice.ts';
import type { ObjectForm } from './object-form.ts';

const enabled = z
  .enum(['always', 'never'])
  .describe('`never`: there are no such events for the installation.');
const event = z.strictObject({ enabled });

const destination = boundedName.describe(
  "The name of a destination of the project that replaces the integration's for the events.",
);
const inheritFieldsAndMappings = z
  .boolean()
  .describe(
    "Whether events have the fields and names of the read object. Default: the integration's setting.",
  );

const events = {
  createEvent: event
    .optional()
    .describe("Events of new records. Default: the integration's setting."),
  updateEvent: z
    .strictObject({
      enabled,
      watchFieldsAuto: z.enum(['all']).optional().describe('`all`: every update is an event.'),
      requiredWatchFields: z
        .array(boundedName)
        .optional()
        .describe("The fields whose changes are events. Default: the integration's setting."),
    })
    .optional()
    .describe("Events of changed records. Default: the integration's setting."),
  deleteEvent: event
    .optional()
    .describe("Events of deleted records. Default: the integration's setting."),
  otherEvents: z
    .array(boundedName)
    .optional()
    .describe("The integration's other events that the installation receives. Default: all."),
};

/** Accepted and ignored: events cost no quota, and the gateway subscribes to each object automatically. */
const providerOptions = z
  .strictObject({
    quotaOptimization: z
      .strictObject({
        enabled: z
          .literal(false, 'must be false: the gateway has no such subscriptions.')
          .describe('Always false: the gateway has no such subscriptions.'),
      })
      .optional()
      .describe('Salesforce only.'),
  })
  .optional()
  .describe('Options for specific providers.');

const request = z.strictObject({
  destination: destination.optional(),
  inheritFieldsAndMappings: inheritFieldsAndMappings.optional(),
  ...events,
  providerOptions,
});

type Wire = z.output<typeof request>;

export const subscribeForm: ObjectForm<Wire, SubscribeConfigInput, SubscribeConfig> = {
  request: request.shape,
  response: { destination, inheritFieldsAndMappings, ...events },

  decode: ({ createEvent, updateEvent, deleteEvent, ...wire }) => ({
    destination: wire.destination,
    inheritFieldsAndMapping: wire.inheritFieldsAndMappings,
    createEvent: createEvent && { enabled: toEnumName(createEvent.enabled) },
    updateEvent: updateEvent && {
      ...updateEvent,
      enabled: toEnumName(updateEvent.enabled),
      watchFieldsAuto: updateEvent.watchFieldsAuto && 'ALL',
    },
    deleteEvent: deleteEvent && { enabled: toEnumName(deleteEvent.enabled) },
    otherEvents: wire.otherEvents,
  }),

  encode: ({ createEvent, updateEvent, deleteEvent, ...choice }) => ({
    destination: choice.destination ?? undefined,
    inheritFieldsAndMappings: choice.inheritFieldsAndMapping ?? undefined,
    createEvent: createEvent ? { enabled: toStoredWord(createEvent.enabled) } : undefined,
    updateEvent: updateEvent ? showUpdateEvent(updateEvent) : undefined,
    deleteEvent: deleteEvent ? { enabled: toStoredWord(deleteEvent.enabled) } : undefined,
    otherEvents: choice.otherEvents ?? undefined,
  }),

  locate: (_wire, path) =>
    path[0] === 'inheritFieldsAndMapping' ? ['inheritFieldsAndMappings'] : path,
};

function showUpdateEvent({
  enabled: choice,
  watchFieldsAuto,
  requiredWatchFields: names,
}: NonNullable<SubscribeConfig['updateEvent']>): Wire['updateEvent'] {
  return {
    enabled: toStoredWord(choice),
    watchFieldsAuto: watchFieldsAuto === null ? undefined : 'all',
    requiredWatchFields: names.length > 0 ? names : undefined,
  };
}

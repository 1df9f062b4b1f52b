/** Converts choices for the events of an object between the wire form of the reference API and the domain's form. */
import { z } from 'zod';
import type { SubscribeConfig } from '../../../domain/installation/choice/subscribe-choice.ts';
import type { SubscribeConfigInput } from '../../../domain/installation/installation-config.ts';
import { objectName, text } from './config-read-shape.ts';

const enabled = z
  .enum(['always', 'never'])
  .describe('`never`: there are no such events for the installation.');
const event = z.strictObject({ enabled });

const destination = text.describe(
  "Replaces the integration's destination of the events: the name of a destination of the project.",
);
const inheritFieldsAndMappings = z
  .boolean()
  .describe('Whether fields and names are those of the read object: as the integration says.');

const events = {
  createEvent: event
    .optional()
    .describe('Events of new records. Default: as the integration says.'),
  updateEvent: z
    .strictObject({
      enabled,
      watchFieldsAuto: z.enum(['all']).optional().describe('`all`: every update is an event.'),
      requiredWatchFields: z
        .array(text)
        .optional()
        .describe('The fields whose changes are events. Default: as the integration says.'),
    })
    .optional()
    .describe('Events of changed records. Default: as the integration says.'),
  deleteEvent: event
    .optional()
    .describe('Events of deleted records. Default: as the integration says.'),
  otherEvents: z
    .array(text)
    .optional()
    .describe('Those of the other events of the integration that are wanted. Default: all.'),
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
  .describe('Options of single providers.');

export const subscribeObjectInput = z.strictObject({
  objectName: objectName.optional(),
  destination: destination.optional(),
  inheritFieldsAndMappings: inheritFieldsAndMappings.optional(),
  ...events,
  providerOptions,
});

export const subscribeObjectOutput = z.object({
  objectName,
  destination,
  inheritFieldsAndMappings,
  ...events,
});

type Wire = z.output<typeof subscribeObjectInput>;

const CHOICES = { always: 'ALWAYS', never: 'NEVER' } as const;
const WORDS = { ALWAYS: 'always', NEVER: 'never' } as const;

export function parseSubscribeObject([name, wire]: [string, Wire]): SubscribeConfigInput {
  const { createEvent, updateEvent, deleteEvent } = wire;
  return {
    objectName: name,
    destination: wire.destination,
    inheritFieldsAndMapping: wire.inheritFieldsAndMappings,
    createEvent: createEvent && { enabled: CHOICES[createEvent.enabled] },
    updateEvent: updateEvent && {
      ...updateEvent,
      enabled: CHOICES[updateEvent.enabled],
      watchFieldsAuto: updateEvent.watchFieldsAuto && 'ALL',
    },
    deleteEvent: deleteEvent && { enabled: CHOICES[deleteEvent.enabled] },
    otherEvents: wire.otherEvents,
  };
}

export function showSubscribeObject({ objectName: name, ...choice }: SubscribeConfig): Wire {
  const { createEvent, updateEvent, deleteEvent } = choice;
  return {
    objectName: name,
    destination: choice.destination ?? undefined,
    inheritFieldsAndMappings: choice.inheritFieldsAndMapping ?? undefined,
    createEvent: createEvent ? { enabled: WORDS[createEvent.enabled] } : undefined,
    updateEvent: updateEvent ? showUpdateEvent(updateEvent) : undefined,
    deleteEvent: deleteEvent ? { enabled: WORDS[deleteEvent.enabled] } : undefined,
    otherEvents: choice.otherEvents ?? undefined,
  };
}

function showUpdateEvent(event: NonNullable<SubscribeConfig['updateEvent']>): Wire['updateEvent'] {
  const { requiredWatchFields: names } = event;
  return {
    enabled: WORDS[event.enabled],
    watchFieldsAuto: event.watchFieldsAuto === null ? undefined : 'all',
    requiredWatchFields: names.length > 0 ? names : undefined,
  };
}

export function locateInSubscribeObject(location: string): string {
  if (location === '.objectName') return '';
  return location.replace(/^\.inheritFieldsAndMapping$/, '.inheritFieldsAndMappings');
}

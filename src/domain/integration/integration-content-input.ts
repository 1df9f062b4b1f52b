/**
 * What an integration reads, writes, proxies and subscribes to, as it is given: the shape of each value.
 * Rules between values are in integration-content-check.ts, what is stored in integration-content.ts.
 */
import { z } from 'zod';
import { orDefault, orElse, orNull } from '../optional-value.ts';
import { schedule } from './cron.ts';

/** Far above any integration that people write; keeps a revision under a few megabytes. */
export const CONTENT_LIMITS = { objects: 200, fields: 1_000, characters: 256 } as const;

const SPEC_VERSION = '1.0.0';

/** Names and texts inside the content. */
export const contentText = z.string().min(1).max(CONTENT_LIMITS.characters);

const oneOf = (...values: string[]) =>
  z.string().refine((text) => values.includes(text), `must be ${values.join(' or ')}.`);

const objectName = contentText.describe("The provider's name of the object.");
export const ENABLED = 'always is the only value: what is listed is on for every installation.';
const enabled = oneOf('always').describe(ENABLED);

export const fieldMappingInput = z
  .object({
    fieldName: orNull(contentText).describe("The provider's name of the field."),
    mapToName: orNull(contentText).describe('The name that the field is delivered under.'),
    mapToDisplayName: orNull(contentText).describe('The name that people see.'),
  })
  .meta({
    id: 'FieldMappingInput',
    description: 'A field: with fieldName an existing one, with mapToName alone one to be mapped.',
  });

const fields = orElse(z.array(fieldMappingInput).max(CONTENT_LIMITS.fields), []);

const deliveryInput = z
  .object({
    mode: orDefault(oneOf('auto', 'onRequest'), 'auto').describe('auto or onRequest.'),
    pageSize: orNull(z.number().int().min(50).max(500)).describe('Records in one message.'),
  })
  .meta({ id: 'DeliverySpecInput', description: 'How read records are delivered.' });

const readObjectInput = z
  .object({
    objectName,
    destination: contentText
      .nullish()
      .transform((name, context) => {
        if (name != null) return name;
        context.addIssue('must be given.');
        return z.NEVER;
      })
      .describe(
        'The name of the destination that the records go to. Every read object must have one.',
      ),
    schedule: orNull(schedule).describe(
      'Cron of five fields in UTC; left out, the object is read only when triggered.',
    ),
    mapToName: orNull(contentText).describe('The name that the object is delivered under.'),
    mapToDisplayName: orNull(contentText).describe('The name that people see.'),
    requiredFields: fields.describe('Fields that are always read.'),
    optionalFields: fields.describe('Fields that an installation may select.'),
    optionalFieldsAuto: orNull(oneOf('all')).describe(
      'all: every field of the object may be selected.',
    ),
    delivery: orNull(deliveryInput).describe('How its records are delivered.'),
    enabled: orNull(enabled),
  })
  .meta({ id: 'ReadObjectSpecInput', description: 'An object to read.' });

/** What is said of values for fields that no one has mapped. */
export const VALUE_DEFAULTS = 'Which fields a write may give values beside those that are mapped.';
export const ANY_FIELDS =
  'True: with inheritMapping, a write may name any field of the provider, mapped or not. False: mapped and selected ones only.';

const writeObjectInput = z
  .object({
    objectName,
    inheritMapping: orElse(z.boolean(), false).describe('Names are mapped as in the read object.'),
    valueDefaults: orNull(
      z
        .object({ allowAnyFields: z.boolean().describe(ANY_FIELDS) })
        .meta({ id: 'ValueDefaultsInput', description: VALUE_DEFAULTS }),
    ).describe(VALUE_DEFAULTS),
  })
  .meta({ id: 'WriteObjectSpecInput', description: 'An object to write.' });

const proxyInput = z
  .object({
    enabled: z.boolean().describe('Requests may be forwarded to the provider.'),
    useModule: orElse(z.boolean(), false).describe(
      "To the module's base URL instead of the root's.",
    ),
  })
  .meta({ id: 'ProxySpecInput', description: 'Forwarding of requests.' });

const toggleInput = z
  .object({ enabled })
  .meta({ id: 'EventToggleInput', description: 'A kind of event that is listened to.' });

const updateEventInput = z
  .object({
    enabled,
    watchFieldsAuto: orNull(oneOf('all', 'selected')).describe(
      'all or selected; not together with requiredWatchFields.',
    ),
    requiredWatchFields: orElse(z.array(contentText).max(CONTENT_LIMITS.fields), []).describe(
      'Only changes of these fields are events.',
    ),
  })
  .meta({ id: 'UpdateEventSpecInput', description: 'Changes that are listened to.' });

const associationEventInput = z
  .object({
    enabled,
    includeFullRecords: orElse(z.boolean(), false).describe('Events carry the associated records.'),
  })
  .meta({
    id: 'AssociationChangeEventSpecInput',
    description: 'Changes of associations that are listened to.',
  });

const subscribeObjectInput = z
  .object({
    objectName,
    destination: orNull(contentText).describe('The destination of the events.'),
    inheritFieldsAndMapping: orElse(z.boolean(), false).describe(
      'Fields and names are those of the read object.',
    ),
    createEvent: orNull(toggleInput).describe('Records that are made.'),
    updateEvent: orNull(updateEventInput).describe('Records that are changed.'),
    deleteEvent: orNull(toggleInput).describe('Records that are deleted.'),
    associationChangeEvent: orNull(associationEventInput).describe('Associations that change.'),
    otherEvents: orElse(z.array(contentText).max(CONTENT_LIMITS.fields), []).describe(
      "Further events, by the provider's names.",
    ),
  })
  .meta({ id: 'SubscribeObjectSpecInput', description: 'An object whose events are wanted.' });

const objectsOf = <T extends z.ZodObject>(object: T) =>
  z.array(object).max(CONTENT_LIMITS.objects).describe('The objects, each once.');

export const integrationContentInput = z
  .object({
    name: contentText.describe("The integration's name."),
    provider: contentText.describe("The integration's provider."),
    displayName: orNull(z.string().min(1).max(100)).describe('The name that people see.'),
    module: orNull(contentText).describe('The module of the provider.'),
    read: orNull(
      z
        .object({ objects: objectsOf(readObjectInput) })
        .meta({ id: 'ReadSpecInput', description: 'What is read.' }),
    ).describe('What is read.'),
    write: orNull(
      z
        .object({ objects: objectsOf(writeObjectInput) })
        .meta({ id: 'WriteSpecInput', description: 'What may be written.' }),
    ).describe('What may be written.'),
    proxy: orNull(proxyInput).describe('Forwarding of requests.'),
    subscribe: orNull(
      z
        .object({ objects: objectsOf(subscribeObjectInput) })
        .meta({ id: 'SubscribeSpecInput', description: 'Events that are wanted.' }),
    ).describe('Events that are wanted.'),
  })
  .meta({ id: 'IntegrationContentInput', description: 'What an integration does.' });

export const revisionInput = z
  .object({
    specVersion: oneOf(SPEC_VERSION).describe(
      `The version of the content's form: ${SPEC_VERSION}.`,
    ),
    content: integrationContentInput,
  })
  .meta({ id: 'RevisionInput', description: 'A version of what an integration does.' });

export type ContentInput = z.input<typeof integrationContentInput>;
export type ReadObjectInput = z.input<typeof readObjectInput>;
export type SubscribeObjectInput = z.input<typeof subscribeObjectInput>;

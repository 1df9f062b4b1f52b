/**
 * The input schema of an integration's content. Rules that depend on the catalog or the project are in
 * integration-content-check.ts, and the stored form is in integration-content.ts.
 */
import { z } from 'zod';
import { joinTexts, member, text } from '../../../kernel/text.ts';
import { orDefault, orElse, orNull } from '../../base/input-schemas.ts';
import { checkRules, createRuleIssue } from '../../base/issues.ts';
import { enumeration, toStoredWord } from '../../base/resource.ts';
import { fieldValueType, toWireValueType } from '../installation/shown-field.ts';
import { backfillPeriod, listPeriodIssues, PERIOD } from './backfill-period.ts';
import { hourlySchedule, optionalSchedule } from './cron.ts';

/** Exceeds any hand-written integration, and keeps a revision below a few megabytes. */
export const CONTENT_LIMITS = { objects: 200, fields: 1_000, characters: 256 } as const;

export const SPEC_VERSION = '1.0.0' as const;

/** Allows a few sentences. */
const PROMPT_LENGTH_MAX = 1_000;

/** A name or a short text in the content. */
export const contentText = z.string().min(1).max(CONTENT_LIMITS.characters);

const objectName = contentText.describe(
  "The provider's name of the object, like `contacts`, or an alias of the object, which that name replaces.",
);

export const alwaysEnabled = enumeration(
  'AlwaysEnabled',
  'Something that no installation can turn off.',
  { ALWAYS: 'It is on for every installation.' },
);
const always = alwaysEnabled.transform(toStoredWord);

export const fieldsAuto = enumeration('FieldsAuto', 'Fields that are chosen without naming them.', {
  ALL: 'Every field.',
});
export const allFields = fieldsAuto.transform(toStoredWord);

export const watchFieldsAuto = enumeration(
  'WatchFieldsAuto',
  'Fields to watch without naming them.',
  { ALL: 'Every field.', SELECTED: 'The fields that the installation reads.' },
);

export const deliveryMode = enumeration('DeliveryMode', 'When records that were read are sent.', {
  AUTO: 'As soon as they are read.',
});

export const ENABLED = 'An event that is listed is on for every installation.';
const enabled = always.describe(ENABLED);

export const ALWAYS_READ =
  'If set, every installation reads the object, and its config can neither omit nor disable it. Default: the config decides.';

export const fieldMappingInput = z
  .object({
    fieldName: orNull(contentText).describe(
      "The provider's name of the field. Omit it for a name that each installation maps to a field.",
    ),
    mapToName: orNull(contentText).describe(
      "The builder's own name of the field in messages and writes. Default: the provider's name.",
    ),
    mapToDisplayName: orNull(contentText).describe('The name that people see.'),
    default: orNull(contentText).describe(
      "Only without fieldName: the provider's field for the name, until an installation maps another field.",
    ),
    prompt: orNull(z.string().max(PROMPT_LENGTH_MAX)).describe(
      'Only without fieldName: the prompt that people see when they map the name.',
    ),
    valueType: orNull(fieldValueType.transform(toWireValueType)).describe(
      "The type of the field in contracts. Default: the type that all accounts' descriptions share.",
    ),
  })
  .meta({
    id: 'FieldMappingInput',
    description:
      'A field to read. With fieldName it is a field of the provider; with mapToName alone each installation maps a field to it.',
  });

const fields = orElse(z.array(fieldMappingInput).max(CONTENT_LIMITS.fields), []);

const deliveryInput = z
  .object({
    mode: orDefault(deliveryMode, 'AUTO')
      .transform(toStoredWord)
      .describe('When records are sent. Default: when they are read.'),
    pageSize: orNull(z.number().int().min(50).max(500)).describe(
      'The number of records in one message, 50 to 500. The last message of a read, and a message that would exceed 300 KB, have fewer. Default: a message for each page of the provider.',
    ),
  })
  .meta({ id: 'DeliverySpecInput', description: 'How records that are read are delivered.' });

const backfillInput = z
  .object({
    defaultPeriod: z
      .object(backfillPeriod)
      .superRefine(checkRules(listPeriodIssues))
      .meta({ id: 'BackfillPeriodInput', description: PERIOD }),
  })
  .meta({ id: 'BackfillSpecInput', description: 'The first read of an object.' });

const readObjectInput = z
  .object({
    objectName,
    destination: contentText
      .nullish()
      .transform((name, context) => {
        if (name != null) return name;
        context.addIssue('is required.');
        return z.NEVER;
      })
      .describe(
        'The name of the destination that gets the records. Every read object must have one.',
      ),
    schedule: optionalSchedule.describe(
      'A cron expression of five fields, in UTC, at most one run in 10 minutes. Default: the object is read only by triggerRead.',
    ),
    mapToName: orNull(contentText).describe(
      "The builder's own name of the object in messages and inputs. Default: the provider's name.",
    ),
    mapToDisplayName: orNull(contentText).describe('The name that people see.'),
    requiredFields: fields.describe('The fields that every installation reads.'),
    optionalFields: fields.describe('The fields that an installation may select.'),
    optionalFieldsAuto: orNull(allFields).describe(
      'If set, an installation may select every field of the object. Default: only optionalFields.',
    ),
    backfill: orNull(backfillInput).describe(
      'The first read of installations whose config sets no period. Default: it covers all records.',
    ),
    delivery: orNull(deliveryInput).describe('How records of the object are delivered.'),
    enabled: orNull(always).describe(ALWAYS_READ),
  })
  .superRefine(checkRules(listFieldIssues))
  .meta({
    id: 'ReadObjectSpecInput',
    description: 'An object to read, with its fields, schedule and destination.',
  });

type Fields = Record<'requiredFields' | 'optionalFields', z.output<typeof fields>>;

/** Checks the members of each field. A repeated field is allowed: `dropRepeatedFields` drops the earlier one. */
function* listFieldIssues({ requiredFields, optionalFields }: Fields) {
  for (const [list, members] of Object.entries({ requiredFields, optionalFields })) {
    for (const [index, field] of members.entries()) {
      const path = [list, index];
      if (field.fieldName === null && field.mapToName === null) {
        const names = ['fieldName', 'mapToName'].map((name) => member(...path, name));
        yield createRuleIssue(path, text`must have ${joinTexts(names, ' or ')}.`);
      }
      for (const name of ['default', 'prompt'] as const) {
        if (field.fieldName === null || field[name] === null) continue;
        const detail = text`must not be combined with ${member(...path, 'fieldName')}.`;
        yield createRuleIssue([...path, name], detail, { showsValue: true });
      }
    }
  }
}

export const VALUE_DEFAULTS =
  "The fields that a write and a config may name in addition to the integration's fields.";
export const ANY_FIELDS =
  "If true, a write with inheritMapping may set any field of the provider, and a config may have settings for any field. If false, both are limited to the integration's fields.";

const writeObjectInput = z
  .object({
    objectName,
    inheritMapping: orElse(z.boolean(), false).describe(
      'Whether a write uses the mapped names of the read object.',
    ),
    valueDefaults: orNull(
      z
        .object({ allowAnyFields: z.boolean().describe(ANY_FIELDS) })
        .meta({ id: 'ValueDefaultsInput', description: VALUE_DEFAULTS }),
    ).describe(VALUE_DEFAULTS),
  })
  .meta({ id: 'WriteObjectSpecInput', description: 'An object that may be written.' });

const proxyInput = z
  .object({
    enabled: z.boolean().describe('Whether requests may be forwarded to the provider.'),
    useModule: orElse(z.boolean(), false).describe(
      "Whether requests go to the base URL of the module instead of the provider's.",
    ),
  })
  .meta({ id: 'ProxySpecInput', description: 'Whether requests are forwarded to the provider.' });

const toggleInput = z
  .object({ enabled })
  .meta({ id: 'EventToggleInput', description: 'An event that the gateway subscribes to.' });

const updateEventInput = z
  .object({
    enabled,
    watchFieldsAuto: orNull(watchFieldsAuto.transform(toStoredWord)).describe(
      'The fields to watch: all fields, or the fields that the installation selects. Cannot be combined with requiredWatchFields.',
    ),
    requiredWatchFields: orElse(z.array(contentText).max(CONTENT_LIMITS.fields), []).describe(
      'The fields to watch: only their changes are events.',
    ),
  })
  .superRefine(
    checkRules(function* ({ watchFieldsAuto, requiredWatchFields }) {
      if (watchFieldsAuto === null || requiredWatchFields.length === 0) return;
      const detail = text`must not be combined with ${member('watchFieldsAuto')}.`;
      yield createRuleIssue(['requiredWatchFields'], detail);
    }),
  )
  .meta({
    id: 'UpdateEventSpecInput',
    description: 'The changes of records that the gateway subscribes to.',
  });

const associationEventInput = z
  .object({
    enabled,
    includeFullRecords: orElse(z.boolean(), false).describe(
      'Whether events carry the associated records.',
    ),
  })
  .meta({
    id: 'AssociationChangeEventSpecInput',
    description: 'The changes of associations that the gateway subscribes to.',
  });

const subscribeObjectInput = z
  .object({
    objectName,
    destination: orNull(contentText).describe('The name of the destination that gets the events.'),
    inheritFieldsAndMapping: orElse(z.boolean(), false).describe(
      'Whether fields and names are those of the read object.',
    ),
    createEvent: orNull(toggleInput).describe('Events of new records.'),
    updateEvent: orNull(updateEventInput).describe('Events of changed records.'),
    deleteEvent: orNull(toggleInput).describe('Events of deleted records.'),
    associationChangeEvent: orNull(associationEventInput).describe(
      'Events of changed associations.',
    ),
    otherEvents: orElse(z.array(contentText).max(CONTENT_LIMITS.fields), []).describe(
      "Further events, by the provider's names.",
    ),
  })
  .superRefine(
    checkRules(function* (object) {
      if (object.inheritFieldsAndMapping || !hasRecordEvents(object)) return;
      const detail = 'must be true, because the object has events of records.';
      yield createRuleIssue(['inheritFieldsAndMapping'], detail, { showsValue: true });
    }),
  )
  .meta({
    id: 'SubscribeObjectSpecInput',
    description: 'An object whose changes the gateway subscribes to.',
  });

const watchInput = z
  .object({
    enabled: always.describe('A kind that is listed is sent for every installation.'),
  })
  .meta({
    id: 'SchemaChangeInput',
    description: 'A kind of change of fields that messages report.',
  });

/** True if the object has events of records, which use the mapping of the read object. `otherEvents` have no mapping. */
export function hasRecordEvents(
  object: Record<
    'createEvent' | 'updateEvent' | 'deleteEvent' | 'associationChangeEvent',
    object | null
  >,
): boolean {
  const { createEvent, updateEvent, deleteEvent, associationChangeEvent } = object;
  return [createEvent, updateEvent, deleteEvent, associationChangeEvent].some(Boolean);
}

export const WATCH_SCHEMA =
  'New, deleted and changed fields of the objects that the integration names, reported to a destination.';

const watchSchemaInput = z
  .object({
    destination: contentText.describe('The name of the destination that gets the messages.'),
    schedule: hourlySchedule.describe(
      'When fields are compared: a cron expression in UTC, at most once an hour. Default: once a day.',
    ),
    allObjects: z
      .object({
        fieldCreated: orNull(watchInput).describe('New fields.'),
        fieldDeleted: orNull(watchInput).describe('Deleted fields.'),
        fieldChanged: orNull(watchInput).describe(
          'Fields whose description at the provider has changed.',
        ),
      })
      .meta({
        id: 'WatchAllObjectsInput',
        description: 'The changes that messages report for every object.',
      }),
  })
  .meta({ id: 'WatchSchemaSpecInput', description: WATCH_SCHEMA });

const createObjectsSchema = <T extends z.ZodObject>(object: T) =>
  z.array(object).max(CONTENT_LIMITS.objects).describe('The objects, each once, at most 200.');

export const integrationContentInput = z
  .object({
    name: contentText.describe('The name of the integration: the same as outside the content.'),
    provider: contentText.describe('The name of the provider: the same as outside the content.'),
    displayName: orNull(z.string().min(1).max(100)).describe('The name that people see.'),
    module: orNull(contentText).describe(
      'The part of the provider that is read and written: one of its `modules`. Default: the first of them.',
    ),
    read: orNull(
      z
        .object({ objects: createObjectsSchema(readObjectInput) })
        .meta({ id: 'ReadSpecInput', description: 'The objects that are read.' }),
    ).describe('The objects that are read.'),
    write: orNull(
      z
        .object({ objects: createObjectsSchema(writeObjectInput) })
        .meta({ id: 'WriteSpecInput', description: 'The objects that may be written.' }),
    ).describe('The objects that may be written.'),
    proxy: orNull(proxyInput).describe('Whether requests are forwarded to the provider.'),
    subscribe: orNull(
      z.object({ objects: createObjectsSchema(subscribeObjectInput) }).meta({
        id: 'SubscribeSpecInput',
        description: 'The objects whose changes the gateway subscribes to.',
      }),
    ).describe('The objects whose changes the gateway subscribes to.'),
    watchSchema: orNull(watchSchemaInput).describe(WATCH_SCHEMA),
  })
  .meta({
    id: 'IntegrationContentInput',
    description:
      'The objects and fields that an integration reads, writes, proxies and subscribes to.',
  });

const SPEC_VERSION_RULE = { error: `must be ${SPEC_VERSION}.` };

export const specVersion = z
  .string(SPEC_VERSION_RULE)
  .refine((version) => version === SPEC_VERSION, SPEC_VERSION_RULE)
  .meta({ words: [SPEC_VERSION] })
  .describe(`The version of the content's form: ${SPEC_VERSION}.`);

export const revisionInput = z
  .object({
    specVersion,
    content: integrationContentInput,
  })
  .meta({ id: 'RevisionInput', description: 'A version of the content of an integration.' });

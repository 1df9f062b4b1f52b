/** The stored content of a revision, with all defaults filled in. */
import { z } from 'zod';
import { computed, resource, storedWord } from '../../base/resource.ts';
import { castJsonColumn } from '../../base/storable-json.ts';
import { fieldValueType, parseWireValueType } from '../installation/shown-field.ts';
import { backfillPeriodResource } from './backfill-period.ts';
import {
  ALWAYS_READ,
  ANY_FIELDS,
  alwaysEnabled,
  deliveryMode,
  ENABLED,
  fieldsAuto,
  type integrationContentInput,
  VALUE_DEFAULTS,
  WATCH_SCHEMA,
  watchFieldsAuto,
} from './integration-content-input.ts';

export type IntegrationContent = z.output<typeof integrationContentInput>;
type ObjectOf<P extends 'read' | 'write' | 'subscribe'> = NonNullable<
  IntegrationContent[P]
>['objects'][number];

type ParsedRead = ObjectOf<'read'>;
type ParsedField = ParsedRead['requiredFields'][number];

/**
 * Null for `fieldName` means that the config of an installation maps the field. Content that was stored before
 * `default`, `prompt` and `valueType` existed lacks them.
 */
export type FieldMapping = Omit<ParsedField, 'default' | 'prompt' | 'valueType'> &
  Partial<Pick<ParsedField, 'default' | 'prompt' | 'valueType'>>;

/**
 * Null for `schedule` means that only triggers start reads. `optionalFieldsAuto: all` means that a config may select
 * any field.
 */
export type ReadObject = Omit<ParsedRead, 'requiredFields' | 'optionalFields' | 'backfill'> & {
  requiredFields: FieldMapping[];
  optionalFields: FieldMapping[];
  /** Absent in content that was stored before this member existed. */
  backfill?: ParsedRead['backfill'];
};
export type WriteObject = ObjectOf<'write'>;
export type SubscribeObject = ObjectOf<'subscribe'>;
export type WatchSchema = NonNullable<IntegrationContent['watchSchema']>;

const objectName = z.string().describe("The provider's name of the object, like `contacts`.");
const displayName = z.string().nullable().describe('The name that people see.');

export const fieldMappingResource = resource(
  'FieldMapping',
  'A field to read, and its name in messages.',
  {
    fieldName: z
      .string()
      .nullable()
      .describe(
        "The provider's name of the field; {null} if each installation maps a field to mapToName.",
      ),
    mapToName: z
      .string()
      .nullable()
      .describe("The name of the field in messages and writes; {null} for the provider's name."),
    mapToDisplayName: displayName,
    default: computed(
      z
        .string()
        .nullable()
        .describe(
          "The provider's field for mapToName until an installation maps another field; {null} if there is none.",
        ),
      (field: FieldMapping) => field.default ?? null,
    ),
    prompt: computed(
      z
        .string()
        .nullable()
        .describe('The prompt that people see when they map a field to mapToName.'),
      ({ prompt }: FieldMapping) => prompt ?? null,
    ),
    valueType: computed(
      fieldValueType
        .nullable()
        .describe('The type of the field in contracts; {null} if accounts determine it.'),
      ({ valueType }: FieldMapping) => (valueType ? parseWireValueType(valueType) : null),
    ),
  },
);

const backfillSpecResource = resource('BackfillSpec', 'The first read of an object.', {
  defaultPeriod: backfillPeriodResource,
});

const deliverySpecResource = resource('DeliverySpec', 'How records that are read are delivered.', {
  mode: storedWord('mode', deliveryMode.describe('When records are sent.')),
  pageSize: z
    .int()
    .nullable()
    .describe(
      'The number of records in one message; {null} if each page of the provider is a message.',
    ),
});

export const readObjectResource = resource(
  'ReadObjectSpec',
  'An object to read, with its fields, schedule and destination.',
  {
    objectName,
    destination: z
      .string()
      .nullable()
      .describe('The name of the destination that receives the records.'),
    schedule: z
      .string()
      .nullable()
      .describe(
        'A cron expression of five fields, in UTC; null if the object is read only by triggerRead.',
      ),
    mapToName: z
      .string()
      .nullable()
      .describe("The name of the object in messages and inputs; {null} for the provider's name."),
    mapToDisplayName: displayName,
    requiredFields: z
      .array(fieldMappingResource)
      .describe('The fields that every installation reads.'),
    optionalFields: z
      .array(fieldMappingResource)
      .describe('The fields that an installation may select.'),
    optionalFieldsAuto: storedWord(
      'optionalFieldsAuto',
      fieldsAuto
        .nullable()
        .describe(
          'If set, an installation may select every field of the object; {null} if only optionalFields.',
        ),
    ),
    backfill: computed(
      backfillSpecResource
        .nullable()
        .describe(
          'The first read, for installations whose config sets no period; {null} if it covers all records.',
        ),
      ({ backfill }: ReadObject) => backfill ?? null,
    ),
    delivery: deliverySpecResource.nullable().describe('How records of the object are delivered.'),
    enabled: storedWord('enabled', alwaysEnabled.nullable().describe(ALWAYS_READ)),
  },
);

const valueDefaultsResource = resource('ValueDefaults', VALUE_DEFAULTS, {
  allowAnyFields: z.boolean().describe(ANY_FIELDS),
});

export const writeObjectResource = resource('WriteObjectSpec', 'An object that may be written.', {
  objectName,
  inheritMapping: z.boolean().describe('Whether a write uses the mapped names of the read object.'),
  valueDefaults: valueDefaultsResource.nullable().describe(VALUE_DEFAULTS),
});

const PROXY = 'Whether requests are forwarded to the provider.';

const proxySpecResource = resource('ProxySpec', PROXY, {
  enabled: z.boolean().describe('Whether requests may be forwarded to the provider.'),
  useModule: z
    .boolean()
    .describe("Whether requests go to the base URL of the module instead of the provider's."),
});

const enabled = storedWord('enabled', alwaysEnabled.describe(ENABLED));

const eventToggleResource = resource('EventToggle', 'An event that the gateway subscribes to.', {
  enabled,
});

const updateEventResource = resource(
  'UpdateEventSpec',
  'The changes of records that the gateway subscribes to.',
  {
    enabled,
    watchFieldsAuto: storedWord(
      'watchFieldsAuto',
      watchFieldsAuto
        .nullable()
        .describe('The fields to watch; {null} if requiredWatchFields names them.'),
    ),
    requiredWatchFields: z
      .array(z.string())
      .describe('The fields to watch: only their changes are events.'),
  },
);

const associationEventResource = resource(
  'AssociationChangeEventSpec',
  'The changes of associations that the gateway subscribes to.',
  {
    enabled,
    includeFullRecords: z.boolean().describe('Whether events carry the associated records.'),
  },
);

const subscribeObjectResource = resource(
  'SubscribeObjectSpec',
  'An object whose changes the gateway subscribes to.',
  {
    objectName,
    destination: z
      .string()
      .nullable()
      .describe('The name of the destination that receives the events.'),
    inheritFieldsAndMapping: z
      .boolean()
      .describe('Whether fields and names are those of the read object.'),
    createEvent: eventToggleResource.nullable().describe('Events of new records.'),
    updateEvent: updateEventResource.nullable().describe('Events of changed records.'),
    deleteEvent: eventToggleResource.nullable().describe('Events of deleted records.'),
    associationChangeEvent: associationEventResource
      .nullable()
      .describe('Events of changed associations.'),
    otherEvents: z.array(z.string()).describe("Further events, by the provider's names."),
  },
);

const schemaChangeResource = resource(
  'SchemaChange',
  'A kind of change of fields that messages report.',
  {
    enabled: storedWord(
      'enabled',
      alwaysEnabled.describe('A kind that is listed is sent for every installation.'),
    ),
  },
);

const watchAllObjectsResource = resource(
  'WatchAllObjects',
  'The changes that messages report for every object.',
  {
    fieldCreated: schemaChangeResource.nullable().describe('New fields.'),
    fieldDeleted: schemaChangeResource.nullable().describe('Deleted fields.'),
    fieldChanged: schemaChangeResource
      .nullable()
      .describe('Fields whose description at the provider has changed.'),
  },
);

export const watchSchemaResource = resource('WatchSchemaSpec', WATCH_SCHEMA, {
  destination: z.string().describe('The name of the destination that receives the messages.'),
  schedule: z
    .string()
    .nullable()
    .describe('When fields are compared: a cron expression in UTC; null for once a day.'),
  allObjects: watchAllObjectsResource,
});

/** Declares a section of the content that lists objects. */
const declareObjects = <T extends z.ZodObject>(name: string, description: string, object: T) =>
  resource(name, description, { objects: z.array(object).describe('The objects, each once.') })
    .nullable()
    .describe(description);

export const integrationContentResource = resource(
  'IntegrationContent',
  'The objects and fields that an integration reads, writes, proxies and subscribes to.',
  {
    name: z.string().describe('The name of the integration: the same as outside the content.'),
    provider: z.string().describe('The name of the provider: the same as outside the content.'),
    displayName,
    module: z
      .string()
      .nullable()
      .describe(
        'The part of the provider that is read and written; {null} for the first of its `modules`.',
      ),
    read: declareObjects('ReadSpec', 'The objects that are read.', readObjectResource),
    write: declareObjects('WriteSpec', 'The objects that may be written.', writeObjectResource),
    proxy: proxySpecResource.nullable().describe(PROXY),
    subscribe: declareObjects(
      'SubscribeSpec',
      'The objects whose changes the gateway subscribes to.',
      subscribeObjectResource,
    ),
    watchSchema: watchSchemaResource.nullable().describe(WATCH_SCHEMA),
  },
);

/** Returns stored content without parsing it again, because only parsed content is stored. */
export function readIntegrationContent(revision: { content: unknown }): IntegrationContent {
  return castJsonColumn(revision.content);
}

/** The contents of an integration before and after a new revision. */
export interface RevisionChange {
  projectId: string;
  integrationId: string;
  before: IntegrationContent;
  after: IntegrationContent;
}

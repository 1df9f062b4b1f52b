/** A config holds the choices of a customer for an integration. It is stored with all defaults filled in. */
import { z } from 'zod';
import { computed, createdFields, resource, toEnumName } from '../../base/resource.ts';
import { castJsonColumn } from '../../base/storable-json.ts';
import { backfillPeriodResource } from '../integration/backfill-period.ts';
import {
  type FieldMapping,
  fieldMappingResource,
  type IntegrationContent,
  type ReadObject,
} from '../integration/integration-content.ts';
import { fieldsAuto } from '../integration/integration-content-input.ts';
import { dynamicMappingResource } from './choice/dynamic-mapping.ts';
import { fieldFilterResource } from './choice/field-filter.ts';
import {
  type BackfillConfig,
  installationConfigInput,
  type ParsedConfig,
  type ParsedRead,
  type ProxyConfig,
  type WriteConfig,
} from './choice/installation-config-input.ts';
import { type SubscribeConfig, subscribeConfigResource } from './choice/subscribe-choice.ts';
import { valueMappingResource } from './choice/value-mapping.ts';
import { writeFieldSettingResource } from './choice/write-field-setting.ts';

/** Members that are absent from configs that were stored before the members existed. */
type NewerMember = 'selectedFieldsAuto' | 'dynamicMappings' | 'valueMappings' | 'fieldFilters';
type StoredBackfill = Omit<BackfillConfig, 'fieldFilters'> &
  Partial<Pick<BackfillConfig, 'fieldFilters'>>;

/** A stored choice. Null for `schedule`, `destination` or `backfill` means the integration's value. */
export type ReadConfig = Omit<ParsedRead, NewerMember | 'backfill' | 'fieldMappings'> &
  Partial<Pick<ParsedRead, NewerMember>> & {
    /** The selected optional fields. The required fields are always read too. */
    selectedFields: string[];
    fieldMappings: NonNullable<ParsedRead['fieldMappings']>;
    backfill: StoredBackfill | null;
  };

export type ConfigContent = {
  read: ReadConfig[];
  write: WriteConfig[];
  /** Absent in configs that were stored before this member existed. */
  subscribe?: SubscribeConfig[];
  /** Null means the integration's setting. Absent in configs that were stored before this member existed. */
  proxy?: ProxyConfig | null;
};

const shownObjectName = z.string().describe("The provider's name of the object, like `contacts`.");

const backfillResource = resource(
  'BackfillConfig',
  'How far back the first read goes: exactly one of days and fullHistory is set.',
  {
    ...backfillPeriodResource.shape,
    fieldFilters: computed(
      z
        .array(fieldFilterResource)
        .describe("Conditions on fields for the first read. Empty for the object's conditions."),
      ({ fieldFilters = [] }: StoredBackfill) => fieldFilters,
    ),
  },
);

const readConfigResource = resource(
  'InstallationReadConfig',
  'The choices of the customer for one object to read.',
  {
    objectName: shownObjectName,
    selectedFields: z
      .array(z.string())
      .describe('The optional fields that are read in addition to the required ones.'),
    fieldMappings: z
      .array(fieldMappingResource)
      .describe("The provider's fields for the names that customers map."),
    selectedFieldsAuto: computed(
      fieldsAuto
        .nullable()
        .describe(
          'If set, every field that may be selected is read, including those that the account gets later; otherwise null.',
        ),
      ({ selectedFieldsAuto }: ReadConfig) =>
        selectedFieldsAuto ? toEnumName(selectedFieldsAuto) : null,
    ),
    dynamicMappings: computed(
      z
        .array(dynamicMappingResource)
        .describe("Names to map in addition to the integration's names."),
      ({ dynamicMappings = [] }: ReadConfig) => dynamicMappings,
    ),
    valueMappings: computed(
      z
        .array(valueMappingResource)
        .describe("Values that replace the provider's values in messages."),
      ({ valueMappings = [] }: ReadConfig) => valueMappings,
    ),
    fieldFilters: computed(
      z.array(fieldFilterResource).describe('Only records that meet all conditions are read.'),
      ({ fieldFilters = [] }: ReadConfig) => fieldFilters,
    ),
    schedule: z
      .string()
      .nullable()
      .describe("A cron expression of five fields, in UTC; null for the integration's."),
    destination: z
      .string()
      .nullable()
      .describe("The name of the destination of the records; null for the integration's."),
    disabled: z.boolean().describe('If true, the object is not read.'),
    backfill: backfillResource
      .nullable()
      .describe("How far back the first read goes; null for the integration's period."),
  },
);

const writeConfigResource = resource(
  'InstallationWriteConfig',
  'The choices of the customer for one object to write.',
  {
    objectName: shownObjectName,
    deletionEnabled: z.boolean().describe('Whether records of the object may be deleted.'),
    // Absent in configs that were stored before this member existed.
    fields: computed(
      z
        .array(writeFieldSettingResource)
        .describe('How fields are written. Other fields are written without changes.'),
      ({ fields }: Partial<WriteConfig>) => fields ?? [],
    ),
  },
);

const proxyConfigResource = resource(
  'InstallationProxyConfig',
  'The choice of the customer for requests to the provider.',
  {
    enabled: z
      .boolean()
      .describe('Whether requests are forwarded to the provider, if the integration allows it.'),
  },
);

type ConfigRow = { content: unknown };

export const installationConfigResource = resource(
  'InstallationConfig',
  'The choices of the customer for an installation. A config never changes: an update creates a new one.',
  {
    ...createdFields,
    read: computed(
      z.array(readConfigResource).describe('The choices for each object that is read.'),
      (row: ConfigRow) => readConfigContent(row).read,
    ),
    write: computed(
      z.array(writeConfigResource).describe('The choices for each object that may be written.'),
      (row: ConfigRow) => readConfigContent(row).write,
    ),
    subscribe: computed(
      z
        .array(subscribeConfigResource)
        .describe("The choices for each object whose events differ from the integration's."),
      (row: ConfigRow) => readConfigContent(row).subscribe ?? [],
    ),
    proxy: computed(
      proxyConfigResource
        .nullable()
        .describe("The choice for forwarded requests; null for the integration's."),
      (row: ConfigRow) => readConfigContent(row).proxy ?? null,
    ),
    createdBy: z
      .string()
      .nullable()
      .describe(
        'The author of the config, as the caller named it. Null for the caller who created the installation.',
      ),
  },
);

/** A parsed config, or a stored one. */
export type ConfigChoices = ParsedConfig | ConfigContent;
export type ReadChoice = ParsedRead | ReadConfig;

/** Returns a stored config without parsing it again, because only results of `createStoredConfig` are stored. */
export function readConfigContent(config: { content: unknown }): ConfigContent {
  return castJsonColumn(config.content);
}

/** Returns the config to store. Without a config from the customer, it reads and writes everything in the integration. */
export function createStoredConfig(
  config: ParsedConfig | null,
  content: IntegrationContent,
): ConfigContent {
  const objects = content.read?.objects ?? [];
  const specs = new Map(objects.map((object) => [object.objectName, object]));
  const { read, write, subscribe, proxy } = config ?? createWholeConfig(content);
  return {
    read: read.map((choice) => {
      const spec = specs.get(choice.objectName);
      return {
        ...choice,
        selectedFields: choice.selectedFields ?? listDefaultFields(spec),
        fieldMappings: choice.fieldMappings ?? listDefaultMappings(spec),
      };
    }),
    write,
    subscribe,
    proxy,
  };
}

/** Creates the config that reads and writes everything in the integration. */
function createWholeConfig({ read, write }: IntegrationContent): ParsedConfig {
  const listChoices = (section: typeof read | typeof write) =>
    section?.objects.map(({ objectName }) => ({ objectName }));
  return installationConfigInput.parse({ read: listChoices(read), write: listChoices(write) });
}

/** Returns the required fields, and the optional fields if the integration selects them automatically. */
function listDefaultFields(spec: ReadObject | undefined): string[] {
  if (!spec) return [];
  const { requiredFields, optionalFields, optionalFieldsAuto } = spec;
  const fields = [...requiredFields, ...(optionalFieldsAuto === 'all' ? optionalFields : [])];
  return fields.flatMap(({ fieldName }) => fieldName ?? []);
}

/** Returns the integration's default mappings. Reads also apply a required name's default if a config omits it. */
function listDefaultMappings(spec: ReadObject | undefined): ReadConfig['fieldMappings'] {
  const fields = [...(spec?.requiredFields ?? []), ...(spec?.optionalFields ?? [])];
  return fields.flatMap((field: FieldMapping) =>
    field.fieldName === null && field.default != null
      ? { ...field, fieldName: field.default, default: null, prompt: null, valueType: null }
      : [],
  );
}

/** Parses the choices of a customer for an integration, which a config holds. */
import { z } from 'zod';
import { orElse, orNull } from '../../../base/input-schemas.ts';
import { checkRules } from '../../../base/issues.ts';
import { backfillPeriod, listPeriodIssues } from '../../integration/backfill-period.ts';
import { optionalSchedule } from '../../integration/cron.ts';
import {
  allFields,
  CONTENT_LIMITS,
  contentText,
  fieldMappingInput,
} from '../../integration/integration-content-input.ts';
import { dynamicMappingInput } from './dynamic-mapping.ts';
import { FILTERS_MAX, fieldFilterInput } from './field-filter.ts';
import { subscribeConfigInput } from './subscribe-choice.ts';
import { VALUE_MAPPINGS_MAX, valueMappingInput } from './value-mapping.ts';
import { writeFieldSettingInput } from './write-field-setting.ts';

const objectName = contentText.describe(
  "The provider's name of the object, like `contacts`, or an alias of the object, which that name replaces.",
);

const filters = orElse(z.array(fieldFilterInput).max(FILTERS_MAX), []);

const backfillInput = z
  .object({
    ...backfillPeriod,
    fieldFilters: filters.describe(
      "Conditions on fields for the first read, which replace the object's conditions. Default: the object's conditions.",
    ),
  })
  .superRefine(checkRules(listPeriodIssues))
  .meta({
    id: 'BackfillConfigInput',
    description: 'How far back the first read goes. Set exactly one of days and fullHistory.',
  });

const readConfigInput = z
  .object({
    objectName,
    selectedFields: orNull(z.array(contentText).max(CONTENT_LIMITS.fields)).describe(
      'The optional fields to read in addition to the required ones, at most 1000. Default: the optional fields that are read without a config.',
    ),
    selectedFieldsAuto: orNull(allFields).describe(
      'If set, every field that may be selected is read, including those that the account gets later. Default: only selectedFields.',
    ),
    fieldMappings: orNull(z.array(fieldMappingInput).max(CONTENT_LIMITS.fields)).describe(
      "The provider's fields for the names that customers map: fieldName for each mapToName. Default: the integration's defaults for those names.",
    ),
    dynamicMappings: orElse(z.array(dynamicMappingInput).max(CONTENT_LIMITS.fields), []).describe(
      "Names to map in addition to the integration's names, each once, at most 1000.",
    ),
    valueMappings: orElse(z.array(valueMappingInput).max(VALUE_MAPPINGS_MAX), []).describe(
      "Values that replace the provider's values in messages, each field once, at most 1000.",
    ),
    fieldFilters: filters.describe(
      'Conditions on fields: only records that meet all of them are read. `Provider.filtersMax` is the number that the provider supports. Default: all records.',
    ),
    schedule: optionalSchedule.describe(
      "Replaces the integration's schedule: a cron expression of five fields, in UTC, at most one run in 10 minutes.",
    ),
    destination: orNull(contentText).describe(
      "Replaces the integration's destination: the name of a destination of the project.",
    ),
    disabled: orElse(z.boolean(), false).describe('If true, the object is not read.'),
    backfill: orNull(backfillInput).describe(
      'How far back the first read goes. Default: as the integration defines.',
    ),
  })
  .meta({
    id: 'InstallationReadConfigInput',
    description: 'The choices of the customer for one object to read.',
  });

const writeConfigInput = z
  .object({
    objectName,
    deletionEnabled: orElse(z.boolean(), false).describe(
      'Whether records of the object may be deleted.',
    ),
    fields: orElse(z.array(writeFieldSettingInput).max(CONTENT_LIMITS.fields), []).describe(
      'How fields are written, each once, at most 1000. Other fields are written without changes.',
    ),
  })
  .meta({
    id: 'InstallationWriteConfigInput',
    description: 'The choices of the customer for one object to write.',
  });

const proxyConfigInput = z
  .object({
    enabled: z
      .boolean()
      .describe(
        'If false, no requests are forwarded. True requires an integration that forwards them.',
      ),
  })
  .meta({
    id: 'InstallationProxyConfigInput',
    description: 'The choice of the customer for requests to the provider.',
  });

export const installationConfigInput = z
  .object({
    provider: orNull(contentText).describe(
      "The name of the integration's provider, as a check. Another name is refused.",
    ),
    read: orElse(z.array(readConfigInput).max(CONTENT_LIMITS.objects), []).describe(
      'The objects to read, each once, at most 200. Objects that are not named are not read.',
    ),
    write: orElse(z.array(writeConfigInput).max(CONTENT_LIMITS.objects), []).describe(
      'The objects to write, each once, at most 200.',
    ),
    subscribe: orElse(z.array(subscribeConfigInput).max(CONTENT_LIMITS.objects), []).describe(
      "The objects whose events differ from the integration's, each once, at most 200. Other objects have the integration's events.",
    ),
    proxy: orNull(proxyConfigInput).describe(
      'Whether requests are forwarded to the provider. Default: as the integration defines.',
    ),
  })
  .meta({
    id: 'InstallationConfigInput',
    description: 'All choices of the customer. They replace the previous config as a whole.',
  });

export type ConfigInput = z.input<typeof installationConfigInput>;
export type ReadConfigInput = z.input<typeof readConfigInput>;
export type SubscribeConfigInput = z.input<typeof subscribeConfigInput>;

export type ParsedConfig = z.output<typeof installationConfigInput>;
export type ParsedRead = ParsedConfig['read'][number];

export type BackfillConfig = NonNullable<ParsedRead['backfill']>;
export type WriteConfig = ParsedConfig['write'][number];
export type ProxyConfig = NonNullable<ParsedConfig['proxy']>;

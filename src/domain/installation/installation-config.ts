/** A customer's choices on top of an integration: as given, and as stored with nothing left out. */
import { z } from 'zod';
import { optionalSchedule } from '../integration/cron.ts';
import type { IntegrationContent, ReadObject } from '../integration/integration-content.ts';
import {
  CONTENT_LIMITS,
  contentText,
  fieldMappingInput,
} from '../integration/integration-content-input.ts';
import { orElse, orNull } from '../optional-value.ts';
import { writeFieldSettingInput } from './write-field-setting.ts';

/** A hundred years: older than any record that a provider has. */
const BACKFILL_DAYS_MAX = 36_500;

const objectName = contentText.describe("The provider's name of the object, like `contacts`.");

const backfillInput = z
  .object({
    days: orNull(z.number().int().min(0).max(BACKFILL_DAYS_MAX)).describe(
      'The days before now that the first read covers; 0 reads no earlier changes.',
    ),
    fullHistory: orNull(z.boolean()).describe('True: the first read covers all records.'),
  })
  .meta({
    id: 'BackfillConfigInput',
    description: 'How far back the first read goes: give exactly one of days and fullHistory.',
  });

const readConfigInput = z
  .object({
    objectName,
    selectedFields: orNull(z.array(contentText).max(CONTENT_LIMITS.fields)).describe(
      'The optional fields to read beside the required ones, at most 1000. Default: those that are read without a config.',
    ),
    fieldMappings: orElse(z.array(fieldMappingInput).max(CONTENT_LIMITS.fields), []).describe(
      'The fields of the provider for the names that the integration leaves to be mapped: fieldName for each mapToName.',
    ),
    schedule: optionalSchedule.describe(
      "Replaces the integration's schedule: a cron expression of five fields, in UTC, at most one run in 10 minutes.",
    ),
    destination: orNull(contentText).describe(
      "Replaces the integration's destination: the name of a destination of the project.",
    ),
    disabled: orElse(z.boolean(), false).describe('True: the object is not read.'),
    backfill: orNull(backfillInput).describe('How far back the first read goes.'),
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
      'How fields are written, each once, at most 1000. Fields that are not named are written as they are given.',
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
      .describe('False: no requests are forwarded. True needs an integration that does.'),
  })
  .meta({
    id: 'InstallationProxyConfigInput',
    description: 'The choice of the customer for requests to the provider.',
  });

export const installationConfigInput = z
  .object({
    provider: orNull(contentText).describe(
      "The name of the integration's provider, to be sure of it; another one is refused.",
    ),
    read: orElse(z.array(readConfigInput).max(CONTENT_LIMITS.objects), []).describe(
      'The objects to read, each once, at most 200. Objects that are not named are not read.',
    ),
    write: orElse(z.array(writeConfigInput).max(CONTENT_LIMITS.objects), []).describe(
      'The objects to write, each once, at most 200.',
    ),
    proxy: orNull(proxyConfigInput).describe(
      'Whether requests are forwarded to the provider. Default: as the integration says.',
    ),
  })
  .meta({
    id: 'InstallationConfigInput',
    description:
      'The choices of the customer. A config is given as a whole and replaces the one before.',
  });

export type ConfigInput = z.input<typeof installationConfigInput>;
export type ReadConfigInput = z.input<typeof readConfigInput>;
export type WriteConfigInput = z.input<typeof writeConfigInput>;

/** A whole config as it was parsed. */
export type ParsedConfig = z.output<typeof installationConfigInput>;
type ParsedRead = ParsedConfig['read'][number];

export type BackfillConfig = NonNullable<ParsedRead['backfill']>;
export type WriteConfig = ParsedConfig['write'][number];
export type ProxyConfig = NonNullable<ParsedConfig['proxy']>;

/** `schedule` and `destination` null: the integration's. `backfill` null: the customer chose nothing. */
export type ReadConfig = ParsedRead & {
  /** Beside these, the required fields are read. */
  selectedFields: string[];
};

export type ConfigContent = {
  read: ReadConfig[];
  write: WriteConfig[];
  /** Null, or nothing in what was stored before there was such a choice: as the integration says. */
  proxy?: ProxyConfig | null;
};

/** Only what `storedConfig` made is ever written, so it is not parsed again. */
export function configOf(config: { content: unknown }): ConfigContent {
  return config.content as ConfigContent;
}

/** The config to store: the customer's, or all that the integration has. */
export function storedConfig(
  config: ParsedConfig | null,
  content: IntegrationContent,
): ConfigContent {
  const objects = content.read?.objects ?? [];
  const specs = new Map(objects.map((object) => [object.objectName, object]));
  const { read, write, proxy } = config ?? wholeConfig(content);
  return {
    read: read.map((choice) => {
      const spec = specs.get(choice.objectName);
      return { ...choice, selectedFields: choice.selectedFields ?? fieldsByDefault(spec) };
    }),
    write,
    proxy,
  };
}

function wholeConfig({ read, write }: IntegrationContent): ParsedConfig {
  const names = (part: typeof read | typeof write) =>
    part?.objects.map(({ objectName }) => ({ objectName }));
  return installationConfigInput.parse({ read: names(read), write: names(write) });
}

/** The required fields, and the optional ones if the integration selects them by itself. */
function fieldsByDefault(spec: ReadObject | undefined): string[] {
  if (!spec) return [];
  const { requiredFields, optionalFields, optionalFieldsAuto } = spec;
  const fields = [...requiredFields, ...(optionalFieldsAuto === 'all' ? optionalFields : [])];
  return fields.flatMap(({ fieldName }) => fieldName ?? []);
}

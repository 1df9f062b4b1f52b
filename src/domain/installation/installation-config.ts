/** A customer's choices on top of an integration: as given, and as stored with nothing left out. */
import { z } from 'zod';
import { schedule } from '../integration/cron.ts';
import type { IntegrationContent, ReadObject } from '../integration/integration-content.ts';
import {
  CONTENT_LIMITS,
  contentText,
  fieldMappingInput,
} from '../integration/integration-content-input.ts';
import { orElse, orNull } from '../optional-value.ts';

/** A hundred years: older than any record that a provider has. */
const BACKFILL_DAYS_MAX = 36_500;

const objectName = contentText.describe("The provider's name of the object.");

const backfillInput = z
  .object({
    days: orNull(z.number().int().min(0).max(BACKFILL_DAYS_MAX)).describe(
      'So many days back; 0 reads nothing old.',
    ),
    fullHistory: orNull(z.boolean()).describe('Everything there is.'),
  })
  .meta({
    id: 'BackfillConfigInput',
    description: 'How far back the first read goes: exactly one of days and fullHistory.',
  });

const readConfigInput = z
  .object({
    objectName,
    selectedFields: orNull(z.array(contentText).max(CONTENT_LIMITS.fields)).describe(
      'Fields to read beside the required ones; default: as without a config.',
    ),
    fieldMappings: orElse(z.array(fieldMappingInput).max(CONTENT_LIMITS.fields), []).describe(
      'For fields that the integration leaves to be mapped: fieldName by mapToName.',
    ),
    schedule: orNull(schedule).describe("Instead of the integration's schedule."),
    destination: orNull(contentText).describe("Instead of the integration's destination."),
    disabled: orElse(z.boolean(), false).describe('The object is not read at all.'),
    backfill: orNull(backfillInput).describe('How far back the first read goes.'),
  })
  .meta({ id: 'InstallationReadConfigInput', description: 'Choices for one object to read.' });

const writeConfigInput = z
  .object({
    objectName,
    deletionEnabled: orElse(z.boolean(), false).describe('Its records may be deleted.'),
  })
  .meta({ id: 'InstallationWriteConfigInput', description: 'Choices for one object to write.' });

export const installationConfigInput = z
  .object({
    read: orElse(z.array(readConfigInput).max(CONTENT_LIMITS.objects), []).describe(
      'The objects to read, each once; others are not read.',
    ),
    write: orElse(z.array(writeConfigInput).max(CONTENT_LIMITS.objects), []).describe(
      'The objects to write, each once.',
    ),
  })
  .meta({
    id: 'InstallationConfigInput',
    description: "The customer's choices: a whole config, which replaces the one before.",
  });

export type ConfigInput = z.input<typeof installationConfigInput>;
export type ReadConfigInput = z.input<typeof readConfigInput>;

/** A whole config as it was parsed. */
export type ParsedConfig = z.output<typeof installationConfigInput>;
type ParsedRead = ParsedConfig['read'][number];

export type BackfillConfig = NonNullable<ParsedRead['backfill']>;
export type WriteConfig = ParsedConfig['write'][number];

/** `schedule` and `destination` null: the integration's. `backfill` null: the customer chose nothing. */
export type ReadConfig = ParsedRead & {
  /** Beside these, the required fields are read. */
  selectedFields: string[];
};

export type ConfigContent = {
  read: ReadConfig[];
  write: WriteConfig[];
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
  const { read, write } = config ?? wholeConfig(content);
  return {
    read: read.map((choice) => {
      const spec = specs.get(choice.objectName);
      return { ...choice, selectedFields: choice.selectedFields ?? fieldsByDefault(spec) };
    }),
    write,
  };
}

function wholeConfig({ read, write }: IntegrationContent): ParsedConfig {
  const names = (part: typeof read | typeof write) =>
    part?.objects.map(({ objectName }) => ({ objectName }));
  return installationConfigInput.parse({ read: names(read), write: names(write) });
}

/** The required fields, and the optional ones where the integration selects them by itself. */
function fieldsByDefault(spec: ReadObject | undefined): string[] {
  if (!spec) return [];
  const { requiredFields, optionalFields, optionalFieldsAuto } = spec;
  const fields = [...requiredFields, ...(optionalFieldsAuto === 'all' ? optionalFields : [])];
  return fields.flatMap(({ fieldName }) => fieldName ?? []);
}

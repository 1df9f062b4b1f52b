/** A customer's choices on top of an integration: as given, and as stored with nothing left out. */
import { z } from 'zod';
import { schedule } from '../integration/cron.ts';
import {
  type FieldMapping,
  type IntegrationContent,
  type ReadObject,
  storedMappings,
} from '../integration/integration-content.ts';
import {
  CONTENT_LIMITS,
  contentText,
  fieldMappingInput,
} from '../integration/integration-content-input.ts';

/** A hundred years: older than any record that a provider has. */
const BACKFILL_DAYS_MAX = 36_500;

const objectName = contentText.describe("The provider's name of the object.");

const backfillInput = z
  .object({
    days: z
      .number()
      .int()
      .min(0)
      .max(BACKFILL_DAYS_MAX)
      .nullish()
      .describe('So many days back; 0 reads nothing old.'),
    fullHistory: z.boolean().nullish().describe('Everything there is.'),
  })
  .meta({
    id: 'BackfillConfigInput',
    description: 'How far back the first read goes: exactly one of days and fullHistory.',
  });

const readConfigInput = z
  .object({
    objectName,
    selectedFields: z
      .array(contentText)
      .max(CONTENT_LIMITS.fields)
      .nullish()
      .describe('Fields to read beside the required ones; default: as without a config.'),
    fieldMappings: z
      .array(fieldMappingInput)
      .max(CONTENT_LIMITS.fields)
      .nullish()
      .describe('For fields that the integration leaves to be mapped: fieldName by mapToName.'),
    schedule: schedule.nullish().describe("Instead of the integration's schedule."),
    destination: contentText.nullish().describe("Instead of the integration's destination."),
    disabled: z.boolean().nullish().describe('The object is not read at all.'),
    backfill: backfillInput.nullish().describe('How far back the first read goes.'),
  })
  .meta({ id: 'InstallationReadConfigInput', description: 'Choices for one object to read.' });

const writeConfigInput = z
  .object({
    objectName,
    deletionEnabled: z.boolean().nullish().describe('Its records may be deleted.'),
  })
  .meta({ id: 'InstallationWriteConfigInput', description: 'Choices for one object to write.' });

export const installationConfigInput = z
  .object({
    read: z
      .array(readConfigInput)
      .max(CONTENT_LIMITS.objects)
      .nullish()
      .describe('The objects to read, each once; others are not read.'),
    write: z
      .array(writeConfigInput)
      .max(CONTENT_LIMITS.objects)
      .nullish()
      .describe('The objects to write, each once.'),
  })
  .meta({
    id: 'InstallationConfigInput',
    description: "The customer's choices: a whole config, which replaces the one before.",
  });

export type ConfigInput = z.input<typeof installationConfigInput>;
export type ReadConfigInput = z.input<typeof readConfigInput>;

export interface BackfillConfig {
  days: number | null;
  fullHistory: boolean | null;
}

export interface ReadConfig {
  objectName: string;
  /** Beside these, the required fields are read. */
  selectedFields: string[];
  fieldMappings: FieldMapping[];
  /** Null: the integration's. */
  schedule: string | null;
  /** Null: the integration's. */
  destination: string | null;
  disabled: boolean;
  /** Null where the customer chose nothing. */
  backfill: BackfillConfig | null;
}

export interface WriteConfig {
  objectName: string;
  deletionEnabled: boolean;
}

export interface ConfigContent {
  read: ReadConfig[];
  write: WriteConfig[];
}

/** Only what `storedConfig` made is ever written, so it is not checked again. */
export function configOf(config: { content: unknown }): ConfigContent {
  return config.content as ConfigContent;
}

/** The config to store: from an input that has been checked, or all that the integration has. */
export function storedConfig(
  input: ConfigInput | null | undefined,
  content: IntegrationContent,
): ConfigContent {
  const objects = content.read?.objects ?? [];
  const specs = new Map(objects.map((object) => [object.objectName, object]));
  const { read, write } = input ?? {
    read: objects.map(nameOf),
    write: content.write?.objects.map(nameOf),
  };
  return {
    read: (read ?? []).map((choice) => storedRead(choice, specs.get(choice.objectName))),
    write: (write ?? []).map(({ objectName, deletionEnabled }) => ({
      objectName,
      deletionEnabled: deletionEnabled ?? false,
    })),
  };
}

function storedRead(choice: ReadConfigInput, spec: ReadObject | undefined): ReadConfig {
  const { backfill } = choice;
  return {
    objectName: choice.objectName,
    selectedFields: choice.selectedFields ?? (spec ? fieldsByDefault(spec) : []),
    fieldMappings: storedMappings(choice.fieldMappings),
    schedule: choice.schedule ?? null,
    destination: choice.destination ?? null,
    disabled: choice.disabled ?? false,
    backfill: backfill
      ? { days: backfill.days ?? null, fullHistory: backfill.fullHistory ?? null }
      : null,
  };
}

/** The required fields, and the optional ones where the integration selects them by itself. */
function fieldsByDefault({ requiredFields, optionalFields, optionalFieldsAuto }: ReadObject) {
  const fields = [...requiredFields, ...(optionalFieldsAuto === 'all' ? optionalFields : [])];
  return fields.flatMap(({ fieldName }) => fieldName ?? []);
}

function nameOf({ objectName }: { objectName: string }): {
  objectName: string;
  deletionEnabled?: boolean;
} {
  return { objectName };
}

/** Plans a read from the revision and the config: the fields that it requests, and the names under which it delivers them. */
import { hash } from 'node:crypto';
import { getReadTiming, IMMEDIATE, type ReadTiming } from '../../../../providers/behavior.ts';
import type { Provider } from '../../../../providers/contract.ts';
import { resolveObjectName } from '../../../../providers/object-support.ts';
import { DAY_MS } from '../../../../work/durations.ts';
import type { ProjectCall } from '../../../access/call.ts';
import type { FieldFilter } from '../../../integrations/installation/choice/field-filter.ts';
import {
  listUnmappedNames,
  mapNamesToFields,
} from '../../../integrations/installation/choice/mapped-names.ts';
import {
  createDeliveredReplacements,
  type ValueReplacements,
} from '../../../integrations/installation/choice/value-mapping.ts';
import type { ReadConfig } from '../../../integrations/installation/installation-config.ts';
import type { BackfillPeriod } from '../../../integrations/integration/backfill-period.ts';
import type {
  IntegrationContent,
  ReadObject,
} from '../../../integrations/integration/integration-content.ts';

/**
 * Returns the provider's name of a read object. `name` is that name, its mapped name or an alias. Null if the content
 * has no such object.
 */
export function findProviderName(
  { catalog }: Pick<ProjectCall, 'catalog'>,
  { read, provider, module }: IntegrationContent,
  name: string,
): string | null {
  const objects = read?.objects ?? [];
  const alias = resolveObjectName(catalog.findWithModule(provider, module), name);
  const object =
    objects.find(({ objectName }) => objectName === name) ??
    objects.find(({ mapToName }) => mapToName === name) ??
    objects.find(({ objectName }) => objectName === alias);
  return object?.objectName ?? null;
}

export interface ReadPlan {
  objectName: string;
  /** The mapped name. Without a mapping, the provider's name. */
  deliveredName: string;
  /** The provider's names of the fields to read, without duplicates. */
  fields: string[];
  mappings: { fieldName: string; mapToName: string }[];
  /** If true, all fields of the account are read in addition to `fields`. */
  readsAll: boolean;
  /** The builder's values for the provider's values, by delivered field name. */
  replacements: Readonly<Record<string, ValueReplacements>>;
  /** Conditions on the records. */
  filters: FieldFilter[];
  /** Conditions on the records of the first read. */
  backfillFilters: FieldFilter[];
  /** Required names without a mapped field. The object is not read until this list is empty. */
  unmappedNames: string[];
  /** The name of the destination. */
  destination: string;
  /** The number of records to request in one page. */
  pageSize: number;
  /** The maximum number of records in a message. Null means all records of a page. */
  messageSize: number | null;
}

export function createReadPlan(
  spec: ReadObject,
  choice: ReadConfig,
  limits: Pick<Provider['limits'], 'pageSize'>,
): ReadPlan {
  const selectedNames = new Set(choice.selectedFields);
  const selectsAll = choice.selectedFieldsAuto === 'all';
  const chosenFields = [
    ...listProviderNamedFields(spec.requiredFields),
    ...listProviderNamedFields(spec.optionalFields).filter(
      ({ fieldName }) => selectsAll || selectedNames.has(fieldName),
    ),
    ...[...mapNamesToFields(spec, choice)].map(([mapToName, fieldName]) => ({
      fieldName,
      mapToName,
    })),
  ];
  const mappings = chosenFields.flatMap(({ fieldName, mapToName }) =>
    mapToName ? { fieldName, mapToName } : [],
  );
  // The latest revision may no longer allow selected fields that it does not name.
  const allowsAnyField = spec.optionalFieldsAuto === 'all';
  const unnamedFields = allowsAnyField ? choice.selectedFields : [];
  const messageSize = spec.delivery?.pageSize ?? null;
  const filters = choice.fieldFilters ?? [];
  const backfillFilters = choice.backfill?.fieldFilters ?? [];
  return {
    objectName: spec.objectName,
    deliveredName: spec.mapToName ?? spec.objectName,
    fields: [...new Set([...chosenFields.map(({ fieldName }) => fieldName), ...unnamedFields])],
    mappings,
    readsAll: allowsAnyField && selectsAll,
    replacements: indexDeliveredReplacements(choice, mappings),
    filters,
    backfillFilters: backfillFilters.length > 0 ? backfillFilters : filters,
    unmappedNames: listUnmappedNames(spec, choice),
    destination: choice.destination ?? spec.destination,
    pageSize: Math.min(messageSize ?? limits.pageSize, limits.pageSize),
    messageSize,
  };
}

/** Finds the builder's values for the values of a field, by its delivered name. */
export function findReplacements(
  { replacements }: Pick<ReadPlan, 'replacements'>,
  deliveredName: string,
): ValueReplacements | undefined {
  return Object.hasOwn(replacements, deliveredName) ? replacements[deliveredName] : undefined;
}

/** Formats the reason why an object with unmapped names is not read. */
export function describeUnmappedNames({
  objectName,
  unmappedNames,
}: Pick<ReadPlan, 'objectName' | 'unmappedNames'>): string {
  return `The installation's config maps no field to ${unmappedNames.join(', ')}, which the integration requires of ${objectName}.`;
}

/** Lists the fields for which the integration has the provider's names. */
function listProviderNamedFields(fields: ReadObject['requiredFields']) {
  return fields.flatMap(({ fieldName, mapToName }) =>
    fieldName === null ? [] : { fieldName, mapToName },
  );
}

/**
 * Indexes the builder's values by delivered field names: the mapped names of a mapped field, and the provider's name of
 * any other field.
 */
function indexDeliveredReplacements(
  { valueMappings = [] }: ReadConfig,
  mappings: ReadPlan['mappings'],
): ReadPlan['replacements'] {
  const entries = valueMappings.flatMap((mapping) => {
    const names = mappings
      .filter(({ fieldName, mapToName }) => [fieldName, mapToName].includes(mapping.fieldName))
      .map(({ mapToName }) => mapToName);
    const deliveredNames = names.length > 0 ? names : [mapping.fieldName];
    return deliveredNames.map((name) => [name, createDeliveredReplacements(mapping)] as const);
  });
  return Object.fromEntries(entries);
}

/** Creates a key of the account, the fields and the conditions. A cursor is valid only for reads with the same key. */
export function createPlanKey(
  connectionId: string,
  { objectName, fields }: Pick<ReadPlan, 'objectName' | 'fields'>,
  filters: readonly FieldFilter[],
): string {
  const conditions = filters.length > 0 ? [filters] : [];
  const identity = JSON.stringify([connectionId, objectName, [...fields].sort(), ...conditions]);
  return hash('sha256', identity, 'base64url');
}

interface ReadWindow {
  readType: 'BACKFILL' | 'SCHEDULED';
  /** The read returns records that changed at or after this time. Null means all records. */
  since: Date | null;
  /** The read returns records that changed at or before this time. Null means no limit. */
  until: Date | null;
  /** The start of the next window, after this one is read. */
  nextReadUntil: Date;
}

/** Returns when scheduled reads of the object begin and end. */
export function computeReadTiming(
  provider: Pick<Provider, 'capabilities'> | null,
  objectName: string,
): ReadTiming {
  return getReadTiming(
    provider?.capabilities.getBehavior?.(objectName) ?? { visibility: IMMEDIATE },
  );
}

interface WindowSettings {
  /** The period of the first read. Null means all records. */
  backfill: BackfillPeriod | null;
  timing: ReadTiming;
}

/**
 * Returns the window of a scheduled read: first the backfill, later the changes since the last window. A provider shows a
 * change some time after its timestamp, because of long transactions and search indexes. So a window ends before its read
 * starts, and begins before the end of the previous window if the provider's list needs a look-back.
 */
export function createReadWindow(
  { backfillDone, readUntil }: { backfillDone: boolean; readUntil: Date | null },
  { backfill, timing: { settleMs, lookBackMs } }: WindowSettings,
  now: Date,
): ReadWindow {
  const settledTime = new Date(now.getTime() - settleMs);
  if (backfillDone && readUntil) {
    const since = new Date(readUntil.getTime() - lookBackMs);
    // `until` is never before `readUntil`, even if the clocks of two processes differ.
    const until = settledTime > readUntil ? settledTime : readUntil;
    return { readType: 'SCHEDULED', since, until, nextReadUntil: until };
  }
  const days = backfill?.days ?? null;
  if (days === 0) return createEmptyWindow(now);
  if (days === null) {
    return { readType: 'BACKFILL', since: null, until: null, nextReadUntil: settledTime };
  }
  const since = new Date(now.getTime() - days * DAY_MS);
  return { readType: 'BACKFILL', since, until: settledTime, nextReadUntil: settledTime };
}

/**
 * Creates a window without records, after which the next window begins now. The time is rounded down, because some
 * providers' times are whole seconds.
 */
function createEmptyWindow(now: Date): ReadWindow {
  const start = new Date(Math.floor(now.getTime() / 1_000) * 1_000);
  return { readType: 'BACKFILL', since: start, until: start, nextReadUntil: start };
}

/** True if the window can't contain records, so that no request is needed. */
export function isEmptyWindow({ since, until }: Pick<ReadWindow, 'since' | 'until'>): boolean {
  return since !== null && until !== null && since >= until;
}

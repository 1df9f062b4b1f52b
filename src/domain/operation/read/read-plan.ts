/**
 * Derives the plan of a read from the revision and the config: which fields it requests, and by which names it delivers
 * them.
 */
import { createHash } from 'node:crypto';
import type { Provider } from '../../../providers/contract.ts';
import { resolveObjectName } from '../../../providers/object-support.ts';
import { DAY_MS } from '../../../work/durations.ts';
import type { Call } from '../../call.ts';
import type { FieldFilter } from '../../installation/choice/field-filter.ts';
import { listUnmappedNames, mapNamesToFields } from '../../installation/choice/mapped-names.ts';
import {
  createDeliveredReplacements,
  type ValueReplacements,
} from '../../installation/choice/value-mapping.ts';
import type { ReadConfig } from '../../installation/installation-config.ts';
import type { BackfillPeriod } from '../../integration/backfill-period.ts';
import type { IntegrationContent, ReadObject } from '../../integration/integration-content.ts';

/**
 * Returns the provider's name of a read object. `name` is that name, its mapped name or an alias. Null if the content
 * has no such object.
 */
export function findNativeName(
  { catalogue }: Pick<Call, 'catalogue'>,
  { read, provider, module }: IntegrationContent,
  name: string,
): string | null {
  const objects = read?.objects ?? [];
  const alias = resolveObjectName(catalogue.findWithModule(provider, module), name);
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
  /** The builder's words for values, by the delivered field name. */
  replacements: Readonly<Record<string, ValueReplacements>>;
  /** Conditions on the records. */
  filters: FieldFilter[];
  /** Conditions on the records of the first read. */
  backfillFilters: FieldFilter[];
  /** Required names without a mapped field. The object is not read until this list is empty. */
  unmapped: string[];
  /** The name of the destination. */
  destination: string;
  /** Records to request in one page. */
  pageSize: number;
  /** The most records in a message. Null means all records of a page. */
  messageSize: number | null;
}

export function createReadPlan(
  spec: ReadObject,
  choice: ReadConfig,
  limits: Pick<Provider['limits'], 'pageSize'>,
): ReadPlan {
  const selectedNames = new Set(choice.selectedFields);
  const readsAll = isAll(spec.optionalFieldsAuto) && isAll(choice.selectedFieldsAuto);
  const chosenFields = [
    ...listProviderNamedFields(spec.requiredFields),
    ...listProviderNamedFields(spec.optionalFields).filter(
      ({ fieldName }) => isAll(choice.selectedFieldsAuto) || selectedNames.has(fieldName),
    ),
    ...[...mapNamesToFields(spec, choice)].map(([mapToName, fieldName]) => ({
      fieldName,
      mapToName,
    })),
  ];
  const mappings = chosenFields.flatMap(({ fieldName, mapToName }) =>
    mapToName ? { fieldName, mapToName } : [],
  );
  const messageSize = spec.delivery?.pageSize ?? null;
  const { fieldFilters: filters = [], backfill } = choice;
  const backfillConditions = backfill?.fieldFilters ?? [];
  return {
    objectName: spec.objectName,
    deliveredName: spec.mapToName ?? spec.objectName,
    fields: [
      ...new Set([
        ...chosenFields.map(({ fieldName }) => fieldName),
        ...listUnnamedFields(spec, selectedNames),
      ]),
    ],
    mappings,
    readsAll,
    replacements: indexReplacements(choice, mappings),
    filters,
    backfillFilters: backfillConditions.length > 0 ? backfillConditions : filters,
    unmapped: listUnmappedNames(spec, choice),
    destination: choice.destination ?? spec.destination,
    pageSize: Math.min(messageSize ?? limits.pageSize, limits.pageSize),
    messageSize,
  };
}

/** Returns the builder's words for the values of a field, by its delivered name. */
export function findReplacements(
  { replacements }: Pick<ReadPlan, 'replacements'>,
  deliveredName: string,
): ValueReplacements | undefined {
  return Object.hasOwn(replacements, deliveredName) ? replacements[deliveredName] : undefined;
}

/** Explains to people why an object with unmapped names is not read. */
export function describeUnmapped({
  objectName,
  unmapped,
}: Pick<ReadPlan, 'objectName' | 'unmapped'>): string {
  return `The installation's config maps no field to ${unmapped.join(', ')}, which the integration requires of ${objectName}.`;
}

/** Returns selected fields that the integration does not name, if its latest revision allows them. */
function listUnnamedFields(
  { optionalFieldsAuto }: ReadObject,
  selected: Set<string>,
): Iterable<string> {
  return optionalFieldsAuto === 'all' ? selected : [];
}

function isAll(auto: string | null | undefined): boolean {
  return auto === 'all';
}

/** Lists the fields that the integration lists by the provider's names. */
function listProviderNamedFields(fields: ReadObject['requiredFields']) {
  return fields.flatMap(({ fieldName, mapToName }) =>
    fieldName === null ? [] : { fieldName, mapToName },
  );
}

/**
 * Indexes the builder's words for values by delivered field names: the mapped names of a mapped field, and the
 * provider's name of any other field.
 */
function indexReplacements(
  { valueMappings = [] }: ReadConfig,
  mappings: ReadPlan['mappings'],
): ReadPlan['replacements'] {
  const entries = valueMappings.flatMap((mapping) => {
    const names = mappings
      .filter(({ fieldName, mapToName }) => [fieldName, mapToName].includes(mapping.fieldName))
      .map(({ mapToName }) => mapToName);
    const delivered = names.length > 0 ? names : [mapping.fieldName];
    return delivered.map((name) => [name, createDeliveredReplacements(mapping)] as const);
  });
  return Object.fromEntries(entries);
}

/**
 * Returns a key that identifies the pages of a cursor. A read of another account, or with other fields or conditions,
 * must not continue from the cursor.
 */
export function createPlanKey(
  connectionId: string,
  { objectName, fields }: Pick<ReadPlan, 'objectName' | 'fields'>,
  filters: readonly FieldFilter[],
): string {
  const conditions = filters.length > 0 ? [filters] : [];
  const identity = JSON.stringify([connectionId, objectName, [...fields].sort(), ...conditions]);
  return createHash('sha256').update(identity).digest('base64url');
}

interface ReadWindow {
  readType: 'BACKFILL' | 'SCHEDULED';
  /** The read returns records that changed at or after this time. Null means all records. */
  since: Date | null;
  /** The read returns records that changed at or before this time. Null means no limit. */
  until: Date | null;
  /** The start of the next window, after this one is read. */
  position: Date;
}

/**
 * Providers show a change some time after its timestamp, because of long transactions and search indexes. A window
 * therefore ends this long before it is read, and the next window begins at its end.
 */
const SETTLE_MS = 60_000;

/** Returns the window of a scheduled read: first the backfill, later the changes since the last window. */
export function planWindow(
  { backfillDone, readUntil }: { backfillDone: boolean; readUntil: Date | null },
  backfill: BackfillPeriod | null,
  now: Date,
): ReadWindow {
  const settledTime = new Date(now.getTime() - SETTLE_MS);
  if (backfillDone && readUntil) {
    // `until` is never before `since`, even if the clocks of two processes differ.
    const until = settledTime > readUntil ? settledTime : readUntil;
    return { readType: 'SCHEDULED', since: readUntil, until, position: until };
  }
  const days = backfill?.days ?? null;
  if (days === 0) return createEmptyWindow(now);
  if (days === null)
    return { readType: 'BACKFILL', since: null, until: null, position: settledTime };
  const since = new Date(now.getTime() - days * DAY_MS);
  return { readType: 'BACKFILL', since, until: settledTime, position: settledTime };
}

/**
 * Returns an empty window: existing records are not read, and later windows begin now. The time is rounded down,
 * because some providers' times are whole seconds.
 */
function createEmptyWindow(now: Date): ReadWindow {
  const start = new Date(Math.floor(now.getTime() / 1_000) * 1_000);
  return { readType: 'BACKFILL', since: start, until: start, position: start };
}

/** True if the window can't contain records, so that no request is needed. */
export function isEmptyWindow({ since, until }: Pick<ReadWindow, 'since' | 'until'>): boolean {
  return since !== null && until !== null && since >= until;
}

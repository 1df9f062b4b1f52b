/** What a read of an object asks for, and under which names it delivers it, by revision and config. */
import { createHash } from 'node:crypto';
import type { Provider } from '../../../providers/contract.ts';
import { ownObjectName } from '../../../providers/object-support.ts';
import { DAY_MS } from '../../../work/durations.ts';
import type { Call } from '../../call.ts';
import type { FieldFilter } from '../../installation/choice/field-filter.ts';
import { listUnmapped, mappedNames } from '../../installation/choice/mapped-names.ts';
import { deliveredWords, type ValueWords } from '../../installation/choice/value-mapping.ts';
import type { ReadConfig } from '../../installation/installation-config.ts';
import type { BackfillPeriod } from '../../integration/backfill-period.ts';
import type { IntegrationContent, ReadObject } from '../../integration/integration-content.ts';

/** The provider's name of a read object, from that, its mapped name or an alias. Null if there is no such object. */
export function nativeName(
  { catalogue }: Pick<Call, 'catalogue'>,
  { read, provider, module }: IntegrationContent,
  name: string,
): string | null {
  const objects = read?.objects ?? [];
  const own = ownObjectName(catalogue.findAt(provider, module), name);
  const object =
    objects.find(({ objectName }) => objectName === name) ??
    objects.find(({ mapToName }) => mapToName === name) ??
    objects.find(({ objectName }) => objectName === own);
  return object?.objectName ?? null;
}

export interface ReadPlan {
  objectName: string;
  /** The mapped name if there is one. */
  deliveredName: string;
  /** The provider's names of the fields to read, each once. */
  fields: string[];
  mappings: { fieldName: string; mapToName: string }[];
  /** Beside `fields`, all that the account has are read. */
  readsAll: boolean;
  /** What is delivered for values, by the name that they are delivered under. */
  words: Readonly<Record<string, ValueWords>>;
  /** Conditions on the records. */
  filters: FieldFilter[];
  /** Those of the first read. */
  backfillFilters: FieldFilter[];
  /** Required names that no field is mapped to: while there are some, the object is not read. */
  unmapped: string[];
  /** The destination, by name. */
  destination: string;
  /** Records to request in a page. */
  pageSize: number;
  /** Records in a message; null: as many as a page has. */
  messageSize: number | null;
}

export function readPlan(
  spec: ReadObject,
  choice: ReadConfig,
  limits: Pick<Provider['limits'], 'pageSize'>,
): ReadPlan {
  const selected = new Set(choice.selectedFields);
  const readsAll = isAll(spec.optionalFieldsAuto) && isAll(choice.selectedFieldsAuto);
  const named = [
    ...ownFields(spec.requiredFields),
    ...ownFields(spec.optionalFields).filter(
      ({ fieldName }) => isAll(choice.selectedFieldsAuto) || selected.has(fieldName),
    ),
    ...[...mappedNames(spec, choice)].map(([mapToName, fieldName]) => ({ fieldName, mapToName })),
  ];
  const mappings = named.flatMap(({ fieldName, mapToName }) =>
    mapToName ? { fieldName, mapToName } : [],
  );
  const messageSize = spec.delivery?.pageSize ?? null;
  const { fieldFilters: filters = [], backfill } = choice;
  const ofBackfill = backfill?.fieldFilters ?? [];
  return {
    objectName: spec.objectName,
    deliveredName: spec.mapToName ?? spec.objectName,
    fields: [
      ...new Set([...named.map(({ fieldName }) => fieldName), ...namedNowhere(spec, selected)]),
    ],
    mappings,
    readsAll,
    words: wordsByName(choice, mappings),
    filters,
    backfillFilters: ofBackfill.length > 0 ? ofBackfill : filters,
    unmapped: listUnmapped(spec, choice),
    destination: choice.destination ?? spec.destination,
    pageSize: Math.min(messageSize ?? limits.pageSize, limits.pageSize),
    messageSize,
  };
}

/** Why a plan with unmapped names is not read, for people. */
export function waitsFor({
  objectName,
  unmapped,
}: Pick<ReadPlan, 'objectName' | 'unmapped'>): string {
  return `The installation's config maps no field to ${unmapped.join(', ')}, which the integration requires of ${objectName}.`;
}

/** Selected fields that the integration doesn't name: its latest revision has to allow them. */
function namedNowhere({ optionalFieldsAuto }: ReadObject, selected: Set<string>): Iterable<string> {
  return optionalFieldsAuto === 'all' ? selected : [];
}

function isAll(auto: string | null | undefined): boolean {
  return auto === 'all';
}

/** Fields that the integration names by the provider's names. */
function ownFields(fields: ReadObject['requiredFields']) {
  return fields.flatMap(({ fieldName, mapToName }) =>
    fieldName === null ? [] : { fieldName, mapToName },
  );
}

/** A field is delivered in the builder's words under the builder's names, and else under its own. */
function wordsByName(
  { valueMappings = [] }: ReadConfig,
  mappings: ReadPlan['mappings'],
): ReadPlan['words'] {
  const known = valueMappings.flatMap((mapping) => {
    const names = mappings
      .filter(({ fieldName, mapToName }) => [fieldName, mapToName].includes(mapping.fieldName))
      .map(({ mapToName }) => mapToName);
    const delivered = names.length > 0 ? names : [mapping.fieldName];
    return delivered.map((name) => [name, deliveredWords(mapping)] as const);
  });
  return Object.fromEntries(known);
}

/** The pages that a cursor belongs to: those of another account, or with other fields or conditions, must not continue from it. */
export function planKey(
  connectionId: string,
  { objectName, fields }: Pick<ReadPlan, 'objectName' | 'fields'>,
  filters: readonly FieldFilter[],
): string {
  const conditions = filters.length > 0 ? [filters] : [];
  const identity = JSON.stringify([connectionId, objectName, [...fields].sort(), ...conditions]);
  return createHash('sha256').update(identity).digest('base64url');
}

export interface ReadWindow {
  readType: 'BACKFILL' | 'SCHEDULED';
  /** Changed at or after; everything if it is null. */
  since: Date | null;
  /** Changed at or before. */
  until: Date | null;
  /** Where the next window begins, once this one is read. */
  position: Date;
}

/**
 * Changes show up at providers some time after their timestamp (long transactions, search indexes): a window
 * ends this long before it is read, and the next one begins there.
 */
const SETTLE_MS = 60_000;

/** What a scheduled read reads: the first time its backfill, later what changed since. */
export function scheduledWindow(
  { backfillDone, readUntil }: { backfillDone: boolean; readUntil: Date | null },
  backfill: BackfillPeriod | null,
  now: Date,
): ReadWindow {
  const settled = new Date(now.getTime() - SETTLE_MS);
  if (backfillDone && readUntil) {
    // `until` is never before `since`, even if the clocks of two processes differ.
    const until = settled > readUntil ? settled : readUntil;
    return { readType: 'SCHEDULED', since: readUntil, until, position: until };
  }
  const days = backfill?.days ?? null;
  if (days === 0) return emptyWindow(now);
  if (days === null) return { readType: 'BACKFILL', since: null, until: null, position: settled };
  const since = new Date(now.getTime() - days * DAY_MS);
  return { readType: 'BACKFILL', since, until: settled, position: settled };
}

/** Nothing old is read; what changes from now on is. Some providers' times are whole seconds. */
function emptyWindow(now: Date): ReadWindow {
  const start = new Date(Math.floor(now.getTime() / 1_000) * 1_000);
  return { readType: 'BACKFILL', since: start, until: start, position: start };
}

/** There can be nothing in it, so no request is sent. */
export function isEmptyWindow({ since, until }: Pick<ReadWindow, 'since' | 'until'>): boolean {
  return since !== null && until !== null && since >= until;
}

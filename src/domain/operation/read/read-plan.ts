/** What a read of an object asks for, and under which names it delivers it, by revision and config. */
import { createHash } from 'node:crypto';
import type { Provider } from '../../../providers/contract.ts';
import { DAY_MS } from '../../../work/durations.ts';
import type { BackfillConfig, ReadConfig } from '../../installation/installation-config.ts';
import { listUnmapped } from '../../installation/required-mappings.ts';
import type {
  FieldMapping,
  IntegrationContent,
  ReadObject,
} from '../../integration/integration-content.ts';

/** The provider's name of a read object, from that or its mapped name; null if there is no such object. */
export function nativeName({ read }: IntegrationContent, name: string): string | null {
  const objects = read?.objects ?? [];
  const object =
    objects.find(({ objectName }) => objectName === name) ??
    objects.find(({ mapToName }) => mapToName === name);
  return object?.objectName ?? null;
}

export interface ReadPlan {
  objectName: string;
  /** The mapped name if there is one. */
  deliveredName: string;
  /** The provider's names of the fields to read, each once. */
  fields: string[];
  mappings: { fieldName: string; mapToName: string }[];
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
  const mapped = withChosenNames([...spec.requiredFields, ...spec.optionalFields], choice);
  const required = new Set(spec.requiredFields.map(({ fieldName }) => fieldName));
  const selected = new Set(choice.selectedFields);
  const messageSize = spec.delivery?.pageSize ?? null;
  const read = mapped.filter(
    ({ fieldName, isChosen }) => isChosen || required.has(fieldName) || selected.has(fieldName),
  );
  return {
    objectName: spec.objectName,
    deliveredName: spec.mapToName ?? spec.objectName,
    fields: [
      ...new Set([...read.map(({ fieldName }) => fieldName), ...namedNowhere(spec, selected)]),
    ],
    mappings: read.flatMap(({ fieldName, mapToName }) =>
      mapToName ? { fieldName, mapToName } : [],
    ),
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

/** Fields that the integration leaves to be mapped get the config's names; optional ones without are not read. */
function withChosenNames(fields: FieldMapping[], { fieldMappings }: ReadConfig) {
  const chosen = new Map(fieldMappings.map(({ mapToName, fieldName }) => [mapToName, fieldName]));
  return fields.flatMap(({ fieldName, mapToName }) => {
    if (fieldName !== null) return { fieldName, mapToName, isChosen: false };
    const chosenName = chosen.get(mapToName) ?? null;
    return chosenName === null ? [] : { fieldName: chosenName, mapToName, isChosen: true };
  });
}

/** The pages that a cursor belongs to: those of another account or with other fields must not continue from it. */
export function planKey(connectionId: string, { objectName, fields }: ReadPlan): string {
  const identity = JSON.stringify([connectionId, objectName, [...fields].sort()]);
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
  backfill: BackfillConfig | null,
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

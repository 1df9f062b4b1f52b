/**
 * Reads current records of an account, with an installation's fields and mapping. The records are neither stored nor
 * delivered.
 */

import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { invalid, invalidInput, unprocessable } from '../../../kernel/errors.ts';
import type { SealedLocation } from '../../../kernel/secrets.ts';
import type { FieldValue, ProviderRecord, RecordPage } from '../../../providers/moving-records.ts';
import { getFiltersMax } from '../../../providers/object-support.ts';
import type { Call } from '../../access/call.ts';
import { providerRead } from '../../access/declared-read.ts';
import { PAGE_DEFAULT, PAGE_MAX } from '../../access/paging/page.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { orNull } from '../../base/input-schemas.ts';
import { projectIdOrName, ref } from '../../base/names.ts';
import { resource } from '../../base/resource.ts';
import { openProviderSession } from '../../connections/connection/connection-session.ts';
import {
  FILTERS_MAX,
  fieldFilterInput,
  listFieldFilterIssues,
} from '../../integrations/installation/choice/field-filter.ts';
import { getInstallationOfGroup } from '../../integrations/installation/installation.ts';
import { integrationIdOrName } from '../../integrations/integration/integration.ts';
import { contentText } from '../../integrations/integration/integration-content-input.ts';
import { createEntry, type ResultEntry, resultEntry } from './read/read-message.ts';
import { createPlanKey, findReplacements, type ReadPlan } from './read/read-plan.ts';
import {
  getInstallationContent,
  type InstallationContent,
  NO_RECORDS,
  type ReadSource,
} from './read/read-source.ts';
import { callProvider, getRecordSource } from './record-source.ts';

const fieldName = contentText.describe(
  "The provider's name or the mapped name of the field. The installation need not read the field.",
);

const recordFilterInput = fieldFilterInput
  .omit({ operator: true })
  .extend({ fieldName })
  .meta({ id: 'RecordFilterInput', description: 'A condition on a field of the records.' });

const objectName = contentText.describe(
  "The object's mapped name, or its name at the provider. The installation must read it.",
);

export const recordsInput = z.object({
  objectName,
  filters: orNull(z.array(recordFilterInput).max(FILTERS_MAX)).describe(
    'Only records that meet all of these conditions and the conditions of the config. HubSpot supports 3 conditions in total, and Salesforce 20. Some providers and objects support no conditions.',
  ),
  first: orNull(z.number().int().min(1).max(PAGE_MAX)).describe(
    `The maximum number of records to return, 1 to ${PAGE_MAX}. Default: ${PAGE_DEFAULT}. Reads one page of the provider, so fewer records may be returned even if more follow.`,
  ),
  after: orNull(z.string()).describe(
    'Only records after this cursor, with the same object and conditions: the endCursor of a page, or the cursor of an edge.',
  ),
});
type RecordsInput = z.input<typeof recordsInput>;

export const accountRecordResource = resource(
  'Record',
  "A record of a customer's account at the provider, as it is now.",
  { id: z.string().describe("The provider's id of the record."), ...resultEntry.shape },
);

/** A record of an account, with the fields that the installation reads. */
export interface AccountRecord extends ResultEntry {
  id: string;
}

export interface RecordsPage {
  edges: { readonly cursor: string; readonly node: AccountRecord }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/**
 * Returns at most one page of the provider. Throws BAD_USER_INPUT for an expired cursor or a cursor of another search,
 * UNPROCESSABLE for an object that can't be read or searched, and PROVIDER_ERROR if the provider did not respond.
 */
export const listInstallationRecords = providerRead(
  orEndUser('records:read', 'READ'),
  "Lists current records at the provider, with the installation's fields and mapping.",
  async (
    call: Call,
    installation: Row<'Installation'>,
    input: RecordsInput,
  ): Promise<RecordsPage> =>
    listRecords(call, await getInstallationContent(call, installation), input),
);

/** Lists records as `listInstallationRecords` does. The viewer must be authorized to read the installation. */
export async function listRecords(
  call: Call,
  installationContent: InstallationContent,
  input: RecordsInput,
): Promise<RecordsPage> {
  const source = await getRecordSource(call, installationContent, input.objectName);
  const conditions = parseConditions(source, input.filters ?? []);
  const { installation } = installationContent;
  const search = { installation, source, conditions: conditions ?? [] };
  const from = getStartPosition(call, search, input.after ?? null);
  const size = input.first ?? PAGE_DEFAULT;
  // The conditions require two values of one field. No record has both.
  if (conditions === null) return createPage(call, search, { from, size, page: NO_RECORDS });
  const page = await callProvider(call, source, () =>
    readProviderPage(call, search, { from, size }),
  );
  return createPage(call, search, { from, size, page });
}

export const searchInput = z.object({
  projectIdOrName,
  integrationIdOrName,
  groupRef: ref.describe('The ref of the group whose account is searched.'),
  objectName,
  filters: z
    .array(fieldFilterInput.extend({ fieldName }))
    .max(FILTERS_MAX)
    .describe('Conditions on fields. Only records that meet all conditions are returned.'),
});

export const searchRecords = providerRead(
  orEndUser('records:read', 'READ'),
  "Finds current records in a group's account at the provider. The integration must read the object, and the config must not disable it. The response is one page of the provider, at most 1000 records.",
  async (call: Call, input: z.output<typeof searchInput>): Promise<AccountRecord[]> => {
    const installation = await getInstallationOfGroup(call, input);
    const { objectName, filters } = input;
    const { edges } = await listInstallationRecords(call, installation, {
      objectName,
      filters,
      first: PAGE_MAX,
    });
    return edges.map(({ node }) => node);
  },
);

interface Search {
  installation: Row<'Installation'>;
  source: ReadSource;
  conditions: FieldValue[];
}

/** Combines the caller's and the config's conditions, under the provider's names. Null if no record can meet them. */
function parseConditions(
  { readPlan, provider }: ReadSource,
  filters: NonNullable<RecordsInput['filters']>,
): FieldValue[] | null {
  const filtersMax = getFiltersMax(provider, readPlan.objectName);
  if (filters.length > 0 && filtersMax === 0) {
    const detail = `${provider.displayName} does not support search of ${readPlan.objectName}: its records can only be listed, without conditions.`;
    throw unprocessable(detail);
  }
  const context = { path: ['filters'], provider, objectName: readPlan.objectName };
  const [issue] = listFieldFilterIssues(filters, context);
  if (issue) throw invalidInput([issue]);
  const conditions = readPlan.filters.map(({ fieldName, value }) => ({ fieldName, value }));
  for (const filter of filters) {
    const condition = toProviderCondition(filter, readPlan);
    const sameField = conditions.find(({ fieldName }) => fieldName === condition.fieldName);
    if (sameField && String(sameField.value) !== String(condition.value)) return null;
    if (!sameField) conditions.push(condition);
  }
  if (conditions.length <= filtersMax || filters.length === 0) return conditions;
  const detail = `must contain at most ${filtersMax - readPlan.filters.length} conditions: ${provider.displayName} supports ${filtersMax}, and the config has ${readPlan.filters.length}.`;
  throw invalid(['filters'], detail);
}

/** Converts a condition with delivered names and values to the provider's names and values. */
function toProviderCondition({ fieldName, value }: FieldValue, readPlan: ReadPlan): FieldValue {
  const mapping = readPlan.fields.includes(fieldName)
    ? undefined
    : readPlan.mappings.find(({ mapToName }) => mapToName === fieldName);
  const replacements = Object.entries(findReplacements(readPlan, fieldName) ?? {});
  const [providerValue] = replacements.find(([, delivered]) => delivered === String(value)) ?? [];
  return { fieldName: mapping?.fieldName ?? fieldName, value: providerValue ?? value };
}

function createSearchKey({ source: { connection, readPlan }, conditions }: Search): string {
  const filters = conditions.map((condition) => ({ ...condition, operator: 'EQ' as const }));
  return createPlanKey(connection.id, readPlan, filters);
}

function getStartPosition(call: Call, search: Search, after: string | null): RecordPosition {
  const planKey = createSearchKey(search);
  if (after === null) return { planKey, cursor: null, given: 0, lastId: null };
  const position = openPosition(call, search.installation, after);
  if (!position) throw invalid(['after'], 'is not a cursor of this list.', after);
  if (position.planKey === planKey) return position;
  const detail =
    'belongs to another search: the conditions, the config or the connection have changed. Omit it to start over.';
  throw invalid(['after'], detail, after);
}

interface Window {
  from: RecordPosition;
  size: number;
}

function readProviderPage(call: Call, { source, conditions }: Search, { from, size }: Window) {
  const { readPlan, connection, provider } = source;
  const session = openProviderSession(call, connection, provider);
  return source.readPage(session, {
    objectName: readPlan.objectName,
    fields: readPlan.fields,
    filters: conditions,
    pageSize: Math.min(from.given + size, provider.limits.pageSize),
    ...(from.cursor !== null && { cursor: from.cursor }),
  });
}

function createPage(
  call: Call,
  search: Search,
  { from, size, page }: Window & { page: RecordPage },
): RecordsPage {
  const { installation, source } = search;
  const startIndex = countReceived(page.records, from);
  const records = page.records.slice(startIndex, startIndex + size);
  const endsPage = startIndex + records.length === page.records.length;
  const { nextCursor } = page;
  const createCursor = (index: number) => {
    const receivedCount = startIndex + index + 1;
    const position =
      nextCursor !== null && receivedCount >= page.records.length
        ? { ...from, cursor: nextCursor, given: 0, lastId: null }
        : {
            ...from,
            given: receivedCount,
            lastId: page.records[receivedCount - 1]?.id ?? from.lastId,
          };
    return sealPosition(call, installation, position);
  };
  const edges = records.map((record, index) => ({
    node: { id: record.id, ...createEntry(record, source.readPlan) },
    get cursor() {
      return createCursor(index);
    },
  }));
  const hasNextPage = !endsPage || nextCursor !== null;
  return {
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage: from.cursor !== null || startIndex > 0,
      get startCursor() {
        return edges[0]?.cursor ?? null;
      },
      // More pages may follow an empty page of a provider.
      get endCursor() {
        return edges.length > 0 || hasNextPage ? createCursor(records.length - 1) : null;
      },
    },
  };
}

const position = z.object({
  /** Identifies the account, the fields and the conditions of the read. The position is invalid for other reads. */
  planKey: z.string(),
  /** The provider's cursor of a page. Null for its first page. */
  cursor: z.string().nullable(),
  /** The number of records of that page that the caller has received. */
  given: z.int().min(0),
  /** The id of the last record that the caller has received. Null if there is none. */
  lastId: z.string().nullable(),
});
/** The position of a page of records at the provider. Cursors of record lists contain it. */
type RecordPosition = z.output<typeof position>;

type InstallationKey = Pick<Row<'Installation'>, 'id' | 'projectId'>;

/**
 * Encrypts the position. A signature, as in cursors of other lists, would not be enough, because a provider's cursor may
 * be part of a URL, which the caller must neither see nor choose.
 */
function sealPosition(
  { vault }: Pick<Call, 'vault'>,
  installation: InstallationKey,
  position: RecordPosition,
): string {
  return vault.seal(JSON.stringify(position), getSealedLocation(installation));
}

/** Decrypts a position. Null if the text is not a cursor of the installation's records. */
function openPosition(
  { vault }: Pick<Call, 'vault'>,
  installation: InstallationKey,
  text: string,
): RecordPosition | null {
  try {
    return position.parse(JSON.parse(vault.open(text, getSealedLocation(installation))));
  } catch {
    return null;
  }
}

function getSealedLocation({ id, projectId }: InstallationKey): SealedLocation {
  return { table: 'Installation', column: 'records', row: id, projectId };
}

/** Counts the records of a page that the caller has received. The page may have changed since then. */
function countReceived(
  records: readonly ProviderRecord[],
  { given, lastId }: Pick<RecordPosition, 'given' | 'lastId'>,
): number {
  const lastIndex = lastId === null ? -1 : records.findIndex(({ id }) => id === lastId);
  return lastIndex === -1 ? Math.min(given, records.length) : lastIndex + 1;
}

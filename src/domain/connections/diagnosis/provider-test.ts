/** Reads a page of each object of an account, to show whether the declaration of its provider fits. It stores nothing. */
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { DomainError, invalid, unprocessable } from '../../../kernel/errors.ts';
import { id } from '../../../kernel/ids.ts';
import {
  type Provider,
  type ReadCapability,
  supportsCapability,
} from '../../../providers/contract.ts';
import type { ProviderRecord } from '../../../providers/moving-records.ts';
import { resolveObjectName } from '../../../providers/object-support.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { requireShallow } from '../../../providers/read-responses.ts';
import { withDeadline } from '../../../work/deadline.ts';
import type { ProjectCall } from '../../access/call.ts';
import { describeMissingProvider } from '../../access/catalog.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { getProjectRow } from '../../access/scope.ts';
import { orNull } from '../../base/input-schemas.ts';
import { projectIdOrName } from '../../base/names.ts';
import { jsonObject, resource } from '../../base/resource.ts';
import {
  type AccountProviderSession,
  openProviderSession,
} from '../connection/connection-session.ts';
import { withDomainErrors } from '../provider/provider-domain-errors.ts';
import { waitForProvider } from '../provider/provider-wait.ts';
import {
  outlineRecord,
  type TestedRequest,
  TestRequests,
  testedRequestResource,
} from './tested-request.ts';

/** The maximum number of objects that one test reads. It bounds the result, and the requests to the provider. */
const OBJECTS_MAX = 20;
/** Enough records to show their form. */
const PAGE_SIZE = 10;
/** The time for the response after the last read, before the mutation itself times out. */
const RESPONSE_MARGIN_MS = 5_000;

const name = z.string().min(1).max(256);

const testProviderInput = z
  .object({
    projectIdOrName,
    connectionId: id.describe('The id of the connection whose account is read.'),
    objectName: orNull(name).describe(
      `The provider's name of the only object to read, like \`contacts\`. Default: the first ${OBJECTS_MAX} objects that can be read.`,
    ),
    module: orNull(name).describe(
      'The part of the provider whose objects are read: one of its `modules`. Default: the first of them.',
    ),
  })
  .meta({ id: 'TestProviderInput', description: 'The account with which to test its provider.' });

const testedObjectResource = resource('TestedObject', 'An object that `testProvider` has read.', {
  objectName: z.string().describe("The provider's name of the object."),
  recordCount: z
    .int()
    .nullable()
    .describe(
      `The number of records in the page. A page of at most ${PAGE_SIZE} is requested. {Null} if it could not be read.`,
    ),
  hasNextPage: z
    .boolean()
    .nullable()
    .describe('Whether more records follow the page. {Null} if it could not be read.'),
  sample: jsonObject
    .nullable()
    .describe(
      'The first record as the provider sent it, with `***` in place of texts and numbers. {Null} if there is none.',
    ),
  problem: z
    .string()
    .nullable()
    .describe('The reason why the page could not be read. {Null} if it could.'),
  requests: z
    .array(testedRequestResource)
    .describe(
      'The last 5 requests of the read with their responses, in the order in which they were sent.',
    ),
});

export const providerTestResource = resource('ProviderTest', 'Result of `testProvider`.', {
  objects: z.array(testedObjectResource).describe('The objects in the order of their reads.'),
  untestedObjects: z
    .array(z.string())
    .describe(
      `Names of objects that were not read, because a test reads ${OBJECTS_MAX} objects, ends before LIMIT_MUTATION_MS, and stops when the credentials are rejected. At most 1,000 names.`,
    ),
});

/** The maximum number of names in `untestedObjects`. An account may have thousands of objects. */
const NAMES_MAX = 1_000;

export interface TestedObject {
  objectName: string;
  recordCount: number | null;
  hasNextPage: boolean | null;
  sample: Record<string, unknown> | null;
  problem: string | null;
  requests: TestedRequest[];
}

export interface ProviderTest {
  objects: TestedObject[];
  untestedObjects: string[];
}

/** Throws UNPROCESSABLE if the provider supports no reads, and PROVIDER_ERROR if the account's objects can't be listed. */
export const testProvider = projectMutation({
  description: `Reads one page of each object of an account, and returns the requests to the provider with their responses. Credentials and record values are replaced by \`***\`. Nothing is written to the account, delivered or recorded. Like any request, the test may refresh the token of the connection and update its status. It counts as ${OBJECTS_MAX} further requests of the caller's rate.`,
  needs: 'providers:write',
  providerCalls: OBJECTS_MAX,
  input: testProviderInput,
  async run(call, input, { id: projectId }): Promise<ProviderTest> {
    call.slot?.requireProviderShare();
    const { connectionId, objectName } = input;
    const key = { projectId, id: connectionId, noun: 'Connection' };
    const connection = await getProjectRow(call, 'Connection', key);
    const target = getTarget(call, connection, input.module);
    if (objectName !== null) requireReadable(target.provider, objectName);
    return waitForProvider(call, { projectId, connectionId }, async () => {
      const names =
        objectName === null
          ? await withDomainErrors(() => listReadableObjects(target))
          : [resolveObjectName(target.provider, objectName)];
      return testObjects(target, names);
    });
  },
});

interface Target {
  call: ProjectCall;
  connection: Row<'Connection'>;
  provider: Provider;
  readPage: ReadCapability['readPage'];
}

function getTarget(
  call: ProjectCall,
  connection: Row<'Connection'>,
  module: string | null,
): Target {
  const { catalog } = call;
  if (!catalog.find(connection.provider)) {
    throw unprocessable(describeMissingProvider(connection.provider));
  }
  const provider = catalog.findWithModule(connection.provider, module);
  if (!provider) throw invalid(['module'], 'is not a module of the provider.', module);
  const { readPage } = provider.capabilities;
  if (!readPage) throw unprocessable(`${provider.displayName} does not support reads.`);
  return { call, connection, provider, readPage };
}

function requireReadable(provider: Provider, name: string): void {
  const objectName = resolveObjectName(provider, name);
  if (provider.objects && !provider.objects.includes(objectName)) {
    throw invalid(['objectName'], `is not an object of ${provider.displayName}.`, name);
  }
  if (supportsCapability(provider, objectName, 'READ')) return;
  throw invalid(['objectName'], 'is an object that can only be written.', name);
}

/** Lists the objects that every account has. If the provider has no such objects, lists those of the account. */
async function listReadableObjects({ call, connection, provider }: Target): Promise<string[]> {
  const { commonObjects, objects, capabilities } = provider;
  const names = commonObjects?.map((object) => object.name) ?? objects ?? [];
  const readableNames = names.filter((object) => supportsCapability(provider, object, 'READ'));
  if (readableNames.length > 0 || !capabilities.listObjects) return readableNames;
  const accountObjects = await capabilities.listObjects(
    openProviderSession(call, connection, provider),
  );
  return accountObjects.map((object) => object.name);
}

async function testObjects(target: Target, names: readonly string[]): Promise<ProviderTest> {
  const budgetMs = target.call.config.LIMIT_MUTATION_MS - RESPONSE_MARGIN_MS;
  const endMs = performance.now() + Math.max(budgetMs, RESPONSE_MARGIN_MS);
  const objects: TestedObject[] = [];
  for (const objectName of names.slice(0, OBJECTS_MAX)) {
    const remainingMs = endMs - performance.now();
    if (remainingMs <= 0) break;
    const { areCredentialsRejected, ...object } = await testObject(target, objectName, remainingMs);
    objects.push(object);
    // Repeated requests with wrong credentials could lock the customer's account.
    if (areCredentialsRejected) break;
  }
  const untestedObjects = names.slice(objects.length, objects.length + NAMES_MAX);
  return { objects, untestedObjects };
}

interface Outcome extends Omit<TestedObject, 'objectName' | 'requests'> {
  areCredentialsRejected: boolean;
}

const NO_PAGE = {
  recordCount: null,
  hasNextPage: null,
  sample: null,
  areCredentialsRejected: false,
};

async function testObject(
  target: Target,
  objectName: string,
  remainingMs: number,
): Promise<Outcome & TestedObject> {
  const requests = new TestRequests();
  const { call } = target;
  const services = { ...call, providerAccess: { ...call.providerAccess, observer: requests } };
  const reading = readObject({ ...target, call: services }, objectName, requests);
  const outcome = await withDeadline(reading, remainingMs, () => ({
    ...NO_PAGE,
    problem: `The test ended after ${Math.ceil(remainingMs / 1_000)} s without the page.`,
  }));
  return { objectName, ...outcome, requests: [...requests.list] };
}

async function readObject(
  { call, connection, provider, readPage }: Target,
  objectName: string,
  requests: TestRequests,
): Promise<Outcome> {
  try {
    const session = openProviderSession(call, connection, provider);
    const fields = await listFields(session, provider, objectName);
    const pageSize = Math.min(PAGE_SIZE, provider.limits.pageSize);
    const { records, nextCursor } = await readPage(session, { objectName, fields, pageSize });
    const [record] = requireShallow(records) as [ProviderRecord?];
    return {
      recordCount: records.length,
      hasNextPage: nextCursor !== null,
      sample: record ? outlineRecord(record.raw, requests.secrets) : null,
      problem: null,
      areCredentialsRejected: false,
    };
  } catch (error) {
    if (!(error instanceof ProviderError || error instanceof DomainError)) throw error;
    const areCredentialsRejected =
      error instanceof ProviderError && error.kind === 'AUTH_INVALIDATED';
    return { ...NO_PAGE, problem: error.message, areCredentialsRejected };
  }
}

/** Returns the provider's names of all fields. Descriptions are not cached, so that their requests are shown. */
async function listFields(
  session: AccountProviderSession,
  provider: Provider,
  objectName: string,
): Promise<string[]> {
  const describe = supportsCapability(provider, objectName, 'METADATA')
    ? provider.capabilities.describeObject
    : undefined;
  const { fields } = (await describe?.(session, objectName)) ?? { fields: [] };
  return fields.map(({ fieldName }) => fieldName);
}

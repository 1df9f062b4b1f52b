/**
 * Tests of the requirements that every provider meets. They skip only tests of undeclared capabilities. A provider
 * that writes must also read, because the tests check writes by reads.
 */
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { listUnboundHosts } from '../../src/providers/catalog/unbound-hosts.ts';
import { AUTH_SCHEMES, type Capabilities, listCapabilities } from '../../src/providers/contract.ts';
import type { ProviderErrorKind } from '../../src/providers/provider-error.ts';
import { checkDefining, createDefineRequest } from './contract-defining.ts';
import { checkMetadata, checkReading } from './contract-reading.ts';
import {
  type AddCheck,
  atMinute,
  type CheckScope,
  type ContractSubject,
  type CreateSubject,
  catchFailure,
  createPageRead,
  type Fault,
  type Skip,
  storeTexts,
} from './contract-subject.ts';
import { checkSubscribing } from './contract-subscribing.ts';
import { checkBatches, checkWriting } from './contract-writing.ts';

export type { ContractSubject, Fault } from './contract-subject.ts';

export function testProviderContract(
  name: string,
  createSubject: CreateSubject,
  tags: string[] = [],
): void {
  describe(`${name} fulfills the provider contract`, { tags }, () => {
    for (const { title, run } of CHECKS) {
      test(title, async ({ skip }) => {
        await using subject = await createSubject();
        await run(subject, skip);
      });
    }
  });
}

/**
 * Runs the checks that apply, and returns a text for each that fails. `isFirst` is false for further objects of a
 * provider: they need only the checks whose result depends on the object.
 */
export async function listContractFailures(
  createSubject: CreateSubject,
  { isFirst }: { isFirst: boolean },
): Promise<string[]> {
  const failures: string[] = [];
  for (const { title, run, scope } of CHECKS) {
    if (scope === 'provider' && !isFirst) continue;
    await using subject = await createSubject();
    await run(subject, skipCheck).catch((error: unknown) => {
      if (error !== NOT_APPLICABLE) failures.push(`${title}: ${inspect(error)}`);
    });
  }
  return failures;
}

const NOT_APPLICABLE = Symbol('the check does not apply to the subject');

const skipCheck: Skip = () => {
  throw NOT_APPLICABLE;
};

function checkDeclaration(check: AddCheck): void {
  check(
    'declares the settings of each authentication scheme',
    async (subject) => {
      const { provider } = subject;
      expect(provider.authSchemes.length).toBeGreaterThan(0);
      for (const scheme of provider.authSchemes) {
        expect(AUTH_SCHEMES).toContain(scheme);
        if (scheme === 'API_KEY') expect(provider.apiKey).toBeDefined();
        if (scheme.startsWith('OAUTH2')) expectUrl(provider.oauth2?.tokenUrl);
        if (scheme.includes('AUTHORIZATION_CODE')) expectUrl(provider.oauth2?.authorizeUrl);
      }
      expectUrl(provider.baseUrl);
      expect(listUnboundHosts(provider)).toEqual([]);
      const namesWorkspace = provider.oauth2?.tokenFields?.workspaceRef !== undefined;
      if (provider.baseUrl.includes('{{workspace}}')) {
        expect(provider.workspaceRequired ?? false).toBe(!namesWorkspace);
      }
    },
    'provider',
  );

  check(
    'declares positive limits',
    async (subject) => {
      const { responseBytesMax, batchSize, concurrency, pageSize, requestsPerSecond, timeoutMs } =
        subject.provider.limits;
      for (const limit of [responseBytesMax, batchSize, concurrency, pageSize, timeoutMs]) {
        expect(Number.isSafeInteger(limit) && limit > 0, String(limit)).toBe(true);
      }
      expect(requestsPerSecond).toBeGreaterThan(0);
    },
    'provider',
  );

  check('supports exactly the capabilities that it implements', async (subject) => {
    const { capabilities, features } = subject.provider;
    const implementedCapabilities = Object.entries(CAPABILITY_FUNCTIONS)
      .filter(([, key]) => capabilities[key] !== undefined)
      .map(([capability]) => capability);
    expect(listCapabilities(subject.provider).toSorted()).toEqual(
      implementedCapabilities.toSorted(),
    );
    if (Object.values(features).includes(true)) expect(capabilities.writeRecord).toBeDefined();
    if (capabilities.writeRecord) expect(capabilities.readPage).toBeDefined();
    if (capabilities.defineFields) expect(capabilities.describeObject).toBeDefined();
  });
}

const CAPABILITY_FUNCTIONS = {
  READ: 'readPage',
  WRITE: 'writeRecord',
  DELETE: 'deleteRecord',
  BATCH_WRITE: 'writeBatch',
  METADATA: 'describeObject',
  PROXY: 'proxy',
  SUBSCRIBE: 'subscribe',
} as const satisfies Record<string, keyof Capabilities>;

/** The vendor's errors are declared for all objects of a provider. One of them shows that an object's requests fail. */
const FAULT_OF_EACH_OBJECT = '429';

const FAULT_CASES: [string, Fault, ProviderErrorKind][] = [
  ['401', { status: 401 }, 'AUTH_INVALIDATED'],
  ['403', { status: 403 }, 'FORBIDDEN'],
  ['429', { status: 429, retryAfterSeconds: 7 }, 'RATE_LIMITED'],
  ['500', { status: 500 }, 'SERVER_ERROR'],
  ['dropped connection', 'DROPPED_CONNECTION', 'DISCONNECTED'],
];

function checkFailures(check: AddCheck): void {
  for (const [name, fault, kind] of FAULT_CASES) {
    check(
      `throws an error of the right kind for a ${name}, without the credential`,
      async (subject) => {
        const [id = ''] = await storeTexts(subject, 1);
        subject.failRequests(fault);
        for (const attempt of listAttempts(subject, id)) {
          const failure = await catchFailure(attempt());
          expect(failure.kind).toBe(kind);
          expect(failure.retryAfterMs).toBe(kind === 'RATE_LIMITED' ? 7_000 : null);
          expect(inspect(failure, { depth: null })).not.toContain(subject.secret);
        }
      },
      name === FAULT_OF_EACH_OBJECT ? 'object' : 'provider',
    );
  }
}

/** Returns a request for each capability of the provider. */
function listAttempts(subject: ContractSubject, id: string): (() => Promise<unknown>)[] {
  const { session, objectName, textField } = subject;
  const { describeObject, readPage, writeRecord, writeBatch, deleteRecord } =
    subject.provider.capabilities;
  const record = subject.createValidRecord('failing');
  const create = { type: 'CREATE', objectName } as const;
  const change = { id, [textField]: 'failing' };
  return [
    !subject.isDescribedWithoutRequest &&
      describeObject &&
      (() => describeObject(session, objectName)),
    createDefineRequest(subject),
    readPage && (() => readPage(session, createPageRead(subject))),
    readPage && (() => readPage(session, { ...createPageRead(subject), since: atMinute(0) })),
    subject.canCreate !== false &&
      writeRecord &&
      (() => writeRecord(session, { ...create, record })),
    subject.canUpdate !== false &&
      writeRecord &&
      (() => writeRecord(session, { type: 'UPDATE', objectName, record: change })),
    subject.canCreate !== false &&
      writeBatch &&
      (() => writeBatch(session, { ...create, records: [{ record }], allOrNone: true })),
    deleteRecord && (() => deleteRecord(session, { objectName, id })),
  ].filter((attempt) => typeof attempt === 'function');
}

function expectUrl(url: string | undefined): void {
  // The token response contains the base URL of the account.
  if (url === '{{workspace}}') return;
  expect(URL.canParse(url?.replaceAll(/\{\{\w+\}\}/g, 'variable') ?? ''), url).toBe(true);
}

const CHECKS = listChecks();

function listChecks() {
  const checks: { title: string; run: Parameters<AddCheck>[1]; scope: CheckScope }[] = [];
  const addCheck: AddCheck = (title, run, scope = 'object') => checks.push({ title, run, scope });
  checkDeclaration(addCheck);
  checkMetadata(addCheck);
  checkDefining(addCheck);
  checkReading(addCheck);
  checkWriting(addCheck);
  checkBatches(addCheck);
  checkSubscribing(addCheck);
  checkFailures(addCheck);
  return checks;
}

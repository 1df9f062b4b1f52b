/**
 * Tests of the requirements that every provider meets. They skip only tests of undeclared capabilities. A provider
 * that writes must also read, because the tests check writes by reads.
 */
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { AUTH_SCHEMES, type Capabilities, listCapabilities } from '../../src/providers/contract.ts';
import type { ProviderErrorKind } from '../../src/providers/provider-error.ts';
import { createDefineRequest, testDefining } from './contract-defining.ts';
import { testMetadata, testReading } from './contract-reading.ts';
import {
  atMinute,
  type ContractSubject,
  type CreateSubject,
  catchFailure,
  createPageRead,
  type Fault,
  storeTexts,
} from './contract-subject.ts';
import { testSubscribing } from './contract-subscribing.ts';
import { testBatches, testWriting } from './contract-writing.ts';
import { listUnboundHosts } from './unbound-hosts.ts';

export type { ContractSubject, Fault } from './contract-subject.ts';

export function testProviderContract(
  name: string,
  createSubject: CreateSubject,
  tags: string[] = [],
): void {
  describe(`${name} fulfills the provider contract`, { tags }, () => {
    testDeclaration(createSubject);
    testMetadata(createSubject);
    testDefining(createSubject);
    testReading(createSubject);
    testWriting(createSubject);
    testBatches(createSubject);
    testSubscribing(createSubject);
    testFailures(createSubject);
  });
}

function testDeclaration(createSubject: CreateSubject): void {
  test('declares the settings of each authentication scheme', async () => {
    await using subject = await createSubject();
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
  });

  test('declares positive limits', async () => {
    await using subject = await createSubject();
    const { responseBytesMax, batchSize, concurrency, pageSize, requestsPerSecond, timeoutMs } =
      subject.provider.limits;
    for (const limit of [responseBytesMax, batchSize, concurrency, pageSize, timeoutMs]) {
      expect(Number.isSafeInteger(limit) && limit > 0, String(limit)).toBe(true);
    }
    expect(requestsPerSecond).toBeGreaterThan(0);
  });

  test('supports exactly the capabilities that it implements', async () => {
    await using subject = await createSubject();
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

const FAULT_CASES: [string, Fault, ProviderErrorKind][] = [
  ['401', { status: 401 }, 'AUTH_INVALIDATED'],
  ['403', { status: 403 }, 'FORBIDDEN'],
  ['429', { status: 429, retryAfterSeconds: 7 }, 'RATE_LIMITED'],
  ['500', { status: 500 }, 'SERVER_ERROR'],
  ['dropped connection', 'DROPPED_CONNECTION', 'DISCONNECTED'],
];

function testFailures(createSubject: CreateSubject): void {
  test.each(
    FAULT_CASES,
  )('throws an error of the right kind for a %s, without the credential', async (_, fault, kind) => {
    await using subject = await createSubject();
    const [id = ''] = await storeTexts(subject, 1);
    subject.failRequests(fault);
    for (const attempt of listAttempts(subject, id)) {
      const failure = await catchFailure(attempt());
      expect(failure.kind).toBe(kind);
      expect(failure.retryAfterMs).toBe(kind === 'RATE_LIMITED' ? 7_000 : null);
      expect(inspect(failure, { depth: null })).not.toContain(subject.secret);
    }
  });
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

/** Large manifests are parsed in a thread with limited time and memory. */
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ManifestReader } from '../../../../src/domain/integrations/integration/manifest/manifest-reader.ts';
import {
  DOCUMENT_LENGTH_MAX,
  MANIFEST_LENGTH_MAX,
} from '../../../../src/domain/integrations/integration/manifest/manifest-text.ts';
import { MINUTE_MS } from '../../../../src/work/durations.ts';
import { createDocument, createObject } from '../../../support/inputs/custom-providers.ts';

/** A text of the maximum length. Parsing it needs more than 20 MB. */
const TEXT_OF_MAX_LENGTH = `a: [${'{b: c},'.repeat(MANIFEST_LENGTH_MAX / 7 - 2)}]`;
/** A text that is long enough to be parsed in the thread. */
const TEXT_FOR_THREAD = `# ${'x'.repeat(5_000)}\na: 1\n`;

/** Permits more time than the default, so that no result depends on how fast the machine is. */
function createReader(limits: ConstructorParameters<typeof ManifestReader>[0]): ManifestReader {
  const reader = new ManifestReader({ readTimeoutMs: 10 * MINUTE_MS, ...limits });
  onTestFinished(() => reader[Symbol.asyncDispose]());
  return reader;
}

test('rejects a document that exceeds the time limit, and reads the next one', async () => {
  const reader = createReader({ readTimeoutMs: 1 });
  const detail = 'takes longer than 0.001 seconds to read.';
  const timeout = { faults: [{ detail, line: 1, column: 1 }] };
  const results = [TEXT_OF_MAX_LENGTH, TEXT_OF_MAX_LENGTH, TEXT_FOR_THREAD].map((text) =>
    reader.read('prj', text),
  );
  expect((await Promise.all(results)).slice(0, 2)).toEqual([timeout, timeout]);
});

test('rejects a document that exceeds the memory limit, and reads the next one', async () => {
  const reader = createReader({ memoryMbMax: 16 });
  expect(await reader.read('prj', TEXT_OF_MAX_LENGTH)).toEqual({
    faults: [{ detail: 'takes too much memory to read.', line: 1, column: 1 }],
  });
  expect(await reader.read('prj', TEXT_FOR_THREAD)).toMatchObject({ value: { a: 1 } });
});

test(
  'reads a document of the maximum length within the limits of time and memory',
  { tags: ['all/rows'] },
  async () => {
    const result = await createReader({}).read('prj', TEXT_OF_MAX_LENGTH);
    expect(result).toMatchObject({ value: { a: expect.arrayContaining([{ b: 'c' }]) } });
  },
);

test(
  'reads manifests of all callers one after another while one long document is read',
  {
    tags: ['all/rows'],
  },
  async () => {
    const reader = createReader({});
    const longText = `a: [${'{b: c},'.repeat(DOCUMENT_LENGTH_MAX / 7 - 2)}]`;
    const ended: string[] = [];
    const document = reader.readDocument('prj_1', longText).then(() => ended.push('document'));
    for (const projectId of ['prj_1', 'prj_2', 'prj_3']) {
      expect(await reader.read(projectId, TEXT_FOR_THREAD)).toMatchObject({ value: { a: 1 } });
      ended.push(projectId);
    }
    await document;
    expect(ended).toEqual(['prj_1', 'prj_2', 'prj_3', 'document']);
  },
);

test('reads manifests while a document never ends and others wait for it', async () => {
  const reader = createReader({});
  // The thread of documents starts with the first one. Until the test ends, it reads no message.
  const postMessage = vi.spyOn(Worker.prototype, 'postMessage').mockImplementationOnce(() => {});
  onTestFinished(() => postMessage.mockRestore());
  const longText = `a: [${'{b: c},'.repeat(DOCUMENT_LENGTH_MAX / 7 - 2)}]`;
  const documents = ['prj_1', 'prj_2'].map((projectId) => reader.readDocument(projectId, longText));
  expect(await reader.read('prj_2', TEXT_FOR_THREAD)).toMatchObject({ value: { a: 1 } });
  const ends = Promise.allSettled(documents);
  await reader[Symbol.asyncDispose]();
  const endings = (await ends).map(({ status }) => status);
  expect(endings).toEqual(['rejected', 'rejected']);
});

test('refuses a document with too many values', async () => {
  const text = `[${'[],'.repeat(70_000)}]`;
  expect(await createReader({}).readDocument('prj', text)).toMatchObject({
    faults: [{ detail: 'must have at most 60000 members and items.' }],
  });
});

/** Returns the document of a provider with many objects, which is long enough for a thread. */
function createProviderText(objectCount: number, overrides: object = {}): string {
  const objects = Array.from({ length: objectCount }, (_, index) => [
    `object${index}`,
    createObject(`object${index}`, overrides),
  ]);
  return createDocument('https://api.acme.example', {}, Object.fromEntries(objects));
}

test('reads provider documents in the thread', async () => {
  const reader = createReader({});
  const document = await reader.readProvider('prj', createProviderText(100), ['document']);
  expect(document.name).toBe('x-acme');
  expect(Object.keys(document.api?.objects ?? {})).toHaveLength(100);
});

test('names the problems of a provider document with their positions', async () => {
  const text = createProviderText(100, { list: { path: 1 } });
  const reading = createReader({}).readProvider('prj', text, ['document']);
  const error = await reading.catch((cause: unknown) => cause);
  expect(error).toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: expect.arrayContaining([
      expect.objectContaining({
        path: ['document', 'api', 'objects', 'object99', 'list', 'path'],
        line: 1,
      }),
    ]),
  });
});

test('refuses a provider document that exceeds the time limit', async () => {
  const reader = createReader({ readTimeoutMs: 1 });
  await expect(reader.readProvider('prj', createProviderText(100), ['document'])).rejects.toThrow(
    'takes longer than 0.001 seconds',
  );
});

test('refuses provider documents of a project that has too many of them waiting', async () => {
  const reader = createReader({});
  const text = createProviderText(20);
  const readings = Array.from({ length: 20 }, () => reader.readProvider('prj', text, ['document']));
  const refusals = (await Promise.allSettled(readings)).flatMap((reading) =>
    reading.status === 'rejected' ? [reading.reason] : [],
  );
  expect(refusals.length).toBeGreaterThan(0);
  for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'RATE_LIMITED' });
});

/**
 * Measures a project's typed API: the memory of 200 cached schemas, the first query of a project whose schema is not
 * cached, and what the typed API adds to `Installation.records`. Run it by `node --expose-gc bench/contract/typed-api.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, validate } from 'graphql';
import { createApp } from '../../src/app.ts';
import type { Contract } from '../../src/domain/data/contract/contract-resource.ts';
import { createContract } from '../../src/domain/data/contract/object-contract.ts';
import { integrationContentInput } from '../../src/domain/integrations/integration/integration-content-input.ts';
import { createTypedSchemas } from '../../src/graphql/typed/typed-schema.ts';
import { createLog } from '../../src/kernel/log.ts';
import { createHubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import { readConfig } from '../../src/settings/config.ts';
import { computeMedian } from '../statistics.ts';

const SCHEMAS = 200;
const OBJECTS = 10;
const FIELDS = 20;
const COLD_RUNS = 30;
const WARM_ROUNDS = 400;

/** Creates a contract that reads and writes 10 objects with 20 fields each. Each number gives another contract. */
function createLargeContract(number: number): Contract {
  const fields = Array.from({ length: FIELDS }, (_, n) => ({
    fieldName: `field_${n}`,
    mapToName: `own_${number}_${n}`,
    valueType: n % 2 === 0 ? 'STRING' : 'INT',
  }));
  const objects = Array.from({ length: OBJECTS }, (_, n) => `object_${n}`);
  const content = integrationContentInput.parse({
    name: 'crm',
    provider: 'hubspot',
    read: {
      objects: objects.map((objectName) => ({
        objectName,
        destination: 'records',
        requiredFields: fields,
      })),
    },
    write: { objects: objects.map((objectName) => ({ objectName, inheritMapping: true })) },
  });
  const provider = createHubspotProvider();
  return createContract({ integration: 'crm', content, provider, learnedFields: new Map() });
}

function measureMemory(): void {
  const contracts = Array.from({ length: SCHEMAS }, (_, number) => createLargeContract(number));
  const schemas = createTypedSchemas(Number.MAX_SAFE_INTEGER);
  const bytesBefore = measureHeap();
  const cachedSchemas = contracts.map((contract) => schemas.get(contract));
  const bytes = measureHeap() - bytesBefore;
  const toMebibytes = (size: number) => (size / 1024 / 1024).toFixed(0);
  console.log(
    `${cachedSchemas.length} schemas of ${OBJECTS} objects with ${FIELDS} fields: ${toMebibytes(bytes)} MiB, estimated as ${toMebibytes(schemas.bytes)} MiB`,
  );
  const query = '{ object_0(group: "acme") { nodes { id own_0 } } }';
  const buildTimes = contracts.slice(0, COLD_RUNS).map((contract) => {
    const startedAt = performance.now();
    const schema = createTypedSchemas().get(contract);
    validate(schema, parse(query));
    return performance.now() - startedAt;
  });
  console.log(
    `building a schema and validating a query: ${computeMedian(buildTimes).toFixed(1)} ms`,
  );
}

function measureHeap(): number {
  if (!globalThis.gc) throw new Error('Run it by node --expose-gc.');
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

async function measureQueries(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-typed-api-'));
  const settings = { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' };
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0', DEMO: 'true', ...settings });
  const app = await createApp(config, { log: createLog('error') });
  try {
    const { url, demoFile } = await app.start();
    const demo = await import(String(demoFile), { with: { type: 'json' } });
    const { apiKey, installationId } = demo.default as Record<string, string>;
    const timeQuery = async (path: string, query: string, variables: object = {}) => {
      const startedAt = performance.now();
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': String(apiKey) },
        body: JSON.stringify({ query, variables }),
      });
      const { errors } = (await response.json()) as { errors?: unknown };
      if (errors) throw new Error(JSON.stringify(errors));
      return performance.now() - startedAt;
    };
    const timeTyped = () =>
      timeQuery(
        '/graphql/projects/demo',
        'query ListPeople { people(group: "acme") { nodes { id emailAddress firstname lastname } pageInfo { endCursor } } }',
      );
    const timeRecords = () =>
      timeQuery(
        '/graphql',
        'query ListRecords($id: ID!) { node(id: $id) { ... on Installation { records(objectName: "people") { nodes { id fields mappedFields } pageInfo { endCursor } } } } }',
        { id: installationId },
      );
    for (let round = 0; round < 50; round += 1) await Promise.all([timeTyped(), timeRecords()]);
    const times = { typed: [] as number[], records: [] as number[] };
    for (let round = 0; round < WARM_ROUNDS; round += 1) {
      times.typed.push(await timeTyped());
      times.records.push(await timeRecords());
    }
    const [typedMs, recordsMs] = [computeMedian(times.typed), computeMedian(times.records)];
    console.log(
      `people: ${typedMs.toFixed(2)} ms; records: ${recordsMs.toFixed(2)} ms; ratio ${(typedMs / recordsMs).toFixed(2)}`,
    );
    const coldTimes: number[] = [];
    for (let run = 0; run < COLD_RUNS; run += 1) {
      await timeQuery('/graphql', CREATE_REVISION, { content: createContent(run) });
      coldTimes.push(await timeTyped());
    }
    console.log(
      `first query after a new revision: ${computeMedian(coldTimes).toFixed(1)} ms, at most ${Math.max(...coldTimes).toFixed(1)} ms`,
    );
  } finally {
    await app[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const CREATE_REVISION = `mutation CreateRevision($content: IntegrationContentInput!) {
  createRevision(input: {
    projectIdOrName: "demo", integrationIdOrName: "crm-sync"
    revision: { specVersion: "1.0.0", content: $content }
  }) { revision { id } }
}`;

/** Creates content with another contract for each number. */
function createContent(number: number): object {
  const names = ['email', 'firstname', 'lastname'] as const;
  const requiredFields = names.map((fieldName) =>
    fieldName === 'email' ? { fieldName, mapToName: 'emailAddress' } : { fieldName },
  );
  return {
    name: 'crm-sync',
    provider: 'sandbox',
    read: {
      objects: [
        {
          objectName: 'contacts',
          destination: 'records',
          mapToName: 'people',
          requiredFields,
          optionalFields: [{ fieldName: 'phone', mapToName: `phone_${number}` }],
        },
        // The demo's installation reads this object.
        { objectName: 'companies', destination: 'live', requiredFields: [{ fieldName: 'name' }] },
      ],
    },
    write: { objects: [{ objectName: 'contacts', inheritMapping: true }] },
  };
}

measureMemory();
await measureQueries();

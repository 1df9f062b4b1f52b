/**
 * Measures how much CPU time it takes to derive a contract of 40 objects with 60 fields each, and to find it in the
 * cache.
 */
import { type ContractInput, createContract } from '../src/domain/data/contract/object-contract.ts';
import { getCachedContract } from '../src/domain/data/contract/read-contract.ts';
import { installationConfigInput } from '../src/domain/integrations/installation/choice/installation-config-input.ts';
import { createStoredConfig } from '../src/domain/integrations/installation/installation-config.ts';
import { integrationContentInput } from '../src/domain/integrations/integration/integration-content-input.ts';
import type { FieldDescription } from '../src/providers/contract.ts';
import { createHubspotProvider } from '../src/providers/hubspot/hubspot-provider.ts';

const OBJECTS = 40;
const FIELDS = 60;
const RUNS = 300;
const CACHED_RUNS = 1_000_000;

const objects = Array.from({ length: OBJECTS }, (_, n) => `object_${n}`);
const mappings = Array.from({ length: FIELDS }, (_, n) => ({
  fieldName: `field_${n}`,
  mapToName: n % 2 === 0 ? `own_${n}` : null,
}));

const content = integrationContentInput.parse({
  name: 'crm',
  provider: 'hubspot',
  read: {
    objects: objects.map((objectName) => ({
      objectName,
      destination: 'records',
      requiredFields: mappings.slice(0, FIELDS / 2),
      optionalFields: mappings.slice(FIELDS / 2),
    })),
  },
  write: { objects: objects.map((objectName) => ({ objectName, inheritMapping: true })) },
});

const fields = mappings.map(
  ({ fieldName }): FieldDescription => ({
    fieldName,
    displayName: fieldName,
    valueType: 'STRING',
    providerType: null,
    readOnly: false,
    isCustom: false,
    isRequired: false,
    values: null,
    referenceTo: null,
  }),
);
const learnedFields = new Map(
  mappings.map(({ fieldName }) => [
    fieldName,
    [{ valueType: 'STRING' as const, readOnly: false, required: false }],
  ]),
);
const revision: ContractInput = {
  integration: 'crm',
  content,
  provider: createHubspotProvider(),
  learnedFields: new Map(objects.map((name) => [name, learnedFields])),
};
const config = installationConfigInput.parse({
  read: objects.map((objectName) => ({ objectName, selectedFieldsAuto: 'ALL' })),
  write: objects.map((objectName) => ({ objectName })),
});
const installation: ContractInput = {
  ...revision,
  config: createStoredConfig(config, content),
  descriptions: new Map(objects.map((name) => [name, { name, displayName: null, fields }])),
};

for (const [label, input] of Object.entries({ revision, installation })) {
  const coldMs = measureCpuMs(RUNS, () => createContract(input));
  const cachedMs = measureCpuMs(CACHED_RUNS, () =>
    getCachedContract([label, 'digest'], () => createContract(input)),
  );
  console.log(`${label}: ${coldMs.toFixed(1)} ms cold, ${(cachedMs * 1_000).toFixed(1)} µs cached`);
}

/** Returns the CPU time of one run in milliseconds, with its part of the garbage collection. */
function measureCpuMs(runs: number, run: () => unknown): number {
  run();
  const startUsage = process.cpuUsage();
  for (let count = 0; count < runs; count += 1) run();
  const { user, system } = process.cpuUsage(startUsage);
  return (user + system) / 1_000 / runs;
}

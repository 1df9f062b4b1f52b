/** Creates integrations and installations through the API. Tests pass only the members that matter. */
import { newId } from '../../../src/ids.ts';
import type { Tenant, TestApp } from '../app.ts';
import type { GraphqlClient } from '../graphql-client.ts';
import { generateConnection } from './connections.ts';

type Caller = Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>;

export const CREATE_INTEGRATION = `mutation ($input: CreateIntegrationInput!) {
  createIntegration(input: $input) {
    integration { id name provider createTime updateTime project { id } latestRevision { id specVersion } }
  }
}`;

export const CREATE_REVISION = `mutation ($input: CreateRevisionInput!) {
  createRevision(input: $input) {
    revision { id content { read { objects { objectName } } } }
    integration { id updateTime latestRevision { id } }
  }
}`;

const CONFIG = `config {
  id createTime
  read {
    objectName selectedFields schedule destination disabled
    fieldMappings { fieldName mapToName } backfill { days fullHistory }
    selectedFieldsAuto dynamicMappings { mapToName } valueMappings { fieldName } fieldFilters { fieldName }
  }
  subscribe { objectName }
  write { objectName deletionEnabled fields { fieldName default writeOnCreate writeOnUpdate } }
  proxy { enabled }
}`;

export const INSTALLATION = `
  id createdBy createTime updateTime healthStatus
  project { id } integration { id } revision { id } group { groupRef } connection { id }
  ${CONFIG}
  lastOperation { id }
  objects {
    objectName mappedObjectName schedule paused pauseNote
    nextReadTime lastReadTime backfillDone recordsRead
  }`;

export const CREATE_INSTALLATION = `mutation ($input: CreateInstallationInput!) {
  createInstallation(input: $input) { installation { ${INSTALLATION} } }
}`;

export const UPDATE_INSTALLATION = `mutation ($input: UpdateInstallationInput!) {
  updateInstallation(input: $input) { installation { ${INSTALLATION} } }
}`;

/** Returns the content of an integration that reads contacts of the sandbox. `given` replaces its members. */
export function contentFor(name = 'crm', overrides: object = {}) {
  return {
    name,
    provider: 'sandbox',
    read: {
      objects: [
        {
          objectName: 'contacts',
          destination: 'records',
          schedule: '*/10 * * * *',
          requiredFields: [{ fieldName: 'email' }],
          optionalFields: [{ fieldName: 'phone' }],
        },
      ],
    },
    ...overrides,
  };
}

/** Returns a revision with the content. */
export function toRevision(content: object) {
  return { specVersion: '1.0.0', content };
}

export async function insertDestination(
  { app }: Pick<TestApp, 'app'>,
  { projectId }: Pick<Tenant, 'projectId'>,
  name = 'records',
) {
  const url = 'https://hooks.example.com/records';
  const data = { id: newId('dst'), projectId, name, url, signingSecretSealed: '' };
  return app.services.database.prisma.destination.create({ data: { ...data, type: 'WEBHOOK' } });
}

export function integrationInput(
  { projectId }: Pick<Tenant, 'projectId'>,
  content: { name: string; provider: string },
) {
  const { name, provider } = content;
  const latestRevision = toRevision(content);
  return { input: { projectIdOrName: projectId, name, provider, latestRevision } };
}

/** Creates the integration, and the destination that it names if there is none. */
export async function integrate(
  app: Pick<TestApp, 'app'>,
  tenant: Caller,
  content: { name: string; provider: string; proxy?: object } = contentFor(),
) {
  const where = { projectId: tenant.projectId, name: 'records' };
  const destinationCount = await app.app.services.database.prisma.destination.count({ where });
  if (destinationCount === 0) await insertDestination(app, tenant);
  const variables = integrationInput(tenant, content);
  return (await tenant.query(CREATE_INTEGRATION, variables)).createIntegration.integration;
}

/**
 * Connects an account of the group `acme` and installs the integration. Also returns the input, so that a
 * test can repeat the call.
 */
export async function installFor(
  tenant: Caller,
  integration: { id: string },
  members: Record<string, unknown> = {},
) {
  const groupRef = (members.groupRef as string) ?? 'acme';
  const connection = await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef });
  const input = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: integration.id,
    groupRef,
    ...members,
  };
  const data = await tenant.query(CREATE_INSTALLATION, { input });
  return { ...data.createInstallation.installation, connection, input };
}

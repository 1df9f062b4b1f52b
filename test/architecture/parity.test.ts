/**
 * Tests that GraphQL and REST offer the same functions. Both surfaces have each declared function of the domain, or this
 * file has the reason.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', '..', 'src');
const SURFACES = ['graphql', 'rest'] as const;
type Surface = (typeof SURFACES)[number];

const AGENT_READS = addReason(
  'A tool of the MCP server calls it. Its results are bounded for agents.',
  [
    'describeAgentObject',
    'getAgentOperation',
    'listAgentRecords',
    'listPinnedWrites',
    'searchAgentObjects',
  ],
);

/** The functions that a surface does not have, each with the reason. */
const OMITTED: Record<Surface, Record<string, string>> = {
  graphql: {
    ...AGENT_READS,
    ...addReason('`node(id:)` or a field of its parent reads the row.', [
      'getAgentSession',
      'getApiKey',
      'getBillingAccount',
      'getConnection',
      'getCustomProvider',
      'getDelivery',
      'getDestination',
      'getInstallation',
      'getInvite',
      'getJwtKey',
      'getRequestedIntegration',
      'getNotificationEvent',
      'getOperation',
      'getCurrentBuilder',
      'getProposal',
      'getRevision',
    ]),
    ...addReason(
      'A field returns null where REST responds with 404: see the find or read of this name.',
      ['getClaimedDomain', 'getRequestedOrg', 'getRequestedProject', 'getPlan', 'getProvider'],
    ),
    ...addReason('The proxy is HTTP itself.', ['forwardPages', 'forwardRequest', 'getForwarding']),
    getBackfillProgress: 'The metadata of `InstalledObject.backfillOperation` contains it.',
    getProjectContract: '`Project.contract` reads the contracts of several projects together.',
    createUploadUrl: 'GraphQL takes manifests as `integrations`.',
    listBuilders: '`Org.members` lists the builders with their roles.',
    reviseInstallation: 'It serves update masks and JSON Patch, which GraphQL does not have.',
    getHydratedRevision:
      '`Revision.content` with `ConnectedAccount.objectMetadata` describes each object.',
    writeKnownFields:
      'It omits names that the integration does not have, as the reference API does. `writeRecords` refuses them.',
    readInstalledObjectMetadata: '`Installation.objectMetadata` reads it for a row.',
    searchRecords: '`Installation.records` searches for a row, and returns further pages.',
    refreshConnectionIfDue:
      'A parameter of the GET that shows tokens; a token is refreshed whenever it is used.',
  },
  rest: {
    ...AGENT_READS,
    ...addReason(
      'An endpoint responds with 404 where a field returns null: see the get of this name.',
      [
        'findClaimedDomain',
        'findRequestedOrg',
        'findProvider',
        'findRequestedIntegration',
        'findRequestedProject',
      ],
    ),
    ...addReason('The endpoints of the reference API get and filter these objects.', [
      'lookUpConnection',
      'lookUpConsumer',
      'lookUpDestination',
      'lookUpGroup',
      'lookUpInstallation',
      'lookUpProviderApp',
      'lookUpTopic',
    ]),
    ...addReason(
      'GraphQL subscriptions have no REST counterpart. Lists and webhooks contain the events.',
      ['followNotificationEvents', 'followOperation'],
    ),
    ...addReason('The reference API has no streams. GraphQL reads their messages.', [
      'followStreamMessages',
      'listStreamMessages',
      'readMessageBody',
    ]),
    ...addReason('`listConnections` and `listProjectInstallations` have these filters.', [
      'listConsumerConnections',
      'listGroupConnections',
      'listGroupInstallations',
    ]),
    ...addReason('`listTopicDestinationRoutes` filters by the topic and by the destination.', [
      'listRoutesOfTopic',
      'listRoutesToTopic',
    ]),
    ...addReason('REST has the contract of the project. GraphQL has it as a field of each row.', [
      'listInstallationContracts',
      'listProjectContracts',
      'listRevisionContracts',
    ]),
    countRetryable:
      'A form shows it before a retry. The response of `retryDeliveries` has the count.',
    ...addReason(
      'Attention items are of many types, for an overview. GraphQL links each to its subject.',
      ['acknowledgeAttentionItem', 'listAttentionItems', 'reopenAttentionItem'],
    ),
    ...addReason('They serve the typed API, which is GraphQL.', [
      'listObjectRecords',
      'readObjectRecord',
    ]),
    findProviderOfDocument: '`getProvider` returns it by its name.',
    getForwarding: 'The HTTP route of the proxy calls it, which is not an endpoint.',
    getOrgOfProject: 'A project has `orgId`, and `getOrg` returns the org.',
    listInstallationRecords: '`searchRecords` finds the installation by its group.',
    listSetupFailures:
      'A list of the whole project, for an overview. The event `setup.failed` has each of them.',
    readMetadataOfInstallation:
      '`readInstalledObjectMetadata` finds the installation by its group.',
    writeRecords: '`writeKnownFields` writes records as the reference API does.',
  },
};

function addReason(reason: string, names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}

/** Returns the functions of the domain that declare a need: the queries and mutations that callers may use. */
async function listDeclaredFunctions(): Promise<string[]> {
  const modules = await Promise.all(
    globSync('domain/**/*.ts', { cwd: src }).map((file) => import(join(src, file))),
  );
  const exportedValues = modules.flatMap((module) => Object.entries<unknown>(module));
  return exportedValues
    .filter(([, value]) => typeof value === 'function' && 'needs' in value)
    .map(([name]) => name)
    .sort();
}

/** Returns the names that the files of a surface import from the domain. */
function listImportedNames(surface: Surface): Set<string> {
  const names = new Set<string>();
  for (const file of globSync(`${surface}/**/*.ts`, { cwd: src })) {
    const text = readFileSync(join(src, file), 'utf8');
    for (const [, list] of text.matchAll(/^import \{([^}]*)\} from '[./]+domain\//gm)) {
      for (const name of list?.split(',') ?? []) names.add(name.trim());
    }
  }
  return names;
}

const declaredNames = await listDeclaredFunctions();

test.each(
  SURFACES,
)('%s offers every declared function of the domain, except listed ones', (surface) => {
  const names = listImportedNames(surface);
  const missingNames = declaredNames.filter((name) => !names.has(name));
  expect(
    missingNames,
    `src/${surface}/ must import each function, or OMITTED must list it with a reason`,
  ).toEqual(Object.keys(OMITTED[surface]).sort());
});

test('the domain declares the functions that callers may use', () => {
  expect(declaredNames).toEqual(
    expect.arrayContaining(['createTopic', 'listTopics', 'writeRecords']),
  );
  expect(declaredNames.length).toBeGreaterThan(100);
});

/** GraphQL and REST can do the same: each declared function of the domain is on both, or is named here with the reason. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', '..', 'src');
const SURFACES = ['graphql', 'rest'] as const;
type Surface = (typeof SURFACES)[number];

/** What one surface lacks: the reason why it has no need of it. */
const LACKS: Record<Surface, Record<string, string>> = {
  graphql: {
    ...ofEach('A row is read by `node(id:)`, or by the field of what it belongs to.', [
      'getApiKey',
      'getBillingAccount',
      'getConnection',
      'getDelivery',
      'getDestination',
      'getInstallation',
      'getInvite',
      'getJwtKey',
      'getNamedIntegration',
      'getNotificationEvent',
      'getOperation',
      'getOwnBuilder',
      'getRevision',
    ]),
    ...ofEach('A field gives null where REST answers 404: the find or the read of the same name.', [
      'getClaimedDomain',
      'getOwnOrg',
      'getOwnProject',
      'getProvider',
    ]),
    ...ofEach('The proxy is HTTP itself.', ['forwardPages', 'forwardRequest', 'getForwarding']),
    getBackfillProgress: '`InstalledObject.backfillOperation` has the same in its metadata.',
    createUploadUrl: 'GraphQL takes manifests as `integrations`.',
    getHydratedRevision:
      '`Revision.content` with `ConnectedAccount.objectMetadata` tells the same of each object.',
    getCatalogue: '`providers` lists the same in pages.',
    readInstalledObjectMetadata: '`Installation.objectMetadata` reads the same of a row.',
    searchRecords: '`Installation.records` finds the same of a row, and reads on.',
    refreshIfDue:
      'A parameter of the GET that shows tokens; a token is refreshed whenever it is used.',
  },
  rest: {
    ...ofEach('An endpoint answers 404 where a field gives null: the get of the same name.', [
      'findClaimedDomain',
      'findOrg',
      'findProvider',
      'readIntegration',
      'readProject',
    ]),
    ...ofEach('The endpoints of the reference API get and filter these objects.', [
      'lookUpConnection',
      'lookUpConsumer',
      'lookUpDestination',
      'lookUpGroup',
      'lookUpInstallation',
      'lookUpProviderApp',
      'lookUpTopic',
    ]),
    ...ofEach('Streams are the subscriptions of GraphQL; lists and webhooks tell the same.', [
      'followNotificationEvents',
      'followOperation',
    ]),
    ...ofEach('The platform has no destinations that keep their messages: GraphQL reads them.', [
      'followStreamMessages',
      'listStreamMessages',
      'messageBody',
    ]),
    ...ofEach('`listConnections` and `listProjectInstallations` take them as filters.', [
      'listConsumerConnections',
      'listGroupConnections',
      'listGroupInstallations',
    ]),
    ...ofEach('`listTopicDestinationRoutes` takes either end as a filter.', [
      'listRoutesOfTopic',
      'listRoutesToTopic',
    ]),
    getForwarding: 'The route of the proxy calls it: it is no endpoint of the table.',
    getOrgOfProject: 'A project has `orgId`, and `getOrg` gives the org.',
    listInstallationRecords: '`searchRecords` finds the installation by its group.',
    listProviders: 'The whole catalogue is one answer, as the platform has it.',
    objectMetadataOfInstallation:
      '`readInstalledObjectMetadata` finds the installation by its group.',
  },
};

function ofEach(reason: string, names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}

/** What is declared with a need: the reads and the changes that callers may ask for. */
async function declaredFunctions(): Promise<string[]> {
  const modules = await Promise.all(
    globSync('domain/**/*.ts', { cwd: src }).map((file) => import(join(src, file))),
  );
  const exported = modules.flatMap((module) => Object.entries<unknown>(module));
  return exported
    .filter(([, value]) => typeof value === 'function' && 'needs' in value)
    .map(([name]) => name)
    .sort();
}

/** The names that the files of a surface import from the domain. */
function namesOf(surface: Surface): Set<string> {
  const names = new Set<string>();
  for (const file of globSync(`${surface}/**/*.ts`, { cwd: src })) {
    const text = readFileSync(join(src, file), 'utf8');
    for (const [, list] of text.matchAll(/^import \{([^}]*)\} from '[./]+domain\//gm)) {
      for (const name of list?.split(',') ?? []) names.add(name.trim());
    }
  }
  return names;
}

const declared = await declaredFunctions();

test.each(SURFACES)('%s has all that the domain declares', (surface) => {
  const names = namesOf(surface);
  const missing = declared.filter((name) => !names.has(name));
  expect(missing).toEqual(Object.keys(LACKS[surface]).sort());
});

test('the domain declares what callers may ask for', () => {
  expect(declared).toEqual(expect.arrayContaining(['createTopic', 'listTopics', 'writeRecords']));
  expect(declared.length).toBeGreaterThan(100);
});

/** Provider documents near their limit of 256 KiB, valid and invalid, and the list of those that were stored. */
import {
  CREATE_PROVIDER,
  createDocument,
  createObject,
} from '../../support/inputs/custom-providers.ts';
import { type LargeInput, repeat } from './large-input.ts';

const DOCUMENT_LENGTH = 250_000;

const LIST_PROVIDERS = `query ListProviders($project: String!) {
  project(idOrName: $project) {
    customProviders { nodes { problem provider { objects { name } } } }
  }
}`;

function createFields(count: number) {
  const fields = repeat(count, (index) => [`field_${index}`, 'STRING'] as const);
  return { standardFields: { id: 'STRING', ...Object.fromEntries(fields) } };
}

function createNamedDocument(name: string, objects: object): string {
  return createDocument('https://api.acme.example', { name }, objects);
}

function createDocuments(): Record<string, string> {
  const objects = repeat(200, (index) => [`object${index}`, createObject('n', createFields(45))]);
  const wrongObjects = repeat(190, (index) => [
    `object${index}`,
    createObject('n', { list: { path: 1, records: {}, paging: { kind: 'other' }, other: 1 } }),
  ]);
  const parts = {
    'of 200 objects': createNamedDocument('x-objects', Object.fromEntries(objects)),
    'with 11,000 fields': createNamedDocument('x-fields', {
      notes: createObject('notes', createFields(11_000)),
    }),
    'of 190 invalid objects': createNamedDocument('x-wrong', Object.fromEntries(wrongObjects)),
    'of unknown members': repeat(20_000, (index) => `key${index}: 1`).join('\n'),
    'of lists': `name: [${'[],'.repeat(80_000)}]`,
    'of aliases': `a: &a [${'1,'.repeat(1_000)}]\nb: [${'*a,'.repeat(90)}]`,
    'of 4 KiB, which is parsed without a thread': `${repeat(500, (n) => `k${n}: `).join('\n')}`,
  };
  return Object.fromEntries(
    Object.entries(parts).map(([name, text]) => [name, text.slice(0, DOCUMENT_LENGTH)]),
  );
}

/** The last input reads the documents that the previous inputs created. */
export function createProviderDocuments({ projectId }: { projectId: string }): LargeInput[] {
  const headers = { 'content-type': 'application/json' };
  const toGraphql = (name: string, query: string, variables: object): LargeInput => ({
    ...{ name: `GraphQL ${name}`, method: 'POST', path: '/graphql', headers },
    body: JSON.stringify({ query, variables }),
  });
  const creations = Object.entries(createDocuments()).flatMap(([description, document]) => {
    const name = `provider document ${description}`;
    const input = { projectIdOrName: projectId, document };
    const path = `/v1/projects/${projectId}/custom-providers`;
    return [
      toGraphql(name, CREATE_PROVIDER, { input }),
      { name: `REST ${name}`, method: 'POST', path, headers, body: JSON.stringify({ document }) },
    ];
  });
  return [...creations, toGraphql('list of providers', LIST_PROVIDERS, { project: projectId })];
}

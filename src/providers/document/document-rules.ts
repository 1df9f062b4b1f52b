/** Rules between the members of a provider document, which the types of single members can't express. */

import { listUnboundHosts, listUrls } from '../catalog/unbound-hosts.ts';
import { type AuthScheme, isConsentScheme } from '../contract.ts';
import type { Declaration, ObjectDeclaration } from '../declarative/declaration/declaration.ts';
import type { ListDeclaration } from '../declarative/declaration/list-declaration.ts';
import { listVariables } from '../declarative/template.ts';
import type { ProviderDocument } from './provider-document.ts';

/** The maximum number of objects of a document, in all of its parts. */
export const OBJECTS_MAX = 200;
/** Each level multiplies the requests of a read. No known API has more. */
const PARENT_LEVELS_MAX = 3;

interface RuleViolation {
  path: PropertyKey[];
  message: string;
}

export function listRuleViolations(document: ProviderDocument): RuleViolation[] {
  const apis = listApis(document);
  return [
    ...listSchemeViolations(document),
    ...listAddressViolations(document),
    ...listSizeViolations(apis),
    ...apis.flatMap(({ path, api, inputs }) =>
      [
        ...listVariableViolations(api, inputs),
        ...listObjectViolations(api),
        ...listEventViolations(api),
      ].map((violation) => ({ ...violation, path: [...path, ...violation.path] })),
    ),
  ];
}

interface LocatedApi {
  path: PropertyKey[];
  api: Declaration;
  /** The inputs that paths and headers of the API may name. */
  inputs: Set<string>;
}

function listApis({ api, modules = [] }: ProviderDocument): LocatedApi[] {
  const inputs = ['workspace', ...Object.keys(api?.inputs ?? {})];
  const moduleApis = modules.flatMap((module, index) => {
    if (!module.api) return [];
    const moduleInputs = (module.inputs ?? []).map(({ name }) => name);
    const names = new Set([...inputs, ...moduleInputs, ...Object.keys(module.api.inputs)]);
    return [{ path: ['modules', index, 'api'], api: module.api, inputs: names }];
  });
  return [...(api ? [{ path: ['api'], api, inputs: new Set(inputs) }] : []), ...moduleApis];
}

function* listSchemeViolations({
  authSchemes,
  apiKey,
  oauth2,
}: ProviderDocument): Generator<RuleViolation> {
  const needs = (member: string, scheme: AuthScheme) => ({
    path: ['authSchemes'],
    message: `\`${scheme}\` needs \`${member}\``,
  });
  for (const scheme of new Set(authSchemes)) {
    if (scheme === 'API_KEY' && !apiKey) yield needs('apiKey', scheme);
    if (scheme.startsWith('OAUTH2') && !oauth2) yield needs('oauth2', scheme);
    if (oauth2 && isConsentScheme(scheme) && !oauth2.authorizeUrl) {
      yield needs('oauth2.authorizeUrl', scheme);
    }
  }
}

/** Credentials go only to hosts that the document names, and each variable of an address gets its value somewhere. */
function* listAddressViolations(document: ProviderDocument): Generator<RuleViolation> {
  const { baseUrl, modules = [], api, oauth2, workspaceRequired = false } = document;
  const addresses = document as Parameters<typeof listUrls>[0];
  for (const name of new Set(listUnboundHosts(addresses))) {
    const message = `must list the hosts of \`{{${name}}}\`, which stands for a whole host`;
    yield { path: ['hosts'], message };
  }
  const inputs = new Set([
    'workspace',
    ...Object.keys(api?.inputs ?? {}),
    ...modules.flatMap((module) => (module.inputs ?? []).map(({ name }) => name)),
  ]);
  const variables = listUrls(addresses).flatMap(listMetadataVariables);
  for (const name of new Set(variables).difference(inputs)) {
    const message = `must have \`${name}\`, which an address contains as \`{{${name}}}\``;
    yield { path: api ? ['api', 'inputs'] : ['baseUrl'], message };
  }
  const namesWorkspace = oauth2?.tokenFields?.workspaceRef !== undefined;
  if (baseUrl.includes('{{workspace}}') && workspaceRequired === namesWorkspace) {
    const message =
      'contains `{{workspace}}`: either set `workspaceRequired`, or name it in `oauth2.tokenFields.workspaceRef`';
    yield { path: ['baseUrl'], message };
  }
}

function listMetadataVariables(template: string): string[] {
  return [...template.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
}

function* listSizeViolations(apis: readonly LocatedApi[]): Generator<RuleViolation> {
  const counts = apis.map(
    ({ api }) => Object.keys(api.objects).length + Object.keys(api.writeOnlyObjects).length,
  );
  const count = counts.reduce((total, objects) => total + objects, 0);
  if (count > OBJECTS_MAX) {
    yield { path: ['api', 'objects'], message: `must be at most ${OBJECTS_MAX} objects` };
  }
}

/** Headers and paths may name the inputs of a connection only. */
function* listVariableViolations(
  { headers, objects, otherObjects }: Declaration,
  inputs: ReadonlySet<string>,
): Generator<RuleViolation> {
  const templates: [PropertyKey[], unknown][] = [
    [['headers'], headers],
    ...Object.entries(objects).map(([name, object]): [PropertyKey[], unknown] => [
      ['objects', name],
      object,
    ]),
    [['otherObjects'], otherObjects],
  ];
  for (const [path, template] of templates) {
    for (const { name, at } of listPathVariables(template)) {
      if (!inputs.has(name)) {
        yield {
          path: [...path, ...at],
          message: `names \`{{${name}}}\`, which is not in \`inputs\``,
        };
      }
    }
  }
}

/** Members whose templates are filled in with a connection's inputs. Other templates may contain braces of their own. */
const TEMPLATED_MEMBERS = ['path', 'query', 'headers'];

function* listPathVariables(
  value: unknown,
  at: PropertyKey[] = [],
): Generator<{ name: string; at: PropertyKey[] }> {
  if (typeof value === 'string') {
    for (const name of listMetadataVariables(value)) yield { name, at };
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const isTemplate = typeof member !== 'string' || at.length === 0 || isTemplated(at, key);
    if (isTemplate && key !== 'body') yield* listPathVariables(member, [...at, key]);
  }
}

function isTemplated(at: readonly PropertyKey[], key: string): boolean {
  return TEMPLATED_MEMBERS.includes(key) || TEMPLATED_MEMBERS.includes(String(at.at(-1)));
}

function* listObjectViolations(api: Declaration): Generator<RuleViolation> {
  for (const [name, object] of Object.entries(api.objects)) {
    const path = ['objects', name];
    const message = findParentProblem(api, object);
    if (message !== null) yield { path: [...path, 'parent'], message };
    for (const [listName, list] of listLists(object)) {
      yield* listListViolations(object, list, [...path, listName]);
    }
  }
}

function listLists({ list, incrementalList, deepList }: ObjectDeclaration) {
  return Object.entries({ list, incrementalList, deepList }).filter(
    (entry): entry is [string, ListDeclaration] => entry[1] !== undefined,
  );
}

/** Returns why an object can't have its parent. Null if it can. Parents in a circle would be read without end. */
function findParentProblem({ objects }: Declaration, object: ObjectDeclaration): string | null {
  let { parent } = object;
  for (let level = 1; parent; level += 1) {
    if (level > PARENT_LEVELS_MAX)
      return `must have at most ${PARENT_LEVELS_MAX} levels of parents`;
    if (!Object.hasOwn(objects, parent.object))
      return `names \`${parent.object}\`, which is no object`;
    parent = objects[parent.object]?.parent;
  }
  return null;
}

function* listListViolations(
  { parent, changedAt }: ObjectDeclaration,
  { path: template, since, isKeysetPaged }: ListDeclaration,
  path: PropertyKey[],
): Generator<RuleViolation> {
  const known = ['object', ...(parent ? [parent.variable] : [])];
  const unknown = listVariables(template).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const names = unknown.map((name) => `\`{${name}}\``).join(', ');
    yield { path: [...path, 'path'], message: `names ${names}, which a list does not know` };
  }
  if (isKeysetPaged && (!since || !changedAt)) {
    const message = 'needs `since` of the list and `changedAt` of the object';
    yield { path: [...path, 'isKeysetPaged'], message };
  }
}

function* listEventViolations({
  events,
  eventList,
  objects,
  otherObjects,
}: Declaration): Generator<RuleViolation> {
  if (events && eventList) {
    yield { path: ['eventList'], message: 'must be absent, because `events` is declared' };
  }
  for (const [type, { object }] of Object.entries(events?.types ?? {})) {
    if (object === undefined || otherObjects || Object.hasOwn(objects, object)) continue;
    const path = ['events', 'types', type, 'object'];
    yield { path, message: `names \`${object}\`, which is no object` };
  }
}

/** Fills in the variables of a declaration's templates. */
import type { ProviderSession } from '../contract.ts';
import { ProviderError } from '../provider-error.ts';
import { type JsonObject, readOwn } from './json.ts';

export type TemplateVariables = Record<string, string | undefined>;

const METADATA_VARIABLE = /\{\{(\w+)\}\}/g;
const VARIABLE = /\{(\+?)(\w+)\}/g;

/** Fills in a path. Throws BAD_REQUEST if a variable is missing or its value would change the path's structure. */
export function fillPath(
  template: string,
  variables: TemplateVariables,
  session: Pick<ProviderSession, 'findMetadata'>,
): string {
  const pathWithMetadata = template.replaceAll(METADATA_VARIABLE, (_all, name: string) =>
    encodeSegment(name, getMetadata(session, name)),
  );
  return pathWithMetadata.replaceAll(VARIABLE, (_all, mark: string, name: string) => {
    const value = readOwn(variables, name);
    if (value === undefined) throw new ProviderError('BAD_REQUEST', `${name} is required`);
    const parts = mark === '+' ? value.split('/') : [value];
    return parts.map((part) => encodeSegment(name, part)).join('/');
  });
}

/** Fills in `{{name}}` in headers or query parameters. Throws BAD_REQUEST if the connection lacks a value. */
export function fillStrings(
  templates: Record<string, string>,
  session: Pick<ProviderSession, 'findMetadata'>,
): Record<string, string> {
  return mapValues(templates, (template) =>
    template.replaceAll(METADATA_VARIABLE, (_match, name: string) => getMetadata(session, name)),
  );
}

/** Matches `{{name}}` before `{name}`. */
const ANY_VARIABLE = new RegExp(`${METADATA_VARIABLE.source}|${VARIABLE.source}`, 'g');

/** Fills in query parameters. They are URL-encoded later. Values that look like variables stay as they are. */
export function fillQuery(
  query: Record<string, string>,
  variables: TemplateVariables,
  session: Pick<ProviderSession, 'findMetadata'>,
): Record<string, string> {
  return mapValues(query, (template) =>
    template.replaceAll(ANY_VARIABLE, (match, input: string | undefined, _mark, name: string) =>
      input === undefined ? (readOwn(variables, name) ?? match) : getMetadata(session, input),
    ),
  );
}

function mapValues(
  strings: Record<string, string>,
  convert: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(strings).map(([name, value]) => [name, convert(value)]));
}

/** A string that is only a variable. In JSON, a name in braces inside a longer string may be GraphQL. */
const WHOLE_VARIABLE = /^\{(\w+)\}$/;

/** Returns a copy of the body in which the variables replace strings that consist of `{name}` only. */
export function fillJson<Body extends JsonObject | undefined>(
  body: Body,
  variables: Record<string, unknown>,
): Body {
  if (body === undefined) return body;
  return JSON.parse(JSON.stringify(body), (_key, member) => {
    const [, name] = (typeof member === 'string' && WHOLE_VARIABLE.exec(member)) || [];
    return name === undefined ? member : (readOwn(variables, name) ?? member);
  });
}

/** Returns the names of the variables in a path and a body. */
export function listVariables(path: string, body: JsonObject = {}): string[] {
  const pathMatches = path.replaceAll(METADATA_VARIABLE, '').matchAll(VARIABLE);
  const bodyMatches = JSON.stringify(body).matchAll(/"\{(\w+)\}"/g);
  const names = [
    ...[...pathMatches].map(([, , name]) => name),
    ...[...bodyMatches].map(([, name]) => name),
  ];
  return [...new Set(names.filter((name) => name !== undefined))];
}

function getMetadata(session: Pick<ProviderSession, 'findMetadata'>, name: string): string {
  const value = session.findMetadata(name);
  if (value !== null) return value;
  throw new ProviderError('BAD_REQUEST', `The connection lacks ${name}, which its URL requires`);
}

function encodeSegment(name: string, value: string): string {
  if (value !== '' && value !== '.' && value !== '..') return encodeURIComponent(value);
  throw new ProviderError('BAD_REQUEST', `${name} can't be ${JSON.stringify(value)}`);
}

/** Texts of a declaration with their variables filled in. */
import type { ProviderSession } from '../contract.ts';
import { ProviderError } from '../provider-error.ts';

export type Variables = Record<string, string | undefined>;

const FACT = /\{\{(\w+)\}\}/g;
const VARIABLE = /\{(\+?)(\w+)\}/g;

/** Throws BAD_REQUEST for a variable that is missing, and for one that would leave its place in the path. */
export function fillPath(
  template: string,
  variables: Variables,
  session: Pick<ProviderSession, 'fact'>,
): string {
  const known = template.replaceAll(FACT, (_all, name: string) =>
    segment(name, requiredFact(session, name)),
  );
  return known.replaceAll(VARIABLE, (_all, mark: string, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new ProviderError('BAD_REQUEST', `${name} is needed`);
    const parts = mark === '+' ? value.split('/') : [value];
    return parts.map((part) => segment(name, part)).join('/');
  });
}

export function fillTexts(
  templates: Record<string, string>,
  session: Pick<ProviderSession, 'fact'>,
): Record<string, string> {
  const filled = Object.entries(templates).map(([name, template]) => [
    name,
    template.replaceAll(FACT, (_all, fact: string) => requiredFact(session, fact)),
  ]);
  return Object.fromEntries(filled);
}

/** The same for the values of a query, which are encoded later. */
export function fillQuery(
  query: Record<string, string>,
  variables: Variables,
  session: Pick<ProviderSession, 'fact'>,
): Record<string, string> {
  const filled = Object.entries(fillTexts(query, session)).map(([name, template]) => [
    name,
    template.replaceAll(VARIABLE, (all, _mark, variable: string) => variables[variable] ?? all),
  ]);
  return Object.fromEntries(filled);
}

/** A text that is a variable and nothing else: in JSON, what is around a name in braces may be GraphQL. */
const ALONE = /^\{(\w+)\}$/;

/** A copy of a body with its variables filled in: texts that are `{name}` and nothing else. */
export function fillJson<Body extends Json | undefined>(
  body: Body,
  variables: Record<string, unknown>,
): Body {
  if (body === undefined) return body;
  return JSON.parse(JSON.stringify(body), (_key, member) => {
    const [, name] = (typeof member === 'string' && ALONE.exec(member)) || [];
    return name === undefined ? member : (variables[name] ?? member);
  });
}

type Json = Record<string, unknown>;

/** The names that a path and a body take from a record or its id. */
export function variablesIn(template: string, body: Json = {}): string[] {
  const inPath = template.replaceAll(FACT, '').matchAll(VARIABLE);
  const inBody = JSON.stringify(body).matchAll(/"\{(\w+)\}"/g);
  const names = [...[...inPath].map(([, , name]) => name), ...[...inBody].map(([, name]) => name)];
  return [...new Set(names.filter((name) => name !== undefined))];
}

function requiredFact(session: Pick<ProviderSession, 'fact'>, name: string): string {
  const value = session.fact(name);
  if (value !== null) return value;
  throw new ProviderError('BAD_REQUEST', `The connection lacks ${name}, which its address needs`);
}

function segment(name: string, value: string): string {
  if (value !== '' && value !== '.' && value !== '..') return encodeURIComponent(value);
  throw new ProviderError('BAD_REQUEST', `${name} can't be ${JSON.stringify(value)}`);
}

/** Requests to endpoints with the names and ids of a tenant's objects. */
import type { Operation } from '../rest/minimal-request.ts';
import { createForeignMember, type Foreign } from './foreign-values.ts';

export function createForeignRequest(
  { method, path, parameters = [], requestBody }: Operation,
  names: Foreign,
) {
  const fillParameters = (location: string) =>
    parameters
      .filter(({ in: parameterLocation }) => parameterLocation === location)
      .map(({ name, schema: type }) => [name, String(createForeignMember(name, type, names))]);
  const pathParameters = Object.fromEntries(fillParameters('path'));
  const filledPath = path.replace(/\{(\w+)\}/g, (_all, name: string) => pathParameters[name]);
  const query = fillParameters('query').filter(([name]) => name !== 'pageToken');
  const body = requestBody?.content['application/json']?.schema;
  return {
    path: `/v1${filledPath}?${new URLSearchParams(query)}`,
    init: {
      method,
      ...(body && { body: JSON.stringify(createForeignMember('body', body, names)) }),
      ...(body && { headers: { 'content-type': 'application/json' } }),
    },
  };
}

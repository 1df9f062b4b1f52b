/** Requests under construction: the declared templates, filled in, to which parameters are added. */
import type { ProviderRequest, ProviderSession } from '../../contract.ts';
import type { Declaration } from '../declaration/declaration.ts';
import type { ListDeclaration } from '../declaration/list-declaration.ts';
import type { RequestLocation } from '../declaration/request-location.ts';
import { withValue } from '../json.ts';
import { fillJson, fillPath, fillQuery, fillStrings, type TemplateVariables } from '../template.ts';

export type RequestDraft = Omit<ProviderRequest, 'query' | 'headers' | 'body'> & {
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
};

/** Fills the templates of a declared request. */
export function draftRequest(
  { headers }: Declaration,
  { method, path, query, body }: Pick<ListDeclaration, 'method' | 'path' | 'query' | 'body'>,
  { variables, session }: { variables: TemplateVariables; session: ProviderSession },
): RequestDraft {
  return {
    method,
    path: fillPath(path, variables, session),
    query: fillQuery(query, variables, session),
    headers: fillStrings(headers, session),
    body: fillJson(body, variables),
  };
}

export function setParameter(
  request: RequestDraft,
  { in: part, name }: RequestLocation,
  value: unknown,
): void {
  if (part === 'query') request.query[name] = String(value);
  else if (part === 'header') request.headers[name] = String(value);
  else request.body = withValue(request.body ?? {}, name, value);
}

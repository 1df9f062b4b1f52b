import { Refusal } from './refusal.ts';
import type { SandboxRequest, SandboxResponse } from './request.ts';

export interface Route {
  method: string;
  /** A path such as `/objects/:object/records`. A segment with a colon matches any segment. */
  pattern: string;
  handle(request: SandboxRequest): SandboxResponse;
}

/** Calls the first route that matches. Throws a Refusal (404 or 405) if none does. */
export function routeRequest(
  routes: readonly Route[],
  request: Omit<SandboxRequest, 'params'>,
): SandboxResponse {
  const allowed: string[] = [];
  for (const route of routes) {
    const params = paramsOf(route.pattern, request.path);
    if (params === null) continue;
    if (route.method === request.method) return route.handle({ ...request, params });
    allowed.push(route.method);
  }
  if (allowed.length === 0) {
    throw new Refusal(404, { code: 'not_found', message: `Nothing is at ${request.path}` });
  }
  const message = `${request.path} takes ${allowed.join(', ')}`;
  throw new Refusal(405, { code: 'method_not_allowed', message }, { allow: allowed.join(', ') });
}

function paramsOf(pattern: string, path: string): Record<string, string> | null {
  const expected = pattern.split('/');
  const actual = path.split('/');
  if (expected.length !== actual.length) return null;
  const params: Record<string, string> = {};
  for (const [index, segment] of expected.entries()) {
    const value = actual[index] ?? '';
    if (segment.startsWith(':')) params[segment.slice(1)] = decoded(value);
    else if (segment !== value) return null;
  }
  return params;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, { code: 'malformed_path', message: `${segment} is not URL-encoded` });
  }
}

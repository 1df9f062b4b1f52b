import type { SandboxRequest, SandboxResponse } from './request.ts';
import { SandboxRefusal } from './sandbox-refusal.ts';

export interface SandboxRoute {
  method: string;
  /** A path such as `/objects/:object/records`. A segment with a colon matches any segment. */
  pattern: string;
  handle(request: SandboxRequest): SandboxResponse;
}

/** Calls the first route that matches the request. Throws a SandboxRefusal (404 or 405) if none matches. */
export function routeRequest(
  routes: readonly SandboxRoute[],
  request: Omit<SandboxRequest, 'params'>,
): SandboxResponse {
  const allowedMethods: string[] = [];
  for (const route of routes) {
    const params = matchPath(route.pattern, request.path);
    if (params === null) continue;
    if (route.method === request.method) return route.handle({ ...request, params });
    allowedMethods.push(route.method);
  }
  if (allowedMethods.length === 0) {
    throw new SandboxRefusal(404, {
      code: 'not_found',
      message: `There is no resource at ${request.path}`,
    });
  }
  const message = `${request.path} supports ${allowedMethods.join(', ')}`;
  throw new SandboxRefusal(
    405,
    { code: 'method_not_allowed', message },
    { allow: allowedMethods.join(', ') },
  );
}

function matchPath(pattern: string, path: string): Record<string, string> | null {
  const patternSegments = pattern.split('/');
  const pathSegments = path.split('/');
  if (patternSegments.length !== pathSegments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, segment] of patternSegments.entries()) {
    const value = pathSegments[index] ?? '';
    if (segment.startsWith(':')) params[segment.slice(1)] = decodeSegment(value);
    else if (segment !== value) return null;
  }
  return params;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new SandboxRefusal(400, {
      code: 'malformed_path',
      message: `${segment} is not URL-encoded`,
    });
  }
}

/**
 * What may come in over HTTP (JSON only, uncompressed), and the status that goes out: the errors' own where
 * nothing of an operation ran, else 200.
 */
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type ErrorCode, type Problem, problemOf } from '../errors.ts';

export function useHttpRules(): Plugin {
  return {
    onRequestParse({ request, endResponse, fetchAPI }) {
      const refuse = (status: number, detail: string) => {
        const code: ErrorCode = 'BAD_USER_INPUT';
        const problem = { ...problemOf(code, detail), status };
        endResponse(
          fetchAPI.Response.json(
            { errors: [{ message: detail, extensions: { code, problem } }] },
            { status },
          ),
        );
      };
      if (request.method === 'GET') {
        const { searchParams } = new URL(request.url);
        for (const name of ['variables', 'extensions']) {
          const text = searchParams.get(name);
          if (text && !isJson(text)) refuse(400, `The parameter ${name} must be JSON.`);
        }
      }
      if (request.method !== 'POST') return;
      // A form or plain text needs no preflight: any page could post one with what its visitor may reach.
      const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
      if (type !== 'application/json') refuse(415, 'Send the operation as application/json.');
      else if (request.headers.get('content-encoding')) refuse(415, 'Send the body uncompressed.');
    },
    onResultProcess({ result, setResult }) {
      if (!result || Array.isArray(result) || Symbol.asyncIterator in result) return;
      const http = httpOf(result);
      if (http) setResult({ ...result, extensions: { ...result.extensions, http } });
    },
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Null for 200. */
function httpOf({ data, errors = [] }: ExecutionResult) {
  const problems = errors.flatMap(
    (error) => (error.extensions?.problem as Problem | undefined) ?? [],
  );
  const status = Math.max(0, ...problems.map((problem) => problem.status));
  if (status === 0) return null;
  const didNothing = !data || Object.values(data).every((value) => value === null);
  const isUnauthenticated = errors.every((error) => error.extensions?.code === 'UNAUTHENTICATED');
  if (data !== undefined && !(didNothing && isUnauthenticated)) return null;
  const wait = problems.find((problem) => typeof problem.retryAfterSeconds === 'number');
  const headers = wait && { 'Retry-After': String(wait.retryAfterSeconds) };
  return { status, headers };
}

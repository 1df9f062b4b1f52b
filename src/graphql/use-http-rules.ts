/** What may come in over HTTP: JSON only, uncompressed; and 401 where nothing of an operation could run. */
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type ErrorCode, problemOf } from '../errors.ts';

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
      if (request.method !== 'POST') return;
      // A form or plain text needs no preflight: any page could post one with what its visitor may reach.
      const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
      if (type !== 'application/json') refuse(415, 'Send the operation as application/json.');
      else if (request.headers.get('content-encoding')) refuse(415, 'Send the body uncompressed.');
    },
    onExecutionResult({ result, setResult }) {
      if (!result || Array.isArray(result) || Symbol.asyncIterator in result) return;
      if (!isWhollyUnauthenticated(result)) return;
      setResult({ ...result, extensions: { ...result.extensions, http: { status: 401 } } });
    },
  };
}

function isWhollyUnauthenticated({ data, errors = [] }: ExecutionResult): boolean {
  const nothing = !data || Object.values(data).every((value) => value === null);
  return (
    nothing &&
    errors.length > 0 &&
    errors.every((error) => error.extensions?.code === 'UNAUTHENTICATED')
  );
}
